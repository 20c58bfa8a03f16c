"""Two constants a class of GPU: each source tested by those fitted on the others, and what is claimed of them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import GPUS, MODELS, gpu, model
from core.errors import OutOfRangeError
from core.evidence.accuracy import (
    BANDS,
    FIRST_BANDS,
    TESTED,
    UNTESTED,
    UNTESTED_FIRST,
    Accuracy,
    accuracy_of,
    decode_band,
    first_band,
    widens,
)
from core.evidence.blind import is_inside, retold_residuals
from core.evidence.calibration import (
    CALIBRATIONS,
    ENGINE_FLOORS,
    GRAPHED,
    PROMPT_FLOOR_S,
    calibration_for,
    calibration_of,
    fit_efficiency,
    fit_launch,
    prompt_efficiency,
)
from core.evidence.kinds import PROMPT_LAUNCH_S, layer_kind, prompt_launch_s
from core.evidence.nearest import Case, distances, nearest
from core.evidence.published import read_published
from core.evidence.published_terms import prediction
from core.evidence.report import (
    agreed_out_of_memory,
    band,
    by_class,
    by_source,
    decode_residuals,
    errors_of,
    fit_rows,
    is_launched,
    is_prompt,
    is_replayed,
    launch_rows,
    residuals,
)
from core.evidence.served_report import crossed_residuals, kept_served
from core.steps.launches import is_plain
from core.steps.model import Efficiency
from runtime.foretold import foretold
from runtime.published import shipped_table
from runtime.served import shipped_served
from tests.core.evidence.published_rows import GPT_FAST, QWQ, SATURATED


@pytest.fixture(scope="module")
def shipped():
    return residuals(shipped_table())


@pytest.fixture(scope="module")
def every(shipped):
    """Published times, and the served ones by constants that their models had no part in."""
    return (*shipped, *crossed_residuals(kept_served(shipped_served())))


def predictions(*rows):
    return [prediction(found) for found in read_published(rows).measurements]


def test_a_fit_gives_back_the_constants_its_times_were_made_with():
    """Three steps of different work and depth, timed with 0.70 and 24 µs."""
    truth = Efficiency(0.70, 24e-6)
    shapes = [replace(GPT_FAST, model=name) for name in ("Llama-2-7B", "Llama-3.2-1B", "Mistral-7B")]
    timed = [
        replace(each, measurement=replace(each.measurement, measured_s=each.predicted_s(truth)))
        for each in predictions(*shapes)
    ]
    assert fit_efficiency(timed) == truth
    assert fit_efficiency(timed, floor_s=24e-6) == truth


def test_a_long_table_is_heard_as_one_source():
    """Ten copies of one source's row pull no harder than one."""
    first, other = predictions(GPT_FAST, replace(QWQ, value="12"))
    assert fit_efficiency([first, other]) == fit_efficiency([first] * 10 + [other])


def test_nothing_cannot_be_fitted():
    with pytest.raises(OutOfRangeError, match="two constants"):
        fit_efficiency([])


def test_the_constants_are_what_a_class_s_sources_give():
    """Of each class and kind but Hopper's and Blackwell's, which one table of times gave: test_served_fit."""
    found = [prediction(each) for each in shipped_table().measurements]
    for key, claimed in CALIBRATIONS.items():
        if key[0] in GRAPHED:
            continue
        rows = fit_rows(found, *key)
        floor_s = None if claimed.floor_fitted else CALIBRATIONS["hopper", "dense"].efficiency.layer_floor_s
        assert fit_efficiency(rows, floor_s) == claimed.efficiency
        assert (claimed.rows, claimed.sources) == (len(rows), len({each.measurement.source for each in rows}))


