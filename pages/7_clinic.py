"""The clinic: the classics of distributed serving as cases, one slow rank, the custom all-reduce, hangs at init."""

import streamlit as st

from core.clinic import CASES, Case, examine, three_waits
from core.collectives.custom_all_reduce import Machine, decide
from core.collectives.releases import RELEASES_READ
from core.comm_cost.bill import allreduce_payload_bytes
from runtime.prose import named, said
from ui import inputs, scenario_bar, scenes
from ui.clinic import cases as clinic_cases
from ui.clinic import charts, rows, words
from ui.clinic import charts_scenes as clinic_scenes
from ui.clinic import hangs as clinic_hangs
from ui.clinic import rows_kernel as kernel_rows
from ui.prose import prose_of

SLOW, SCATTER = "one slow rank", "every rank a little late"
NVLINK, PCIE = "NVLink, every pair", "PCIe only"

page = scenes.open_page("clinic")
scenario, look = page.scenario.timed, page.look


@st.cache_resource(max_entries=1)
def every_case() -> list[Case]:
    """All cases: the same for every visitor, for the seed is fixed."""
    return [examine(key) for key in CASES]


cases, titles_of = every_case(), prose_of("clinic", {})
with page.controls("cases"):
    titles = {case.key: titles_of.plain(f"{case.key}.title") for case in cases}
    asked = inputs.option(said("clinic", "says.case"), page.key("case"), titles, next(iter(titles)), listed=True)
    case = next(case for case in cases if case.key == asked)
    given = clinic_cases.answers(page)
with page.controls("straggler"):
    view = page.control(inputs.choice, "late", "says.who_late", [SLOW, SCATTER], SLOW)
    if page.scene == "straggler" and view == SLOW:
        scenario_bar.straggler()
with page.controls("all_reduce"):
    newest_first = list(reversed(RELEASES_READ))
    machine = Machine(
        release=page.control(inputs.select, "release", "says.vllm_release", newest_first, newest_first[0]),
        world_size=(ranks := page.control(inputs.whole, "ranks", "says.ranks_2", 1, 64, 8)),
        nodes=min(ranks, page.control(inputs.choice, "nodes", "says.nodes", [1, 2], 1)),
        full_nvlink=page.control(inputs.choice, "joined", "says.joined", [NVLINK, PCIE], NVLINK) == NVLINK,
        p2p=page.control(inputs.toggle, "p2p", "says.p_p_copies_arrive", True),
        compute_capability=kernel_rows.ARCHITECTURES[
            page.control(inputs.select, "sm", "says.architecture", list(kernel_rows.ARCHITECTURES), "Hopper, 9.0")
        ],
    )
    tokens = page.control(inputs.whole, "rows", "says.rows_step", 1, 8192, 1)
payload_bytes = round(allreduce_payload_bytes(tokens, scenario.model_spec.hidden_size))
knob, decision = three_waits.Knob(scenario), decide(machine)
hang = clinic_hangs.ask(page)

if page.scene == "straggler" or (page.scene == "cases" and any(one.unit == "s" for one in case.figures)):
    page.data_sheet = "compute"


def slow_rank() -> None:
    if view == SCATTER:
        table = rows.largest_of()
        page.figure(
            clinic_scenes.largest_curves(table, named("clinic", rows.DRAWN), look),
            "straggler.jitter",
            table,
            "largest",
        )
        return
    waits = rows.waits(knob)
    told = "reading" if scenario.slow_percent else "even"
    for column, (name, bars) in zip(st.columns(3, gap="medium"), waits.bars.items(), strict=True):
        with column:
            page.note(f"straggler.{name}")
            chart = charts.term_bars(bars.parts, bars.ends, bars.unit, look)
            page.figure(chart, f"straggler.{name}_{told}", bars.parts, f"straggler_{name}")
    with st.container(key="aside_responses"):
        chart = clinic_scenes.response_lines(waits.lines, waits.here, look)
        page.figure(chart, "straggler.lines", waits.lines, "responses")


def all_reduce() -> None:
    with page.beside("all_reduce.note", caps=["all_reduce.caps"]):
        if machine.world_size == 1:
            page.verdict("open", "all_reduce.alone")
        else:
            page.verdict("ok" if decision.reduces else "off", kernel_rows.verdict(decision))
        if not (look.present and decision.enabled):
            st.markdown(kernel_rows.rule_table(decision))
        bands = kernel_rows.bands(machine)
        chart = clinic_scenes.payload_bands(bands, payload_bytes, machine.release, look)
        page.figure(chart, "all_reduce.reading", bands, "payloads")


page.play(
    lambda: words.fields(case, given.right(cases), knob, decision, tokens, payload_bytes, hang),
    cases=lambda: clinic_cases.draw(page, case, given, cases),
    straggler=slow_rank,
    all_reduce=all_reduce,
    hangs=lambda: clinic_hangs.draw(page, hang),
)
