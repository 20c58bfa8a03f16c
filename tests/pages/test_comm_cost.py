"""Lab 03's page: every figure of its bench and every slip, and a learner's table on its way to a link."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from runtime import content
from runtime.content import slug
from runtime.measurements import example_paste
from tests.core.links.printed_tables import table as printed
from tests.pages.test_every_scene import visit
from tests.said import disagreements, in_address, shown
from ui.comm_cost.bench import FIGURES, FIRST, TABLE
from ui.comm_cost.bench_serving import APART
from ui.comm_cost.rows_slips import CHOICES
from ui.course.pages import entry

ENTRY = Path(__file__).resolve().parents[2] / "streamlit_app.py"
NAPKIN = "the lab's napkin"
SCENARIOS = {
    "the labs' own": {"bill_phase": "prefill"},
    "one rank": {"tp": "1"},
    "an own link": {"link": "own_1.203_279.5_0_8", "tp": "6"},
    "large": {"model": "deepseek-v3", "gpu": "h200-sxm", "tp": "64", "network": "ib-ndr", "batch": "4096"},
}


def opened(panel=False, **query):
    """The page as the entry opens it, at an address; with the scenario's panel, where it is open."""
    at = AppTest.from_file(str(ENTRY), default_timeout=60)
    at.session_state["_scenario_open"] = panel
    for name, value in query.items():
        at.query_params[name] = in_address(value)
    at.switch_page("pages/3_comm_cost.py")
    return at.run()


def text_of(at):
    """All that is said, terms of the glossary read without their explanations."""
    said = " ".join(str(element.value) for element in [*at.title, *at.markdown, *at.error])
    said = re.sub(r'<span role="tooltip".*?</span>|<[^>]+>', "", said)
    return said.replace("\\", "").replace("\u00a0", " ")


def pasted(text, **query):
    """The page with a text in the field of `your table`."""
    at = opened(bill_scene="bench", bill_figure=TABLE, **query)
    return at.text_area[0].set_value(text).run()


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_of_the_bench_is_drawn(figure, scenario):
    at = opened(bill_scene="bench", bill_figure=figure, **scenario)
    assert not at.exception
    assert "{{" not in text_of(at)
    assert "nan" not in text_of(at).split()
    assert not [found for text in shown(at) for found in disagreements(text)]
    refused = any("num\\_key\\_value\\_heads=8 does not divide" in each.value for each in at.error)
    assert refused == (figure == APART and scenario.get("tp") == "6")
    assert at.get("vega_lite_chart") or figure == TABLE or scenario.get("tp") == "1" or refused


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
@pytest.mark.parametrize("slip", CHOICES)
def test_every_slip_is_drawn_beside_the_right_reading(slip, scenario):
    at = opened(bill_scene="break_it", bill_slip=slip, **scenario)
    assert not at.exception
    assert "{{" not in text_of(at)
    assert len(at.get("vega_lite_chart")) == 1


@pytest.fixture(scope="module")
def revealed():
    """The page with its question answered, as two tests read it."""
    return opened(bill_revealed="true")


def test_a_true_claim_that_is_bad_news_has_a_warning_and_no_cross(revealed):
    """Over 10 GbE a token *is* slower than on one GPU: a red cross beside it called that untrue."""
    marks = [element.value for element in revealed.markdown if ":material/" in element.value]
    assert ":red[:material/warning:]" in marks
    assert not [mark for mark in marks if "close" in mark]


def test_the_question_is_a_speed_up_and_tells_no_answer_before_it(revealed):
    """4 ms + 64 x 5.61 us = 4.36 ms of 8 (L40S took 5.72): all of it but the result stands in the question."""
    asked, told = text_of(opened()), text_of(revealed)
    for given in ("8 ms", "32 layers", "two all-reduces", "8 KiB then takes 5.61 µs"):
        assert given in asked
    for answer in ("4.36 ms", "1.84", "0.42", "46.0%"):
        assert answer not in asked
    assert "takes 4.36 ms instead of 8 ms, 1.84 times as fast" in told
    assert "Over 10 GbE a token is slower than on one GPU" in told


