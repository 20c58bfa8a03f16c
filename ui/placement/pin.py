"""A plan kept to compare, small enough for the address: cluster and layout; the demand is the one asked now."""

from dataclasses import replace

from core.catalog import gpu as find_gpu
from core.catalog import link as find_link
from core.placement.cluster import ClusterSpec
from core.placement.layout import Layout
from core.placement.plan import Plan, Question, judge
from core.placement.rank_memory import measured_budget
from core.text.numbers import whole


def pin_text(cluster: ClusterSpec, layout: Layout) -> str:
    keys = cluster.gpu.key, cluster.link.key, cluster.network.key
    sizes = cluster.gpus_per_node, cluster.nodes, cluster.domain, cluster.nics_per_node or 0
    ways = layout.tp_size, layout.pp_size, layout.replicas, layout.dp_size
    return "~".join(map(str, (*keys, *sizes, *ways)))


def read_pin(text: str) -> tuple[ClusterSpec, Layout] | None:
    """What a pin means; None for a text that is none."""
    try:
        gpu, link, network, *numbers = text.split("~")
        gpus_per_node, nodes, domain, nics, tp_size, pp_size, replicas, dp_size = map(whole, numbers)
        parts = find_gpu(gpu), find_link(link), find_link(network)
        cluster = ClusterSpec(*parts, gpus_per_node, nodes, domain, nics or None)
        return cluster, Layout(tp_size, pp_size, replicas, dp_size)
    except (ValueError, OverflowError):
        return None


def pinned_plan(text: str, question: Question) -> Plan | None:
    """It, judged for the model and demand of a question, on its own GPUs' measured memory; None where none is."""
    pin = read_pin(text)
    if pin is None:
        return None
    (cluster, layout), budget = pin, question.budget
    if cluster.gpu.key != question.cluster.gpu.key:
        budget = measured_budget(cluster.gpu, budget.utilisation, budget.overhead)
    return judge(replace(question, cluster=cluster, budget=budget, efficiency=None), layout)
