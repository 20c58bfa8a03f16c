"""A rank's weights predicted from the model's config, and what else may lie beside them."""

from dataclasses import replace

from core.models.loaded_weights import Stage, loaded_weight_bytes, rank_tensors, reserved_bytes
from core.specs import ModelSpec
from core.startup_log.basis import (
    TOLERANCE,
    UNNAMED,
    Basis,
    Doubt,
    Prediction,
    Silence,
    candidate_stages,
    four_normed_gemma,
    within,
)
from core.startup_log.records import Figure, Settings
from core.units import GIB

_FREE_MEMORY_GIB = 0.6
_BUFFERS_GIB = 0.6
_KERNEL = (0.97, 1.12)


def weights(basis: Basis, figure: Figure, stage: int | None) -> Prediction | Silence:
    """Bytes of a rank's weights, by the arithmetic of `core.models.loaded_weights`."""
    spec = basis.model
    if spec is None:
        return UNNAMED
    if basis.weight_format is None:
        name = basis.settings.quantization or "this quantisation"
        return Silence(f"{name} leaves some layers as they were; which, the log does not say")
    if basis.settings.dp_attention:
        return Silence("attention is data-parallel here: which weights are whole on a rank, the log does not say")
    figure = _as_measured(basis, figure)
    parts = [part for one in candidate_stages(basis, stage) for part in _as_made(basis, spec, one)]
    candidates = [_weights_of(basis, spec, figure, part) for part in parts]
    size, where = min(candidates, key=lambda pair: abs(pair[0] - figure.value))
    doubts = (*_weight_doubts(basis, spec, figure, size), *basis.doubts)
    formula = f"{_shape(basis, spec)}{where}, {_RULES[figure.kind]}"
    return Prediction(size, formula, *within(size, figure.step), doubts)


def _as_measured(basis: Basis, figure: Figure) -> Figure:
    """The figure by what the engine measured: on ROCm vLLM prints the fall in free memory.

    Source: vllm/platforms/rocm.py, get_current_memory_usage.
    """
    if basis.settings.rocm and figure.engine == "vllm" and figure.kind == "allocated":
        return replace(figure, kind="free_memory")
    return figure


def _as_made(basis: Basis, spec: ModelSpec, part: Stage) -> tuple[Stage, ...]:
    """A stage, and as releases of vLLM made it: a mixture's embedding and head everywhere, a Gemma 2's many tables.

    Source: vllm/model_executor/models/qwen3_moe.py; gemma2.py of 0.5, where each layer makes its own rotary table.
    """
    if basis.settings.engine != "vllm":
        return (part,)
    found = [part]
    if spec.moe is not None and spec.mla is None and part.layers < part.of_layers:
        found.append(replace(part, whole_ends=True))
    if four_normed_gemma(spec) and not spec.qk_norm:
        found.append(replace(part, own_tables=True))
    return tuple(found)


_RULES = {
    "allocated": "rotary table and padding with them, each tensor rounded as the allocator does",
    "profiled": "rotary table and padding with them, each tensor rounded as the allocator does",
    "free_memory": "in whole segments of the allocator, as free memory falls by them",
    "engine_file": "as the engine file holds them, without a rotary table",
}  # fmt: skip


def _weights_of(basis: Basis, spec: ModelSpec, figure: Figure, part: Stage) -> tuple[float, str]:
    tp_size, dtype = basis.sizes.tp_size, basis.weight_format or "bf16"
    where = _where(part)
    if figure.kind == "free_memory":
        rope_bytes = 4 if figure.engine == "sglang" else 0
        return reserved_bytes(rank_tensors(spec, tp_size, part, dtype, rope_bytes)) / GIB, where
    if figure.kind == "engine_file":
        parts = rank_tensors(spec, tp_size, part, dtype)
        return sum(t.copies * t.size_bytes for t in parts if t.name != "rotary table") / GIB, where
    return loaded_weight_bytes(spec, tp_size, part, dtype) / GIB, where


def _where(part: Stage) -> str:
    """Which layers, of a pipeline's stage, and what is made more than once."""
    if part.layers == part.of_layers:
        return " (a rotary table for every layer)" if part.own_tables else ""
    ends = ", embedding and head with them" if part.whole_ends else ""
    return f" (layers {part.first_layer} to {part.first_layer + part.layers - 1}{ends})"


def _shape(basis: Basis, spec: ModelSpec) -> str:
    ranks = f" over TP={basis.sizes.tp_size}" if basis.sizes.tp_size > 1 else ""
    return f"weights of {spec.name} in {basis.weight_format}{ranks}"


def _weight_doubts(basis: Basis, spec: ModelSpec, figure: Figure, size: float) -> list[Doubt]:
    """What may be on the GPU beside the weights counted, or be laid out otherwise."""
    found = []
    if basis.weight_format not in ("bf16", "fp16", "fp32"):
        widest = max(size * _KERNEL[1], _padded(basis, spec, figure))
        found.append(Doubt("kernels may pad and repack quantised weights", size * _KERNEL[0], widest))
    if figure.kind == "free_memory":
        low, high = size * (1 - 2 * TOLERANCE) - 0.1, size + _FREE_MEMORY_GIB
        found.append(Doubt("free memory also falls by what libraries take meanwhile", low, high))
    if figure.engine == "tensorrt-llm" and figure.kind == "allocated":
        found.append(Doubt("the engine's own buffers are counted with them", size, size + _BUFFERS_GIB))
    if figure.kind == "engine_file":
        found.append(Doubt("the log does not say how the engine's weights were quantised"))
    if not (basis.settings.resolved or basis.format_given):
        found += _other_formats(basis, spec, figure)
    if basis.settings.draft and figure.kind != "free_memory":
        found.append(Doubt("a draft model is loaded with it", low=size))
    if basis.settings.adapters:
        found.append(Doubt("LoRA adapters have room of their own", low=size))
    if spec.moe is not None and (basis.settings.dp_size or 1) > 1:
        found.append(Doubt("experts are spread over data-parallel ranks too", high=size))
    if basis.settings.offload:
        found.append(Doubt("part of the weights is kept in host memory", high=size))
    if _sees(basis.settings, spec):
        found.append(Doubt("a vision tower is loaded with it, which the catalog's row does not count", low=size))
    return found


def _padded(basis: Basis, spec: ModelSpec, figure: Figure) -> float:
    """The most that a kernel makes of mxfp4 experts, which are padded to its tiles; of other formats nothing."""
    if not (basis.weight_format or "").startswith("mxfp4"):
        return 0.0
    wide = replace(basis, weight_format="mxfp4-sm100")
    return max(_weights_of(wide, spec, figure, part)[0] for part in basis.stages) * (1 + TOLERANCE)


def _other_formats(basis: Basis, spec: ModelSpec, figure: Figure) -> list[Doubt]:
    """The formats that would fit a figure as well, where the log does not say which it is."""
    found = []
    for key in ("bf16", "fp8", "int4", "awq"):
        other = replace(basis, weight_format=key)
        for part in basis.stages:
            size = _weights_of(other, spec, figure, part)[0]
            reason = f"as {key} it would be {size:.2f} GiB; the log does not say how the weights are kept"
            found.append(Doubt(reason, size * (1 - 2 * TOLERANCE), size * (1 + 2 * TOLERANCE)))
    return found


def _sees(settings: Settings, spec: ModelSpec) -> bool:
    """Whether the checkpoint has a part for images that the text model's shape leaves out."""
    return "ForConditionalGeneration" in (settings.architecture or "") or spec.vision_tower
