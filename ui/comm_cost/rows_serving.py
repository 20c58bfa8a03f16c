"""Lab 03's bench on what engines of today do: attention three ways, drafted tokens, prefill on GPUs of its own."""

from collections.abc import Sequence
from dataclasses import replace

from core.comm_cost.decode_attention import DecodeAttention
from core.specs import LinkSpec
from core.steps.speculation import Speculation
from core.strategy.disaggregation import Handoff
from runtime.prose import said
from runtime.quantities import seconds, significant
from ui.comm_cost.rows import BillRow, bar, cost_bar, sum_in_ms


def attention_rows(ways: Sequence[DecodeAttention]) -> list[BillRow]:
    """One bar a way: what a rank reads, then what it waits for and sends."""
    return [
        cost_bar(
            said("comm_cost", f"bar.attention_{one.way}"),
            said("comm_cost", f"attention.{one.way}", one),
            one.cost,
            sum_in_ms(one.read_s, one.cost.total_s),
            one.read_s,
        )
        for one in ways
    ]


def draft_row(one: Speculation, plainly: Speculation) -> BillRow:
    """A number of drafts as a bar, beside none: a token's share of the pass, its drafts with the compute."""
    compute_s = (one.bill.step.rank_compute_s + one.draft_s) / one.tokens
    return bar(
        said("comm_cost", "bar.drafts", one),
        said("comm_cost", "drafts.read", one),
        one.bill.waiting_s / one.tokens,
        one.bill.bandwidth_s / one.tokens,
        f"{sum_in_ms(compute_s, one.bill.comm_s / one.tokens)}, {significant(plainly.token_s / one.token_s)} ×",
        compute_s,
    )


def apart_rows(handoffs: Sequence[tuple[LinkSpec, Handoff]]) -> list[BillRow]:
    """What a sequence waits in its life: for others' prompts on shared GPUs, for its keys and values apart."""
    stall_s = handoffs[0][1].stall_s
    rows = [replace(bar(said("comm_cost", "bar.shared"), "", 0.0, 0.0, seconds(stall_s), stall_s), compute="")]
    for link, one in handoffs:
        rows.append(
            bar(said("comm_cost", "bar.apart", over=link), "", 0.0, one.transfer_s, seconds(one.transfer_s))
        )
    return rows
