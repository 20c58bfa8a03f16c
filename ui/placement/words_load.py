"""The planner under load: the numbers its prose is filled with."""

from collections.abc import Mapping

from core.serving.curve import LADDER
from core.serving.load import steady_state
from core.units import grouped, percent, plain, seconds
from ui.placement.rows_load import Loaded

_AT = LADDER.index(0.5)
"""The run that is held against the closed form: half the capacity."""


def fields(found: Loaded) -> Mapping[str, str]:
    """Every number of the scene's prose, from core, with its unit."""
    cost, first, last, half = found.cost, found.curve[0], found.curve[-1], found.curve[_AT]
    kept, engines = found.kept, found.engines
    settled = steady_state(cost, half.arrivals_per_s)
    return {
        "load_plan": found.plan.layout.name,
        "load_engines": "one engine" if engines == 1 else f"{engines} engines",
        "load_capacity": plain(engines * cost.capacity_per_s),
        "load_running": grouped(cost.most_running),
        "load_alone": seconds(cost.prefill_s + cost.prefill_delay_s),
        "load_prefill": seconds(cost.prefill_s),
        "load_step": seconds(cost.decode_at(1)),
        "load_chunk": grouped(found.ask.chunk_tokens),
        "load_promise_ttft": seconds(found.ask.ttft_ms / 1e3),
        "load_promise_itl": seconds(found.ask.itl_ms / 1e3),
        "load_low_rate": plain(engines * first.arrivals_per_s),
        "load_low_ttft": seconds(first.ttft_p99_s),
        "load_high_ttft": seconds(last.ttft_p99_s),
        "load_half_rate": plain(engines * half.arrivals_per_s),
        "load_half_p50": seconds(half.itl_p50_s),
        "load_half_p99": seconds(half.itl_p99_s),
        "load_half_mean": seconds(half.itl_mean_s),
        "load_half_closed": "no steady state" if settled is None else seconds(settled.itl_s),
        "load_half_batch": "none" if settled is None else plain(settled.batch),
        "load_half_prefill": percent(half.arrivals_per_s * cost.prefill_s, 0),
        "load_kept_rate": "none" if kept is None else plain(engines * kept.arrivals_per_s),
        "load_kept_share": "none" if kept is None else percent(kept.arrivals_per_s / cost.capacity_per_s, 0),
        "load_kept_tokens": "none" if kept is None else f"{grouped(round(engines * kept.tokens_per_s))} tokens/s",
        "load_requests": grouped(found.curve[0].requests),
        "load_rates": str(len(found.curve)),
        "load_seed": str(found.ask.seed),
    }
