"""The GPUs of a machine as its driver's tools name them: nvidia-smi, rocm-smi and amd-smi, in any of their forms.

Of nvidia-smi its table, `-L`, `-q` and a query's CSV are read; of rocm-smi names and memory, also as JSON; of
amd-smi `static`, `list` and its table. Several may stand in one text and tell of the same GPUs: a name that one
cuts another has whole. A tool that finds no GPU says so, in words that are kept.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from core.catalog import GPUS, gpu
from core.errors import UnknownNameError
from core.specs import GpuSpec
from core.text.lines import LONGEST_LINE, without_colours
from core.text.numbers import whole
from core.units import MIB

MOST_LINES = 20_000
MOST_GPUS = 512
_NEAR = 0.06
"""How far a driver's total and a row's memory are apart at most: ECC, a hypervisor's share, a rounded capacity."""

_QUOTE = re.compile(r"^[ \t]{0,8}(?:>[ \t]?){1,6}")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_NAME_CELL = re.compile(r"^\s{0,8}(\d{1,3})\s{1,8}(\S.{0,60})$")
_MODE = re.compile(r"\s{1,40}(?:On|Off|N/A|WDDM|TCC|MCDM|ERR!)\s{0,8}$")
_MEMORY_CELL = re.compile(r"(\d{1,9}) ?MiB ?/ {0,8}(\d{1,9}) ?MiB")
_LISTED = re.compile(r"^GPU (\d{1,3}): (.{2,80}?) \(UUID: ")
_MIG_LISTED = re.compile(r"^\s{1,8}MIG \d")
_QUERIED = re.compile(r"^\s{0,12}Product Name\s{1,60}: (.{2,80})$")
_FB = re.compile(r"^\s{0,16}(Total|Used)\s{1,60}: (\d{1,9}) MiB$")
_DRIVER = re.compile(r"(?:Driver Version|driver_version|amdgpu version|Driver version)[: ,]{1,40}(\d[\w.]{1,30})")
_CUDA = re.compile(r"CUDA Version ?: {1,8}(\d{1,3}\.\d{1,3})|ROCm version: {1,4}(\d[\d.]{1,12})")
_ROCM_NAME = re.compile(
    r"^GPU\[(\d{1,3})\]\s{0,8}: (?:Card [Ss]eries|Device Name|Card series):\s{1,12}(\S.{1,80})$"
)
_ROCM_MEMORY = re.compile(r"^GPU\[(\d{1,3})\]\s{0,8}: VRAM Total (Used )?Memory \(B\): (\d{1,15})$")
_ROCM_JSON = re.compile(r'"card(\d{1,3})": ?\{([^{}]{1,4000})\}')
_JSON_FIELD = re.compile(r'"([\w ()]{1,60})": ?"([^"]{1,80})"')
_AMD_GPU = re.compile(r"^\s{0,4}GPU: (\d{1,3})$")
_AMD_NAME = re.compile(r"^\s{0,12}(?:MARKET_NAME|Market Name|market_name): {1,12}(\S.{1,80})$")
_AMD_SIZE = re.compile(r"^\s{0,12}(?:SIZE|VRAM_TOTAL|TOTAL_VRAM): (\d{1,9}) MB$")
_AMD_USED = re.compile(r"^\s{0,12}(?:USED_VRAM|VRAM_USED): (\d{1,9}) MB$")
_AMD_ROW = re.compile(r"^\|\s{1,4}[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d\s{1,12}(\S.{1,40}?)\s{1,12}\|")
_AMD_MEMORY = re.compile(r"^\|\s{1,6}(\d{1,3})\s.{0,60}\|.{0,60}?\s(\d{1,9})/(\d{1,9}) MB\s{0,4}\|")
_COLUMNS = {"index": "index", "name": "name", "memory.total": "total", "memory.used": "used"}
_NONE = re.compile(
    r"NVIDIA-SMI has failed because.{0,160}|No devices were found.{0,80}"
    r"|Failed to initialize NVML: .{1,80}|No AMD GPUs.{0,60}|[Dd]river not initialized.{0,60}"
    r"|Unable to (?:detect|find) .{0,40}(?:driver|GPU).{0,40}|AMDSMI_STATUS_\w{1,60}"
)
_VARIANTS = re.compile(r" \(.{1,40}\)$| VF$| HF$| OAM.{0,30}$|\.{3}$")


