"""Advice that was wrong once, asked again of the models it was wrong about; each has its figure beside it."""

from dataclasses import replace

import pytest

from core.catalog import gpu, link, model
from core.evidence.accuracy import TIMED, accuracy_of, decode_band, first_band
from core.models.checkpoint import checkpoint_width, named_checkpoint
from core.models.kv_cache import kv_bytes_per_token_per_rank
from core.placement.asked import Machine, question_of, usual_width
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import judge
from core.placement.planner import Placement, place
from core.placement.serve_flags import serve_command
from core.placement.trace import decisions
from core.placement.under_load import engine_cost, place_under_load
from core.serving.arrivals import seeded
from core.serving.curve import Promise, highest_kept, load_curve
from core.units import significant
from runtime.prose import worded
from runtime.published import shipped_table


def placed(
    name: str, gpu_key: str, gpus: int = 8, nodes: int = 1, network: str = "", **demand: object
) -> Placement:
    """As `shardlab plan` asks: the checkpoint by its name, in its own width."""
    row, over = named_checkpoint(name), link(network) if network else None
    asked = Demand(dtype=usual_width(row, gpu(gpu_key)), **demand)
    return place(question_of(row, Machine(gpu(gpu_key), gpus, nodes, network=over), asked))


def plan_of(found: Placement, name: str):
    return next(plan for plan in found.plans if plan.layout.name == name)


def taken(found: Placement) -> str:
    return found.plans[found.recommended].layout.name


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("RedHatAI/DeepSeek-R1-Distill-Llama-70B-AWQ", "int4-g128"),
        ("nvidia/Llama-3.1-405B-Instruct-NVFP4", "nvfp4"),
        ("nvidia/Llama-3.1-405B-Instruct-FP8", "fp8"),
        ("RedHatAI/Meta-Llama-3.1-70B-Instruct-quantized.w4a16", "int4-g128"),
    ],
)
def test_the_checkpoint_that_is_named_is_the_one_served_in_its_width(name, width):
    row = named_checkpoint(name)
    found = placed(name, "b200-sxm")
    assert checkpoint_width(row) == width
    assert serve_command(found.question, found.plans[found.recommended]).startswith(f"vllm serve {name} ")


def test_no_plan_is_taken_that_another_beats_on_every_axis():
    """405B in FP8 on eight H100: TP=8, where TP4×2 was taken at 42.4 ms and 412 against 29.4 and 258."""
    found = placed("meta-llama/Llama-3.1-405B-Instruct-FP8", "h100-sxm", prompt_tokens=1024, concurrency=8)
    assert taken(found) == "TP=8"


def test_what_is_taken_for_its_most_within_a_target_says_that_most():
    """Eight engines of one rank, slower on every other axis, are taken for what they give at 100 ms a token."""
    found = placed("google/gemma-3-27b-it", "mi300x", prompt_tokens=128, output_tokens=64, slo_itl_s=0.1)
    most = {plan.layout.name: found.capacity(index, 0.1) for index, plan in enumerate(found.plans) if plan.fits}
    assert taken(found) == "TP=1 ×8"
    assert most["TP=1 ×8"] >= 0.9 * max(most.values())
    told = f"at any concurrency that stays within: {significant(most['TP=1 ×8'])} tokens/s"
    assert any(told in worded(one) for one in decisions(found))


def test_tensor_parallelism_over_nodes_is_priced_as_it_was_measured():
    """DeepSeek-R1 at TP=16 over InfiniBand: 23.2 ms a token and 180 to the first measured, 6.2 and 25 once told."""
    found = placed("deepseek-ai/DeepSeek-R1", "h100-sxm", nodes=2, network="ib-ndr", prompt_tokens=128)
    timing = plan_of(found, "TP=16").timing
    assert timing.itl_s == pytest.approx(23.2e-3, rel=0.05)
    assert timing.ttft_s == pytest.approx(180e-3, rel=0.15)
    assert taken(found) == "TP=8 PP=2"


def test_a_slow_network_is_not_crossed_by_tensor_parallelism():
    """405B over two nodes of A100 and 100 GbE was told to take TP=16."""
    found = placed(
        "meta-llama/Llama-3.1-405B-Instruct-FP8", "a100", nodes=2, network="ethernet-100g", concurrency=8
    )
    crossing, inside = plan_of(found, "TP=16"), plan_of(found, "TP=8 PP=2")
    assert crossing.timing.itl_s > 1.6 * inside.timing.itl_s
    assert "TP=16" not in taken(found)


