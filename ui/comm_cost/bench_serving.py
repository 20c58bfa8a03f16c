"""Lab 03's bench on what engines of today do: their controls and figures."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from core.catalog import MODELS
from core.comm_cost.decode_attention import Attention
from core.specs import LinkSpec
from core.steps.speculation import Drafted
from core.steps.view import View
from core.strategy.disaggregation import handed_over
from ui import inputs, tested
from ui.comm_cost import charts as bills
from ui.comm_cost import rows_serving as rows
from ui.comm_cost import words_serving as words
from ui.comm_cost.rows import BillRow
from ui.scenes import Page

ATTENTION, DRAFTS, APART = "attention", "drafts", "prefill apart"
FIGURES = [ATTENTION, DRAFTS, APART]
MOST_TOKENS = 1_048_576


@dataclass(frozen=True)
class Asked:
    attention: Attention
    drafted: Drafted
    sequences: int


def ask(page: Page, of: Callable[[str], AbstractContextManager[object]]) -> Asked:
    """Every control; `of` a figure is in sight where that is open."""
    usual, drafts = Attention(), Drafted()
    with of(ATTENTION):
        attention = Attention(
            page.control(inputs.select, "att_model", "control.model", list(MODELS), usual.key),
            page.control(inputs.choice, "att_n", "control.ranks", [2, 4, 8, 16], usual.ranks),
            page.control(inputs.whole, "att_b", "control.sequences", 1, 65536, usual.sequences),
            page.control(inputs.whole, "att_s", "control.context", 1, MOST_TOKENS, usual.context_tokens),
        )
    with of(DRAFTS):
        drafted = Drafted(
            page.control(inputs.slide, "kept", "control.kept", 0, 100, drafts.kept_percent, unit="%"),
            page.control(inputs.slide, "draft_cost", "control.draft_cost", 0, 50, drafts.cost_percent, unit="%"),
        )
    with of(APART):
        sequences = page.control(inputs.whole, "together", "control.together", 1, 65536, 16)
    return Asked(attention, drafted, sequences)


def draw(page: Page, figure: str, asked: Asked, view: View, over: LinkSpec) -> None:
    {ATTENTION: _attention, DRAFTS: _drafts, APART: _apart}[figure](page, asked, view, over)


def _attention(page: Page, asked: Asked, view: View, over: LinkSpec) -> None:
    ways = asked.attention.ways(view.scenario.gpu_spec, over)
    page.fill(words.attention_fields(asked.attention, ways))
    copied = "copied" if ways[0].copies > 1 else "cut"
    _show(page, rows.attention_rows(ways), f"bench.attention_{copied}", ATTENTION, "context", "data")


def _drafts(page: Page, asked: Asked, view: View, over: LinkSpec) -> None:
    passes = asked.drafted.passes(view, over)
    page.fill(words.draft_fields(asked.drafted, passes))
    _show(page, [rows.draft_row(one, passes[0]) for one in passes], "bench.drafts", DRAFTS, "bytes")


def _apart(page: Page, asked: Asked, view: View, over: LinkSpec) -> None:
    handoffs = handed_over(view, asked.sequences)
    page.fill(words.apart_fields(view, handoffs))
    pays = "pays" if handoffs[-1][1].pays else "not"
    page.errors = tested.columns((view.scenario.gpu_spec, view.scenario.model_spec))
    _show(page, rows.apart_rows(handoffs), f"bench.apart_{pays}", "apart", "overlap")
    tested.beside_times(view.scenario.gpu_spec, view.scenario.model_spec)


def _show(page: Page, shown: list[BillRow], reading: str, name: str, *aside: str) -> None:
    """The bars, the sum beside them, and what else a reader of a page has room for."""
    figure, margin = page.split()
    with figure:
        page.figure(bills.bill_bars(shown, page.look, bills.axis_end_ms(shown)), reading, shown, name)
    with margin:
        page.note(f"bench.{name}_sum")
        if not page.look.present:
            page.note(*(f"bench.{name}_{one}" for one in aside))
