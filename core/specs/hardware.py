"""A GPU and a link."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from core.errors import require_non_negative, require_positive
from core.units import Named

GPUS_PER_NODE = 8
"""Of a node as most are sold, where nobody says how many."""
Stack = Literal["cuda", "rocm"]
"""What kernels are launched through on a GPU."""


@dataclass(frozen=True)
class GpuSpec:
    """An accelerator. Dense FLOP/s (not 2:4 sparse), nominal memory as sold, usable as a driver reports it.

    `fp8_flops` and `fp4_flops` are None where the tensor cores do not multiply in that width. `gpu_class` is the
    generation and market within which a calibration holds. `link_key` and `bus_key` are rows of core.catalog.LINKS:
    what joins two of them in the node they are mostly sold in, and their PCIe; `nvlink_domain` GPUs share the
    former, where that is not a node's, and a pair without it may be `bridged`, over all of the NVLinks of
    `bridge_key`. Most nodes have `gpus_per_node` of them.
    `capability` is CUDA's, ten times; None of a GPU that has none. `published_as` is a pattern of what tables of
    measurements call it: of several that fit the longest is meant. `measured_series` is the all-reduces measured
    over their NVLink (data/measured_all_reduce.csv). A vLLM server takes `vllm_batched_tokens` a step and
    `vllm_sequences` at once unless told otherwise.
    """

    key: str
    name: str
    bf16_flops: float
    memory_bytes_per_s: float
    memory_bytes: int
    usable_memory_bytes: int
    fp8_flops: float | None = None
    fp4_flops: float | None = None
    gpu_class: str = ""
    stack: Stack = "cuda"
    capability: int | None = None
    nvlink: bool = False
    bridged: bool = False
    link_key: str = "pcie-4"
    bus_key: str = "pcie-4"
    nvlink_domain: int | None = None
    bridge_key: str = "nvlink-3"
    gpus_per_node: int = GPUS_PER_NODE
    measured_series: str = ""
    vllm_batched_tokens: int = 2048
    vllm_sequences: int = 256
    aliases: tuple[str, ...] = ()
    published_as: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        require_positive(
            bf16_flops=self.bf16_flops,
            memory_bytes_per_s=self.memory_bytes_per_s,
            memory_bytes=self.memory_bytes,
        )


@dataclass(frozen=True)
class Rings:
    """All-reduces that were timed over so many ranks: payload in bytes, seconds; by payload."""

    ranks: int
    times: tuple[tuple[int, float], ...]

    def altered(self, waits_s: float, share: float, new_waits_s: float) -> "Rings":
        """The same with other waits, and the bytes at a share of their speed; `waits_s` are those in the times."""
        parts = ((size, max(0.0, time_s - waits_s)) for size, time_s in self.times)
        return Rings(self.ranks, tuple((size, new_waits_s + bytes_s / share) for size, bytes_s in parts))


LinkFamily = Literal["", "nvlink", "xgmi", "pcie", "infiniband", "roce", "efa", "slingshot", "ethernet"]


@dataclass(frozen=True)
class LinkSpec:
    """What one message costs: a launch, a latency a hop, and its bytes over one direction of the link.

    `latency_s` is α per hop, `bandwidth_bytes_per_s` is β in one direction, `base_s` is the launch cost t0 of a
    whole collective (0 in the labs' napkin model). `ramp` is κ: a transfer that is neither waiting nor bytes alone
    takes κ·√(waiting · n/β) more. `kernel_s` is one stage of an engine's own kernel over it, for the first peer and
    for each further one; None where none was timed. `switch_sum` is a sum in its switch by PyTorch's symmetric
    memory: seconds of waiting, and bytes a second with its copies counted. `measured_rings` are NCCL's all-reduces
    over it by the ranks that share it; `rings` are those that a price follows (core.collectives.cost.as_measured).
    `switched_bytes_per_s` is the ring busbw of GPUs behind PCIe switches, where the CPU has no part. `capability`
    is the compute capability of the GPUs that a fabric joins. `scope` says whose bandwidth it is; `reach`, whether
    the link ends at the node; `family`, what is wired: "" for a link of one's own. A GPU bonds `lanes` of it, where
    it may bond fewer. `in_switch_bytes_per_s` is the busbw that sums in its switch reach over 8 GPUs; None where
    the switch cannot add. `measured_ranks` is set where all of it was fitted to one table, and holds for that many.
    `measured_series` is what was measured over it, whatever the GPU (data/measured_all_reduce.csv); `napkin_key`
    the row that the labs teach it by; `published_as` a pattern of what tables of measurements call a network.
    """

    key: str
    name: str
    latency_s: float
    bandwidth_bytes_per_s: float
    base_s: float = 0.0
    ramp: float = 0.0
    kernel_s: tuple[float, float] | None = None
    switch_sum: tuple[float, float] | None = None
    rings: tuple["Rings", ...] = ()
    scope: Literal["gpu", "node"] = "gpu"
    reach: Literal["node", "network"] = "node"
    family: LinkFamily = ""
    lanes: int = 0
    measured_bytes_per_s: float | None = None
    measured_rings: tuple["Rings", ...] = ()
    switched_bytes_per_s: float | None = None
    in_switch_bytes_per_s: float | None = None
    capability: str = ""
    measured_note: str = ""
    measured_ranks: int | None = None
    measured_series: str = ""
    napkin_key: str = ""
    aliases: tuple[str, ...] = ()
    published_as: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        require_positive(bandwidth_bytes_per_s=self.bandwidth_bytes_per_s)
        require_non_negative(latency_s=self.latency_s, base_s=self.base_s, ramp=self.ramp)

    @property
    def named(self) -> Named:
        """What a price over it is: rough without a launch that was fitted, else modeled."""
        return "modeled" if self.base_s or self.measured_ranks is not None else "rough"

    @property
    def is_fabric(self) -> bool:
        """Whether it joins GPUs directly, past the host's PCIe: NVLink, xGMI."""
        return self.family in ("nvlink", "xgmi")

    def scaled(self, share: float, latency_share: float = 1.0, **others: Any) -> "LinkSpec":
        """The link at a share of its bandwidth, and of what was measured on it; with other fields where given.

        Its hops may have a share of their latency too; its launch stays.
        """
        measured = None if self.measured_bytes_per_s is None else share * self.measured_bytes_per_s
        switch = self.switch_sum and (self.switch_sum[0], share * self.switch_sum[1])
        latency_s = latency_share * self.latency_s

        def timed(rings: tuple[Rings, ...]) -> tuple[Rings, ...]:
            hops = ((one, 2 * (one.ranks - 1)) for one in rings)
            return tuple(
                one.altered(self.base_s + n * self.latency_s, share, self.base_s + n * latency_s) for one, n in hops
            )

        found: dict[str, Any] = {
            "bandwidth_bytes_per_s": share * self.bandwidth_bytes_per_s,
            "latency_s": latency_s,
            "measured_bytes_per_s": measured,
            "switch_sum": switch,
            "rings": timed(self.rings),
            "measured_rings": timed(self.measured_rings),
        }
        return replace(self, **{**found, **others})