def test_a_target_that_a_plan_keeps_at_a_rate_is_kept_under_load():
    """The plan judges what the load shows: the same engine, the same requests, the same percentile."""
    asked = placed("llama-3-70b", "h100-sxm", slo_ttft_s=1.0, slo_itl_s=0.05, requests_per_s=2.0).question
    found = place_under_load(asked)
    plan, seen = found.plans[found.recommended], found.at_rate[found.recommended]
    assert found.met
    curve = load_curve(engine_cost(asked, plan), 400, seeded(0), chunk_tokens=seen.chunk_tokens)
    kept = highest_kept(curve, Promise(1.0, 0.05))
    assert kept is not None
    assert plan.layout.replicas * kept.arrivals_per_s >= 0.8 * 2.0  # the ladder's next rate is a quarter up


@pytest.mark.parametrize(
    ("name", "gpu_key", "gpus", "tp", "batch", "measured_ms"),
    [
        ("openai/gpt-oss-120b", "mi300x", 8, 1, 64, 31.4),
        ("openai/gpt-oss-120b", "mi300x", 8, 1, 256, 58.3),
        ("openai/gpt-oss-120b", "mi300x", 8, 8, 1, 4.02),
        ("MiniMaxAI/MiniMax-M2", "mi300x", 8, 4, 64, 42.5),
        ("deepseek-ai/DeepSeek-R1", "h200-sxm", 8, 8, 4, 10.0),
    ],
)
def test_a_band_holds_what_was_measured_where_one_calibration_did_not(name, gpu_key, gpus, tp, batch, measured_ms):
    """Of a GPU's class and a model's kind of layers; one of an A100's dense models stood for all of them."""
    found = placed(name, gpu_key, gpus, prompt_tokens=1024, output_tokens=1024, concurrency=batch)
    plan = judge(found.question, Layout(tp))
    low, high, _ = found.question.band
    assert low <= measured_ms / 1e3 / plan.timing.itl_s <= high


def test_what_was_never_timed_says_so_and_has_the_widest_band():
    """Experts on an L40S were told at half of what they took, within a band of a tenth."""
    low, high, tested = decode_band(gpu("l40s"), model("qwen3-235b-a22b-fp8"))
    assert not tested
    assert low < 0.5
    assert high > 2


@pytest.mark.parametrize(
    ("name", "gpu_key"),
    [("qwen3-next-80b-a3b", "a100"), ("nemotron-3-nano-30b-a3b", "a100"), ("deepseek-v4-flash", "h100")],
)
def test_layers_that_no_published_time_is_of_are_not_called_tested(name, gpu_key):
    """States and compressed caches, on a class of GPU where other mixtures were timed."""
    low, high, tested = decode_band(gpu(gpu_key), model(name))
    assert (low, high, tested) == decode_band(gpu("l40s"), model("qwen3-235b-a22b-fp8"))


def test_a_window_that_is_not_kept_whole_lets_gemma_in():
    """Gemma-3-27B at 8,192 tokens: 52 of 62 layers keep 1,024 and one step's, 47 % of all."""
    found = placed("google/gemma-3-27b-it", "l40s", 4, prompt_tokens=8192, concurrency=16)
    plan = plan_of(found, "TP=4")
    whole = kv_bytes_per_token_per_rank(found.question.model, 4) * 8448
    assert plan.fits
    assert plan.max_concurrency > 1.5 * plan.ranks[0].kv_bytes / whole


def test_a_command_asks_for_no_more_context_than_the_model_has():
    found = placed("llama-3-8b", "a100", prompt_tokens=20_000)
    plan = found.plans[found.nearest if found.recommended is None else found.recommended]
    assert "--max-model-len 8192" in serve_command(found.question, plan)


def test_gpus_whose_errors_are_told_are_those_that_a_published_time_is_of():
    """Another of their class shares its constants and not its errors: an H100 NVL, or one that is made up."""
    timed = {one.gpu.key for one in shipped_table().measurements}
    assert timed == TIMED
    made_up = replace(gpu("h100-sxm"), key="x100", name="X100")
    for card in (gpu("h100-nvl"), gpu("h20-3e-sxm"), gpu("a30"), made_up):
        assert accuracy_of(card, model("llama-3-8b"), "decode") is None
        assert not decode_band(card, model("llama-3-8b")).tested
        assert not first_band(card, model("llama-3-8b")).tested
    assert accuracy_of(gpu("h100-sxm"), model("llama-3-8b"), "decode").n > 1
