"""Prefill and decode on GPUs of their own: what moves between them, and what it saves.

S prompt tokens, O output tokens, B sequences at once, L layers. On shared GPUs each of the other B-1 sequences is
replaced once in a sequence's life, and its prefill stalls the decode: chunked or not, the arithmetic is the same.
Apart, the prompt's keys and values cross a link once instead.
Ignored: queueing for the link and for prefill, and that chunked prefill hides some reading of weights.
"""

from dataclasses import dataclass

from core.catalog import link as find_link
from core.collectives.cost import as_measured, shared
from core.errors import require_positive
from core.evidence.calibration import calibration_of, prompt_efficiency
from core.models.kv_cache import kv_bytes_per_token, kv_bytes_per_token_per_rank
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.model import CROSSING_S, TensorGroup, decode_terms, prefill_terms
from core.steps.view import View

BETWEEN = "ib-ndr"
"""The link shown between a node's and the network."""


@dataclass(frozen=True)
class Request:
    """A model on its ranks, and what is asked of it."""

    model: ModelSpec
    gpu: GpuSpec
    group: TensorGroup
    prompt_tokens: int = 2048
    output_tokens: int = 256
    sequences: int = 16
    kv_dtype: str = "bf16"
    weight_dtype: str = "bf16"

    def __post_init__(self) -> None:
        require_positive(
            prompt_tokens=self.prompt_tokens, output_tokens=self.output_tokens, sequences=self.sequences
        )


@dataclass(frozen=True)
class Handoff:
    """A request's prefill, its decode, and the keys and values between them."""

    kv_bytes: float
    transfer_s: float
    prefill_s: float
    decode_step_s: float
    request: Request

    @property
    def stall_s(self) -> float:
        """What a sequence waits for others' prefills in its life, on shared GPUs: (B-1) · prefill"""
        return (self.request.sequences - 1) * self.prefill_s

    @property
    def stall_per_token_s(self) -> float:
        return self.stall_s / self.request.output_tokens

    @property
    def saved_s(self) -> float:
        """What a sequence gains by the split; below zero where the transfer costs more than the stalls."""
        return self.stall_s - self.transfer_s

    @property
    def pays(self) -> bool:
        """Whether the transfer is shorter than the stalls it avoids."""
        return self.saved_s > 0

    @property
    def exposed_s(self) -> float:
        """What is left of the transfer at the first token where each layer's part leaves as soon as it is computed.

        max(transfer/L, transfer - prefill·(L-1)/L)
        """
        layers = self.request.model.num_hidden_layers
        return max(self.transfer_s / layers, self.transfer_s - self.prefill_s * (layers - 1) / layers)

    @property
    def prefill_share(self) -> float:
        """Share of the work that is prefill: of so many GPUs in all, those to prefill on.

        prefill / (prefill + O · step / B)
        """
        decode_s = self.request.output_tokens * self.decode_step_s / self.request.sequences
        return self.prefill_s / (self.prefill_s + decode_s)


def handoff(request: Request, link: LinkSpec) -> Handoff:
    """One request's keys and values over a link, each rank sending its own part at the same time.

    α + S · kv bytes a token and rank / β
    """
    model, gpu, group = request.model, request.gpu, request.group
    # the ranks of a node send at once: over its one port, where it has one
    ranks = min(group.tp_size, group.gpus_per_node)
    port, efficiency = shared(as_measured(link), ranks), calibration_of(gpu, model).efficiency
    own = request.prompt_tokens * kv_bytes_per_token_per_rank(model, group.tp_size, request.kv_dtype)
    context, width = request.prompt_tokens + request.output_tokens / 2, request.weight_dtype
    prefill = prefill_terms(model, gpu, group, request.prompt_tokens, dtype=width)
    decode = decode_terms(model, gpu, group, request.sequences, context, width, request.kv_dtype)
    return Handoff(
        kv_bytes=request.prompt_tokens * kv_bytes_per_token(model, request.kv_dtype),
        transfer_s=port.base_s + port.latency_s + own / port.bandwidth_bytes_per_s,
        prefill_s=prefill.step_s(prompt_efficiency(gpu, model)),
        decode_step_s=decode.step_s(efficiency),
        request=request,
    )


def handed_over(view: View, sequences: int) -> list[tuple[LinkSpec, Handoff]]:
    """A prompt's keys and values over both of the page's links, and InfiniBand between them."""
    scenario = view.scenario
    request = Request(
        scenario.model_spec,
        scenario.gpu_spec,
        TensorGroup(scenario.tp, view.link, network=view.network, crossing_s=CROSSING_S),
        scenario.prompt_tokens,
        scenario.output_tokens,
        sequences,
        scenario.kv_dtype,
    )
    links = {row.key: row for row in (view.link, find_link(BETWEEN), view.network)}
    return [(link, handoff(request, link)) for link in links.values()]
