"""A rank's weights predicted from the model's config, and what else may lie beside them."""

from dataclasses import replace

from core.loaded_weights import Stage, loaded_weight_bytes, rank_tensors, reserved_bytes
from core.specs import ModelSpec
from core.startup_log.basis import TOLERANCE, UNNAMED, Basis, Doubt, Prediction, Silence, candidate_stages, within
from core.startup_log.records import Figure, Settings
from core.units import GIB

_FREE_MEMORY_GIB = 0.6
_KERNEL = (0.97, 1.12)


def weights(basis: Basis, figure: Figure, stage: int | None) -> Prediction | Silence:
    """Bytes of a rank's weights, by the arithmetic of `core.loaded_weights`."""
    spec = basis.model
    if spec is None:
        return UNNAMED
    if basis.weight_format is None:
        name = basis.settings.quantization or "this quantisation"
        return Silence(f"{name} leaves some layers as they were; which, the log does not say")
    if basis.settings.dp_attention:
        return Silence("attention is data-parallel here: which weights are whole on a rank, the log does not say")
    candidates = [_weights_of(basis, spec, figure, part) for part in candidate_stages(basis, stage)]
    size, where = min(candidates, key=lambda pair: abs(pair[0] - figure.value))
    doubts = (*_weight_doubts(basis, spec, figure, size), *basis.doubts)
    formula = f"{_shape(basis, spec)}{where}, {_RULES[figure.kind]}"
    return Prediction(size, formula, *within(size, figure.step), doubts)


_RULES = {
    "allocated": "rotary table and padding with them, each tensor rounded as the allocator does",
    "profiled": "rotary table and padding with them, each tensor rounded as the allocator does",
    "free_memory": "in whole segments of the allocator, as free memory falls by them",
    "engine_file": "as the engine file holds them, without a rotary table",
}  # fmt: skip


def _weights_of(basis: Basis, spec: ModelSpec, figure: Figure, part: Stage) -> tuple[float, str]:
    tp_size, dtype = basis.sizes.tp_size, basis.weight_format or "bf16"
    where = (
        ""
        if part.layers == part.of_layers
        else f" (layers {part.first_layer} to {part.first_layer + part.layers - 1})"
    )
    if figure.kind == "free_memory":
        return reserved_bytes(rank_tensors(spec, tp_size, part, dtype, rope_bytes=4)) / GIB, where
    if figure.kind == "engine_file":
        parts = rank_tensors(spec, tp_size, part, dtype)
        return sum(t.copies * t.size_bytes for t in parts if t.name != "rotary table") / GIB, where
    return loaded_weight_bytes(spec, tp_size, part, dtype) / GIB, where


def _shape(basis: Basis, spec: ModelSpec) -> str:
    ranks = f" over TP {basis.sizes.tp_size}" if basis.sizes.tp_size > 1 else ""
    return f"weights of {spec.name} in {basis.weight_format}{ranks}"


def _weight_doubts(basis: Basis, spec: ModelSpec, figure: Figure, size: float) -> list[Doubt]:
    """What may be on the GPU beside the weights counted, or be laid out otherwise."""
    found = []
    if basis.weight_format not in ("bf16", "fp16", "fp32"):
        found.append(Doubt("kernels may pad and repack quantised weights", size * _KERNEL[0], size * _KERNEL[1]))
    if figure.kind == "free_memory":
        low, high = size * (1 - 2 * TOLERANCE) - 0.1, size + _FREE_MEMORY_GIB
        found.append(Doubt("free memory also falls by what libraries take meanwhile", low, high))
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
    return "ForConditionalGeneration" in (settings.architecture or "") or spec.key.startswith("gemma-3-")
