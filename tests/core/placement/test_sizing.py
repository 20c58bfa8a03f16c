"""Engines for a rate, apart or whole; drafts, prefixes and shared caches: by identity and by hand."""

from dataclasses import replace

import pytest

from core.catalog import gpu, link, model
from core.collectives.cost import as_measured, ring_all_gather, ring_reduce_scatter
from core.errors import OutOfRangeError
from core.models.checkpoint import checkpoint_width
from core.placement.asked import Machine, question_of
from core.placement.demand import Demand
from core.placement.layout import Layout, cache_shares
from core.placement.measured_load import run_trace
from core.placement.plan import Question, judge
from core.placement.planner import place
from core.placement.preflight import preflight
from core.placement.serve_flags import arguments
from core.placement.sizing import Sizing, sized, transfer_s
from core.placement.under_load import engine_cost, place_under_load
from core.serving.curve import Promise, most_kept_per_s
from core.serving.trace import read_trace


def asked(name: str = "llama-3-8b", gpu_key: str = "h100-sxm", gpus: int = 4, **demand: object) -> Question:
    spec = model(name)
    return question_of(spec, Machine(gpu(gpu_key), gpus), Demand(**{"dtype": checkpoint_width(spec), **demand}))


TARGETS = {"slo_itl_s": 0.05, "slo_ttft_s": 1.0}


@pytest.fixture(scope="module")
def at_ten() -> Sizing:
    return sized(asked(requests_per_s=10.0, **TARGETS))


def test_the_fewest_gpus_keep_the_rate_and_one_engine_less_does_not(at_ten):
    best = at_ten.together[0]
    assert best.kept_per_s >= 10 > best.kept_per_s * (1 - 1 / best.layout.replicas)
    assert best.gpus == min(one.gpus for one in at_ten.together)


def test_apart_as_many_read_and_write_as_the_rate_takes(at_ten):
    rates = {shape.layout: shape for shape in at_ten.shapes}
    for found in at_ten.apart:
        reads = rates[replace(found.prefill, replicas=1)].reads_per_s * found.prefill.replicas
        writes = rates[replace(found.decode, replicas=1)].writes_per_s * found.decode.replicas
        assert found.kept_per_s == pytest.approx(min(reads, writes))
        assert found.kept_per_s >= 10


def test_on_gpus_that_are_there_no_way_takes_more():
    found = sized(asked(**TARGETS))
    assert all(way.gpus <= 4 for way in (*found.together, *found.apart))
    assert found.together[0].kept_per_s == max(way.kept_per_s for way in found.together)


@pytest.mark.parametrize("rate", [2.0, 20.0, 30.0])
def test_a_plan_at_a_rate_keeps_it_wherever_counting_gpus_finds_that_these_do(rate):
    """One engine, one length of a step's prompt and one promise: both searches agree on the GPUs that are there."""
    question = asked(requests_per_s=rate, slo_itl_s=0.012, slo_ttft_s=1.0)
    enough = any(way.gpus <= 4 for way in sized(question).together)
    assert place_under_load(question).met == enough


def test_the_command_of_a_plan_at_a_rate_reads_no_more_a_step_than_was_judged():
    """A step counts a token of each sequence that runs, beside what it reads of prompts."""
    question = asked(requests_per_s=2.0, slo_itl_s=0.012, slo_ttft_s=1.0)
    placement = place_under_load(question)
    chosen = placement.plans[placement.recommended]
    flags = dict(arguments(question, chosen))
    chunk = placement.at_rate[placement.recommended].chunk_tokens
    assert int(flags["max-num-batched-tokens"]) == chunk + int(flags["max-num-seqs"])
    assert dict(arguments(question, chosen, "sglang"))["chunked-prefill-size"] == str(chunk)
    calm = replace(question, demand=replace(question.demand, requests_per_s=None))
    assert "max-num-batched-tokens" not in dict(arguments(calm, chosen))


def test_targets_that_nothing_meets_leave_nothing():
    found = sized(asked(gpus=1, requests_per_s=1.0, slo_itl_s=1e-4))
    assert found.together == found.apart == ()


def test_a_kept_rate_is_kept_and_a_step_more_is_not():
    question = asked(**TARGETS)
    cost = engine_cost(question, judge(question, Layout(1)))
    easy, hard = (most_kept_per_s(cost, Promise(1.0, itl), 100, 2048) for itl in (1.0, 0.02))
    assert 0 < hard < easy < cost.capacity_per_s


def test_keys_and_values_cross_the_link_once():
    """2,048 tokens of 128 KiB on one rank: 268 MB; four ranks send a quarter each."""
    question = asked()
    over = question.cluster.inner
    alone = transfer_s(question, Layout(1), Layout(1))
    assert alone == pytest.approx(2048 * 131_072 / over.measured_bytes_per_s, rel=0.02)
    assert transfer_s(question, Layout(4), Layout(4)) == pytest.approx(alone / 4, rel=0.05)


@pytest.mark.parametrize("layout", [Layout(1), Layout(4), Layout(2, 2)])
def test_a_prefix_of_nothing_and_a_draft_of_nothing_change_nothing(layout):
    plain, same = asked(), asked(prefix_fraction=0.0, draft_tokens=0, acceptance=0.3)
    assert plain.timing(layout) == same.timing(layout)


