"""One step of an engine as terms: a decode step with its draft and its shared cache, a prompt behind a prefix."""

from dataclasses import dataclass, replace
from functools import cached_property

from core.models.kv_cache import sequence_bytes, step_cache_bytes
from core.models.parameters import count_parameters
from core.models.weights import read_weight_bytes, routed_weight_bytes
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.sent import Sent, sent_in_step
from core.specs import ModelSpec
from core.steps.launches import launched_layers
from core.steps.model import (
    ACTIVATION_BYTES,
    StepTerms,
    TensorGroup,
    decode_terms,
    layers_apart_s,
    prefill_flops,
    prefill_terms,
)
from core.steps.narrow import narrow_s, peak_flops


@dataclass(frozen=True)
class Served:
    """A model, the cluster and the cut of its layers that serve it, and what is asked of it.

    Layouts with more stages or more replicas have the same steps: see `Question.steps`.
    """

    model: ModelSpec
    cluster: ClusterSpec
    layout: Layout
    demand: Demand

    @cached_property
    def group(self) -> TensorGroup:
        """The ranks that cut each layer, on their links."""
        return self.cluster.group(self.layout.tp_size)

    def decode(self, batch: float) -> StepTerms:
        """One decode step of the engine, worked out once for a batch."""
        if batch not in self._decoded:
            self._decoded[batch] = decode_of(self, batch)
        return self._decoded[batch]

    @cached_property
    def _decoded(self) -> dict[float, StepTerms]:
        return {}

    @cached_property
    def prefill(self) -> StepTerms:
        """What reading one prompt takes, behind its prefix in the cache."""
        return prefill_of(self)


def decode_of(served: Served, batch: float) -> StepTerms:
    """One decode step of the engine, its draft and its share of the cache counted."""
    layout, drafted = served.layout, served.demand.draft_tokens
    one = _one_decode(served, batch)
    if layout.dcp_size > 1:
        one = replace(one, kv_s=one.kv_s / layout.dcp_size)
    if not drafted:
        return one
    # each sequence sends k + 1 tokens through the layers, and reads its cache once; a draft is a layer and the head
    checked = _one_decode(served, batch * (1 + drafted))
    step = replace(checked, kv_s=one.kv_s)
    return step.plus(_draft_of(served, one, batch).times(drafted))


def _draft_of(served: Served, one: StepTerms, batch: float) -> StepTerms:
    """One drafted token of each sequence: one layer's share of a step, and the head, whole, to choose it by.

    The head is the model's own, as those of MTP and EAGLE are; it is read and multiplied once a draft.
    """
    model, gpu, ranks = served.model, served.cluster.gpu, served.layout.tp_size
    head = model.vocab_size * model.hidden_size / ranks
    weights_s = ACTIVATION_BYTES * head / gpu.memory_bytes_per_s
    arithmetic_s = 2 * head * batch / gpu.bf16_flops
    layer = 1 / model.num_hidden_layers
    layers = replace(
        one,
        weights_s=max(0.0, one.weights_s - weights_s),
        arithmetic_s=max(0.0, one.arithmetic_s - arithmetic_s),
    ).times(layer)
    return replace(layers, weights_s=layers.weights_s + weights_s, arithmetic_s=layers.arithmetic_s + arithmetic_s)


def _one_decode(served: Served, batch: float) -> StepTerms:
    cluster, layout, demand = served.cluster, served.layout, served.demand
    if layout.ep_size > 1:
        return _expert_step(served, batch, demand.mean_context)
    context, dtype, kv_dtype = demand.mean_context, demand.dtype, demand.kv_dtype
    one = decode_terms(served.model, cluster.gpu, served.group, batch, context, dtype, kv_dtype)
    return replace(one, comm_s=_sent_s(served, batch)) if layout.dcp_size > 1 else one


def sent(served: Served, tokens: float, decodes: bool = True) -> tuple[Sent, ...]:
    """The collectives of one pass of `tokens` rows, on each copy of attention."""
    return sent_in_step(served.model, served.cluster, served.group, served.layout, tokens, decodes)


