"""The clinic's cases: figures worked by hand from the measured points, and each remedy better than the illness."""

import pytest

from core.catalog import gpu, link, model
from core.clinic import CASES, SEED, examine
from core.clinic.case import Bars, Figure, Histogram, Lines
from core.clinic.hang import judge_causes
from core.clinic.hang_log import read_hang
from core.clinic.kv_too_small import activation_peak_bytes
from core.errors import UnknownNameError
from core.models.weights import read_weight_bytes
from core.units import GIB
from runtime import content


def figure(key: str, name: str) -> float:
    return examine(key).figure(name).value


@pytest.mark.parametrize("key", CASES)
def test_a_case_has_one_truth_among_plausible_diagnoses(key):
    case = examine(key)
    assert case.key == key
    assert case.truth in case.candidates
    assert len(set(case.candidates)) == len(case.candidates) >= 4
    assert case.symptom or case.log


@pytest.mark.parametrize("key", CASES)
def test_a_case_is_the_same_each_time(key):
    """The seed is fixed, so that a figure on a slide is the figure on the page."""
    assert SEED == 7
    assert examine(key) == examine(key)


@pytest.mark.parametrize("key", CASES)
def test_a_figure_is_named_once_and_is_a_number(key):
    figures = examine(key).figures
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.value >= 0 and figure.text for figure in figures)


def test_the_truth_is_not_always_in_the_same_place():
    places = [case.candidates.index(case.truth) for case in (examine(key) for key in CASES)]
    assert max(places.count(place) for place in places) <= len(places) / 2


def test_seven_ranks_wait_for_the_slow_one_and_it_waits_for_nobody():
    """70B over 8 H100: 139 GB / 8 / 3.35 TB/s = 5.19 ms a rank; a quarter more is 1.30 ms, and that is the wait."""
    case = examine("slow_rank")
    kernels = [segment.amount for segment in case.symptom.segments]
    assert min(kernels) == kernels[5] == pytest.approx(figure("slow_rank", "comm"))
    assert kernels[0] - kernels[5] == pytest.approx(0.25 * 5.187e-3, rel=1e-3)
    assert case.model.total("rank 0") == pytest.approx(case.model.total("rank 5")) == figure("slow_rank", "step")


def test_one_slow_gpu_of_eight_costs_more_than_an_eighth_of_its_slowness():
    """The average would lose 3.1 %; 1.30 ms of 5.19 + 160 × 7.5 µs is 20.3 %, 0.203 / 1.203 of eight GPUs."""
    longer = figure("slow_rank", "longer")
    assert figure("slow_rank", "mean_slowdown") == pytest.approx(0.25 / 8)
    assert longer == pytest.approx(0.203, abs=5e-4)
    assert figure("slow_rank", "lost_gpus") == pytest.approx(8 * longer / (1 + longer))


def test_leaving_the_slow_gpu_out_with_three_others_is_worse_than_keeping_it():
    assert figure("slow_rank", "half_step") > figure("slow_rank", "step") > figure("slow_rank", "step_before")


def test_messages_over_the_network_make_a_rare_stall_common():
    """160 all-reduces of 2 network steps, by 16 GPUs: 5,120 messages; 3 in a million each is 1.5 % of the steps."""
    across_s = examine("cross_node").model.total("across")
    assert figure("cross_node", "network_bytes_share") == pytest.approx(
        figure("cross_node", "network_bytes_time") / across_s
    )
    assert figure("cross_node", "messages") == 160 * 2 * 16
    assert figure("cross_node", "hit") == pytest.approx(1 - (1 - 3e-6) ** 5120)
    assert figure("cross_node", "p99") > 0.2 > 7 * figure("cross_node", "p50")


def test_a_pipeline_across_the_nodes_brings_back_both_quantiles():
    assert figure("cross_node", "piped_p99") < figure("cross_node", "p50")
    assert figure("cross_node", "piped_messages") == 2 * 8, "activations and residual, from each of eight"


def test_a_histogram_holds_every_step():
    shares = {}
    for cut in examine("cross_node").fix.bins:
        shares[cut.series] = shares.get(cut.series, 0) + cut.share
    assert shares == pytest.approx({"across": 1, "piped": 1})


