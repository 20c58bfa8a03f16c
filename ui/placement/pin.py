"""A plan kept to compare, small enough for the address."""

from dataclasses import astuple, dataclass, replace

from core.catalog import gpu as find_gpu
from core.catalog import link as find_link
from core.placement.cluster import ClusterSpec
from core.placement.layout import Layout
from core.placement.plan import Plan, Question, judge
from core.placement.rank_memory import measured_budget
from core.text.numbers import whole


@dataclass(frozen=True)
class Pin:
    """A plan kept to compare: the cluster and the layout; the demand is always the one that is asked now."""

    gpu: str
    link: str
    network: str
    gpus_per_node: int
    nodes: int
    domain: int
    nics: int
    tp_size: int
    pp_size: int
    replicas: int
    dp_size: int

    @classmethod
    def of(cls, cluster: ClusterSpec, layout: Layout) -> "Pin":
        """A plan of a cluster."""
        return cls(
            cluster.gpu.key,
            cluster.link.key,
            cluster.network.key,
            cluster.gpus_per_node,
            cluster.nodes,
            cluster.domain,
            cluster.nics_per_node or 0,
            layout.tp_size,
            layout.pp_size,
            layout.replicas,
            layout.dp_size,
        )

    def text(self) -> str:
        """The pin as it stands in the URL."""
        return "~".join(map(str, astuple(self)))

    @classmethod
    def from_text(cls, text: str) -> "Pin | None":
        """The pin that a text means; None for anything that is not one."""
        try:
            gpu, link, network, *sizes = text.split("~")
            pin = cls(find_gpu(gpu).key, find_link(link).key, find_link(network).key, *map(whole, sizes))
            pin.cluster()
        except (ValueError, TypeError, OverflowError):
            return None
        return pin

    def cluster(self) -> ClusterSpec:
        """The cluster it was pinned on. Raises ShardlabError for one that cannot be."""
        return ClusterSpec(
            find_gpu(self.gpu),
            find_link(self.link),
            find_link(self.network),
            self.gpus_per_node,
            self.nodes,
            self.domain,
            self.nics or None,
        )

    def plan(self, question: Question) -> Plan:
        """It, judged for the model and demand of a question, on its own GPUs' measured memory."""
        cluster = self.cluster()
        budget = question.budget
        if cluster.gpu.key != question.cluster.gpu.key:
            budget = measured_budget(cluster.gpu, budget.utilisation, budget.overhead)
        layout = Layout(self.tp_size, self.pp_size, self.replicas, self.dp_size)
        return judge(replace(question, cluster=cluster, budget=budget, efficiency=None), layout)
