"""A plan made again: what a log, a table and a benchmark say of a machine is found again in the question."""

from collections import defaultdict
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from core.catalog import gpu, model
from core.errors import UnreadableTextError
from core.evidence.report import decode_residuals, residuals
from core.placement.asked import Machine, question_of
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.measured_load import predict_bench
from core.placement.plan import judge
from core.serving.arrivals import seeded
from core.serving.bench_results import BenchResult, Clocked, printed_bench
from core.steps.model import Efficiency
from core.strategy.refit import REFITTED, overhead_of, refit, said_of
from core.units import GIB
from runtime.prose import worded
from runtime.published import shipped_table
from tests.core.links.printed_tables import table

QUESTION = question_of(model("qwen2-7b"), Machine(gpu("a100-80gb-sxm"), 2), Demand(concurrency=16))
PRINTED = (
    "model weights take 14.25GiB; non_torch_memory takes 0.20GiB; PyTorch activation peak memory takes 4.35GiB;"
    " the rest of the memory reserved for KV Cache is 52.00GiB.\nGraph capturing finished in 9 secs, took 0.21 GiB"
)
V1 = "Model loading took 14.25 GiB and 3.1 seconds\nAvailable KV cache memory: 50.00 GiB\n"
DESIRED = (
    "Actual usage is 14.25 GiB for weight, 1.42 GiB for peak activation, 0.06 GiB for non-torch memory, and 0.62"
    " GiB for CUDAGraph memory."
)


def bench(itl_s: float, rounds: int = 1) -> str:
    return "\n".join(
        printed_bench(
            BenchResult(
                line=1,
                completed=64,
                max_concurrency=8,
                duration_s=60.0,
                input_tokens=64 * 1024,
                output_tokens=64 * 128,
                tpot=Clocked(mean_s=itl_s),
            )
        )
        for _ in range(rounds)
    )


def test_printed_overhead_is_taken_as_it_is():
    found = overhead_of(PRINTED, 70e9)
    assert found.peak_activation_bytes == pytest.approx(4.35 * GIB)
    assert found.non_torch_bytes == pytest.approx(0.20 * GIB)
    assert found.cuda_graphs_bytes == pytest.approx(0.21 * GIB)
    assert overhead_of(DESIRED, 70e9).cuda_graphs_bytes == pytest.approx(0.62 * GIB)


def test_what_is_not_printed_is_what_is_left():
    found = overhead_of(V1, 71 * GIB)
    assert found.peak_activation_bytes + found.non_torch_bytes == pytest.approx((71 - 64.25) * GIB)


@pytest.mark.parametrize("text", ["", "nothing", "Available KV cache memory: 50.00 GiB"])
def test_a_log_that_says_nothing_of_it_is_refused(text):
    with pytest.raises(UnreadableTextError):
        overhead_of(text, 71 * GIB)


@pytest.mark.parametrize("truth", [Efficiency(0.73, 30e-6), Efficiency(0.73, 150e-6), Efficiency(0.9, 0.0)])
def test_a_machine_s_own_constants_are_found_again(truth):
    """A benchmark that a known machine would have shown is predicted to a few percent after the refit."""
    own = replace(QUESTION, efficiency=truth)
    plan = judge(own, Layout(2))
    sent = BenchResult(1, completed=64, max_concurrency=8, input_tokens=64 * 1024, output_tokens=64 * 128)
    shown = predict_bench(own, plan, sent, seeded(0)).load.itl_mean_s
    found = refit(QUESTION, bench=bench(shown, 3), shown=plan)
    again = predict_bench(found.after.question, plan, sent, seeded(0)).load.itl_mean_s
    assert again == pytest.approx(shown, rel=0.02)
    assert found.after.question.band == REFITTED
    assert not found.refused


def test_each_text_is_taken_or_refused_by_itself():
    found = refit(QUESTION, log=PRINTED, table="no table", bench="no result")
    assert len(found.taken) == 1
    assert len(found.refused) == 2
    lines = [worded(one) for one in said_of(found)]
    assert "4.35" not in lines[0]
    assert "4.67 GB peak activation" in lines[0]
    assert lines[-1].startswith("The plan stays")


def test_a_table_of_several_nodes_is_no_link_within_one():
    """Two ranks, one a node: the network of a cluster of two, and nothing of a node alone."""
    text = table("all_reduce", 2, hosts=2)
    alone = refit(QUESTION, table=text)
    assert "on several nodes" in worded(alone.refused[0])
    assert alone.after.question.cluster == QUESTION.cluster
    two = question_of(model("qwen2-7b"), Machine(gpu("a100-80gb-sxm"), 2, nodes=2), Demand(concurrency=16))
    cluster = refit(two, table=text).after.question.cluster
    assert (cluster.link, cluster.network != two.cluster.network) == (two.cluster.link, True)
    within = refit(two, table=table("all_reduce", 2)).after.question.cluster
    assert (within.network, within.link != two.cluster.link) == (two.cluster.network, True)


def test_a_measurement_no_constants_explain_is_said():
    found = refit(QUESTION, bench=bench(1e-4))
    assert "No constants bring it" in worded(found.taken[0])


def test_nothing_brought_changes_nothing():
    found = refit(QUESTION)
    assert (found.before, found.taken, found.refused) == (found.after, (), ())


@pytest.mark.slow
def test_the_band_after_a_refit_is_that_of_published_times():
    """Each decode time of a source and model predicts its others there: 10th and 90th percentile of the factors."""
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for one in decode_residuals(residuals(shipped_table())):
        said = one.measurement
        groups[said.source, said.gpu.key, said.model.key].append(log(1 / one.ratio))
    pairs = [
        (other - this, 1 / (len(times) * (len(times) - 1)))
        for times in groups.values()
        if len(times) >= 3
        for place, this in enumerate(times)
        for index, other in enumerate(times)
        if place != index
    ]
    factors, weights = np.array(pairs).T
    low, high = np.quantile(factors, (0.1, 0.9), weights=weights, method="inverted_cdf")
    assert exp(low) == pytest.approx(REFITTED.low, rel=0.1)
    assert exp(high) == pytest.approx(REFITTED.high, rel=0.1)