def test_a_pipeline_alone_gives_no_token_sooner_than_one_gpu():
    """Four stages of a quarter each are one GPU's time, and three hops of two rows on top."""
    alone, token = figure("starved_pipeline", "alone"), figure("starved_pipeline", "token")
    assert alone < token < 1.02 * alone
    assert figure("starved_pipeline", "in_flight") < 1 < figure("starved_pipeline", "filling")
    over, state_bytes = link("ib-ndr"), 2 * model("llama-3-70b").hidden_size
    hop_s = over.base_s + over.latency_s + state_bytes / over.bandwidth_bytes_per_s
    assert figure("starved_pipeline", "hops") == pytest.approx(3 * 2 * hop_s, rel=1e-9)


def test_the_load_on_a_stage_is_rate_times_tokens_times_stage_time():
    """Utilisation law: 0.2 a second × 64 tokens × 10.4 ms = 13.3 %; 200 arrivals scatter by a 14th."""
    expected = 0.2 * 64 * figure("starved_pipeline", "stage")
    assert figure("starved_pipeline", "busy") == pytest.approx(expected, rel=0.2)


def test_eight_ranks_pay_more_than_they_save():
    """Measured on L40S at 64 KiB: 32.2 µs over 4 ranks and 164 µs over 8, 64 times a step."""
    assert figure("eight_ranks", "comm_4") == pytest.approx(64 * 32.2e-6, rel=0.01)
    assert figure("eight_ranks", "paid") > figure("eight_ranks", "saved") == figure("eight_ranks", "compute_8")
    assert figure("eight_ranks", "step_8") > figure("eight_ranks", "step_4")


def test_two_replicas_of_four_serve_more_than_eight_ranks_that_take_as_many():
    """Sixteen sequences in both: 16 / 6.40 ms = 2,500 a second, and 16 / (2.17 + 64 × 0.2799) ms = 797."""
    both_s = figure("eight_ranks", "compute_8") + 64 * 279.9e-6
    assert figure("eight_ranks", "rate_8_both") == pytest.approx(16 / both_s)
    assert figure("eight_ranks", "rate_two_4") == pytest.approx(2 * 8 / figure("eight_ranks", "step_4"))
    assert figure("eight_ranks", "gain") == pytest.approx(both_s / figure("eight_ranks", "step_4"))


def test_most_of_an_all_reduce_over_eight_pcie_gpus_goes_with_its_bytes_and_is_not_drawn_as_latency():
    """L40S: 5.7 + 14 × 1.2 = 22.5 µs with hardly any bytes (22.4 measured), 164 µs with 64 KiB, as measured."""
    assert figure("eight_ranks", "one_8_least") == pytest.approx(22.5e-6)
    drawn = {part.term: part.amount for part in examine("eight_ranks").model.segments if part.bar == "TP=8"}
    assert drawn["latency"] == pytest.approx(64 * 22.5e-6)
    assert drawn["bandwidth"] == pytest.approx(64 * (164.5 - 22.5) * 1e-6)


def test_the_cache_is_what_the_driver_leaves_after_the_weights_and_the_peak():
    """23.64 GiB × 0.9 - 14.96 - 0.96 - 0.10 = 5.25 GiB, 131,072 B a token: 43,024 tokens, not 54,400."""
    peak_gib = figure("kv_too_small", "peak") / GIB
    room_gib = 23.64 * 0.9 - 14.9575 - peak_gib - 0.1
    assert figure("kv_too_small", "tokens") == int(room_gib * GIB / 131072 / 16) * 16 == 43024
    assert f"# CPU blocks: {4 * 2**30 // (131072 * 16)}" in "\n".join(examine("kv_too_small").log)
    assert figure("kv_too_small", "expected_tokens") == int((24 * 0.9 - 14.9575) * GIB / 131072 / 16) * 16


@pytest.mark.parametrize("language", content.languages())
def test_the_fix_of_a_small_cache_is_one_that_its_release_accepts(language):
    """vLLM 0.9: a step smaller than the longest sequence is a ValueError unless prompts come in chunks."""

    def refused(chunked: bool) -> bool:
        return figure("kv_too_small", "fewer") < figure("kv_too_small", "batched") and not chunked

    said = content.load("clinic", language)["kv_too_small.fix"]
    assert refused(chunked=False)
    assert not refused(chunked="enable_chunked_prefill" in said)
    assert "max_model_len" in said


