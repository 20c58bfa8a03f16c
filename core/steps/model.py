"""How long a step takes: decode streams weights and keys, prefill does arithmetic, tensor parallelism talks.

W weight bytes, BW memory bytes/s, F dense FLOP/s, S prompt tokens, B sequences, L layers, h heads, hd head_dim, N
ranks. The labs' steps compute at TP=1 and stop there. A step's *terms* go on: every term of one rank at data-sheet
speed, from which come a roofline, that no measurement should beat, and a calibrated time, with two constants.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from core.collectives.across import hierarchical_all_reduce
from core.collectives.cost import CollectiveCost, as_measured
from core.comm_cost.bill import LAB_STEP_S, all_reduces_per_step, weight_streaming_s
from core.comm_cost.kernels import picked_all_reduce
from core.errors import OutOfRangeError, require_divides, require_non_negative, require_positive
from core.models.kv_cache import step_cache_bytes
from core.models.parameters import count_parameters, multiplied_parameters
from core.models.weights import read_weight_bytes
from core.specs import (
    GpuSpec,
    LinkSpec,
    ModelSpec,
)
from core.steps.apart import RANK_DELAY_S, apart
from core.steps.launches import launched_layers
from core.steps.mixing import mixing_flops
from core.steps.narrow import narrow_s, peak_flops

LAB_PAIR = ("llama-3-8b", "a100-80gb-sxm", "bf16")
"""The model, GPU and weights whose 7.88 ms the labs round to 8."""

MFU = 0.5
"""Share of the dense FLOP/s a prefill reaches. An assumption: 0.4 to 0.6 is usual for long prompts."""

ACTIVATION_BYTES = 2

CROSSING_S, CROSSING_ELSEWHERE_S = 92e-6, 158e-6
"""What an all-reduce that leaves its node takes more in a server's step than alone in a loop: its two processes'
ranks arrive apart, and the network's path is cold.