def sent_by_decode(served: Served, batch: float) -> tuple[Sent, ...]:
    """All that a decode step sends, its draft counted: what `decode_of` charges, collective by collective."""
    drafted = served.demand.draft_tokens
    checked = sent(served, batch * (1 + drafted))
    share = drafted / served.model.num_hidden_layers
    return (*checked, *(one.times(share) for one in sent(served, batch))) if drafted else checked


def _sent_s(served: Served, tokens: float, decodes: bool = True) -> float:
    return sum(one.time_s for one in sent(served, tokens, decodes))


def prefill_of(served: Served) -> StepTerms:
    """One prompt read: behind a cached prefix only the rest, whose tokens still look at all of it.

    arithmetic(S) - arithmetic(cached),  all else as of a prompt of S - cached
    """
    layout, demand, cached = served.layout, served.demand, served.demand.cached_tokens
    rest = _one_prefill(served, demand.prompt_tokens - cached)
    if not cached:
        return rest
    whole, before = (_one_prefill(served, tokens) for tokens in (demand.prompt_tokens, cached))
    kept = sequence_bytes(served.model, layout.tp_size, cached, demand.kv_dtype) / layout.dcp_size
    return replace(
        rest,
        arithmetic_s=max(rest.arithmetic_s, whole.arithmetic_s - before.arithmetic_s),
        kv_s=kept / served.cluster.gpu.memory_bytes_per_s,
    )


def added_of(served: Served, batch: float) -> StepTerms:
    """What one prompt adds to steps of `batch` sequences: its own terms, less what such a step pays anyway.

    The step's weights and the waits of its sums are paid once, and no layer is launched again.
    """
    alone, step = served.prefill, served.decode(batch)
    weights_s = max(0.0, alone.weights_s - step.weights_s)
    gpu, dtype = served.cluster.gpu, served.demand.dtype
    return replace(
        alone,
        weights_s=weights_s,
        comm_s=max(0.0, alone.comm_s - step.comm_s),
        layers=0.0,
        narrow_s=narrow_s(gpu, dtype, weights_s, alone.arithmetic_s),
        apart_s=0.0,
    )


def _one_prefill(served: Served, tokens: int) -> StepTerms:
    if served.layout.ep_size > 1:
        return _expert_step(served, tokens, None)
    return prefill_terms(served.model, served.cluster.gpu, served.group, tokens, dtype=served.demand.dtype)


def _expert_step(served: Served, tokens: float, context: float | None) -> StepTerms:
    """One step of data-parallel attention and expert parallelism: `tokens` on each copy of attention.

    Attention and shared experts over tp, routed experts over tp · dp: each rank reads the experts here that some
    token of the whole group is routed to. Without `context` the tokens are one prompt.
    """
    model, cluster, layout, demand = served.model, served.cluster, served.layout, served.demand
    gpu, count = cluster.gpu, count_parameters(model)
    together = tokens * layout.dp_size
    read, hit = (part(model, demand.dtype, max(1.0, together)) for part in (read_weight_bytes, routed_weight_bytes))
    routed_flops = 2 * count.experts * count.routed_fraction * together / layout.ep_size
    if context is None:
        flops = prefill_flops(model, int(tokens)) - 2 * count.experts * count.routed_fraction * tokens
    else:
        looked_up = count.positions + (0 if model.tie_word_embeddings else count.embedding)
        flops = 2 * (count.total - count.experts - looked_up) * tokens
    each = 0.0 if context is None else step_cache_bytes(model, layout.tp_size, context, demand.kv_dtype)
    weights_s = ((read - hit) / layout.tp_size + hit / layout.ep_size) / gpu.memory_bytes_per_s
    arithmetic_s = (flops / layout.tp_size + routed_flops) / peak_flops(gpu, demand.dtype)
    return StepTerms(
        weights_s=weights_s,
        kv_s=tokens * each / gpu.memory_bytes_per_s,
        arithmetic_s=arithmetic_s,
        comm_s=_sent_s(served, tokens, decodes=context is not None),
        layers=launched_layers(model, demand.dtype, layout.tp_size),
        narrow_s=narrow_s(gpu, demand.dtype, weights_s, arithmetic_s),
        apart_s=layers_apart_s(model, served.group),
    )
