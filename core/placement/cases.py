"""The decisions that are asked most, as worked cases: some layouts side by side, each on a cluster of its own.

Every figure of a case is computed like any plan's; only what is asked is fixed here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from core.catalog import gpu, link, model
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Plan, Question, judge
from core.placement.rank_memory import measured_budget

LATENCY_TARGET_S = 0.016
"""The target between tokens of the first case."""

PRINTED_CONCURRENCY = (21.89, 7.56)
"""Sequences of 32,000 tokens that one machine's engine printed at TP=8, and each of two at TP=4.

Source: vllm-project/vllm issue #16011 (2025-04-03); the model is not named there.
"""


@dataclass(frozen=True)
class Option:
    """One way of a case: what it is called, what is asked, how it is laid out."""

    label: str
    question: Question
    layout: Layout

    def plan(self) -> Plan:
        return judge(self.question, self.layout)


Ways = tuple[Option, ...]
"""Those between which a decision is taken. The first is the one that most would take unasked."""


def _on(
    name: str, gpu_key: str, gpus: int, nodes: int = 1, link_key: str = "", network: str = "", **demand: object
) -> Question:
    """A model on a usual cluster, with another link where one is named."""
    cluster = usual_cluster(gpu(gpu_key), gpus, nodes)
    cluster = replace(cluster, link=link(link_key) if link_key else cluster.link)
    cluster = replace(cluster, network=link(network) if network else cluster.network)
    asked = Demand(**demand)  # type: ignore[arg-type]
    return Question(model(name), cluster, measured_budget(gpu(gpu_key)), asked)


def _latency() -> Ways:
    """TP=8 or TP=4 for a latency target."""
    eight, four = (_on("llama-3-70b", "h100-sxm", gpus, concurrency=8) for gpus in (8, 4))
    return Option("8 × H100", eight, Layout(8)), Option("4 × H100", four, Layout(4))


def _two_nodes() -> Ways:
    """70B on one NVLink node or two cheap ones."""
    dear = _on("llama-3-70b", "h100-sxm", 4, concurrency=16)
    cheap = _on("llama-3-70b", "l40s", 4, 2, network="ethernet-25g", concurrency=16)
    return (
        Option("one node of H100", dear, Layout(4)),
        Option("two of L40S, staged", cheap, Layout(4, 2)),
        Option("the same, TP across", cheap, Layout(8)),
    )


def _two_engines() -> Ways:
    node = _on("llama-3-70b", "l40s", 8, dtype="fp8", concurrency=8, prompt_tokens=31_000, output_tokens=1000)
    return Option("one engine", node, Layout(8)), Option("two engines", node, Layout(4, 1, 2))


def _over_pcie() -> Ways:
    """TP on NVLink and the same TP over PCIe."""
    fast, slow = (
        _on("llama-3-8b", "a100-80gb-sxm", 8, link_key=link_key, concurrency=64)
        for link_key in ("nvlink-3", "pcie-4")
    )
    return (
        Option("over NVLink", fast, Layout(8)),
        Option("over PCIe", slow, Layout(8)),
        Option("eight replicas", slow, Layout(1, 1, 8)),
    )


def _pipeline() -> Ways:
    """A pipeline for one sequence, and for many."""
    alone, many = (_on("llama-3-70b", "l40s", 8, concurrency=concurrency) for concurrency in (1, 128))
    return (
        Option("TP, one sequence", alone, Layout(8)),
        Option("stages, one sequence", alone, Layout(1, 8)),
        Option("TP, many", many, Layout(8)),
        Option("stages, many", many, Layout(1, 8)),
    )


def _small_model() -> Ways:
    """A small model on eight GPUs."""
    node = _on("llama-3.2-1b", "h100-sxm", 8, concurrency=256)
    return Option("one engine", node, Layout(8)), Option("replicas", node, Layout(1, 1, 8))


def _mixture() -> Ways:
    """A mixture with latent attention: the cache whole on every rank, or each rank with sequences of its own."""
    node = _on("deepseek-v3", "h200-sxm", 8, dtype="fp8", concurrency=256)
    return Option("tensor parallel", node, Layout(8)), Option("expert parallel", node, Layout(1, 1, 1, 8))


CASES: Mapping[str, Callable[[], Ways]] = {
    "latency": _latency,
    "two_nodes": _two_nodes,
    "two_engines": _two_engines,
    "over_pcie": _over_pcie,
    "pipeline": _pipeline,
    "small_model": _small_model,
    "mixture": _mixture,
}
"""Every case under its key, made when it is asked for."""


@lru_cache(maxsize=16)
def case_plans(key: str) -> tuple[tuple[Option, Plan], ...]:
    return tuple((option, option.plan()) for option in CASES[key]())
