"""Lab 01: the numbers its prose is filled with, each from core and written with its unit."""

from collections.abc import Mapping

from core.errors import IndivisibleError
from core.scenario import Scenario
from core.sharding_math.examples import Kind
from core.sharding_math.exercise import BYTE_UNITS
from core.sharding_math.mistakes import MISTAKES as FAULTS
from core.sharding_math.mistakes import broken
from core.sharding_math.numerics import LargestError
from core.sharding_math.rounding import Trial, run_trial
from core.sharding_math.step_ledger import (
    ends_ledger,
    layer_collectives,
    mlp_order_collectives,
    step_ledger,
)
from core.units import binary_bytes, grouped, significant
from ui.prose import prose_of
from ui.sharding_math.rows import (
    BROKEN_RANKS,
    DRAWN_FORMAT,
    DRAWN_LENGTH,
    MISTAKES,
    MORE_RANKS,
    payload,
    size_cells,
    struck_ranks,
)

STEM = "sharding_math"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def fields(scenario: Scenario, kind: Kind, num_ranks: int, mistake: str, bench: Trial) -> Mapping[str, str]:
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
        **_fault_fields(MISTAKES[mistake], scenario),
        **_bench_fields(bench, scenario),
    }
    blocks = prose_of(STEM, values)
    title = "refused" if num_ranks in struck_ranks(kind) else "one" if num_ranks == 1 else kind
    ranks = "many" if step.count() else "one"
    return {
        **values,
        "see_title": blocks.text(f"see.title_{title}"),
        "count_title": blocks.text(f"count.title_{ranks}"),
    }


def _tokens(count: int) -> str:
    return "one token" if count == 1 else f"{grouped(count)} tokens"


def _end_fields(scenario: Scenario) -> dict[str, str]:
    embedding, head = ends_ledger(scenario.model_spec, scenario.batch, max(2, scenario.tp))
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
    share, heads = DRAWN_LENGTH // num_ranks, max(1, 4 // num_ranks)
    return {
        "ranks": str(num_ranks),
        "ranks_word": _WORDS[num_ranks],
        "share_columns": f"{_WORDS[share]} column{'s' if share > 1 else ''}",
        "share_rows": f"{_WORDS[share]} row{'s' if share > 1 else ''}",
        "share_entries": f"{_WORDS[share]} entr{'ies' if share > 1 else 'y'}",
        "share_heads": f"{_WORDS[heads]} query head{'s' if heads > 1 else ''}",
        "share_tokens": f"{_WORDS[heads]} row{'s' if heads > 1 else ''}",
        "drawn_format": DRAWN_FORMAT.name,
    }


def _fault_fields(fault: str, scenario: Scenario) -> dict[str, str]:
    gap, more = (broken(fault, n).gap() for n in (BROKEN_RANKS, MORE_RANKS))
    model, ranks = scenario.model_spec, max(2, scenario.tp)
    dear, due = (mlp_order_collectives(model, scenario.batch, ranks, order) for order in (fault, "column_then_row"))
    return {
        "fault_wrong": str(gap.wrong),
        "fault_entries": str(gap.entries),
        "fault_gap": f"{abs(gap.largest):.2f} too {'much' if gap.largest > 0 else 'little'}",
        "fault_where": f"y[{gap.index}]",
        "fault_ranks": _WORDS[BROKEN_RANKS],
        "fault_more_ranks": _WORDS[MORE_RANKS],
        "fault_gap_few": f"{abs(gap.largest):.2f}",
        "fault_gap_more": f"{abs(more.largest):.2f}",
        "faults": _WORDS[len(FAULTS)],
        "dear_count": _WORDS[len(dear)],
        "dear_bytes": binary_bytes(sum(entry.payload_bytes for entry in dear)),
        "due_bytes": binary_bytes(sum(entry.payload_bytes for entry in due)),
        "intermediate": grouped(model.intermediate_size),
    }


def _bench_fields(bench: Trial, scenario: Scenario) -> dict[str, str]:
    try:
        error = run_trial(bench).row_error
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
        "byte_units": ", ".join(BYTE_UNITS),
    }
