"""Tables in the formats of nccl-tests, printed anew from a model's figures, and what is read of them.

They are nobody's paste.
"""

from dataclasses import dataclass

from core.errors import UnreadableTextError
from core.links.nccl_tests import read_tables
from runtime.prose import explained, worded


@dataclass(frozen=True)
class Layout:
    """What one generation of the tests prints: its columns, its marks, its unit of time."""

    mark: str = "# "
    redop: bool = True
    root: bool = True
    wrong: str | None = "0"
    wrong_name: str = "#wrong"
    in_place: bool = True
    unit_us: float = 1.0


NEW = Layout()
OLD = Layout(root=False, wrong="0e+00", wrong_name="error")
OLD_GATHER = Layout(redop=False, root=False, wrong="0e+00", wrong_name="error")


def sizes(smallest=8, largest=1 << 27):
    """Powers of two from one to the other."""
    found = [smallest]
    while found[-1] < largest:
        found.append(2 * found[-1])
    return found


def model_us(size, fixed_us=20.0, gb_s=100.0, factor=1.0):
    """fixed + k·n/β, in µs."""
    return fixed_us + factor * size / (gb_s * 1e3)


def factor_of(op, ranks):
    """busbw / algbw."""
    if op == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if op in ("all_gather", "reduce_scatter", "alltoall") else 1.0


def row(size, time_us, op="all_reduce", ranks=8, layout=NEW, per_rank=False, in_place_us=None):
    """One row as it is printed. `per_rank` divides algbw by the ranks, as before mid-2020."""
    share = ranks if op in ("all_gather", "reduce_scatter", "alltoall") else 1
    redop = {"all_reduce": "sum", "reduce_scatter": "sum", "reduce": "sum"}.get(op, "none")
    root = "0" if op in ("broadcast", "reduce") else "-1"
    cells = [f"{size:12d}", f"{size // 4 // share:13d}", f"{'float':>9}"]
    cells += [f"{redop if op != 'broadcast' else '':>7}"] if layout.redop else []
    cells += [f"{root:>7}"] if layout.root else []
    first = half(size, time_us, op, ranks, layout.wrong, layout, per_rank)
    unchecked = "N/A" if op == "alltoall" and layout.wrong is not None else layout.wrong
    second = half(size, in_place_us or time_us, op, ranks, unchecked, layout, per_rank) if layout.in_place else ""
    return "".join(cells) + first + second


def half(size, time_us, op, ranks, wrong, layout, per_rank):
    """One half of a row."""
    printed = f"{time_us / layout.unit_us:.3f}" if layout.unit_us > 1 else _time(time_us)
    algbw = size / time_us / 1e3 / (ranks if per_rank else 1)
    busbw = algbw * ((ranks - 1) if per_rank else factor_of(op, ranks))
    return f"{printed:>9}{algbw:8.2f}{busbw:8.2f}" + ("" if wrong is None else f"{wrong:>7}")


def _time(time_us):
    if time_us >= 10000:
        return f"{time_us:.0f}"
    return f"{time_us:.1f}" if time_us >= 100 else f"{time_us:.2f}"


def header(layout=NEW):
    """The three lines above the rows."""
    columns = ["size", "count", "type"] + (["redop"] if layout.redop else []) + (["root"] if layout.root else [])
    one = ["time", "algbw", "busbw"] + ([layout.wrong_name] if layout.wrong is not None else [])
    halves = one * (2 if layout.in_place else 1)
    above = "out-of-place" + (" " * 20 + "in-place" if layout.in_place else "")
    units = "(B) (elements)" + " (us) (GB/s) (GB/s)" * (2 if layout.in_place else 1)
    return [f"{layout.mark}{'':40}{above}", layout.mark + "  ".join(columns + halves), layout.mark + units]


def devices(ranks, hosts=1, mark="# "):
    """The device list, ranks distributed to hosts in blocks."""
    per_host = ranks // hosts
    return [
        f"{mark} Rank {r:2d} Group  0 Pid {900 + r} on node{r // per_host} device {r % per_host:2d} "
        f"[0000:{r % per_host:02x}:00] NVIDIA Imaginary"
        for r in range(ranks)
    ]


def table(
    op="all_reduce", ranks=8, layout=NEW, fixed_us=20.0, gb_s=100.0, largest=1 << 27, per_rank=False, hosts=1
):
    """A whole run: its name, device list, rows and footer."""
    factor = factor_of(op, ranks)
    spans = sizes(8 * (ranks if factor < 1 else 1), largest)
    times = [model_us(n, fixed_us, gb_s, factor) for n in spans]
    rows = [row(n, us, op, ranks, layout, per_rank) for n, us in zip(spans, times, strict=True)]
    scale = (ranks - 1) / ranks if per_rank else factor
    mean = sum(round(n / us / 1e3 * scale, 2) for n, us in zip(spans, times, strict=True)) / len(spans)
    return "\n".join(
        [
            f"# Collective test starting: {op}_perf",
            f"# nThread 1 nGpus {ranks} minBytes {spans[0]} maxBytes {largest} step: 2(factor) warmup iters: 5",
            "#",
            "# Using devices",
            *devices(ranks, hosts),
            "#",
            *header(layout),
            *rows,
            "# Out of bounds values : 0 OK",
            f"# Avg bus bandwidth    : {mean:g}",
            "#",
        ]
    )


def only(text):
    """The one table of a text."""
    (found,) = read_tables(text)
    return found


def edit_rows(text, change):
    """The text with each of its rows changed."""
    return "\n".join(change(line) if "float" in line else line for line in text.splitlines())


def facts(found):
    """A table's collective, ranks, number of rows, and whether it is trusted."""
    return found.op, found.ranks, len(found.rows), found.trusted


def times(found):
    """Each row's size and out-of-place time."""
    return [(entry.size_bytes, entry.out_of_place_us) for entry in found.rows]


def words(remarks):
    """Remarks as a reader sees them."""
    return [worded(remark) for remark in remarks]


def refusal(text):
    """Why a text is refused, in words; None where it is read."""
    try:
        read_tables(text)
    except UnreadableTextError as error:
        return explained(error)
    return None
