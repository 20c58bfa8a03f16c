"""The guard of a budget, on a ledger that is only ever appended to.

    guard = BudgetGuard()
    guard.authorize("lab-02", 1.40, gpu_hours=2)   # before an instance is started
    guard.record_actual("lab-02", 0.93, gpu_hours=1.3)

An authorisation is read, judged and written under one lock of the ledger, and on disk before it is given: whoever
holds one has its money reserved, whichever process asks next. A process killed while it writes leaves a torn last
line. Its authorisation was never given; the next writer ends that line and readers pass over it. A line that no
killed writer can have left is an error: a ledger that was edited is not spent from.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from core.errors import ShardlabError
from core.two_way_tp.spend import Account, BudgetLimits, SpendEntry, account
from runtime.files import ROOT
from runtime.locks import appending

LEDGER = ROOT / "experiments" / "35-cloud-budget" / "spend.jsonl"
_BEGINS = '{"event": "'


class BudgetGuardExceeded(RuntimeError):  # noqa: N818 - the name the labs know it by
    """An authorisation that would pass a cap. No ShardlabError, which pages and commands put into words and go on
    from: nothing catches this one, and the program that meant to spend ends.
    """


class LedgerError(ShardlabError):
    """A ledger with a line that no killed writer can have left."""


class BudgetGuard:
    """A ledger and its limits. Every answer is read from the file anew: other processes write to it too."""

    def __init__(self, path: Path = LEDGER, limits: BudgetLimits | None = None) -> None:
        self.path = Path(path)
        self.limits = limits or BudgetLimits()

    def authorize(self, label: str, usd: float, gpu_hours: float = 0.0, spin_up: bool = False) -> SpendEntry:
        """Reserve an estimate, before it is spent. `spin_up` asks for what must be left before an instance too.

        Raises BudgetGuardExceeded where a cap would be passed: nothing is written then.
        """
        wanted = SpendEntry("authorize", label, float(usd), float(gpu_hours), _now())
        with self._opened() as file:
            refusal = account(_entries(_read(file)), self.limits).refusal(wanted, spin_up)
            if refusal:
                raise BudgetGuardExceeded(refusal)
            _append(file, wanted)
        return wanted

    def record_actual(self, label: str, usd: float, gpu_hours: float = 0.0) -> SpendEntry:
        """Put down what was paid. It settles the oldest open authorisation of the label.

        Never refused: the money is gone, and a ledger that leaves it out would allow it to be spent again.
        """
        paid = SpendEntry("actual", label, float(usd), float(gpu_hours), _now())
        with self._opened() as file:
            _entries(_read(file))
            _append(file, paid)
        return paid

    def total_spent(self) -> float:
        return self.account().total_spent_usd()

    def account(self) -> Account:
        content = self.path.read_bytes() if self.path.is_file() else b""
        return account(_entries(content), self.limits)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The ledger, open for reading and appending, and nobody else's meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        made = not self.path.exists()
        with appending(self.path) as file:
            if made:
                _sync_folder(self.path.parent)
            yield file


def _append(file: int, entry: SpendEntry) -> None:
    """Write an entry behind all others and wait until the disk has it."""
    line = (json.dumps(asdict(entry)) + "\n").encode()
    if not _ends_a_line(file):
        line = b"\n" + line
    while line:
        line = line[os.write(file, line) :]
    os.fsync(file)


def _ends_a_line(file: int) -> bool:
    size = os.fstat(file).st_size
    if size == 0:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"


def _read(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, 2**20):
        parts.append(part)
    return b"".join(parts)


def _entries(content: bytes) -> list[SpendEntry]:
    """Every entry, torn lines passed over: a whole entry that only lacks its line's end counts."""
    lines = content.decode("utf-8", errors="replace").replace("\0", "").split("\n")
    return [
        entry for number, line in enumerate(lines, start=1) if line and (entry := _entry(number, line)) is not None
    ]


def _entry(number: int, line: str) -> SpendEntry | None:
    try:
        return SpendEntry(**json.loads(line))
    except (AttributeError, TypeError, ValueError) as error:
        if _is_torn(line):
            return None
        raise LedgerError("ledger_no_entry", line=number, text=repr(line[:60]), error=error) from None


def _is_torn(line: str) -> bool:
    """Whether a writer that was killed can have left this: the beginning of an entry, and not its end."""
    return not line.endswith("}") and (line.startswith(_BEGINS) or _BEGINS.startswith(line))


def _sync_folder(folder: Path) -> None:
    """Let the disk know the new file's name, where a folder can be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
