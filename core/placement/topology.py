"""`nvidia-smi topo -m` read into what a placement needs: which GPUs share NVLink, how the rest meet, which NICs.

The table's columns are named in a header, its rows begin with a name; what follows a row's cells (affinities) is
left out. It may stand in color, Markdown, CSV or JSON, wrapped, or in a log; `rocm-smi` and `amd-smi` have theirs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import OutOfRangeError, UnreadableTextError
from core.placement.written_ways import MOST_DEVICES, written_rows
from core.text.lines import CONTAINER
from core.text.numbers import whole_number

MOST_GPUS_A_NODE = 72
MOST_TABLES = 64
LONGEST_PREFIX = 300
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|(?:␛|←|\^\[|\\(?:u001b|x1b|033|e))?\[[0-9;]{1,20}m")
"""An underlined header, also where the escape character was lost or spelt out on the way."""
_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]"
_FIRST_GPU = re.compile(rf"(?<!\w)(?:GPU\d{{1,3}}(?=\s|$|GPU\d|NIC\d|CPU)|{_ADDRESS}(?=\s|$))", re.IGNORECASE)
_GPU = re.compile(rf"GPU\d{{1,3}}|{_ADDRESS}", re.IGNORECASE)
_NIC = re.compile(r"[A-Za-z][\w.-]{1,40}")
_GLUED = re.compile(r"(?:(?:GPU|NIC)\d{1,3}){1,600}(?:CPU)?")
_ONE_NAME = re.compile(r"(?:GPU|NIC)\d{1,3}|CPU")
_AFFINITIES = re.compile(r"(?:CPU|NUMA|GPU|Affinity|ID)\b", re.IGNORECASE)
_CELL = re.compile(r"X|NV\d{1,2}|NVB|PSB|PIX|PXB|PHB|NODE|SYS|SOC|C2C|N/A|XGMI|PCIE|XXXX|SELF|UNKNOWN|0")
_ONE_WAY = re.compile(r"NV\d{1,2}|NVB|PSB|PIX|PXB|PHB|NODE|SYS|SOC|C2C|N/A|X")
_GLUED_CELLS = re.compile(rf"(?:{_ONE_WAY.pattern}){{2,600}}")
_QUOTE = re.compile(r"^[ \t]{0,8}(?:>[ \t]?){1,6}")
_BETWEEN = re.compile(r"[|,]")
_ESCAPED = re.compile(r"\\[tn] {0,8}(?:GPU|NV|PIX|PXB|PHB|NODE|SYS|X)")
"""Tabs and line ends spelt out, as in a string of JSON or of code."""
_NAME = re.compile(
    r"^(?:[^\n]{0,300}?(?:GPU[ \t]{1,3}\d{1,3}:[ \t]{1,3}|\|[ \t]{1,5}\d{1,3}[ \t]{1,3}"
    r"|(?:Card (?:Series|Model)|MARKET_NAME|Product Name)[ \t]{0,20}:[ \t]{0,40})"
    r"((?:NVIDIA|Tesla|GeForce|Quadro|AMD|[ABHLV]\d{1,3}0?)[\w .-]{0,60}?)"
    r"(?=[ \t]{2,}|[ \t]{0,3}\(UUID|[ \t]{0,9}\||[ \t]{0,9}$)"
    r"|(?:\d{1,3},[ \t]{0,3})?((?:NVIDIA|Tesla|AMD) (?:GeForce |Instinct )?(?:RTX |GTX |PRO ){0,2}[A-Z]{0,2}\d{1,4}"
    r"[\w .-]{0,40}?)[ \t]{0,9}(?=,|$))",
    re.MULTILINE,
)
"""A GPU's own name: in `nvidia-smi -L`, in a row of nvidia-smi's table or of its CSV, in what AMD's tools print."""
_RULE = re.compile(r"[\s:-]*")
_AMD = re.compile(r"ROCm System Management|rocm-smi|amd-smi|\bXGMI\b|\b(?:ACCESS|WEIGHT|HOPS|LINK TYPE) TABLE:")
MOST_CHARACTERS = 2**20
NEAREST = ("PIX", "PXB", "PHB", "NODE", "SOC", "SYS", "PCIE")
"""Ways over PCIe, nearest first; SOC is SYS in drivers before 2017, AMD's PCIE any of them."""
_ITSELF = ("X", "0", "SELF")


