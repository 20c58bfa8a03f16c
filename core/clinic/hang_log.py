"""What a log of an NCCL start says: ranks, versions, interfaces, ways between GPUs, and complaints.

Read line by line, whatever prefixes a line carries; nothing is kept but counts, versions and interface names.
Source of the lines: NVIDIA/nccl at v2.20.5-1 and v2.27.5-1, src/init.cc, bootstrap.cc, misc/, transport/. The
libraries of the wheels of 2.30.7, 2.31.2 and 2.32.3 hold the same texts (docs/claims.md).
"""

import re
from dataclasses import dataclass

from core.text.numbers import whole

MAX_LINES, MAX_LINE = 20_000, 600
"""What is read of a text: more than any start prints, and little enough to be read at once."""

_BOOTSTRAP = re.compile(r"Bootstrap ?: ?Using (?:\[\d+\])?([A-Za-z0-9_.@-]{1,32})(?::|$|\s)")
_SOCKETS = re.compile(r"NET/Socket ?: ?Using ((?:\[\d{1,3}\][^\s<]{1,80}<\d{1,6}>[ ;]{0,3}){1,16})")
_SOCKET = re.compile(r"\[\d{1,3}\]([A-Za-z0-9_.@-]{1,32}):")
_VERSION = re.compile(r"(?:NCCL version |vLLM is using nccl==)(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)")
_RANK = re.compile(r"\brank (\d{1,6}) nranks (\d{1,6})\b")
_ENGINE_RANK = re.compile(r"world_size=(\d{1,6}) rank=(\d{1,6})\b")
_CHANNEL = re.compile(r"Channel \d{1,4}(?:/\d{1,4})? ?: .{1,60} via (P2P|SHM|NET)\b")
_UNREACHED = re.compile(r"refused|timed out|No route to host|exceeded (?:retries|timeouts|error retry)", re.I)
_VIRTUAL_ADDRESS = re.compile(r"(?<![\d.])(?:127\.\d{1,3}|172\.17)\.\d{1,3}\.\d{1,3}(?![\d.])|\b(?:docker0|lo)\b")
"""An address of the host alone, or of Docker's default bridge, or the name of one of their interfaces."""
_SHM = re.compile(r"failed to extend|Error while (?:creating|attaching)|/dev/shm.{0,80}No space left")
_WAITING = re.compile(r"waiting for clients|\d{1,6}/\d{1,6} clients joined|\d{1,6} seconds waiting")
_P2P_OFF = re.compile(r"NCCL_P2P_DISABLE set (?:by environment )?to 1|Could not enable P2P between")

WORLD_LIMIT = 4096
LAZY_SINCE = (2, 22)
"""`NCCL_RUNTIME_CONNECT`, on by default where memory can be mapped (NVIDIA/nccl src/init.cc)."""


@dataclass(frozen=True)
class HangLog:
    """The findings. `ranks` have printed a line of their own, `complete` is how many of them ended their init.

    `interfaces` are those of the bootstrap, which takes one; data goes over all of `sockets`. `connected`: some
    rank has said that its ring stands. Rank 0 alone printed its version before 2.22, every process since.
    """

    world_size: int | None = None
    ranks: frozenset[int] = frozenset()
    complete: int = 0
    hosts: int = 0
    versions: tuple[str, ...] = ()
    hosts_with_version: int = 0
    interfaces: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    connected: bool = False
    transports: frozenset[str] = frozenset()
    unreached: bool = False
    unreached_virtual: bool = False
    mismatch: bool = False
    shm_error: bool = False
    waiting: bool = False
    p2p_off: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing of NCCL was found."""
        return self == HangLog()

    @property
    def is_complete(self) -> bool:
        """Whether every rank of the world has ended its init."""
        return self.world_size is not None and self.complete >= self.world_size

    @property
    def connects_lazily(self) -> bool:
        """Whether the ring may still be unconnected after the init: since 2.22 the first collective connects it."""
        numbers = [tuple(whole(part) for part in version.split(".")) for version in self.versions]
        return not self.connected and not (numbers and max(numbers) < LAZY_SINCE)

    @property
    def missing(self) -> tuple[int, ...]:
        """Ranks of the world that have printed nothing."""
        return tuple(rank for rank in range(self.world_size or 0) if rank not in self.ranks)

    @property
    def whole_on_one_host(self) -> bool:
        """Whether every rank of the world has printed, and all from one host."""
        return self.hosts == 1 and self.world_size is not None and not self.missing


def read_hang(text: str) -> HangLog:
    """The findings of an excerpt: its first 20,000 lines, each to 600 characters."""
    lines = [line[:MAX_LINE] for line in text.splitlines()[:MAX_LINES]]
    failed = [line for line in lines if "onnect" in line and _UNREACHED.search(line)]
    seen = [(rank, size, "Init COMPLETE" in line) for line in lines for rank, size in _ranks(line)]
    return HangLog(
        world_size=min(max(size for _, size, _ in seen), WORLD_LIMIT) if seen else None,
        ranks=frozenset(rank for rank, _, _ in seen),
        complete=len({rank for rank, _, complete in seen if complete}),
        hosts=len({host for line in lines if (host := _host(line))}),
        versions=_all(_VERSION, lines),
        hosts_with_version=len({host for line in lines if _VERSION.search(line) and (host := _host(line))}),
        interfaces=_all(_BOOTSTRAP, lines),
        sockets=tuple(
            sorted({name for line in lines if (hit := _SOCKETS.search(line)) for name in _SOCKET.findall(hit[1])})
        ),
        connected=any("Connected all rings" in line for line in lines),
        transports=frozenset(_all(_CHANNEL, lines)),
        unreached=bool(failed),
        unreached_virtual=any(_VIRTUAL_ADDRESS.search(line) for line in failed),
        mismatch=any("Mismatched NCCL version detected" in line for line in lines),
        shm_error=any(_SHM.search(line) for line in lines),
        waiting=any(_WAITING.search(line) for line in lines),
        p2p_off=any(_P2P_OFF.search(line) for line in lines),
    )


def _all(pattern: re.Pattern[str], lines: list[str]) -> tuple[str, ...]:
    """What a pattern's group is, over all lines, each once."""
    return tuple(sorted({hit[1] for line in lines if (hit := pattern.search(line))}))


def _ranks(line: str) -> list[tuple[int, int]]:
    """A line's rank and the size of its world, as NCCL or an engine prints them."""
    if hit := _RANK.search(line):
        return [(whole(hit[1]), whole(hit[2]))]
    if hit := _ENGINE_RANK.search(line):
        return [(whole(hit[2]), whole(hit[1]))]
    return []


def _host(line: str) -> str:
    """The host in `host:pid:tid [device] NCCL INFO`, whatever stands before it; "" for another kind of line."""
    before, mark, _ = line.partition(" NCCL ")
    words = before.split()[-2:]
    if not mark or len(words) < 2 or words[0].count(":") < 2 or not words[1].startswith("["):
        return ""
    host, pid, thread = words[0].split(":")[-3:]
    return host if pid.isdecimal() and thread.isdecimal() else ""
