"""The figures of lab 03's bench as specifications: they compile, carry core's numbers, and can be projected."""

import re
from dataclasses import replace
from functools import cache

import pytest
import vl_convert

from core.comm_cost.bill import Step, bill
from core.comm_cost.expert_parallel import Experts
from core.comm_cost.readings import two_way
from core.links.fitted_tables import fitted_tables
from core.scenario import Scenario
from core.steps.view import View
from runtime.measurements import example_paste, measured_all_reduces
from ui.comm_cost import charts_bench as charts
from ui.comm_cost import rows_bench as bench
from ui.comm_cost import rows_residuals as residuals
from ui.comm_cost import rows_scale as scale
from ui.comm_cost import rows_slips as slips
from ui.comm_cost import rows_table as table
from ui.comm_cost.bench import THRESHOLDS
from ui.comm_cost.charts import axis_end_ms, bill_bars
from ui.comm_cost.charts_table import errors_by_size
from ui.figures.lines import payloads
from ui.theme import DARK, LIGHT, Look

LOOKS = [Look(LIGHT), Look(DARK), Look(LIGHT, present=True)]
NAMES = ["light", "dark", "projected"]
POINTS = measured_all_reduces()
VIEW, LAB = View(Scenario()), View(Scenario(), napkin=True)


def drawings(look):
    """Every chart of the bench and of the slips, by name."""
    (own,) = fitted_tables(example_paste())
    bills = scale.node_bills(VIEW, 8)
    large = residuals.misses(POINTS, "h100-nccl", 8)
    sizes = slips.bus_rows(own.table)
    ends = bench.end_rows(LAB, LAB.network)
    kernels = bench.kernel_rows(VIEW, POINTS)
    lines = scale.batch_points(VIEW)
    return {
        "gpus": charts.share_dots(bench.share_dots(LAB), THRESHOLDS, look),
        "batch": charts.share_lines(lines, THRESHOLDS, list(scale.BATCHES), "sequences", look),
        "nodes": charts.node_bars(scale.node_bars(bills), look),
        "links": charts.nominal_and_measured(bench.constant_rows(), look),
        "machines": charts.misses_by_ranks(residuals.by_ranks(POINTS), look),
        "payload": charts.misses_by_payload(
            large,
            residuals.REGIONS,
            payloads("payload_bytes", [row.payload_bytes for row in large], "payload"),
            look,
        ),
        "average": charts.busbw_by_size(
            sizes, 80.0, payloads("size_bytes", [row.size_bytes for row in sizes], "size"), look
        ),
        "errors": errors_by_size(table.error_points(own, True), table.BULGE_BYTES, look),
        "ends": bill_bars(ends, look, axis_end_ms(ends)),
        "kernels": bill_bars(kernels, look, axis_end_ms(kernels)),
    }


@cache
def drawn(look) -> dict[str, str]:
    """The same as Vega draws them."""
    return {name: vl_convert.vegalite_to_svg(chart.to_dict()) for name, chart in drawings(look).items()}


@pytest.mark.parametrize("look", LOOKS, ids=NAMES)
def test_every_figure_of_the_bench_compiles_and_names_no_colour_of_the_other_mode(look):
    other = DARK if look.palette is LIGHT else LIGHT
    for name, svg in drawn(look).items():
        assert "<path" in svg, name
        assert not {other.muted, other.latency, other.bandwidth} & set(re.findall("#[0-9A-F]{6}", svg)), name


def test_projected_no_figure_of_the_bench_has_type_under_23_px():
    """13 px at 1.8; a number inside a circle is among them."""
    for name, svg in drawn(LOOKS[2]).items():
        smallest = min(float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg))
        assert smallest >= 23, name


def test_only_the_bill_wears_the_bills_colours():
    """Violet and moss stand for latency and bandwidth; GPUs, machines and errors are ink."""
    plain = {
        name for name, svg in drawn(LOOKS[0]).items() if LIGHT.latency not in svg and LIGHT.bandwidth not in svg
    }
    assert plain == {"gpus", "machines", "payload", "errors"}