@dataclass(frozen=True)
class Topology:
    """One machine as its driver draws it. `links` holds each pair once, the lower GPU first.

    `names` are the GPUs' own, each once, where another command's output stands beside the table; `tables` the GPUs
    of each table in the text, this one's first.
    """

    gpus: int
    nics: tuple[str, ...]
    links: Mapping[tuple[int, int], str]
    nic_links: Mapping[tuple[int, str], str]
    names: tuple[str, ...] = ()
    tables: tuple[int, ...] = ()

    @property
    def nvlink_present(self) -> bool:
        """Whether any two GPUs share NVLink, or XGMI."""
        return any(_direct(way) for way in self.links.values())

    @property
    def domains(self) -> tuple[tuple[int, ...], ...]:
        """GPUs grouped by who reaches whom over NVLink directly, every one of a group every other; lowest first.

        A cube mesh, where not all pairs are joined, falls into its fully joined parts.
        """
        groups: list[list[int]] = []
        for gpu in range(self.gpus):
            home = next((group for group in groups if all(self._joined(other, gpu) for other in group)), None)
            if home is None:
                groups.append([gpu])
            else:
                home.append(gpu)
        return tuple(tuple(group) for group in groups)

    @property
    def domain(self) -> int:
        """GPUs of a group that every tensor-parallel group of the size can count on."""
        return kept_together([len(group) for group in self.domains])

    @property
    def bonded(self) -> int:
        """NVLinks between the two GPUs of a pair that has fewest: 4 of NV4; 0 without any."""
        return min((_lanes(way) for way in self.links.values() if _lanes(way)), default=0)

    @property
    def most_bonded(self) -> int:
        """NVLinks between the two GPUs of a pair that has most; 0 without any."""
        return max((_lanes(way) for way in self.links.values()), default=0)

    @property
    def of_amd(self) -> bool:
        """Whether xGMI joins any two."""
        return "XGMI" in self.links.values()

    @property
    def worst_way(self) -> str:
        """The farthest that two GPUs are apart: NV#, or a way over PCIe; `X` for one GPU alone."""
        over_pcie = [way for way in self.links.values() if way in NEAREST]
        if over_pcie:
            return max(over_pcie, key=NEAREST.index)
        return min(self.links.values(), key=_lanes, default="X")

    @property
    def near_nics(self) -> tuple[str, ...]:
        """NICs that some GPU reaches without a CPU between (PIX or PXB): those that GPUs can send through."""
        near = {nic for (_, nic), way in self.nic_links.items() if way in ("PIX", "PXB")}
        return tuple(nic for nic in self.nics if nic in near)

    def part(self, gpus: Sequence[int]) -> "Topology":
        """The same of some of its GPUs, numbered anew in their order."""
        at = {gpu: index for index, gpu in enumerate(gpus)}
        links = {(at[one], at[other]): way for (one, other), way in self.links.items() if {one, other} <= set(at)}
        nic_links = {(at[one], nic): way for (one, nic), way in self.nic_links.items() if one in at}
        return Topology(len(at), self.nics, links, nic_links)

    def _joined(self, one: int, other: int) -> bool:
        return _direct(self.links.get((min(one, other), max(one, other)), ""))


def read_node(text: str) -> Topology:
    """The same, of no more GPUs than a node of the planner has. Raises OutOfRangeError for more."""
    topology = read_topology(text)
    if topology.gpus > MOST_GPUS_A_NODE:
        raise OutOfRangeError("GPUs in the table", topology.gpus, f"must be at most {MOST_GPUS_A_NODE}")
    return topology


def read_topology(text: str) -> Topology:
    """The first whole table in a text; one that is another's (`topo -p2p`), or is cut, is passed over.

    Raises UnreadableTextError where there is none, with what is wrong with the first that was tried.
    """
    first, *others = _tables_in(text)
    return replace(first, names=names_in(text), tables=(first.gpus, *(other.gpus for other in others)))


