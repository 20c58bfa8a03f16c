"""A decode step as the batch grows: sequences share the reading of weights, until the arithmetic outgrows it.

W weight bytes, BW memory bytes/s, P active parameters, B sequences, F dense FLOP/s.
"""

from math import inf

from core.errors import require_positive
from core.models.parameters import active_parameters
from core.specs import GpuSpec, ModelSpec
from core.steps.model import decode_step_s
from core.steps.narrow import peak_flops


def batched_decode_step_s(model: ModelSpec, gpu: GpuSpec, batch: int, dtype: str = "bf16") -> float:
    """One decode step of `batch` sequences at TP=1: the weights once through memory, or the arithmetic if longer.

        max(W(B) / BW, 2 · P · B / F)

    F is that of the weights' width, where the GPU multiplies in it. Of a mixture, W grows with the experts met.
    Ignored: the KV cache, which a long context makes the larger part, and kernels below the dense peak.
    """
    require_positive(batch=batch)
    arithmetic_s = 2 * active_parameters(model) * batch / peak_flops(gpu, dtype)
    return max(decode_step_s(model, gpu, dtype, batch), arithmetic_s)


def ridge_batch(model: ModelSpec, gpu: GpuSpec, dtype: str = "bf16") -> float:
    """The batch from which a decode step is bound by arithmetic.

    B = W(B) · F / (2 · P · BW)

    A mixture's W grows with B, ever more slowly, so that from above the formula nears the one batch that solves it.
    """
    a_second = peak_flops(gpu, dtype) / (2 * active_parameters(model))
    batch, nearer = inf, decode_step_s(model, gpu, dtype, inf) * a_second
    while nearer < batch * (1 - 1e-9):
        batch, nearer = nearer, decode_step_s(model, gpu, dtype, nearer) * a_second
    return nearer
