"""Lab 03's bench on what engines of today do: the rows its prose names, and three sums written out."""

from collections.abc import Mapping, Sequence

from core.comm_cost.decode_attention import Attention, DecodeAttention
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank
from core.specs import LinkSpec
from core.steps.speculation import PUBLISHED, Drafted, Speculation
from core.steps.view import View
from core.strategy.disaggregation import Handoff
from runtime.quantities import decimal_bytes, percent, plain


def attention_fields(ask: Attention, ways: Sequence[DecodeAttention]) -> Mapping[str, object]:
    """The three ways by name, and the sum of one rank's keys and values."""
    return {
        "attention": ask,
        "kv_token": kv_bytes_per_token_per_rank(ask.model, ask.ranks),
        **{f"by_{one.way}": one for one in ways},
    }


def draft_fields(ask: Drafted, passes: Sequence[Speculation]) -> Mapping[str, object]:
    """No draft, and the number of drafts by which a token is soonest there."""
    best = min(passes, key=lambda one: one.token_s)
    shown = best if best.drafts else passes[1]
    return {
        "no_draft": passes[0],
        "draft": shown,
        "published_count": len(PUBLISHED),
        "published_least": min(row.over_formula for row in PUBLISHED),
        "published_most": max(row.over_formula for row in PUBLISHED),
        "draft_kept": ask.kept_percent / 100,
        "draft_read": decimal_bytes(shown.read_bytes / (1 + shown.drafts * ask.cost_percent / 100)),
        "draft_passes": f"1 + {shown.drafts} × {percent(ask.cost_percent / 100, 0)}",
        "draft_sum": " + ".join(
            ["1", *(plain((ask.kept_percent / 100) ** k, 2) for k in range(1, shown.drafts + 1))]
        ),
    }


def apart_fields(view: View, handoffs: Sequence[tuple[LinkSpec, Handoff]]) -> Mapping[str, object]:
    """Inside a node and between nodes, and the sum of what is handed over."""
    scenario = view.scenario
    return {
        "apart": handoffs[-1][1],
        "apart_near": handoffs[0][1],
        "apart_link": handoffs[-1][0],
        "apart_near_link": handoffs[0][0],
        "apart_token": kv_bytes_per_token(scenario.model_spec, scenario.kv_dtype),
        "apart_others": handoffs[0][1].request.sequences - 1,
    }
