"""The clinic's figures as specifications, and its answers as they stand in a URL."""

from itertools import pairwise

import pytest
import vl_convert

from core.clinic import CASES, examine
from core.clinic.answers import Answers
from core.clinic.case import Bars, Histogram
from core.clinic.three_waits import Knob, response_lines, responses
from core.collectives.custom_all_reduce import Machine, decide
from core.scenario import Scenario
from runtime import content
from ui.clinic import charts, rows
from ui.clinic import charts_scenes as clinic_scenes
from ui.clinic import rows_kernel as clinic_kernel
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]


def drawn(chart) -> str:
    """The chart as Vega draws it."""
    return vl_convert.vegalite_to_svg(chart.to_dict())


def chart_of(picture, look: Look):
    if isinstance(picture, Bars):
        parts, ends = rows.bar_parts(picture), rows.bar_ends(picture)
        return charts.term_bars(parts, ends, rows.unit_of(picture), look)
    if isinstance(picture, Histogram):
        return charts.time_histogram(rows.histogram_steps(picture), look)
    return charts.series_lines(rows.line_points(picture), picture.x, picture.y, look)


@pytest.mark.parametrize("key", CASES)
def test_every_picture_of_every_case_is_drawn(key):
    """The three looks take turns over the cases."""
    case, look = examine(key), LOOKS[list(CASES).index(key) % len(LOOKS)]
    for picture in filter(None, (case.symptom, case.model, case.fix)):
        assert "NaN" not in drawn(chart_of(picture, look))


def test_bars_are_the_terms_in_the_axis_own_unit():
    """5.19 ms of compute, 1.30 ms of waiting, then the all-reduces; a payload's bars are microseconds."""
    model = examine("slow_rank").model
    first = rows.bar_parts(model)[:3]
    assert [part.term for part in first] == ["compute", "waiting", "latency"]
    assert [part.start for part in first] == pytest.approx([0, 5.187, 6.483], rel=1e-3)
    assert rows.unit_of(model) == "ms"
    assert rows.unit_of(examine("kernel_off").model) == "µs"


def test_latency_and_bytes_have_their_colours_and_waiting_is_dashed():
    svg = drawn(chart_of(examine("idle_network").model, LOOKS[0]))
    assert LIGHT.latency in svg
    assert LIGHT.bandwidth in svg
    assert "stroke-dasharray" in drawn(chart_of(examine("slow_rank").model, LOOKS[0]))


def test_the_responses_are_named_apart():
    knob = Knob(Scenario(slow_percent=40))
    lines, here = response_lines(knob), responses(knob, 40)
    svg = drawn(clinic_scenes.response_lines(lines, here, LOOKS[0]))
    assert all(row.kind in svg for row in lines)


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "projected"])
def test_the_slowest_of_many_is_drawn_with_its_circles(look):
    table = rows.largest_of()
    assert rows.P99 in drawn(clinic_scenes.largest_curves(table, rows.DRAWN, look))


@pytest.mark.parametrize(
    "machine", [Machine("0.9.2", 4, full_nvlink=False), Machine("0.25.0", 8), Machine("0.3.0", 16)]
)
def test_bands_cover_every_payload_once_in_every_release(machine):
    bands = clinic_kernel.bands(machine)
    for release in {band.release for band in bands}:
        own = [band for band in bands if band.release == release]
        assert (own[0].low_bytes, own[-1].high_bytes) == (2**9, 2**26)
        assert all(one.high_bytes == two.low_bytes for one, two in pairwise(own))
    assert machine.release in drawn(clinic_scenes.payload_bands(bands, 8192, machine.release, LOOKS[0]))


def test_rules_after_the_one_that_stops_are_not_reached():
    table = clinic_kernel.rule_table(decide(Machine("0.9.2", 4, full_nvlink=False)))
    assert "✕" in table.splitlines()[5]
    assert "not reached" in table.splitlines()[6]
    assert "not asked" in clinic_kernel.rule_table(decide(Machine("0.3.0", 2)))


def test_sixteen_ranks_are_named_by_the_rule_that_they_meet_and_no_all_reduce_is_promised():
    sixteen = decide(Machine("0.33.0", 16))
    assert "16" in clinic_kernel.rule_table(sixteen)
    assert "16" not in clinic_kernel.rule_table(decide(Machine("0.9.2", 16)))
    assert clinic_kernel.verdict(sixteen) == "all_reduce.gathers"
    assert clinic_kernel.verdict(decide(Machine("0.33.0", 8))) == "all_reduce.on"
    assert clinic_kernel.verdict(decide(Machine("0.33.0", 3))) == "all_reduce.off"


def test_answers_read_back_as_they_were_written():
    case = examine("slow_rank")
    given = Answers().with_said("slow_rank", 2)
    assert given.text() == "c-------"
    assert Answers.from_text("c-------").of(case) == ("slow_rank", False)
    assert given.with_revealed("slow_rank").text() == "C-------"


def test_what_was_revealed_cannot_be_changed_and_only_what_was_said_counts():
    cases = [examine(key) for key in CASES]
    given = Answers.from_text("C!a")
    assert given.with_said("slow_rank", 0) == given
    assert given.right(cases) == (1, 1)


@pytest.mark.parametrize("text", ["", "zzzzzzzz", "!" * 99, "??", "🙂" * 8, "-" * 120, "İabc"])
def test_nonsense_in_the_address_answers_nothing(text):
    cases = [examine(key) for key in CASES]
    given = Answers.from_text(text)
    assert len(given.text()) == len(CASES)
    assert given.right(cases)[0] == 0


@pytest.mark.parametrize("key", CASES)
def test_every_diagnosis_of_a_case_has_its_words(key):
    case, blocks = examine(key), content.load("clinic")
    needed = {f"{key}.{kind}_{candidate}" for kind in ("say", "why") for candidate in case.candidates}
    needed |= {f"{key}.{part}" for part in ("story", "model", "fix", "seen")}
    assert needed <= set(blocks)
    assert (f"{key}.symptom" in blocks) == (case.symptom is not None)