@dataclass(frozen=True)
class SeenGpu:
    """One GPU as a tool prints it; None where it does not say. `mig` where it is cut into instances."""

    index: int
    name: str = ""
    memory_bytes: int | None = None
    used_bytes: int | None = None
    mig: bool = False

    def with_more(self, other: "SeenGpu") -> "SeenGpu":
        """What two tools say of one GPU: figures of the first that has them, a whole name before a cut one."""
        return _merged(self, other)

    @property
    def spec(self) -> GpuSpec | None:
        """The catalog's row; None where there is none of that name and memory."""
        return known_gpu(self.name, self.memory_bytes)


@dataclass(frozen=True)
class Devices:
    """The GPUs of a text, the driver and what it runs; and, where a tool found no GPU, what it said."""

    gpus: tuple[SeenGpu, ...] = ()
    driver: str | None = None
    runtime: str | None = None
    failure: str | None = None

    @property
    def is_empty(self) -> bool:
        return not self.gpus and self.failure is None


def read_devices(text: str) -> Devices:
    """The GPUs that a text names; an empty answer where no tool's output is in it."""
    lines = [_bare(line) for line in text.splitlines()[:MOST_LINES]]
    found: dict[int, SeenGpu] = {}
    for one in _all(lines):
        if one.index < MOST_GPUS:
            found[one.index] = _merged(found.get(one.index), one)
    driver, runtime, failure = _DRIVER.search(text), _CUDA.search(text), _NONE.search(text)
    named = tuple(one for _, one in sorted(found.items()) if one.name or one.memory_bytes)
    return Devices(
        named,
        driver[1] if driver and named else _queried_driver(lines) if named else None,
        next(filter(None, runtime.groups())) if runtime and named else None,
        None if named or failure is None else failure[0].strip(),
    )


def known_gpu(name: str, memory_bytes: float | None = None) -> GpuSpec | None:
    """The catalog's GPU of a driver's name and of about that memory; of a cut name, the one that fits both."""
    bare = _VARIANTS.sub("", name.strip())
    fits = [row for row in GPUS.values() if memory_bytes is None or _is_near(row, memory_bytes)]
    try:
        row = gpu(bare)
    except UnknownNameError:
        row = None
    if row is not None and row in fits:
        return row
    if name.rstrip().endswith("...") and memory_bytes is not None:
        cut = [one for one in fits if any(alias.lower().startswith(bare.lower()) for alias in one.aliases)]
        return cut[0] if len(cut) == 1 else None
    named = [one for one in fits if one.published_as and re.search(one.published_as, bare.lower())]
    return max(named, key=lambda one: len(one.published_as)) if named and memory_bytes is not None else None


def _is_near(row: GpuSpec, memory_bytes: float) -> bool:
    return any(abs(memory_bytes / size - 1) < _NEAR for size in (row.usable_memory_bytes, row.memory_bytes))


def _bare(line: str) -> str:
    return _QUOTE.sub("", without_colours(line[:LONGEST_LINE])).rstrip()


def _merged(one: SeenGpu | None, other: SeenGpu) -> SeenGpu:
    """What two tools say of one GPU: figures of the first that has them, and a whole name before a cut one."""
    if one is None:
        return other
    names = sorted((one.name, other.name), key=lambda name: (not name, name.endswith("...")))
    values = {
        field.name: getattr(one, field.name) if getattr(one, field.name) is not None else getattr(other, field.name)
        for field in fields(SeenGpu)
    }
    return replace(SeenGpu(**values), name=names[0], mig=one.mig or other.mig)


def _all(lines: list[str]) -> Iterator[SeenGpu]:
    yield from _table(lines)
    yield from _listed(lines)
    yield from _csv(lines)
    yield from _queried(lines)
    yield from _rocm(lines)
    yield from _amd(lines)


def _table(lines: list[str]) -> Iterator[SeenGpu]:
    """nvidia-smi's table: a row with the name and the bus, one with the memory, one with the mode of instances."""
    index = -1
    for line in lines:
        cells = line.split("|")
        if len(cells) < 4:
            index = -1 if line.startswith("+") else index
            continue
        name = _NAME_CELL.match(cells[1])
        if name and _BUS.search(cells[2]):
            index = whole(name[1])
            yield SeenGpu(index, _MODE.sub("", f"{name[2]} ").strip())
        elif index >= 0 and (memory := _MEMORY_CELL.search(cells[2])):
            yield SeenGpu(index, "", whole(memory[2]) * MIB, whole(memory[1]) * MIB)
        elif index >= 0 and cells[3].strip() == "Enabled":
            yield SeenGpu(index, mig=True)