def test_a_cached_prefix_is_not_read_again_and_is_still_looked_at():
    """Half a long prompt cached saves less than half: the rest looks at all of it."""
    whole, half = (asked(prompt_tokens=32_768, prefix_fraction=share).timing(Layout(1)) for share in (0.0, 0.5))
    assert 0.5 < half.ttft_s / whole.ttft_s < 0.75
    assert half.itl_s == whole.itl_s


def test_a_draft_that_is_always_right_yields_all_of_it_and_one_more():
    """At one sequence a step reads the weights once, whatever it checks; a draft reads a layer and the head.

    Llama-3-8B reads 15.01 GB a step, 1.05 of them its head: a draft reads 13.96/32 + 1.05 = 1.49, and not 15.01/32.
    """
    alone, drafted = asked().timing(Layout(1)), asked(draft_tokens=3, acceptance=1.0).timing(Layout(1))
    assert Demand(draft_tokens=3, acceptance=1.0).tokens_a_step == 4
    terms = [drafted.steps.served.decode(1).weights_s, alone.steps.served.decode(1).weights_s]
    assert terms[0] / terms[1] == pytest.approx((15.01 + 3 * 1.487) / 15.01, rel=1e-3)
    assert alone.itl_s / drafted.itl_s == pytest.approx(4 / (1 + 3 * 1.487 / 15.01), rel=0.05)
    wrong = asked(draft_tokens=3, acceptance=0.0).timing(Layout(1))
    assert wrong.itl_s > alone.itl_s


@pytest.mark.parametrize("wrong", [{"prefix_fraction": 1.0}, {"acceptance": 1.1}, {"draft_tokens": 17}])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(OutOfRangeError):
        Demand(**wrong)


def test_a_shared_cache_holds_more_and_reads_less():
    """DeepSeek-V3 on eight ranks: a latent cache is repeated eight times, or shared out; messages are its price."""
    question = replace(asked("deepseek-v3", "h200-sxm", 8, concurrency=64), context_parallel=True)
    plans = {
        plan.layout.dcp_size: plan for plan in place(question).plans if plan.layout.gpus == plan.layout.tp_size
    }
    assert plans[8].kv_tokens == pytest.approx(8 * plans[1].kv_tokens, rel=1e-3)
    assert plans[8].layout.name == "TP=8 DCP=8"
    assert plans[8].timing.comm_s > plans[1].timing.comm_s


@pytest.mark.parametrize("name", ["llama-3-8b", "qwen3-235b-a22b", "deepseek-v3", "mistral-7b", "qwen2.5-0.5b"])
def test_caches_are_shared_as_vllm_allows(name):
    spec = model(name)
    for tp_size in (1, 2, 4, 8, 16, 32):
        for share in (1, 2, 4, 8, 16):
            if spec.num_attention_heads % tp_size or tp_size % share:
                continue
            refused = [one.text for one in preflight(spec, Layout(tp_size, dcp_size=share), Demand())]
            said = any("decode context parallel" in text for text in refused)
            assert (share in cache_shares(spec, tp_size)) == (not said), (tp_size, share, refused)


def test_a_trace_runs_on_its_own_lengths():
    question = asked(gpus=2)
    rows = "\n".join(f"{0.2 * index},{200 + 900 * (index % 2)},{20 + index % 7}" for index in range(60))
    trace = read_trace(f"arrival,prompt,output\n{rows}")
    one, two = (run_trace(question, judge(question, Layout(1, 1, replicas)), trace, 2048) for replicas in (1, 2))
    assert (one.requests, two.requests) == (60, 30)
    assert one.itl_p50_s >= two.itl_p50_s > 0


def test_a_network_is_crossed_where_there_are_nodes():
    spec = model("llama-3-8b")
    near, far = (
        question_of(spec, Machine(gpu("h100-sxm"), 8, nodes, network=link("ib-ndr")), Demand()) for nodes in (1, 2)
    )
    assert transfer_s(far, Layout(1), Layout(1)) > transfer_s(near, Layout(1), Layout(1))


def test_a_shared_cache_of_heads_sends_queries_in_and_outputs_out():
    """Qwen2.5-1.5B on four: two share a cache of two heads; six heads of 128 a sequence each way, a layer.

    Between them the sums of the softmax of both, four bytes a head (vLLM's cp_lse_ag_out_rs).
    """
    question = replace(asked("qwen2.5-1.5b", concurrency=16), context_parallel=True)
    whole, shared = (judge(question, Layout(4, dcp_size=share)).timing.comm_s for share in (1, 2))
    payload, nvlink = 16 * 6 * 128 * 2, as_measured(question.cluster.link)
    each_s = ring_all_gather(payload, 2, nvlink).total_s + ring_reduce_scatter(payload, 2, nvlink).total_s
    sums_s = ring_all_gather(2 * 16 * 6 * 4, 2, nvlink).total_s
    assert shared - whole == pytest.approx(28 * (each_s + sums_s))
