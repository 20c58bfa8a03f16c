"""Lab 01: what its prose is filled with, rows of core by name."""

from collections.abc import Callable, Mapping

from core.errors import ShardlabError
from core.scenario import Scenario
from core.sharding_math.drawn import BROKEN_RANKS, DRAWN_FORMAT, DRAWN_LENGTH, MORE_RANKS
from core.sharding_math.examples import Kind
from core.sharding_math.mistakes import MISTAKES, Gap, broken
from core.sharding_math.numerics import LargestError
from core.sharding_math.rounding import TOKENS, Trial, TrialResult, run_trial
from core.sharding_math.step_ledger import ends_ledger, layer_collectives, mlp_order_collectives, step_ledger
from core.sharding_math.tp_sizes import tp_sizes
from runtime.kept import kept
from runtime.prose import said
from runtime.quantities import local
from ui.prose import prose_of
from ui.sharding_math import rows

STEM = "sharding_math"


def fields(
    scenario: Scenario,
    kind: Kind,
    num_ranks: int,
    mistake: str,
    bench: Trial,
    tried: Callable[[Trial], TrialResult] = run_trial,
) -> Mapping[str, object]:
    """Core's rows by name; the prose names their fields and units. What depends on one drawn run is the view's.

    `tried` is who makes the bench's trial.
    """
    model, ranks = scenario.model_spec, max(2, scenario.tp)
    sums = layer_collectives(model, scenario.batch, ranks)
    step = step_ledger(model, scenario.batch, scenario.tp)
    embedding, head = ends_ledger(model, scenario.batch, ranks)
    hidden, _ = mlp_order_collectives(model, scenario.batch, ranks, "column_then_column")
    values: dict[str, object] = {
        "scenario": scenario,
        "model": model,
        "sum": sums[0],
        "sum_entries": scenario.batch * model.hidden_size,
        "element_bytes": sums[0].payload_bytes // (scenario.batch * model.hidden_size),
        "a_layer": len(sums),
        "all_reduces": step.count(),
        "step_bytes": step.payload_bytes(),
        "embedding": embedding,
        "head": head,
        "head_ratio": head.payload_bytes / embedding.payload_bytes,
        "hidden_gather": hidden,
        "ranks": num_ranks,
        "drawn_width": DRAWN_LENGTH,
        "share": max(1, DRAWN_LENGTH // num_ranks),
        "drawn_format": DRAWN_FORMAT.name,
        **_size_fields(scenario),
        **_mistake_fields(rows.MISTAKES[mistake], scenario),
        **_bench_fields(bench, tried),
    }
    title = "refused" if num_ranks in rows.struck_ranks(kind) else "one" if num_ranks == 1 else kind
    blocks = prose_of(STEM, values)
    return {
        **values,
        "see_title": blocks.text(f"see.title_{title}"),
        "layer_blocks": blocks.text(f"question.blocks_{len(sums)}"),
        "layer_ends": blocks.text(f"count.ends_{len(sums)}"),
        "count_title": blocks.text(f"count.title_{'many' if step.count() else 'one'}"),
    }


@kept
def _size_fields(scenario: Scenario) -> dict[str, object]:
    sizes = tp_sizes(scenario.model_spec)
    allowed = [str(size.tp_size) for size in sizes if size.verdict != "refused"]
    copied = [str(size.tp_size) for size in sizes if size.verdict == "kv_replicated"]
    return {
        "sizes_allowed": len(allowed),
        "sizes_all": len(sizes),
        "sizes_list": ", ".join(allowed),
        "sizes_copied": ", ".join(copied) or said(STEM, "says.none"),
    }


@kept
def _mistake_fields(mistake: str, scenario: Scenario) -> dict[str, object]:
    gap, more = (broken(mistake, ranks).gap() for ranks in (BROKEN_RANKS, MORE_RANKS))
    ranks = max(2, scenario.tp)
    extra, due = (
        sum(one.payload_bytes for one in mlp_order_collectives(scenario.model_spec, scenario.batch, ranks, order))
        for order in (mistake, "column_then_row")
    )
    return {
        "gap": gap,
        "gap_size": _size(gap),
        "gap_more": _size(more),
        "gap_off": prose_of(STEM, {"size": _size(gap)}).text(
            f"break_it.too_{'much' if gap.largest > 0 else 'little'}"
        ),
        "broken_ranks": BROKEN_RANKS,
        "more_ranks": MORE_RANKS,
        "extra_ranks": BROKEN_RANKS - 1,
        "mistakes": len(MISTAKES),
        "extra_count": len(broken(mistake, BROKEN_RANKS).wrong.collectives),
        "extra_bytes": extra,
        "due_bytes": due,
    }


def _size(gap: Gap) -> str:
    return local(f"{abs(gap.largest):.2f}")


def _bench_fields(bench: Trial, tried: Callable[[Trial], TrialResult]) -> dict[str, object]:
    try:
        error = tried(bench).row_error
    except ShardlabError:  # the figure says why
        error = LargestError(0, (0, 0), 0, 0)
    weights = bench.in_features * bench.out_features
    return {
        "bench": bench,
        "bench_error": error,
        "bench_tokens": TOKENS,
        "bench_where": f"y[{', '.join(map(str, error.index))}]",
        "bench_weights": weights,
        "bench_rank_weights": weights // bench.num_ranks,
    }