def test_a_step_that_does_not_fit_says_so():
    """Llama 3 70B leaves 70.6 GB on each of two H100, and 141 on one."""
    assert "does not fit on one H100 SXM" in text_of(opened(model="llama-3-70b", gpu="h100-sxm", bill_scene="see"))
    alone = text_of(opened(model="llama-3-70b", gpu="h100-sxm", tp=1, bill_scene="see"))
    assert "This step cannot run" in alone


def test_nvlink_is_cheaper_than_pcie_at_eight_h100():
    """Napkin NVLink beside measured PCIe had it the other way: 6.74 ms against 3.75."""
    at = opened(model="llama-3-70b", gpu="h100-sxm", tp=8, bill_scene="see")
    assert not at.dataframe  # of a closed table nothing is sent
    assert not at.get("download_button")
    at.session_state["table_see_0"] = True
    at.run()
    (saved,) = at.get("download_button")
    assert saved.label == "Download CSV"
    table = at.dataframe[0].value.set_index("name")
    ends = table[["compute (ms)", "latency (ms)", "bandwidth (ms)"]].sum(axis="columns")
    assert ends["NVLink\u00a04\u00a0(H100,\u00a0H200)"] < ends["PCIe\u00a05\u00a0x16"]


def test_the_bench_computes_as_long_as_the_scenario_unless_it_is_told():
    """Beside a model whose step takes 42 ms, one's own link had the 8 ms of the labs."""
    large = {"model": "llama-3-70b", "gpu": "h100-sxm", "tp": 8, "bill_scene": "bench"}
    assert "beside 5.27 ms of compute" in text_of(opened(**large))
    assert "beside 1.00 ms of compute" in text_of(opened(**large, bill_step=8))


@pytest.mark.parametrize("asked", [{}, {"bill_step": 0}, {"bill_step": 3}])
def test_the_bench_s_field_shows_the_compute_that_is_drawn(asked):
    """An address or a hand that says 0 is refused: the field would show 0 while the scenario's 8 is drawn."""
    at = opened(bill_scene="bench", **asked)
    (field,) = (one for one in at.number_input if one.label == content.load("comm_cost")["says.compute_ms"])
    drawn_ms = re.search(r"beside ([\d.]+) ms of compute", text_of(at))
    assert float(drawn_ms[1]) == pytest.approx(field.value / 2, rel=1e-2)


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("slow", [0, 50])
def test_the_link_is_shown_for_any_ranks_and_a_slow_port(ranks, slow):
    at = opened(bill_scene="see", bill_view="the_wire", bill_wire_n=ranks, bill_phase="prefill", slow=slow)
    assert not at.exception
    assert [element.key for element in at.get("bidi_component")] == ["shell", "wire"]
    assert ("take 1.5 times as long" in text_of(at)) == bool(slow)


def test_held_axes_keep_the_clock_of_the_link_though_it_ends_sooner():
    """A ring of eight takes 14 hops, and one of two takes 2."""
    at = opened(bill_scene="see", bill_view="the_wire", bill_wire_n=8, bill_numbers=NAPKIN)
    at.button(key="held_axes").click().run()
    at.query_params["bill_wire_n"] = str(2)
    at.run()
    link = json.loads(at.get("bidi_component")[0].proto.json)
    assert link["stops"][-1]["at"] == pytest.approx(2 / 14, rel=0.02)
    assert link["ticks"][-1]["at"] > 0.8


def test_a_slow_port_makes_a_prefills_ring_half_as_long_again_and_a_decodes_hardly():
    """16 MiB over 10 GbE, all bytes: 50 % more. 8 KiB, all hops: under a tenth."""
    link = {"bill_scene": "see", "bill_view": "the_wire", "bill_wire_link": "the_network", "slow": 50}
    assert "ends 10.1 ms later" in text_of(opened(bill_phase="prefill", **link))
    assert "ends 4.92 µs later" in text_of(opened(bill_phase="decode", **link))


