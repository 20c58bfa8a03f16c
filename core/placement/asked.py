"""From what somebody said to a question, the same for a page and for a command: what is not said is as usual.

Defaults stand here, in `Demand`, in `Overhead` and in the GPU's row, and nowhere else.
"""

from dataclasses import dataclass, field, replace

from core.errors import OutOfRangeError
from core.models.checkpoint import checkpoint_width
from core.placement.cluster import ClusterSpec, seen_cluster, usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.preflight_checks import BF16_CAPABILITY
from core.placement.rank_memory import Budget, Overhead, measured_budget
from core.placement.topology import Topology
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.model import Efficiency

UTILISATION = 0.9


@dataclass(frozen=True)
class Machine:
    """The GPUs and their links, as far as they were said; `seen` is what a topology's table shows of a node."""

    gpu: GpuSpec
    gpus_per_node: int | None = None
    nodes: int = 1
    link: LinkSpec | None = None
    network: LinkSpec | None = None
    nvlink_domain: int | None = None
    nics_per_node: int | None = None
    seen: Topology | None = None
    memory_bytes: float | None = None
    utilisation: float = UTILISATION
    overhead: Overhead = field(default_factory=Overhead)
    efficiency: Efficiency | None = None

    @property
    def cluster(self) -> ClusterSpec:
        """The GPUs on their usual links, or on those that were seen, or named.

        Raises OutOfRangeError where nothing says how many stand in a node.
        """
        gpus = self.gpus_per_node or (self.seen.gpus if self.seen else None)
        if gpus is None:
            raise OutOfRangeError("gpus_per_node", None, "or_a_topology")
        cluster = usual_cluster(self.gpu, gpus, self.nodes)
        if self.seen is not None:
            cluster = seen_cluster(cluster, self.seen, gpus)
        named = ("link", "network", "nvlink_domain", "nics_per_node")
        return replace(cluster, **{name: value for name in named if (value := getattr(self, name)) is not None})

    @property
    def budget(self) -> Budget:
        """The memory that an engine may take of each: as the driver reports it, unless it was given."""
        if self.memory_bytes is None:
            return measured_budget(self.gpu, self.utilisation, self.overhead)
        return Budget(self.memory_bytes, self.utilisation, self.overhead, "as given")


def usual_width(model: ModelSpec, gpu: GpuSpec) -> str:
    """The checkpoint's own width; fp16 in place of bf16 on a GPU that has none."""
    own = checkpoint_width(model)
    old = (gpu.capability or BF16_CAPABILITY) < BF16_CAPABILITY
    return "fp16" if own == "bf16" and old else own


def asked_width(model: ModelSpec, gpu: GpuSpec, scenario_width: str) -> str:
    """The scenario's weight dtype; as is usual for the checkpoint and the GPU where it leaves its default."""
    return usual_width(model, gpu) if scenario_width == Demand().dtype else scenario_width


def usual_cache(model: ModelSpec, gpu: GpuSpec) -> str:
    """How the checkpoint asks for keys and values to be kept; in 16 bits on a GPU that has no fp8.

    There an engine's own choice, the checkpoint's, ends at the first write: "type fp8e4nv not supported in this
    architecture" (vLLM issue 26431).
    """
    return Demand().kv_dtype if gpu.fp8_flops is None else model.cache_dtype


def asked_cache(model: ModelSpec, gpu: GpuSpec, scenario_width: str) -> str:
    """The scenario's width of keys and values; as is usual for checkpoint and GPU where it leaves its default."""
    return usual_cache(model, gpu) if scenario_width == Demand().kv_dtype else scenario_width


def question_of(
    model: ModelSpec,
    machine: Machine,
    demand: Demand,
    expert_parallel: bool = False,
    context_parallel: bool = False,
) -> Question:
    """A model on a machine, asked for so much.

    Experts are cut, and caches repeated, unless it is asked to judge the other way too: as engines do.
    """
    return Question(
        model,
        machine.cluster,
        machine.budget,
        demand,
        machine.efficiency,
        expert_parallel=expert_parallel,
        context_parallel=context_parallel,
    )