def test_a_prompt_on_an_h100_reaches_less_of_its_arithmetic_where_that_is_of_8_bits(shipped):
    """Ten first tokens of four sources: 12 % off in the median by constants of their own, 10 by a step's.

    Without what matrices of 8 bits take besides, those of seven that are so come out at two thirds of their time.
    """
    assert CALIBRATIONS["a100", "dense"].efficiency.layer_floor_s == PROMPT_FLOOR_S
    rows = [each for each in shipped if (each.measurement.gpu.gpu_class, each.kind) == ("hopper", "dense")]
    rows = [each for each in rows if is_prompt(each.prediction)]
    assert errors_of(rows).median_error < 0.10
    wide = [each for each in rows if each.prediction.terms.narrow_s]
    constants = prompt_efficiency(gpu("h100-sxm"), model("llama-3-8b"))
    bare = [replace(each.prediction, terms=replace(each.prediction.terms, narrow_s=0.0)) for each in wide]
    ratios = sorted(each.predicted_s(constants) / each.measurement.measured_s for each in bare)
    assert ratios[len(ratios) // 2] < 0.8


def test_a_prompt_s_constants_follow_one_s_own():
    gpu_spec, row = gpu("h100-sxm"), model("llama-3-8b")
    usual = prompt_efficiency(gpu_spec, row)
    slower = replace(CALIBRATIONS["hopper", "dense"].efficiency, layer_floor_s=200e-6)
    assert prompt_efficiency(gpu_spec, row, slower) == replace(usual, layer_floor_s=200e-6)
    assert usual.reached_fraction == CALIBRATIONS["hopper", "dense"].efficiency.reached_fraction
    assert usual.layer_floor_s == PROMPT_FLOOR_S


def test_no_source_has_a_part_in_the_constants_that_test_it():
    """A table's times made ten times as long leave its own predictions as they were, and move the others'."""
    table = shipped_table()
    slower = tuple(
        replace(each, measured_s=10 * each.measured_s) if "dennislee22" in each.source else each
        for each in table.measurements
    )
    pairs = list(zip(residuals(table), residuals(replace(table, measurements=slower)), strict=True))
    own = [pair for pair in pairs if "dennislee22" in pair[0].measurement.source]
    assert own
    assert all(before.predicted_s == after.predicted_s for before, after in own)
    assert any(before.predicted_s != after.predicted_s for before, after in pairs)


def test_a_training_code_s_times_are_not_fitted_on():
    row = replace(QWQ, source="FasterTransformer docs/gpt_guide.md", metric="latency ms (Megatron)")
    found = [prediction(one) for one in read_published([row, replace(row, metric="latency ms")]).measurements]
    assert [each.measurement.engine for each in fit_rows(found, "a100", "dense")] == [""]


def test_what_stands_beside_a_predicted_time_is_the_report_s(every):
    """n, sources, median, p90, worst, bias of each class, kind and quantity, and of nothing besides."""
    counted = {
        key: Accuracy(
            line.rows,
            line.sources,
            *(round(value, 3) for value in (line.median_error, line.p90_error, line.worst_error, line.bias)),
        )
        for key, line in by_class(every).items()
    }
    assert counted == TESTED
    assert accuracy_of(gpu("a100"), model("llama-3-8b"), "decode").n == 72
    assert accuracy_of(gpu("l40s"), model("llama-3-8b"), "decode") is None


def test_eight_of_ten_decode_times_of_a_class_lie_in_its_band(every):
    """By row everywhere, and by source too where a class has no table of served times.

    Of the A100's 72 steps of dense layers 50 lay in a band of sources alone.
    """
    found = decode_residuals(every)
    own = {key: [each for each in found if (each.measurement.gpu.gpu_class, each.kind) == key] for key in BANDS}
    for key, rows in own.items():
        steps = [each for each in rows if each.measurement.quantity == "decode"]
        inside = [BANDS[key].low - 0.005 <= 1 / each.ratio <= BANDS[key].high + 0.005 for each in steps]
        assert sum(inside) >= 0.8 * len(inside), key
        if key[0] not in GRAPHED:
            low, high = band(rows)
            assert BANDS[key].low <= low + 0.01 < high - 0.01 <= BANDS[key].high, key


@pytest.mark.parametrize("system", ["h100-sxm", "h200-sxm", "b200-sxm", "b300-sxm"])
def test_eight_of_ten_served_times_of_a_system_lie_in_their_band(every, system):
    """Each told by constants that its model had no part in; and the median of each system lies near 1."""
    rows = [
        each for each in every if each.measurement.gpu.key == system and "InferenceX, " in each.measurement.source
    ]
    assert sum(map(is_inside, rows)) >= 0.8 * len(rows)
    assert abs(errors_of(rows).bias) < 0.1


def foretold_by_today(quantity):
    """What published times were of a prediction by today's constants, by class and kind."""
    groups: dict[tuple[str, str], list[float]] = {}
    for each in retold_residuals(foretold(), shipped_table()):
        if each.measurement.quantity == quantity:
            groups.setdefault((each.measurement.gpu.gpu_class, each.kind), []).append(1 / each.ratio)
    return groups


def test_experts_that_are_widened_first_have_a_band_that_holds_every_release(shipped):
    """gpt-oss-120b on an A100: within 11 % in vLLM 0.11, 1.14 and 1.68 times in an early image."""
    rows = [each for each in decode_residuals(shipped) if widens(each.measurement.gpu, each.measurement.model)]
    low, high, tested = decode_band(gpu("a100"), model("gpt-oss-120b"))
    assert len(rows) == 4
    assert all(
        low <= 1 / each.ratio <= high + 0.005 for each in rows if each.measurement.gpu.key.startswith("a100")
    )
    assert tested
    assert high > decode_band(gpu("a100"), model("qwen3-30b-a3b")).high
    assert decode_band(gpu("h100-sxm"), model("gpt-oss-120b")) == decode_band(
        gpu("h100-sxm"), model("mixtral-8x7b")
    )


@given(st.sampled_from(list(GPUS.values())), st.sampled_from(list(MODELS.values())))
def test_a_band_is_narrow_only_where_decode_times_were_published(gpu_spec, row):
    found = decode_band(gpu_spec, row)
    errors = (accuracy_of(gpu_spec, row, quantity) for quantity in ("decode", "run"))
    published = sum(one.n for one in errors if one is not None) > 1
    kind, claimed = layer_kind(row), calibration_of(gpu_spec, row)
    assert found.tested == bool(published)
    assert UNTESTED[kind].low <= found.low < 1 < found.high <= UNTESTED[kind].high
    assert claimed is CALIBRATIONS.get((gpu_spec.gpu_class, kind), claimed)
    assert claimed.rows > 0 or not claimed.floor_fitted
    assert layer_kind(row) in ("hybrid", "compressed", "latent" if row.mla else "mixture" if row.moe else "dense")
    assert is_plain(row) == (layer_kind(row) == "dense")


def test_an_mi300x_s_dense_layers_are_tested_by_constants_of_other_sources(shipped):
    """By constants of mixtures in four bits they were 39.5 % off in the median, and up to 64; now 10.8 and 35."""
    rows = [each for each in shipped if each.measurement.gpu.key == "mi300x" and each.kind == "dense"]
    runs = [each for each in rows if each.measurement.quantity == "run"]
    before = [each.prediction.predicted_s(Efficiency(0.44, 86e-6)) / each.measurement.measured_s for each in runs]
    assert sorted(abs(ratio - 1) for ratio in before)[len(before) // 2] > 0.35
    assert errors_of(runs).median_error < 0.15
    assert {each.measurement.group.tp_size for each in runs} == {8}
    low, high, tested = decode_band(gpu("mi300x"), model("llama-3.1-70b"))
    assert tested
    assert sum(low <= 1 / each.ratio <= high for each in decode_residuals(rows)) >= 0.8 * len(
        decode_residuals(rows)
    )


def test_no_roofline_lies_above_a_shipped_measurement(shipped):
    assert [each.measurement for each in shipped if each.roofline_ratio > 1] == []


def test_decode_latency_is_an_eighth_off_in_the_median_and_a_fifth_where_steps_are_timed(shipped):
    """653 rows, 41 sources; batches timed whole are nearer than steps timed on a server."""
    line = errors_of(decode_residuals(shipped))
    assert (line.rows, line.sources) == (653, 41)
    assert line.median_error < 0.15
    assert TESTED["a100", "dense", "decode"].median_error > TESTED["a100", "dense", "run"].median_error


def test_shipped_runs_out_of_memory_do_not_fit_by_our_count():
    table = shipped_table()
    assert (len(table.out_of_memory), agreed_out_of_memory(table)) == (6, 6)
    assert table.skipped == ()


def test_each_source_has_a_line_and_every_row_is_in_one(shipped):
    lines = by_source(shipped)
    assert sum(line.rows for line in lines.values()) == len(shipped)
    served = sum(each.measurement.engine != "megatron" for each in shipped)
    assert sum(line.rows for line in by_class(shipped).values()) == served == 860


def test_a_source_s_bias_is_its_median_ratio(shipped):
    one = shipped[0]
    line = errors_of([one])
    assert line.bias == pytest.approx(one.ratio - 1)
    assert line.median_error == line.p90_error == line.worst_error == pytest.approx(one.error)


def test_a_full_server_is_no_decode_latency(shipped):
    assert all(each.measurement.quantity in ("decode", "run") for each in decode_residuals(shipped))
    assert read_published([SATURATED]).measurements[0].quantity == "saturated"


def test_nearest_to_a_published_run_is_that_run(shipped):
    case = Case(model("qwen2.5-32b"), gpu("a100"), 2, 16, 1, 200)
    assert distances(read_published([QWQ]).measurements, case) == [0]
    assert nearest(shipped, case)[0].measurement.printed.startswith("6.07 ")


def test_another_class_of_gpu_is_farther():
    found = read_published([GPT_FAST]).measurements
    here, there = (Case(model("llama-2-7b"), gpu(key), 1, 1, 5, 200) for key in ("a100", "h100"))
    assert distances(found, there) > distances(found, here) + 1


def test_nearest_names_a_shape_once(shipped):
    listed = [each.measurement for each in nearest(shipped, Case(model("llama-3-8b"), gpu("a100"), 1, 1, 512, 512))]
    shapes = {(said.source, said.model.key, said.group.tp_size, said.batch) for said in listed}
    assert len(shapes) == len(listed) == 6


def test_eight_of_ten_first_tokens_of_a_class_lie_in_its_band(shipped):
    """By source and row, as far as those of all classes do; as the farthest where none was published."""
    found = [each for each in shipped if is_prompt(each.prediction)]
    groups = {(each.measurement.gpu.gpu_class, each.kind) for each in found}
    for key, kind in groups:
        rows = [each for each in found if (each.measurement.gpu.gpu_class, each.kind) == (key, kind)]
        alike = [each for each in found if (each.kind == "dense") == (kind == "dense")]
        (low, high), (least, most) = band(rows), band(alike)
        if len(rows) == 1:
            assert (key, kind) not in FIRST_BANDS
            continue
        told = FIRST_BANDS[key, kind]
        by_rule = min(low, least), max(high, most)
        if (key, kind) not in foretold_by_today("first_token"):
            assert told[:2] == pytest.approx(by_rule, abs=0.02)
        assert told.low <= by_rule[0] + 0.01 < by_rule[1] - 0.01 <= told.high
        assert sum(told.low - 0.005 <= 1 / each.ratio <= told.high + 0.005 for each in rows) >= 0.8 * len(rows)
    farthest = [1 / each.ratio for each in found] + foretold_by_today("first_token")["hopper", "dense"]
    assert UNTESTED_FIRST[:2] == pytest.approx((min(farthest), max(farthest)), abs=0.01)
    assert not first_band(gpu("l40s"), model("deepseek-r1")).tested


def test_an_engine_that_replays_graphs_has_an_h100_s_floor_on_an_a100(shipped):
    """gpt-fast and SGLang, 28 steps: by the floor of engines that launch each kernel 20 % off, and now 9."""
    rows = [each for each in shipped if is_replayed(each.prediction) and not is_prompt(each.prediction)]
    eager = [
        replace(each, predicted_s=each.prediction.predicted_s(CALIBRATIONS["a100", each.kind].efficiency))
        for each in rows
    ]
    assert len(rows) == 28
    assert errors_of(rows).median_error < 0.1 < 0.19 < errors_of(eager).median_error
    floors = {
        engine: calibration_of(gpu("a100"), model("llama-3-8b"), engine).efficiency.layer_floor_s
        for engine in ("vllm", "sglang", "trtllm")
    }
    graphs = CALIBRATIONS["hopper", "dense"].efficiency.layer_floor_s
    assert floors["sglang"] == pytest.approx(ENGINE_FLOORS["sglang"] * graphs, abs=1e-9)
    assert floors["trtllm"] == pytest.approx(ENGINE_FLOORS["trtllm"] * graphs, abs=1e-9)
    assert floors["vllm"] == CALIBRATIONS["a100", "dense"].efficiency.layer_floor_s


def test_a_prompt_in_16_bits_has_a_step_s_share(shipped):
    """Qwen2.5-72B on two H100, 129 ms for 1,024 tokens: nothing is narrow there."""
    rows = [each for each in shipped if each.measurement.model.key == "qwen2.5-72b" and is_prompt(each.prediction)]
    assert len(rows) == 2
    assert all(each.error < 0.3 and each.prediction.terms.narrow_s == 0 for each in rows)


@pytest.mark.parametrize("kind", ["dense", "mixture"])
def test_an_untested_band_holds_what_another_class_s_constants_predict(shipped, kind):
    """Each class's decode times by the constants of every other that was timed with such layers."""
    found = [
        1 / replace(each, predicted_s=each.prediction.predicted_s(row.efficiency)).ratio
        for each in decode_residuals(shipped)
        for (other, its_kind), row in CALIBRATIONS.items()
        if each.kind == its_kind == kind and other not in (each.measurement.gpu.gpu_class, "blackwell")
    ]
    assert (min(found), max(found)) == pytest.approx(UNTESTED[kind][:2], abs=0.01)


def test_a_class_that_was_never_timed_has_its_kinds_floor_and_no_rows():
    """An L40S's mixture: an A100's share of the data sheet, and the floor of a mixture's layers."""
    found = calibration_for("ada", "mixture")
    assert (found.rows, found.floor_fitted, found.name) == (0, False, "any other")
    assert found.efficiency.layer_floor_s == CALIBRATIONS["a100", "mixture"].efficiency.layer_floor_s
    assert calibration_for("cdna4", "latent").efficiency == Efficiency(0.73, 120e-6)


def test_an_engine_s_launches_are_what_its_first_tokens_give(shipped):
    """Of each stack; a compiled engine has none. What was not timed is as on CUDA, or as slow as another engine."""
    found = [each.prediction for each in shipped]
    for (engine, stack), claimed in PROMPT_LAUNCH_S.items():
        assert fit_launch(launch_rows(found, engine, stack)) == claimed
    plain, latent = model("llama-3-8b"), model("deepseek-r1")
    assert prompt_launch_s("trtllm", gpu("h100"), plain) == 0
    assert prompt_launch_s("vllm", gpu("mi300x"), plain) == PROMPT_LAUNCH_S["vllm", "cuda"]
    assert prompt_launch_s("vllm", gpu("mi300x"), latent) == PROMPT_LAUNCH_S["sglang", "rocm"]


def test_a_short_prompt_takes_its_launches(shipped):
    """DeepSeek-R1's 61 layers on eight B200: 141 ms for 610 tokens, where arithmetic and memory take 50."""
    rows = [each for each in shipped if is_launched(each.prediction) and each.measurement.gpu.key == "b200-sxm"]
    (row,) = [
        each
        for each in rows
        if each.measurement.model.key == "deepseek-r1" and each.measurement.prompt_tokens < 1000
    ]
    assert row.predicted_s > 2 * row.prediction.predicted_s(CALIBRATIONS["blackwell", "latent"].efficiency, 0.0)
    assert row.ratio == pytest.approx(1, abs=0.25)


def test_sglang_s_first_tokens_are_told_without_bias(shipped):
    """35 of 20 sources, each by the others; by a constant a kind of layer they came out at 0.57 of the time."""
    rows = [each for each in shipped if is_launched(each.prediction) and each.measurement.engine == "sglang"]
    line = errors_of(rows)
    assert (line.rows, line.sources) == (35, 20)
    assert abs(line.bias) < 0.05
    assert line.median_error < 0.31
    assert line.p90_error < 0.51


def test_a_token_over_two_nodes_pays_for_arriving_apart(shipped):
    """DeepSeek-R1 at TP=16 over InfiniBand: 23 ms, of which a node's own step would take 9.

    These six set the wait. Counted as its test they made Hopper's latent layers "off by 2 % in the median".
    """
    over = [prediction(one) for one in shipped_table().measurements if one.group.waits_over_nodes]
    rows = [each for each in over if not is_prompt(each)]
    constants = CALIBRATIONS["hopper", "latent"].efficiency
    assert len(rows) == 6
    assert all(each.predicted_s(constants) == pytest.approx(each.measurement.measured_s, rel=0.05) for each in rows)
    assert not {each.measurement for each in rows} & {each.measurement for each in shipped}