def test_another_gpu_flips_a_verdict_and_the_page_says_by_how_much():
    """0.386 ms beside 3.35 ms is 10.3 %; 6.82 ms beside 15.9 ms is 30.0 %."""
    said = text_of(opened(bill_scene="bench", bill_figure="gpus", bill_numbers=NAPKIN))
    assert "H200 SXM 141 GB, 3.35 ms of compute: NVLink becomes noticeable, 10.3%" in said
    assert "GeForce RTX 4090 24 GB, 15.9 ms of compute: 10 GbE becomes noticeable, 30.0%" in said


def test_a_hop_halved_as_if_it_were_a_round_trip_flips_the_verdict():
    at = opened(bill_scene="bench", bill_figure="units", bill_numbers=NAPKIN)
    assert "with a hop read as a round trip it is noticeable at 31.1%" in text_of(at)
    assert "Gb/s read as GB/s" in list(shown(at))  # and not "gb/s read as gb/s"


def test_a_pasted_table_is_read_fitted_priced_and_offered_as_a_link():
    """The shipped H100 table: 8 ranks, 18 rows, 8 KiB in 16 µs, 64 of them in a step."""
    at = pasted(example_paste(), tp=8)
    assert not at.exception
    said = text_of(at)
    assert "all_reduce between 8 ranks. Rows that add up: 18" in said.replace("*", "")
    assert "An all-reduce of 8 KiB, interpolated between two sizes, takes 16.0 µs" in said
    assert "The step has 64 of them: 1.02 ms" in said
    assert "own_1.203_279.5_0_8" in said
    assert {"Use as the link", "Use between nodes"} <= {button.label for button in at.button}


def test_the_link_button_puts_the_table_into_the_scenario():
    at = pasted(example_paste(), tp=8)
    next(button for button in at.button if button.label == "Use as the link").click().run()
    assert at.query_params["link"] == "own_1.203_279.5_0_8"
    assert "Use as the link: in use" in {button.label for button in at.button}


def test_a_price_at_another_number_of_ranks_says_that_it_is_none_of_the_tables():
    said = text_of(pasted(example_paste(), tp=4))
    assert "the table is of 8 ranks, so its α and β extrapolate to 4" in said
    assert "It is measured with 8 ranks: at 4 it is an extrapolation" in said


def test_an_own_link_in_the_address_is_one_of_the_scenarios_choices():
    at = opened(panel=True, link="own_0.55_409_3.2_8", tp=4)
    assert not at.exception
    assert at.selectbox("link").value == "own_0.55_409_3.2_8"
    assert "Measured with 8 ranks: at 4 it is an extrapolation" in text_of(at)
    assert "Measured with 8 ranks" not in text_of(opened(panel=True, link="own_0.55_409_3.2_8", tp=8))


def test_a_verdict_on_an_own_link_says_what_it_was_fitted_to():
    said = text_of(opened(link="own_0.55_409_3.2_8", tp=4, bill_revealed="true"))
    assert "The link is fitted to your own table, measured with 8 ranks: at 4 it is an extrapolation." in said


def test_two_tables_of_one_machine_tell_the_launch_from_the_hops():
    said = text_of(pasted(example_paste(ranks=2) + example_paste(ranks=8), tp=8))
    assert "Told from tables of several numbers of ranks" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello world", "no row of an nccl-tests or rccl-tests table was found"),
        ("<script>alert(1)</script> **x**", "no row"),
        ("\x00" * 50, "no row"),
    ],
)
def test_what_is_no_table_is_refused_in_a_sentence_and_stays_in_the_field(text, says):
    at = pasted(text)
    assert not at.exception
    assert says in at.error[0].value.replace("\\", "")
    assert at.text_area[0].value == text


