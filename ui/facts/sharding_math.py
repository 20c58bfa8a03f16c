"""Lab 01: what the page draws, and the numbers its prose is filled with."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.errors import IndivisibleError, OutOfRangeError
from core.scenario import Scenario
from core.sharding.examples import FULL_WIDTH, NARROW_WIDTH, Kind, Run, run
from core.sharding.faults import FAULTS, Gap, broken
from core.sharding.group import Group
from core.sharding.numerics import LargestError, Precision, SumOrder, largest_error, precision, ulps_apart
from core.sharding.step_ledger import ends_collectives, layer_collectives, step_ledger
from core.sharding.tensors import Array
from core.sharding.tp_sizes import Rule, check_tp_size, tp_sizes
from core.sharding_math import column_layer, row_layer
from core.units import binary_bytes, grouped, significant
from runtime import content
from ui.prose import Prose

STEM = "sharding_math"
KINDS: Mapping[str, Kind] = {"Column": "column", "Row": "row", "MLP pair": "mlp"}
RANKS = (1, 2, 3, 4, 6, 8)
DRAWN_FORMAT = "float32"
BROKEN_RANKS = 2
MISTAKES = {
    "All-reduce left out": "no_all_reduce",
    "Reduced twice": "reduced_twice",
    "Mean for sum": "mean_for_sum",
    "Activation first": "activation_before_sum",
    "Bias on every rank": "bias_on_every_rank",
}
DRAWN_LENGTH = 8
"""The dimension that is cut in every drawing."""

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


@dataclass(frozen=True)
class Drawing:
    """One computation drawn at its widths, widest first, and the format it is drawn in."""

    kind: Kind
    num_ranks: int
    runs: tuple[Run, ...]
    fmt: Precision


def drawing(kind: Kind, num_ranks: int) -> Drawing:
    """The runs that the stepper shows. Eight ranks are drawn narrow only: no wider picture is readable.

    Raises IndivisibleError.
    """
    fmt = precision(DRAWN_FORMAT)
    widths = (NARROW_WIDTH,) if num_ranks > 4 else (FULL_WIDTH, NARROW_WIDTH)
    runs = tuple(run(kind, num_ranks, width, fmt) for width in widths)
    return Drawing(kind, num_ranks, runs, fmt)


def struck_ranks() -> Mapping[int, str]:
    """Rank counts that leave a remainder, each with the equation it breaks."""
    rule = Rule("the drawn width", DRAWN_LENGTH)
    return {size: rule.broken_equation(size) for size in RANKS if not rule.holds(size)}


def payload(scenario: Scenario) -> int:
    """Bytes of one all-reduce of a decode step."""
    return layer_collectives(scenario.model_spec, scenario.batch, max(2, scenario.tp))[0].payload_bytes


def payload_terms(scenario: Scenario) -> tuple[str, ...]:
    """The payload of one all-reduce: formula, values, result."""
    model = scenario.model_spec
    width = payload(scenario) // (scenario.batch * model.hidden_size)
    values = f"{grouped(scenario.batch)} × {grouped(model.hidden_size)} × {width} B"
    return "tokens × hidden_size × bytes", values, binary_bytes(payload(scenario))


def count_terms(scenario: Scenario) -> tuple[str, ...]:
    """The all-reduces of one step: formula, values, result."""
    layers, count = scenario.model_spec.num_hidden_layers, len(ledger_cells(scenario))
    return "sums a layer × layers", f"{count // layers} × {layers}", f"{count} all-reduces"


@dataclass(frozen=True)
class LedgerCell:
    """One all-reduce of a step, as a cell of the strip: its layer and which half of the layer owes it."""

    layer: int
    half: str
    operation: str
    payload: str
    ranks: int
    why: str


def ledger_cells(scenario: Scenario) -> tuple[LedgerCell, ...]:
    """The ledger of one decode step, in order.

    Raises OutOfRangeError when the model does not split over the scenario's TP size.
    """
    size = check_tp_size(scenario.model_spec, scenario.tp)
    if size.broken:
        raise OutOfRangeError("tp_size", scenario.tp, f"does not split {scenario.model}: {'; '.join(size.broken)}")
    entries = step_ledger(scenario.model_spec, scenario.batch, scenario.tp)
    return tuple(
        LedgerCell(
            layer=index // 2,
            half=entry.layer.split()[-1],
            operation=entry.op.replace("_", "-"),
            payload=binary_bytes(entry.payload_bytes),
            ranks=entry.ranks,
            why=entry.why,
        )
        for index, entry in enumerate(entries)
    )


@dataclass(frozen=True)
class SizeCell:
    """One TP size of the scenario's model, judged."""

    tp_size: int
    verdict: str
    kv_copies: int
    equation: str