Fitted on one source: the number that gives DeepSeek-R1's 23.2 ms a token at TP=16 over two nodes of H100 and
InfiniBand (tt-inference-server issue #356, SGLang). 31.2 ms of another engine there would ask for the second. A
batch program without a server has none of it: FasterTransformer's 24 times over two nodes of A100 agree without.
"""


def decode_step_s(model: ModelSpec, gpu: GpuSpec, dtype: str = "bf16", batch: float = 1) -> float:
    """One decode step at TP=1: its weights once through memory; the labs' 8 ms for the labs' own pair.

    Of a mixture, those of the experts that the `batch` tokens are routed to.

    Ignored: the KV cache, launches, and that kernels reach some 80 % of the bandwidth: all make it longer.
    """
    if (model.key, gpu.key, dtype) == LAB_PAIR:
        return LAB_STEP_S
    return weight_streaming_s(model, gpu, dtype, tokens=batch)


@lru_cache(maxsize=1024)
def prefill_flops(model: ModelSpec, prompt_tokens: int, batch: int = 1) -> float:
    """Arithmetic of a prefill: two operations a parameter and token, causal attention, the head once a prompt.

        B · (2 · P_layers · S + 2 · L · h · hd · S² + 2 · P_head)

    A layer with a window looks at fewer pairs of tokens, and one that keeps a state at none. P_layers counts the
    experts a token uses; embedding and head are left out of it (15 % of an 8B model).
    """
    require_positive(prompt_tokens=prompt_tokens, batch=batch)
    count = count_parameters(model)
    layers = count.layers - count.experts + count.experts * count.routed_fraction
    attention = sum(
        n * mixing_flops(block, model, prompt_tokens) for kind, n in model.kinds_of() for block in kind.blocks
    )
    head = 2 * model.vocab_size * model.hidden_size
    return batch * (2 * layers * prompt_tokens + attention + head)


def prefill_step_s(
    model: ModelSpec, gpu: GpuSpec, prompt_tokens: int, batch: int = 1, dtype: str = "bf16"
) -> float:
    """One prefill at TP=1: its arithmetic at a share MFU of the dense FLOP/s, or a short prompt's weights once.

    max(B · flops / (F · MFU), W_read / BW)
    """
    read_s = read_weight_bytes(model, dtype, batch * prompt_tokens) / gpu.memory_bytes_per_s
    return max(prefill_flops(model, prompt_tokens, batch) / (peak_flops(gpu, dtype) * MFU), read_s)


@dataclass(frozen=True)
class Efficiency:
    """What a class of GPU makes of its data sheet: the two constants of the calibrated step.

    `reached_fraction` of its bandwidth and of its FLOP/s alike, and `layer_floor_s` that a layer takes besides:
    launches, norms, the engine's own work.
    """

    reached_fraction: float
    layer_floor_s: float

    def __post_init__(self) -> None:
        if not 0 < self.reached_fraction <= 1:
            raise OutOfRangeError("reached_fraction", self.reached_fraction, "lies_above", least=0, most=1)
        require_non_negative(layer_floor_s=self.layer_floor_s)


@dataclass(frozen=True)
class TensorGroup:
    """The ranks that share each layer, and their links: `link` in a node, `network` where they cross one.

    `crossing_s` is what each all-reduce over the network takes besides: `CROSSING_S` in a server.
    """

    tp_size: int
    link: LinkSpec
    gpus_per_node: int = 8
    network: LinkSpec | None = None
    crossing_s: float = 0.0

    def __post_init__(self) -> None:
        require_positive(tp_size=self.tp_size, gpus_per_node=self.gpus_per_node)

    @property
    def waits_over_nodes(self) -> bool:
        """Whether its sums leave a node in a server, where each waits `crossing_s`."""
        return self.crossing_s > 0 and self.crosses

    @property
    def crosses(self) -> bool:
        """Whether it reaches over more than one node."""
        return self.tp_size > self.gpus_per_node

    @cached_property
    def _links(self) -> tuple[LinkSpec, LinkSpec | None]:
        """Both at the bandwidth that was measured on them, where one was."""
        return as_measured(self.link), self.network and as_measured(self.network)

    def all_reduce_s(self, payload_bytes: float) -> float:
        """One all-reduce over the group: see `all_reduce`."""
        return self.all_reduce(payload_bytes).total_s

    def all_reduce(self, payload_bytes: float) -> CollectiveCost:
        """One all-reduce over the group: by the kernel an engine picks inside a node, by NCCL over several.

        Raises IndivisibleError where the last node would not be full, OutOfRangeError without a network to cross.
        """
        link, network = self._links
        if not self.crosses:
            return picked_all_reduce(payload_bytes, self.tp_size, link)
        local = self.gpus_per_node
        nodes = require_divides("tp_size", self.tp_size, "gpus_per_node", local)
        if network is None:
            raise OutOfRangeError("tp_size", self.tp_size, "crosses_node", local=local)
        levels = hierarchical_all_reduce(payload_bytes, local, nodes, link, network)
        both = levels.inside.plus(levels.network)
        return replace(both, base_s=both.base_s + self.crossing_s)


@dataclass(frozen=True)
class StepTerms:
    """One step of one rank at data-sheet speed, term by term; `layers` is how many it passes, by their kernels.

    `narrow_s` is what matrices of fewer than 16 bits take beyond the data sheet: see core.steps.narrow; `apart_s`
    what its sums wait for the last of a node's ranks, beyond their kernels: see core.steps.apart.
    """

    weights_s: float
    kv_s: float
    arithmetic_s: float
    comm_s: float
    layers: float
    narrow_s: float = 0.0
    apart_s: float = 0.0

    @property
    def work_s(self) -> float:
        """Every byte and every operation, one after another, and what narrow matrices take besides."""
        return self.weights_s + self.kv_s + self.arithmetic_s + self.narrow_s

    @property
    def roofline_s(self) -> float:
        """The least the step can take: bytes and operations wholly overlapped, communication free.

        max(weights + KV, arithmetic)
        """
        return max(self.weights_s + self.kv_s, self.arithmetic_s)

    def step_s(self, efficiency: Efficiency) -> float:
        """The step as it is met: kernels one after another, each at a share of the data sheet.

        (weights + KV + arithmetic) / reached + layers · floor + communication + ranks apart
        """
        launched_s = self.layers * efficiency.layer_floor_s
        return self.work_s / efficiency.reached_fraction + launched_s + self.comm_s + self.apart_s

    def times(self, count: float) -> "StepTerms":
        """As many steps, one after another."""
        return StepTerms(*(count * value for value in vars(self).values()))

    def plus(self, other: "StepTerms") -> "StepTerms":
        """This and another, one after the other."""
        return StepTerms(*(mine + its for mine, its in zip(vars(self).values(), vars(other).values(), strict=True)))


def decode_terms(
    model: ModelSpec,
    gpu: GpuSpec,
    group: TensorGroup,
    batch: float,
    context_tokens: float,
    dtype: str = "bf16",
    kv_dtype: str = "bf16",
) -> StepTerms:
    """One decode step of `batch` sequences that each hold `context_tokens`.

        weights/N, B·context·kv on a rank, over BW;  2·P_active·B/(N·F);  2L all-reduces of B·d

    Ignored: what attention itself computes, sampling, and the gather of logits. `batch` may be an average.
    """
    require_positive(batch=batch)
    require_non_negative(context_tokens=context_tokens)
    ranks = group.tp_size
    kv_bytes = batch * step_cache_bytes(model, ranks, context_tokens, kv_dtype)
    weights_s = read_weight_bytes(model, dtype, batch) / ranks / gpu.memory_bytes_per_s
    arithmetic_s = 2 * multiplied_parameters(model) * batch / ranks / peak_flops(gpu, dtype)
    return StepTerms(
        weights_s=weights_s,
        kv_s=kv_bytes / gpu.memory_bytes_per_s,
        arithmetic_s=arithmetic_s,
        comm_s=layers_comm_s(model, group, batch),
        layers=launched_layers(model, dtype, ranks),
        narrow_s=narrow_s(gpu, dtype, weights_s, arithmetic_s),
        apart_s=layers_apart_s(model, group),
    )


def prefill_terms(
    model: ModelSpec, gpu: GpuSpec, group: TensorGroup, prompt_tokens: int, batch: float = 1, dtype: str = "bf16"
) -> StepTerms:
    """One prefill of `batch` prompts: the weights once, the arithmetic of all tokens, 2L all-reduces of B·S·d.

    Ignored: the keys and values written. `batch` may be an average.
    """
    ranks = group.tp_size
    weights_s = read_weight_bytes(model, dtype, batch * prompt_tokens) / ranks / gpu.memory_bytes_per_s
    arithmetic_s = prefill_flops(model, prompt_tokens) * batch / ranks / peak_flops(gpu, dtype)
    return StepTerms(
        weights_s=weights_s,
        kv_s=0.0,
        arithmetic_s=arithmetic_s,
        comm_s=layers_comm_s(model, group, batch * prompt_tokens),
        layers=launched_layers(model, dtype, ranks),
        narrow_s=narrow_s(gpu, dtype, weights_s, arithmetic_s),
        apart_s=layers_apart_s(model, group),
    )


def layers_comm_s(model: ModelSpec, group: TensorGroup, tokens: float) -> float:
    """The all-reduces of all layers for a step of `tokens`, one after another."""
    if group.tp_size == 1:
        return 0.0
    payload_bytes = tokens * model.hidden_size * ACTIVATION_BYTES
    return all_reduces_per_step(model, group.tp_size) * group.all_reduce_s(payload_bytes)


def layers_apart_s(model: ModelSpec, group: TensorGroup) -> float:
    """What the sums of all layers wait for the last of a node's ranks.

    Over nodes a sum has a wait of its own; where no engine's kernel was timed a ring stands for it, and takes more.
    """
    if group.tp_size == 1 or group.crosses or group.link.kernel_s is None:
        return 0.0
    return all_reduces_per_step(model, group.tp_size) * apart(group.tp_size) * RANK_DELAY_S
