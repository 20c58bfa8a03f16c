"""What matrices of fewer than 16 bits take beyond the data sheet: their kernels reach less of it than wide ones do.

Three shares, each of what a kernel of 16-bit matrices reaches on the same GPU. A width of four bits is unpacked and
scaled as it is read: by the tensor cores where they multiply in it, by the kernel itself where they do not (Marlin
and its like). And where the tensor cores multiply faster, they wait for their inputs more.

Of kernels on CUDA, fitted on 1,400 served times (core.evidence.served_fit). On ROCm no such table was published: a
width's kernels there are taken to reach what wide ones do, for by these shares MI300X's mixtures that were left out
lie 42 % off in the median.
"""

from core.specs import GpuSpec

NATIVE_SHARE = 0.91
"""Of the bandwidth, of four-bit floats where the tensor cores multiply in them."""
WIDENED_SHARE = 0.55
"""Of the bandwidth, of four-bit weights that a kernel widens to 16 bits before it multiplies."""
FASTER_SHARE = 0.51
"""Of the arithmetic, where a GPU multiplies such weights faster than in 16 bits."""


def peak_flops(gpu: GpuSpec, dtype: str) -> float:
    """Dense FLOP/s at a weight dtype: fp8's and the 4-bit floats' own where the tensor cores do them.

    Weight-only widths (int8, int4, and fp8 on older GPUs) are multiplied in bf16.
    """
    if dtype == "fp32":
        return gpu.bf16_flops / 2
    own = {"fp8": gpu.fp8_flops, "mxfp4": gpu.fp4_flops, "nvfp4": gpu.fp4_flops}
    return own.get(dtype) or gpu.bf16_flops


def bandwidth_share(gpu: GpuSpec, dtype: str) -> float:
    """The share of a wide matrix's bandwidth that one of this width is read with."""
    if gpu.stack != "cuda" or not dtype.startswith(("nvfp4", "mxfp4", "int4", "awq")):
        return 1.0
    return NATIVE_SHARE if gpu.fp4_flops and "fp4" in dtype else WIDENED_SHARE


def arithmetic_share(gpu: GpuSpec, dtype: str) -> float:
    """The share of its own printed FLOP/s that a width is multiplied at, over the share of a wide one's."""
    return FASTER_SHARE if gpu.stack == "cuda" and peak_flops(gpu, dtype) > gpu.bf16_flops else 1.0


def narrow_s(gpu: GpuSpec, dtype: str, weights_s: float, arithmetic_s: float) -> float:
    """What weights and arithmetic of a width take more than data-sheet speed, in a step of these terms.

    weights · (1/share - 1) + arithmetic · (1/share - 1)
    """
    read, multiplied = bandwidth_share(gpu, dtype), arithmetic_share(gpu, dtype)
    return weights_s * (1 / read - 1) + arithmetic_s * (1 / multiplied - 1)