def kept_together(sizes: Sequence[int]) -> int:
    """How many GPUs every engine of so many, and of fewer, finds in one group of groups of such sizes.

    Of a pair and a third GPU there is one engine of two, and the pair is its own; of a pair and two more there are
    two, and one of them is apart.
    """
    gpus, most = sum(sizes), min(sizes)
    while most < gpus and sum(size // (most + 1) for size in sizes) >= gpus // (most + 1):
        most += 1
    return most


def names_in(text: str) -> tuple[str, ...]:
    """The GPUs that `nvidia-smi`, `nvidia-smi -L`, `rocm-smi` or `amd-smi` name in a text, each once."""
    found = ((match[1] or match[2]).strip() for match in _NAME.finditer(text[:MOST_CHARACTERS]))
    return tuple(dict.fromkeys(found))


def _tables_in(text: str) -> list[Topology]:
    """Each whole table of a text in its order, at least one."""
    unescaped = text.replace("\\t", "\t").replace("\\n", "\n").replace('"', "") if _ESCAPED.search(text) else text
    lines = [_bare(line) for line in unescaped.splitlines()]
    refusals, read = list[UnreadableTextError](), list[Topology]()
    written = written_rows(text[:MOST_CHARACTERS])
    if written:
        return [_topology([name for name, _ in written], written)]
    for number, line in enumerate(lines):
        start = _first_gpu(line)
        columns = _header(line[start:]) if start >= 0 else []
        if not columns:
            continue
        below = lines[number + 1 : number + 1 + 3 * MOST_DEVICES]
        try:
            read.append(_topology(columns, list(_rows(below, columns, bool(line[:start].strip())))))
        except UnreadableTextError as refusal:
            refusals.append(refusal)
        if len(refusals) + len(read) == MOST_TABLES:
            break
    if read:
        return read
    if _AMD.search(text):
        raise UnreadableTextError(
            "of AMD's tools only a whole table of link types is read, as rocm-smi --showtopo or amd-smi topology -t"
            " prints it: set GPUs, link and NICs by hand"
        )
    if refusals:
        raise refusals[0]
    raise UnreadableTextError("no table of nvidia-smi topo -m: a line that names GPU0, GPU1 and so on begins it")


def _bare(line: str) -> str:
    """A line without colour, quote marks, a container's name before it, and what parts a table's columns."""
    plain = CONTAINER.sub("", _QUOTE.sub("", _COLOUR.sub("", line)))
    return _BETWEEN.sub(" ", plain)


def _first_gpu(line: str) -> int:
    """Where the first GPU's name begins, behind what a log may put before each line; -1 for nowhere."""
    match = _FIRST_GPU.search(line)
    return -1 if match is None else match.start()


def _header(line: str) -> list[str]:
    """The names of a header's columns: GPUs, then NICs under any name, up to affinities; empty where it is none."""
    tokens = [name for token in line.split() for name in _separate(token)]
    names: list[str] = []
    for token in tokens:
        if not (_GPU.fullmatch(token) or (_NIC.fullmatch(token) and not _AFFINITIES.match(token))):
            break
        names.append(token)
    is_row = any(_CELL.fullmatch(token) for token in tokens[1 : len(names) + 1])
    return [] if is_row or not names or len(names) > MOST_DEVICES else names


def _separate(token: str) -> list[str]:
    """The names or cells in a token: several where the blank between two columns is missing."""
    if _GLUED.fullmatch(token):
        return _ONE_NAME.findall(token)
    return _ONE_WAY.findall(token) if _GLUED_CELLS.fullmatch(token) else [token]


def _rows(lines: Sequence[str], columns: Sequence[str], prefixed: bool) -> Iterator[tuple[str, list[str]]]:
    """The rows under a header, as far as they go on: a name and its cells, `prefixed` as the header is."""
    waited = 0
    first_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, columns))})(?=\s)")
    for line in lines:
        named = first_name.search(line[:LONGEST_PREFIX]) if prefixed else None
        tokens = line[named.start() if named else 0 :].split()
        if _RULE.fullmatch(line) or tokens[0] not in columns:  # the rest of a row that was too wide
            waited += 1
            if waited > 3:
                return
            continue
        if tokens[1:2] == columns[1:2]:
            return
        waited = 0
        cells = [cell for token in tokens[1 : 1 + len(columns)] for cell in _separate(token)]
        yield tokens[0], cells[: len(columns)]


def _topology(columns: Sequence[str], rows: Sequence[tuple[str, list[str]]]) -> Topology:
    """Rows put together and held against each other."""
    gpus = [name for name in columns if _GPU.fullmatch(name)]
    nics = tuple(name for name in columns if not _GPU.fullmatch(name))
    cells = {name: row for name, row in rows if _GPU.fullmatch(name)}
    if set(cells) != set(gpus):
        missing = ", ".join(sorted(set(gpus) - set(cells))[:8])
        raise UnreadableTextError(f"the header names {len(gpus)} GPUs, and rows are missing for {missing}")
    for name in gpus:
        if len(cells[name]) < len(columns) or not all(_CELL.fullmatch(cell) for cell in cells[name]):
            raise UnreadableTextError(f"the row of {name} does not have a cell for each of {len(columns)} columns")
    links: dict[tuple[int, int], str] = {}
    nic_links: dict[tuple[int, str], str] = {}
    for one, name in enumerate(gpus):
        ways = dict(zip(columns, cells[name], strict=True))
        if ways[name] not in _ITSELF:
            raise UnreadableTextError(f"the row of {name} has {ways[name]} where X, itself, belongs")
        for other in range(one + 1, len(gpus)):
            links[one, other] = ways[gpus[other]]
            if links[one, other] in _ITSELF:
                raise UnreadableTextError(f"{name} and {gpus[other]} are two, and the table says that they are one")
            if cells[gpus[other]][columns.index(name)] != links[one, other]:
                raise UnreadableTextError(f"{name} and {gpus[other]} disagree on the way between them")
        nic_links |= {(one, nic): ways[nic] for nic in nics}
    return Topology(len(gpus), nics, links, nic_links)


def _direct(way: str) -> bool:
    """Whether a way is a link between two GPUs and not a bus: NVLink, or AMD's XGMI."""
    return way.startswith("NV") or way == "XGMI"


def _lanes(way: str) -> int:
    """How many NVLinks are bonded: 12 of NV12; 0 for another way."""
    return (whole_number(way[2:], 0) or 0) if way.startswith("NV") else 0