def test_a_gpus_dot_is_its_bill():
    """0.386 ms of NVLink beside the H200's 3.35 ms."""
    dots = [dot for dot in bench.share_dots(LAB) if dot.gpu.startswith("H200")]
    link = next(dot for dot in dots if dot.role == "link")
    priced = bill(Step(LAB.step.model, 2, compute_s=1e-3 * link.step_ms), LAB.link)
    assert link.share_percent == pytest.approx(100 * priced.comm_fraction)
    assert (link.flips, link.verdict) == (True, "noticeable")


def test_an_engines_kernel_stands_beside_the_ring():
    """A100, two ranks: the ring's 11.7 µs and the kernel's 5.1, each beside what was timed."""
    rows = {row.name: row for row in bench.kernel_rows(VIEW, POINTS)}
    ring, kernel = rows["NVLink\u00a03\u00a0(A100), NCCL"], rows["NVLink\u00a03\u00a0(A100), one stage"]
    assert kernel.latency_ms < 0.5 * ring.latency_ms
    for row in (ring, kernel):
        modelled = row.compute_ms + row.latency_ms + row.bandwidth_ms
        assert modelled == pytest.approx(row.measured_ms, rel=0.02)


def test_experts_are_compared_layer_by_layer_with_what_attention_sends_told():
    """Between two all-reduces and none stands one: where only the MLP's becomes a dispatch and a combine."""
    tensor, mixed, by_data, _ = scale.layer_rows(Experts(), LAB.link)
    took = [row.latency_ms + row.bandwidth_ms for row in (tensor, mixed, by_data)]
    assert took[1] == pytest.approx(took[0] / 2 + took[2])
    assert "one all-reduce" in mixed.detail
    assert "attention sends nothing" in by_data.detail


def test_the_ends_are_listed_apart_from_the_layers():
    """Embedding and head of an 8B model over 10 GbE: 0.107 ms and 0.153 ms beside 6.82 ms."""
    layers, embedding, head = bench.end_rows(LAB, LAB.network)
    assert layers.in_words == "6.82 ms"
    assert (embedding.in_words, head.in_words) == ("0.107 ms", "0.153 ms")


def test_a_prefill_scores_the_last_token_of_each_prompt_alone():
    """250 KiB of logits a sequence, in a decode step and in a prefill of 2,048 tokens: never 501 MiB."""
    decode, prefill = (replace(LAB, phase=phase) for phase in ("decode", "prefill"))
    heads = [bench.end_rows(view, LAB.network)[2] for view in (decode, prefill)]
    assert heads[0].in_words == heads[1].in_words
    assert "250 KiB" in heads[1].detail
    several = replace(prefill, scenario=replace(LAB.scenario, batch=4))
    assert "1000 KiB" in bench.end_rows(several, LAB.network)[2].detail


@pytest.mark.parametrize(
    ("series", "ranks", "ratio"),
    [
        ("a100-nccl", 2, 0.55),
        ("a100-nccl", 8, 1.98),
        ("h100-nccl", 2, 0.89),
        ("h100-nccl", 8, 2.63),
        ("h100-vllm-graph", 8, 8.2),
    ],
)
def test_the_napkin_model_misses_each_machine_by_its_own_factor(series, ranks, ratio):
    """2(N-1) · 3 µs against the measured 8 KiB all-reduces."""
    found = residuals.small(residuals.by_ranks(POINTS), series, ranks)
    assert found.ratio == pytest.approx(ratio, abs=0.05)


def test_taking_both_directions_for_one_halves_the_bytes_and_not_the_hops():
    found = two_way(2**24, 8, POINTS)
    assert found.wrong.bandwidth_s == pytest.approx(found.right.bandwidth_s / 2)
    assert found.wrong.latency_s == found.right.latency_s
    assert found.measured_s == pytest.approx(122e-6, rel=0.01)