def test_the_peak_of_a_profiling_run_by_hand():
    """8,192 tokens of an 8B: 2 · 8192 · (3 · 14336 + 2 · 4096) bytes, and 256 rows of 128,256 logits in 6 bytes."""
    layer, logits = 2 * 8192 * (3 * 14336 + 2 * 4096), 6 * 256 * 128256
    assert activation_peak_bytes(model("llama-3-8b"), 8192) == layer + logits == 1_035_862_016


def test_the_network_is_idle_and_more_than_half_of_the_step():
    """64 × 236 µs = 15.1 ms (233 measured), of which 64 × 6.55 µs are bytes; 12.5 ms of compute beside it."""
    assert figure("idle_network", "comm") == pytest.approx(64 * 236.2e-6, rel=1e-3)
    assert figure("idle_network", "bytes_time") == pytest.approx(64 * 8192 / 1.25e9)
    assert figure("idle_network", "utilisation") < 0.02
    assert figure("idle_network", "comm_share") > 0.5


def test_a_link_ten_times_as_wide_saves_nothing_to_speak_of():
    assert figure("idle_network", "wider_saves") < 0.02 * figure("idle_network", "step")
    assert figure("idle_network", "box_step") < figure("idle_network", "wider_step") / 2


def test_the_kernel_is_off_by_the_rule_that_its_machine_breaks():
    case = examine("kernel_off")
    assert case.truth == "nvlink"
    assert case.figure("custom").value < case.figure("nccl").value < case.figure("comm").value


@pytest.mark.parametrize(("load", "four_s", "pair_s"), [("", 16.13e-6, 5.61e-6), ("many_", 109.7e-6, 11.95e-6)])
def test_four_pcie_gpus_and_two_pairs_are_compared_with_the_same_sequences(load, four_s, pair_s):
    """Two sequences: one batch over four, one over each pair. Thirty-two of them turn the order round.

    NCCL over four, as timed; a pair has vLLM's own kernel: 5.2 µs and 8 or 128 KiB over 19.9 to 20 GB/s.
    """
    sequences = {"": 2, "many_": 32}[load]
    read_s = read_weight_bytes(model("llama-3-8b")) / gpu("l40s").memory_bytes_per_s
    rates = sequences / (read_s / 4 + 64 * four_s), sequences / (read_s / 2 + 64 * pair_s)
    told = figure("kernel_off", f"{load}rate"), figure("kernel_off", f"pairs_{load}rate")
    assert told == pytest.approx(rates, rel=2e-3)
    assert (told[0] > told[1]) == (sequences == 2)


def test_the_silent_logs_own_lines_leave_its_truth():
    case = examine("silent_init")
    supported = [f.cause for f in judge_causes(read_hang("\n".join(case.log))) if f.standing == "supported"]
    assert supported == [case.truth]


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("s", 0.00819, "8.19 ms"),
        ("fraction", 0.158, "15.8 %"),
        ("bytes", 8192, "8 KiB"),
        ("bytes_per_s", 25.3e9, "25.3 GB/s"),
        ("per_s", 193.4, "193"),
        ("count", 5120, "5 120"),
        ("times", 3.44, "3.4"),
        ("plain", 0.532, "0.532"),
    ],
)
def test_a_figure_is_written_in_its_unit(unit, value, text):
    assert Figure("x", value, unit).text.replace("\u00a0", " ").replace("\u202f", " ") == text


def test_pictures_are_of_three_kinds():
    pictures = [p for k in CASES for c in [examine(k)] for p in (c.symptom, c.model, c.fix) if p]
    assert {type(picture) for picture in pictures} == {Bars, Lines, Histogram}


def test_an_unknown_case_a_figure_or_a_bar_is_refused_by_name():
    case = examine("slow_rank")
    with pytest.raises(UnknownNameError, match="slow_rank"):
        examine("flu")
    with pytest.raises(UnknownNameError, match="step_before"):
        case.figure("temperature")
    with pytest.raises(UnknownNameError, match="rank 7"):
        case.model.total("rank 9")
