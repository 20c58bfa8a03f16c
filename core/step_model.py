"""How long a step computes, before anyone talks: decode streams weights, prefill does arithmetic.

W weight bytes, BW memory bytes/s, F dense FLOP/s, S prompt tokens, B sequences, L layers, h heads, hd head_dim.
"""

from core.comm_cost import LAB_STEP_S, weight_streaming_s
from core.errors import OutOfRangeError, require_positive
from core.parameters import count_parameters
from core.specs import GpuSpec, ModelSpec

LAB_PAIR = ("llama-3-8b", "a100-80gb-sxm", "bf16")
"""The model, GPU and weights whose 7.88 ms the labs round to 8."""

MFU = 0.5
"""Share of the dense FLOP/s a prefill reaches. An assumption: 0.4 to 0.6 is usual for long prompts."""


def decode_step_s(model: ModelSpec, gpu: GpuSpec, dtype: str = "bf16") -> float:
    """One decode step at TP=1: all weights once through memory; the labs' 8 ms for the labs' own pair.

    Ignored: the KV cache, launches, and that kernels reach some 80 % of the bandwidth: all make it longer.
    """
    if (model.key, gpu.key, dtype) == LAB_PAIR:
        return LAB_STEP_S
    return weight_streaming_s(model, gpu, dtype)


def prefill_flops(model: ModelSpec, prompt_tokens: int, batch: int = 1) -> float:
    """Arithmetic of a prefill: two operations a parameter and token, causal attention, the head once a prompt.

        B · (2 · P_layers · S + 2 · L · h · hd · S² + 2 · P_head)

    P_layers counts the experts a token uses; embedding and head are left out of it (15 % of an 8B model).
    """
    require_positive(prompt_tokens=prompt_tokens, batch=batch)
    count = count_parameters(model)
    layers = count.layers - count.experts + count.experts * count.routed_fraction
    attention = 2 * model.num_hidden_layers * model.num_attention_heads * model.head_dim * prompt_tokens**2
    head = 2 * model.vocab_size * model.hidden_size
    return batch * (2 * layers * prompt_tokens + attention + head)


def prefill_step_s(model: ModelSpec, gpu: GpuSpec, prompt_tokens: int, batch: int = 1, mfu: float = MFU) -> float:
    """One prefill at TP=1: its arithmetic at a share `mfu` of the dense FLOP/s.

        B · flops / (F · mfu)

    Ignored: weights streamed (a short prompt is bound by them). Raises OutOfRangeError unless 0 < mfu <= 1.
    """
    if not 0 < mfu <= 1:
        raise OutOfRangeError("mfu", mfu, "must lie in (0, 1]")
    return prefill_flops(model, prompt_tokens, batch) / (gpu.bf16_flops * mfu)
