"""What a layout gives: time to the first token, time between tokens, tokens a second, and what each link is paid.

B sequences at once, spread over the copies of attention; p stages, with m = min(p, B) microbatches going round.
A cached prefix is not read again; a draft of k tokens is checked in one step, which keeps E of them and one more.
Ignored: prefills that arrive while others decode (see the load), overlap, uneven routing.
"""

from dataclasses import dataclass
from functools import lru_cache

from core.collectives.cost import as_measured
from core.comm_cost.kernels import picked_all_reduce, picked_kernel
from core.models.loaded_weights import stages
from core.placement.demand import Demand
from core.placement.step_terms import Served, decode_of, prefill_of
from core.specs import LinkSpec, ModelSpec
from core.steps.launches import prompt_layers
from core.steps.model import ACTIVATION_BYTES, Efficiency, StepTerms


@dataclass(frozen=True)
class LinkBill:
    """What one token's way through an engine pays one link; `latency_s` of it is waiting, the rest is bytes.

    All-reduces are NCCL's rings; `kernel_s` is what the engine's own kernel would take, None where it has none.
    """

    what: str
    link: str
    messages: int
    payload_bytes: float
    time_s: float
    latency_s: float
    kernel_s: float | None = None

    @property
    def bandwidth_s(self) -> float:
        return self.time_s - self.latency_s


@dataclass(frozen=True)
class Timing:
    """What a layout gives at one concurrency.

    `tokens_per_s` is of decode steps alone; `sustained_tokens_per_s` of an engine that must also read each
    sequence's prompt, and reads no other meanwhile.
    """

    concurrency: int
    ttft_s: float
    itl_s: float
    tokens_per_s: float
    sustained_tokens_per_s: float
    roofline_itl_s: float
    bill: tuple[LinkBill, ...]

    @property
    def comm_s(self) -> float:
        """All links, on one token's way."""
        return sum(link.time_s for link in self.bill)


def timing(
    served: Served, sequences: int, efficiency: Efficiency, prompts: Efficiency, layer_launch_s: float
) -> Timing:
    """A layout timed with so many sequences at once.

    `prompts` are a prompt's own constants, `layer_launch_s` what its engine takes to launch a plain layer of it.

    Raises IndivisibleError where a group of ranks would leave a node half used.
    """
    layout, demand = served.layout, served.demand
    per_copy = max(1.0, sequences / layout.attention_copies)
    in_flight = min(layout.pp_size, int(per_copy))
    batch = per_copy / in_flight
    decode = decode_of(served, batch)
    prefill_s, handoffs_s = _prompt_s(served, prompts, layer_launch_s)
    itl_s = _cycle_s(served, decode, efficiency, batch, in_flight) / demand.tokens_a_step
    tokens_per_s = sequences / itl_s
    return Timing(
        concurrency=sequences,
        ttft_s=prefill_s + handoffs_s,
        itl_s=itl_s,
        tokens_per_s=tokens_per_s,
        sustained_tokens_per_s=tokens_per_s * _decoding_share(demand, itl_s, per_copy * prefill_s / layout.pp_size),
        roofline_itl_s=decode.roofline_s * max(1.0, in_flight / layout.pp_size) / demand.tokens_a_step,
        bill=_bill(served, decode, batch),
    )


@lru_cache(maxsize=16)
def _prompt_s(served: Served, efficiency: Efficiency, layer_launch_s: float) -> tuple[float, float]:
    """What one prompt takes of the layers, and of the links between stages: the same at every concurrency."""
    demand = served.demand
    step_s = prefill_of(served).step_s(efficiency)
    launch_s = layer_launch_s * prompt_layers(served.model, demand.dtype, served.layout.tp_size)
    return max(step_s, launch_s), sum(_handoff_s(served, demand.prompt_tokens - demand.cached_tokens))


def _decoding_share(demand: Demand, itl_s: float, reading_s: float) -> float:
    """The share of an engine's time that is left for decode steps when it must read a prompt for every output.

        O · ITL / (O · ITL + B · P/p)

    A pipeline reads p prompts at once.
    """
    writing_s = demand.output_tokens * itl_s
    return writing_s / (writing_s + reading_s)


def _cycle_s(served: Served, decode: StepTerms, efficiency: Efficiency, batch: float, in_flight: int) -> float:
    """Time between two tokens of a sequence: the way round the pipe, or m turns of its slowest stage.

        max(m · max t, Σt + Σl)

    As core.pipeline_bubble.schedules.serving.steady_decode has it, in seconds.
    """
    step_s = max(decode.step_s(efficiency), decode.roofline_s)
    layers = [stage.layers for stage in stages(served.model, served.layout.pp_size)]
    around_s = step_s + sum(_handoff_s(served, batch))
    return max(in_flight * (max(layers) / served.model.num_hidden_layers) * step_s, around_s)


def _handoff_s(served: Served, tokens: float) -> list[float]:
    """What each hand-over between two stages takes, `tokens` rows of activations at a time.

    α + n/β, at the bandwidth that was measured on a link where one was.
    """
    links = _hops(served)
    payload = tokens * served.model.hidden_size * ACTIVATION_BYTES
    priced = {
        link.key: link.base_s + link.latency_s + payload / as_measured(link).bandwidth_bytes_per_s
        for link in {link.key: link for link in links}.values()
    }
    return [priced[link.key] for link in links]


@lru_cache(maxsize=256)
def _hops(served: Served) -> tuple[LinkSpec, ...]:
    """The link behind each stage but the last."""
    layout = served.layout
    ranks = layout.tp_size * layout.dp_size
    return tuple(served.cluster.hop(ranks, boundary) for boundary in range(layout.pp_size - 1))


def _kernel_s(model: ModelSpec, link: LinkSpec, payload_bytes: float, ranks: int) -> float | None:
    """The same all-reduces by the kernel that an engine picks; None where that is NCCL's ring."""
    if picked_kernel(round(payload_bytes), ranks, link) == "NCCL":
        return None
    return model.all_reduces * picked_all_reduce(payload_bytes, ranks, link).total_s


def _bill(served: Served, decode: StepTerms, batch: float) -> tuple[LinkBill, ...]:
    """One token's way: what its layers say on the links inside, and what each link between stages carries."""
    model, cluster, layout = served.model, served.cluster, served.layout
    payload = batch * model.hidden_size * ACTIVATION_BYTES
    rows: list[LinkBill] = []
    if layout.ep_size > 1:
        link = cluster.slowest_link(layout.ep_size)
        messages = 2 * model.sparse_layers
        wait_s = min(decode.comm_s, messages * (link.base_s + link.latency_s))
        rows.append(LinkBill("dispatch and combine", link.name, messages, payload, decode.comm_s, wait_s))
    elif layout.tp_size > 1:
        wait_s = model.all_reduces * cluster.group(layout.tp_size).all_reduce_s(0.0)
        link = cluster.slowest_link(layout.tp_size)
        kernel_s = _kernel_s(model, link, payload, layout.tp_size)
        rows.append(LinkBill("all-reduces", link.name, model.all_reduces, payload, decode.comm_s, wait_s, kernel_s))
    hops: dict[LinkSpec, list[float]] = {}
    for link, time_s in zip(_hops(served), _handoff_s(served, batch), strict=True):
        hops.setdefault(link, []).append(time_s)
    for link, times in hops.items():
        wait_s = len(times) * (link.base_s + link.latency_s)
        rows.append(LinkBill("hand-overs", link.name, len(times), payload, sum(times), wait_s))
    return tuple(rows)
