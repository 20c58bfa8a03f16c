"""Lab 03's bench on what engines of today do: their controls and figures."""

from dataclasses import dataclass

from core.catalog import MODELS
from core.comm_cost.decode_attention import Attention
from core.specs import LinkSpec
from core.steps.speculation import Drafted
from core.steps.view import View
from core.strategy.disaggregation import handed_over
from ui import tested
from ui.comm_cost import charts as bills
from ui.comm_cost import rows_serving as rows
from ui.comm_cost import words_serving as words
from ui.comm_cost.rows import BillRow
from ui.page import Page
from ui.question import Choice, Whole, ask

ATTENTION, DRAFTS, APART = "attention", "drafts", "prefill apart"
FIGURES = [ATTENTION, DRAFTS, APART]
MOST_TOKENS = 1_048_576


@dataclass(frozen=True)
class ServingQuestion:
    """A layer of decode attention over ranks, a draft model, and prefill apart."""

    att_model: str = ask(Attention().key, Choice(tuple(MODELS), listed=True), "control.model")
    att_n: int = ask(Attention().ranks, Choice((2, 4, 8, 16)), "control.ranks")
    att_b: int = ask(Attention().sequences, Whole(1, 65536), "control.sequences")
    att_s: int = ask(Attention().context_tokens, Whole(1, MOST_TOKENS), "control.context")
    kept: int = ask(Drafted().kept_percent, Whole(0, 100, slid=True, unit="%"), "control.kept")
    draft_cost: int = ask(Drafted().cost_percent, Whole(0, 50, slid=True, unit="%"), "control.draft_cost")
    together: int = ask(16, Whole(1, 65536), "control.together")


CONTROLS = {
    ATTENTION: ("over", "att_model", "att_n", "att_b", "att_s"),
    DRAFTS: ("over", "kept", "draft_cost"),
    APART: ("together",),
}
"""The controls of each figure."""


def draw(page: Page[ServingQuestion], figure: str, view: View, over: LinkSpec) -> None:
    """Draw one of these figures."""
    {ATTENTION: _attention, DRAFTS: _drafts, APART: _apart}[figure](page, view, over)


def _attention(page: Page[ServingQuestion], view: View, over: LinkSpec) -> None:
    asked = page.question
    attention = Attention(asked.att_model, asked.att_n, asked.att_b, asked.att_s)
    ways = attention.ways(view.scenario.gpu_spec, over)
    page.fill(words.attention_fields(attention, ways))
    copied = "copied" if ways[0].copies > 1 else "cut"
    _show(page, rows.attention_rows(ways), f"bench.attention_{copied}", ATTENTION, "context", "data")


def _drafts(page: Page[ServingQuestion], view: View, over: LinkSpec) -> None:
    drafted = Drafted(page.question.kept, page.question.draft_cost)
    passes = drafted.passes(view, over)
    page.fill(words.draft_fields(drafted, passes))
    _show(page, [rows.draft_row(one, passes[0]) for one in passes], "bench.drafts", DRAFTS, "bytes")


def _apart(page: Page[ServingQuestion], view: View, over: LinkSpec) -> None:
    handoffs = handed_over(view, page.question.together)
    page.fill(words.apart_fields(view, handoffs))
    pays = "pays" if handoffs[-1][1].pays else "not"
    page.errors = tested.columns((view.scenario.gpu_spec, view.scenario.model_spec))
    _show(page, rows.apart_rows(handoffs), f"bench.apart_{pays}", "apart", "overlap")
    tested.beside_times(view.scenario.gpu_spec, view.scenario.model_spec)


def _show(page: Page[ServingQuestion], shown: list[BillRow], reading: str, name: str, *aside: str) -> None:
    """The bars, the sum beside them, and what else a reader of a page has room for."""
    figure, margin = page.split()
    with figure:
        page.figure(bills.bill_bars(shown, page.look, bills.axis_end_ms(shown)), reading, shown, name)
    with margin:
        page.note(f"bench.{name}_sum")
        if not page.look.present:
            page.note(*(f"bench.{name}_{one}" for one in aside))
