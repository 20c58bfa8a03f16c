"""The strategy page: what each strategy holds on a rank, what that saves against DDP, and what it sends for it."""

from core.strategy.training.side_by_side import Held, side_by_side
from core.units import GB
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import decimal_bytes
from runtime.rows import Row, stacked, table

PARTS = ("weights", "gradients", "optimizer", "activations", "gathered")
INSIDE, ACROSS = "inside the node", "across nodes"


@kept
def memory_parts(asked: Held) -> list[Row]:
    """Every strategy's bar, part after part."""
    return table(
        "strategy part start_gb end_gb",
        (
            (named("strategy", one.name), *part)
            for one in side_by_side(asked)
            for part in stacked((part, getattr(one.memory, part) / GB) for part in PARTS)
        ),
    )


@kept
def memory_ends(asked: Held) -> list[Row]:
    """Where each bar ends, and whether that is past the capacity."""
    totals = [(named("strategy", one.name), one.memory.total) for one in side_by_side(asked)]
    return table(
        "strategy end_gb in_words short",
        ((name, total / GB, decimal_bytes(total), total > asked.capacity_bytes) for name, total in totals),
    )


@kept
def saved_and_paid(asked: Held) -> list[Row]:
    """Every strategy but DDP: what it saves to the left of zero; what is sent a sequence to the right."""
    sides = side_by_side(asked)
    rows: list[tuple[object, ...]] = []
    for one in sides:
        name, saved = named("strategy", one.name), (sides[0].memory.total - one.memory.total) / GB
        rows.append((name, "saved", -saved, 0.0, said("strategy", "says.memory_that_ddp_would")))
        for sent, start, end in stacked((each, each.sent_bytes / GB) for each in one.sent):
            where = ACROSS if sent.crosses_nodes else INSIDE
            why = f"{sent.axis.upper()} {sent.op.replace('_', '-')}: {named('strategy', sent.why)}"
            rows.append((name, where, start, end, why))
    return table("strategy what start_gb end_gb why", rows)


@kept
def sums(asked: Held) -> list[Row]:
    """What stands at both ends of each strategy's bars."""
    rows = saved_and_paid(asked)
    totals = []
    for name in dict.fromkeys(row.strategy for row in rows):
        own = [row for row in rows if row.strategy == name]
        left, right = min(0.0, *(row.start_gb for row in own)), max(row.end_gb for row in own)
        totals.append((name, left, right, decimal_bytes(-left * GB), decimal_bytes(right * GB)))
    return table("strategy left_gb right_gb saved paid", totals)