def test_a_run_whose_own_check_failed_says_so_over_its_fit():
    said = text_of(
        pasted(printed(ranks=8).replace("Out of bounds values : 0 OK", "Out of bounds values : 3 FAILED"))
    )
    assert "values out of bounds, so its times are of a wrong result" in said


@pytest.mark.slow
def test_a_text_as_long_as_a_page_takes_is_told_in_time():
    """Some 600 kB of tables; AppTest gives up after a minute, a visitor long before."""
    at = pasted(example_paste() * 300)
    assert not at.exception
    assert at.selectbox(key="own_table_number").options[0].startswith("1: all_reduce")


@pytest.mark.parametrize("garbage", ["", "own_1_0_0_8", "9" * 60, "<b>"])
def test_garbage_in_the_address_gives_a_page_all_the_same(garbage):
    names = ("bill_figure", "bill_slip", "bill_machine", "bill_view", "bill_overlap", "bill_numbers", "link")
    at = opened(bill_scene="bench", **dict.fromkeys(names, garbage))
    assert not at.exception
    assert not at.error


def test_the_bench_opens_with_three_figures_and_keeps_an_address_of_another():
    """The rest stand behind *More*, or open where the address names one."""
    words = content.load("comm_cost")
    for query, figures in (({}, FIRST), ({"bill_more": "true"}, FIGURES)):
        offered = opened(bill_scene="bench", **query).button_group(key="bill_figure").options
        assert list(offered) == [words[f"option.{slug(one)}"] for one in figures]
    units = opened(bill_scene="bench", bill_figure="units")
    assert units.button_group(key="bill_figure").value == "units"


@pytest.mark.parametrize("figure", ["kernels", "batch", "nodes", "ends"])
def test_a_figure_of_the_bench_is_drawn_with_all_its_fields(figure):
    at = opened(bill_scene="bench", bill_figure=figure)
    assert not at.exception
    assert "{{" not in text_of(at)


def test_a_tables_dropped_lines_are_named_and_a_swamp_of_them_counted():
    rows = "  1024  256  float  sum  -1  XX  XX  XX  0\n" * 100
    said = text_of(pasted(printed().replace("# Out of bounds", rows + "# Out of bounds")))
    assert "and 40 more" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scene", "key", "name"),
    [("bench", "bill_figure", name) for name in FIGURES] + [("break_it", "bill_slip", name) for name in CHOICES],
)
def test_a_refused_tp_is_told_over_what_is_priced_at_it_and_over_nothing_else(scene, key, name):
    """TP=6 divides no head count of the model: a figure that is the same at TP=2 and TP=4 has no word of it."""

    def drawn(tp: int):
        at = opened(bill_scene=scene, bill_more="true", tp=str(tp), **{key: slug(name)})
        charts = at.get("vega_lite_chart")
        data = [str(each.data.data) for chart in charts for each in chart.proto.datasets]
        return at, [*data, *(text.value for text in at.markdown)]

    refused = [error.value for error in drawn(6)[0].error]
    if drawn(2)[1] == drawn(4)[1]:
        assert not refused
    else:
        assert any("does not" in one for one in refused)


def test_the_reveal_tells_what_a_short_transfer_costs_as_count_it_sums_it(revealed):
    """4 + 64 x (waiting + bytes) is the bar over 10 GbE, with what stands beside it and nothing else."""
    said = text_of(revealed)
    waiting, byte_us = re.search(r"an all-reduce waits (\S+) µs, and its bytes take (\S+) µs", said).groups()
    assert 8 / (4 + 64 * (float(waiting) + float(byte_us)) / 1e3) == pytest.approx(0.418, abs=2e-3)


def test_the_race_of_a_link_has_a_title_of_its_own():
    """Lab 03 *See it* names the bill's phase, or the one all-reduce that is raced."""
    titles = [
        visit(entry("comm_cost"), bill_scene="see", bill_view=view).title[0].value
        for view in ("the_bill", "the_wire")
    ]
    assert "decode waits for latency" in titles[0]
    assert titles[1] == "One all-reduce, hop by hop"
