"""What lab 01 asks, and what that comes to."""

from dataclasses import dataclass

from core.sharding_math.drawn import RANKS, usual_ranks
from core.sharding_math.examples import Kind
from core.sharding_math.exercise import LEVELS, Level
from core.sharding_math.numerics import PRECISIONS, SUM_ORDERS, SumOrder
from core.sharding_math.rounding import Trial
from core.sharding_math.submission import TASKS
from ui.page import Page
from ui.question import Choice, Switch, Text, Whole, ask
from ui.sharding_math import rows

PROVED = ("Column", "Row", "MLP pair")
"""The proof that a pair of matrices needs one all-reduce, in its order."""
ONE_LAYER, ONE_STEP, BY_HAND = "one layer", "one step", "by hand"


ROUNDING, TP_SIZES = "rounding", "TP sizes"


@dataclass(frozen=True)
class Question:
    """The layer and its ranks, the count, the mistake, the bench's trial and the learner's task."""

    layer: str = ask("Column", Choice(tuple(rows.KINDS)), "says.layer")
    ranks: int | None = ask(None, Choice(RANKS), "says.ranks_2")
    whole: bool = ask(False, Switch(), "says.all_y_every_rank")
    step: str = ask("", Text())
    count: str = ask(ONE_LAYER, Choice((ONE_LAYER, ONE_STEP, BY_HAND)), "says.count")
    level: Level = ask("worked", Choice(tuple(LEVELS)), "says.level")
    mistake: str = ask("No all-reduce", Choice(tuple(rows.MISTAKES)), "says.mistake")
    figure: str = ask(ROUNDING, Choice((ROUNDING, TP_SIZES)), "says.figure")
    in_features: int = ask(64, Whole(1, 512), "says.inputs_d", name="in")
    out_features: int = ask(64, Whole(1, 512), "says.outputs_f", name="out")
    num_ranks: int = ask(8, Whole(1, 64), "says.ranks_n", name="n")
    dtype: str = ask("bfloat16", Choice(tuple(PRECISIONS), listed=True), "says.format")
    order: SumOrder = ask("ring", Choice(tuple(SUM_ORDERS), listed=True), "says.order_sum")
    task: str = ask("row_parallel", Choice(tuple(TASKS)), "says.draw")


def kind_of(page: Page[Question]) -> Kind:
    """Return the layer that is stepped; a column-parallel one may have its output gathered."""
    kind = rows.KINDS[page.question.layer]
    return "gathered" if kind == "column" and page.question.whole else kind


def ranks_of(page: Page[Question]) -> int:
    return page.question.ranks or usual_ranks(page.scenario)


def trial_of(page: Page[Question]) -> Trial:
    asked = page.question
    return Trial(asked.in_features, asked.out_features, asked.num_ranks, asked.dtype, asked.order)