def size_cells(scenario: Scenario) -> tuple[SizeCell, ...]:
    """Every TP size from 1 to 64."""
    names = {"allowed": "allowed", "kv_replicated": "KV heads copied", "refused": "refused"}
    return tuple(
        SizeCell(size.tp_size, names[size.verdict], size.kv_copies, "; ".join(size.broken))
        for size in tp_sizes(scenario.model_spec)
    )


@dataclass(frozen=True)
class Bench:
    """What the bench asks: a layer, how it is cut, and how it is computed."""

    in_features: int
    out_features: int
    num_ranks: int
    dtype: str
    order: SumOrder


@dataclass(frozen=True)
class UlpsRow:
    """How many entries of y lie how many ulps from the dense product, for one way to cut."""

    cut: str
    ulps: int
    entries: int


@dataclass(frozen=True)
class BenchResult:
    """Both cuts of one layer against its dense product: counts by distance, and the row cut's largest error."""

    rows: tuple[UlpsRow, ...]
    row_error: LargestError


def bench_result(bench: Bench) -> BenchResult:
    """One random layer of 16 tokens, cut both ways, in the format and order asked for.

    Raises IndivisibleError.
    """
    rng, fmt = np.random.default_rng(0), precision(bench.dtype)
    x, W = rng.normal(size=(16, bench.in_features)), rng.normal(size=(bench.out_features, bench.in_features))
    by_column, alone = (Group(n, fmt=fmt, order=bench.order) for n in (bench.num_ranks, 1))
    dense = column_layer(alone, alone.replicate("x", x), W).full()
    column = column_layer(by_column, by_column.replicate("x", x), W).full()
    by_row = Group(bench.num_ranks, fmt=fmt, order=bench.order)
    row = row_layer(by_row, by_row.shard("x", x, -1, "in_features"), W).full()
    rows = (*_counted("column", ulps_apart(column, dense, fmt)), *_counted("row", ulps_apart(row, dense, fmt)))
    return BenchResult(rows, largest_error(row, dense, fmt))


def _counted(cut: str, apart: Array) -> list[UlpsRow]:
    """Entries by distance; from nine ulps on they are counted together."""
    counts = np.bincount(np.minimum(apart, 9).reshape(-1), minlength=10)
    return [UlpsRow(cut, ulps, int(entries)) for ulps, entries in enumerate(counts)]