def _listed(lines: list[str]) -> Iterator[SeenGpu]:
    index = -1
    for line in lines:
        if match := _LISTED.match(line):
            index = whole(match[1])
            yield SeenGpu(index, match[2])
        elif index >= 0 and _MIG_LISTED.match(line):
            yield SeenGpu(index, mig=True)


def _csv(lines: list[str]) -> Iterator[SeenGpu]:
    """A query's CSV, whose header names the columns."""
    columns: list[str] = []
    row = 0
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        heads = [cell.partition(" [")[0] for cell in cells]
        if "name" in heads and len(cells) > 1:
            columns, row = heads, 0
            continue
        if not columns or len(cells) != len(columns):
            columns = columns if line.strip() and len(cells) == len(columns) else []
            continue
        values = {_COLUMNS[head]: cell for head, cell in zip(columns, cells, strict=True) if head in _COLUMNS}
        index = whole(values["index"]) if values.get("index", "").isdecimal() else row
        yield SeenGpu(index, values.get("name", ""), _mib(values.get("total")), _mib(values.get("used")))
        row += 1


def _queried_driver(lines: Iterable[str]) -> str | None:
    """The driver of a query's CSV."""
    columns: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        if "driver_version" in cells:
            columns = cells
        elif columns and len(cells) == len(columns):
            return cells[columns.index("driver_version")]
    return None


def _mib(cell: str | None) -> int | None:
    digits = (cell or "").removesuffix("MiB").strip()
    return whole(digits) * MIB if digits.isdecimal() else None


def _queried(lines: list[str]) -> Iterator[SeenGpu]:
    """`nvidia-smi -q`: GPUs in their order, the frame buffer's total and what is used of it under a heading."""
    index, in_memory = -1, False
    for line in lines:
        if match := _QUERIED.match(line):
            index += 1
            yield SeenGpu(index, match[1].strip())
        elif "FB Memory Usage" in line:
            in_memory = True
        elif in_memory and index >= 0 and (size := _FB.match(line)):
            held = whole(size[2]) * MIB
            yield SeenGpu(index, "", held) if size[1] == "Total" else SeenGpu(index, "", None, held)
            in_memory = size[1] == "Total"


def _rocm(lines: list[str]) -> Iterator[SeenGpu]:
    for line in lines:
        if name := _ROCM_NAME.match(line):
            yield SeenGpu(whole(name[1]), name[2].strip())
        elif memory := _ROCM_MEMORY.match(line):
            size = whole(memory[3])
            yield SeenGpu(whole(memory[1]), "", None if memory[2] else size, size if memory[2] else None)
        elif '"card' in line:
            yield from (_of_json(whole(card[1]), card[2]) for card in _ROCM_JSON.finditer(line))


def _of_json(index: int, body: str) -> SeenGpu:
    said: Mapping[str, str] = {name.lower(): value for name, value in _JSON_FIELD.findall(body)}
    total, used = (said.get(f"vram total {what}memory (b)", "") for what in ("", "used "))
    name = said.get("card series") or said.get("device name") or ""
    return SeenGpu(
        index, name, whole(total) if total.isdecimal() else None, whole(used) if used.isdecimal() else None
    )


def _amd(lines: list[str]) -> Iterator[SeenGpu]:
    """amd-smi's blocks of a GPU each, and its table of two rows a GPU."""
    index, name = -1, ""
    for line in lines:
        if block := _AMD_GPU.match(line):
            index = whole(block[1])
        elif index >= 0 and (named := _AMD_NAME.match(line)):
            yield SeenGpu(index, named[1].strip())
        elif index >= 0 and (size := _AMD_SIZE.match(line)):
            yield SeenGpu(index, "", whole(size[1]) * MIB)
        elif index >= 0 and (used := _AMD_USED.match(line)):
            yield SeenGpu(index, "", None, whole(used[1]) * MIB)
        elif row := _AMD_ROW.match(line):
            name = row[1]
        elif name and (memory := _AMD_MEMORY.match(line)):
            yield SeenGpu(whole(memory[1]), name, whole(memory[3]) * MIB, whole(memory[2]) * MIB)
            name = ""
