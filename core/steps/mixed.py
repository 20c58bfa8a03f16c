"""What reading a prompt adds to a step that decodes anyway: nothing that the step already pays is paid again.

The weights are read once for both, experts but for those that only the prompt's tokens are routed to; the kernels
are launched once; and each all-reduce sums the rows of both in one call, which waits once.
"""

from core.models.weights import read_weight_bytes
from core.specs import GpuSpec, ModelSpec
from core.steps.model import StepTerms, TensorGroup, layers_comm_s, prefill_flops
from core.steps.narrow import narrow_s, peak_flops


def added_terms(
    model: ModelSpec, gpu: GpuSpec, group: TensorGroup, prompt_tokens: int, batch: float, dtype: str = "bf16"
) -> StepTerms:
    """One prompt beside `batch` sequences that decode: the mixed step's terms less those of the decode step.

    weights(B + S) - weights(B),  the prompt's arithmetic,  sums of (B + S)·d - sums of B·d,  no layer more
    """
    ranks, together = group.tp_size, batch + prompt_tokens
    read, before = (read_weight_bytes(model, dtype, tokens) for tokens in (together, batch))
    weights_s = (read - before) / ranks / gpu.memory_bytes_per_s
    arithmetic_s = prefill_flops(model, prompt_tokens) / ranks / peak_flops(gpu, dtype)
    return StepTerms(
        weights_s=weights_s,
        kv_s=0.0,
        arithmetic_s=arithmetic_s,
        comm_s=layers_comm_s(model, group, together) - layers_comm_s(model, group, batch),
        layers=0.0,
        narrow_s=narrow_s(gpu, dtype, weights_s, arithmetic_s),
    )