def fields(scenario: Scenario, kind: Kind, num_ranks: int, mistake: str, bench: Bench) -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit. What depends on one drawn run is the view's."""
    model = scenario.model_spec
    sent = layer_collectives(model, scenario.batch, max(2, scenario.tp))
    step = step_ledger(model, scenario.batch, scenario.tp)
    values = {
        "model": model.key,
        "tp": str(scenario.tp),
        "tokens": _tokens(scenario.batch),
        "batch": grouped(scenario.batch),
        "layers": str(model.num_hidden_layers),
        "hidden": grouped(model.hidden_size),
        "payload": binary_bytes(sent[0].payload_bytes),
        "element_bytes": str(sent[0].payload_bytes // (scenario.batch * model.hidden_size)),
        "per_layer": str(len(sent)),
        "per_layer_word": _WORDS[len(sent)],
        "per_layer_title": _WORDS[len(sent)].capitalize(),
        "all_reduces": str(step.count()),
        "step_bytes": binary_bytes(step.payload_bytes()),
        **_end_fields(scenario),
        **_size_fields(scenario),
        **_drawn_fields(num_ranks),
        **_fault_fields(MISTAKES[mistake]),
        **_bench_fields(bench, scenario),
    }
    blocks = Prose(content.load(STEM), values)
    title = "refused" if num_ranks in struck_ranks() else "one" if num_ranks == 1 else kind
    return {**values, "see_title": blocks.text(f"see.title_{title}")}


def _tokens(count: int) -> str:
    return "one token" if count == 1 else f"{grouped(count)} tokens"


def _end_fields(scenario: Scenario) -> dict[str, str]:
    embedding, head = ends_collectives(scenario.model_spec, scenario.batch, scenario.batch, max(2, scenario.tp))
    return {
        "embedding_payload": binary_bytes(embedding.payload_bytes),
        "logits_payload": binary_bytes(head.payload_bytes),
        "logits_ratio": significant(head.payload_bytes / embedding.payload_bytes, 2),
        "vocab_size": grouped(scenario.model_spec.vocab_size),
    }


def _size_fields(scenario: Scenario) -> dict[str, str]:
    sizes = size_cells(scenario)
    allowed = [cell for cell in sizes if cell.verdict != "refused"]
    copied = [str(cell.tp_size) for cell in sizes if cell.verdict == "KV heads copied"]
    return {
        "sizes_allowed": str(len(allowed)),
        "sizes_all": str(len(sizes)),
        "sizes_list": ", ".join(str(cell.tp_size) for cell in allowed),
        "sizes_copied": ", ".join(copied) or "none",
        "kv_heads": str(scenario.model_spec.num_key_value_heads),
        "heads": str(scenario.model_spec.num_attention_heads),
    }


def _drawn_fields(num_ranks: int) -> dict[str, str]:
    share = DRAWN_LENGTH // num_ranks
    return {
        "ranks": str(num_ranks),
        "ranks_word": _WORDS[num_ranks],
        "share_columns": f"{_WORDS[share]} column{'s' if share > 1 else ''}",
        "share_rows": f"{_WORDS[share]} row{'s' if share > 1 else ''}",
        "share_entries": f"{_WORDS[share]} entr{'ies' if share > 1 else 'y'}",
        "drawn_format": DRAWN_FORMAT,
    }


def _fault_fields(fault: str) -> dict[str, str]:
    gap: Gap = broken(fault, BROKEN_RANKS).gap()
    fewest, most = (broken(fault, n).gap() for n in (BROKEN_RANKS, 8))
    return {
        "fault_wrong": str(gap.wrong),
        "fault_entries": str(gap.entries),
        "fault_gap": f"{abs(gap.largest):.2f} too {'much' if gap.largest > 0 else 'little'}",
        "fault_where": f"y[{gap.index}]",
        "fault_ranks": _WORDS[BROKEN_RANKS],
        "fault_gap_few": f"{abs(fewest.largest):.2f}",
        "fault_gap_many": f"{abs(most.largest):.2f}",
        "faults": _WORDS[len(FAULTS)],
    }


def _bench_fields(bench: Bench, scenario: Scenario) -> dict[str, str]:
    try:
        error = bench_result(bench).row_error
    except IndivisibleError:
        error = LargestError(0, (0, 0), 0, 0)
    weights = bench.in_features * bench.out_features
    return {
        "bench_ranks": str(bench.num_ranks),
        "bench_dtype": bench.dtype,
        "bench_order": bench.order,
        "bench_rank_weights": grouped(weights // bench.num_ranks),
        "bench_weights": grouped(weights),
        "bench_apart": grouped(error.entries_apart),
        "bench_entries": grouped(error.entries),
        "bench_ulps": f"{grouped(error.ulps)} ulp{'' if error.ulps == 1 else 's'}",
        "bench_where": f"y[{', '.join(map(str, error.index))}]",
        "payload_raw": grouped(payload(scenario)),
    }
