"""Lab 02's paid run: what to survey, check and authorise before two GPUs are rented, and what forgetting costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from core.two_way_tp.spend import account, cost_usd
from runtime.budget import BudgetGuard
from runtime.one_process import bring_tables
from runtime.paid_run import FOLDER, MANIFEST
from runtime.prose import said
from runtime.quantities import local
from runtime.torch_here import live_runs_allowed
from ui import address
from ui.page import Page
from ui.prose import escape
from ui.question import Number, Whole, ask
from ui.two_way_tp.words_bench import paid_fields

if TYPE_CHECKING:
    import pandas as pd

GPUS = 2
ROWS = 4
_EDITOR, _STARTED, _NOW = "vendor_survey", "_vendors_started", "_vendors_now"


@dataclass(frozen=True)
class PaidQuestion:
    """A price, and for how long an instance at it is forgotten."""

    rate: float = ask(0.7, Number(0.05, 100), "says.dollars_an_hour")
    forgotten: int = ask(24, Whole(1, 72, slid=True), "says.hours_forgotten")


def meter(page: Page[PaidQuestion]) -> Mapping[str, object]:
    """Return the numbers of the section's prose. Raises LedgerError where the ledger was edited."""
    money = BudgetGuard().account() if live_runs_allowed() else account(())
    return paid_fields(money, page.question.rate, page.question.forgotten)


def section(page: Page[PaidQuestion]) -> None:
    """Draw the four steps, in the order in which they are taken."""
    with st.container(key="paid_controls", horizontal=True, gap="medium"):
        page.control("rate")
        page.control("forgotten")
    page.fill(meter(page))
    own = live_runs_allowed()
    page.say("paid.body")
    page.say("paid.ledger" if own else "paid.public")
    with st.container(key="aside_survey"):
        page.say("paid.survey")
        survey()
    page.say("paid.checklist")
    page.reading("paid.meter")
    path = FOLDER / MANIFEST
    if own and path.is_file():
        with st.popover(page.label("says.manifest_last_run_here"), width="content"):
            st.code(path.read_text(encoding="utf-8"), language="json")


def survey() -> None:
    """A table that the learner fills in; what it comes to stands under it. Kept over scenes, never in the URL."""
    if _EDITOR not in st.session_state:
        st.session_state[_STARTED] = st.session_state.get(_NOW, empty_survey())
    filled = st.data_editor(
        st.session_state[_STARTED],
        key=_EDITOR,
        on_change=address.press,
        hide_index=True,
        column_config={
            "vendor": st.column_config.TextColumn(said("tables", "head.vendor"), max_chars=40),
            "instance": st.column_config.TextColumn(said("two_way_tp", "says.instance_type"), max_chars=60),
            "usd_per_hour": st.column_config.NumberColumn(
                said("two_way_tp", "says.dollars_an_hour"), min_value=0.0, max_value=1000.0
            ),
            "hours": st.column_config.NumberColumn(said("tables", "head.hours"), min_value=0.0, max_value=100.0),
            "spot": st.column_config.CheckboxColumn(said("two_way_tp", "says.spot_tier")),
            "nvlink": st.column_config.CheckboxColumn("NVLink"),
        },
    )
    st.session_state[_NOW] = filled
    priced = with_cost(filled)
    if len(priced):
        lines = [
            f"{row.vendor}, {row.instance}: {local(f'${row.estimated_usd:.2f}')}" for row in priced.itertuples()
        ]
        st.markdown(escape("; ".join(lines)))
        csv = priced.to_csv(index=False).encode()
        st.download_button(
            said("two_way_tp", "says.download_survey"), csv, "vendors.csv", "text/csv", on_click="ignore"
        )


def empty_survey() -> "pd.DataFrame":
    """Rows to be filled in: no vendor is proposed, for prices change and none was asked."""
    bring_tables()
    import pandas as pd

    return pd.DataFrame(
        {
            "vendor": [""] * ROWS,
            "instance": [""] * ROWS,
            "usd_per_hour": [0.0] * ROWS,
            "hours": [1.0] * ROWS,
            "spot": [True] * ROWS,
            "nvlink": [False] * ROWS,
        }
    )


def with_cost(survey: "pd.DataFrame") -> "pd.DataFrame":
    """The rows that name a vendor and a price, with what they would cost."""
    named = survey[(survey.vendor.fillna("").str.strip() != "") & (survey.usd_per_hour.fillna(0) > 0)]
    hours = named.hours.fillna(0)
    costs = [cost_usd(rate, time) for rate, time in zip(named.usd_per_hour, hours, strict=True)]
    return named.assign(estimated_usd=costs, gpu_hours=GPUS * hours)
