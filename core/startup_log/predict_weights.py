"""A rank's weights predicted from the model's config, and what else may lie beside them."""

from dataclasses import replace
from math import ceil, inf

from core.errors import Remark, remark
from core.models.checkpoint import may_be_of_meta
from core.models.loaded_weights import Stage, StoredTensor, allocated_bytes, rank_tensors, reserved_bytes
from core.specs import ModelSpec
from core.startup_log.basis import TOLERANCE, Basis, within
from core.startup_log.records import Doubt, Figure, Prediction, UnpredictedError
from core.units import GIB

_FREE_MEMORY_GIB = 0.6
_BUFFERS_GIB = 0.6
_KERNEL = (0.97, 1.12)


def weights(basis: Basis, figure: Figure, stage: int | None) -> Prediction:
    """Bytes of a rank's weights, by the arithmetic of `core.models.loaded_weights`. Raises UnpredictedError."""
    spec = basis.known_model
    if basis.weight_format is None:
        name = basis.settings.quantization
        unnamed = remark("startup_log.quantisation_unnamed")
        raise UnpredictedError(remark("startup_log.quantisation_unknown", name=name) if name else unnamed)
    figure = _as_measured(basis, figure)
    parts = [part for one in basis.candidate_stages(stage) for part in _as_made(basis, spec, one)]
    fp8 = basis.weight_format == "fp8"
    checkpoints = may_be_of_meta(basis.settings.model_path or "", spec) if fp8 else (spec,)
    candidates = [_weights_of(basis, made, figure, part) for made in checkpoints for part in parts]
    size, where = min(candidates, key=lambda pair: abs(pair[0] - figure.value))
    doubts = (*_weight_doubts(basis, spec, figure, size), *basis.doubts)
    ranks = basis.sizes.tp_size
    several = basis.attention_ranks != ranks or (spec.moe is not None and basis.expert_ranks != ranks)
    code = "weights_of_parts" if several else "weights_of_ranks" if ranks > 1 else "weights_of"
    parted = {"attention": basis.attention_ranks, "experts": basis.expert_ranks} if several else {}
    of = remark(f"startup_log.{code}", name=spec.name, format=basis.weight_format, ranks=ranks, **parted)
    how = remark(f"startup_log.weights_{figure.kind}")
    formula = remark("startup_log.weights_where" if where else "startup_log.weights", of=of, where=where, how=how)
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
    parts = [part]
    if spec.moe is not None and spec.mla is None and part.layers < part.of_layers:
        parts.append(replace(part, whole_ends=True))
    # four norms a layer, and unlike GLM-4's a head that is the embedding
    if spec.norms_per_layer == 4 and spec.tie_word_embeddings and not spec.qk_norm:
        parts.append(replace(part, tables_per_layer=True))
    return tuple(parts)


def _weights_of(basis: Basis, spec: ModelSpec, figure: Figure, part: Stage) -> tuple[float, Remark | None]:
    """GiB of a stage's weights as the engine measures them, and which layers they are."""
    where = _where(part)
    if figure.kind == "free_memory":
        return reserved_bytes(_tensors(basis, spec, part, 4 if figure.engine == "sglang" else 0)) / GIB, where
    tensors = _tensors(basis, spec, part)
    if figure.kind == "engine_file":
        return sum(t.copies * t.size_bytes for t in tensors if t.name != "rotary table") / GIB, where
    return sum(t.copies * allocated_bytes(t.size_bytes) for t in tensors) / GIB, where


def _tensors(basis: Basis, spec: ModelSpec, part: Stage, rope_bytes: int = 0) -> tuple[StoredTensor, ...]:
    """A rank's tensors, whose attention, experts and rest may each be over ranks of their own.

    With data-parallel attention the embedding is whole on each rank, and what is no attention is over all ranks of
    a stage unless an argument says otherwise. Source: sglang/srt/models/deepseek_v2.py and layers/dp_attention.py;
    of a vLLM with replicas, fused_moe/config.py, FusedMoEParallelConfig.make.
    """
    ranks, dtype, settings = basis.sizes.tp_size, basis.weight_format or "bf16", basis.settings
    own = rank_tensors(spec, basis.attention_ranks, part, dtype, rope_bytes)
    if (
        basis.attention_ranks == ranks
        and (spec.moe is None or basis.expert_ranks == ranks)
        and not settings.redundant_experts
    ):
        return own
    extra = (settings.redundant_experts or 0) / spec.moe.num_experts if spec.moe else 0.0
    over: dict[str, float] = {"experts": basis.expert_ranks / (1 + extra)}
    if settings.dp_attention:
        trt = settings.engine == "tensorrt-llm"
        over |= {"embedding": 1, "head": basis.attention_ranks if settings.dp_head or trt else ranks}
        over |= {"mlp": settings.dense_ranks or (1 if trt else ranks), "shared": 1 if settings.deepep else ranks}
    whole = {(t.name, t.group): t for t in rank_tensors(spec, 1, part, dtype, rope_bytes)}

    def parted(tensor: StoredTensor) -> StoredTensor:
        shares = over.get(tensor.group, over.get(tensor.name))
        if shares is None:
            return tensor
        return replace(tensor, size_bytes=ceil(whole[tensor.name, tensor.group].size_bytes / shares))

    return tuple(map(parted, own))


def _where(part: Stage) -> Remark | None:
    """Which layers, of a pipeline's stage, and what is made more than once."""
    if part.layers == part.of_layers:
        return remark("startup_log.tables_in_layers") if part.tables_per_layer else None
    code = "layers_with_ends" if part.whole_ends else "layers"
    return remark(f"startup_log.{code}", first=part.first_layer, last=part.first_layer + part.layers - 1)


def _weight_doubts(basis: Basis, spec: ModelSpec, figure: Figure, size: float) -> list[Doubt]:
    """What may be on the GPU beside the weights counted, or be laid out otherwise."""
    settings, quantised = basis.settings, basis.weight_format not in ("bf16", "fp16", "fp32")
    measured = settings.device != "npu"  # how much an NPU's libraries take is not known
    fallen = size * (1 - 2 * TOLERANCE) - 0.1, size + _FREE_MEMORY_GIB if measured else inf
    widest = max(size * _KERNEL[1], _padded(basis, spec, figure)) if quantised else size
    sees = "ForConditionalGeneration" in (settings.architecture or "") or spec.vision_tower
    experts = spec.moe is not None and (settings.dp_size or 1) > 1
    doubts = (
        (quantised, Doubt(remark("startup_log.kernels_repack"), size * _KERNEL[0], widest)),
        (figure.kind == "free_memory", Doubt(remark("startup_log.libraries_take"), *fallen)),
        (figure.engine == "tensorrt-llm" and figure.kind == "allocated",
         Doubt(remark("startup_log.engine_buffers"), size, size + _BUFFERS_GIB)),
        (figure.kind == "engine_file", Doubt(remark("startup_log.engine_file_width"))),
        *((True, doubt) for doubt in _other_formats(basis, spec, figure)),
        (settings.draft and figure.kind != "free_memory", Doubt(remark("startup_log.draft_loaded"), low=size)),
        (settings.adapters, Doubt(remark("startup_log.adapters"), low=size)),
        (experts, Doubt(remark("startup_log.experts_spread"))),
        (settings.dp_attention, Doubt(remark("startup_log.attention_data_parallel"))),
        (settings.offload, Doubt(remark("startup_log.offloaded"), high=size)),
        (sees, Doubt(remark("startup_log.vision_tower"), low=size)),
    )  # fmt: skip
    return [doubt for applies, doubt in doubts if applies]


def _padded(basis: Basis, spec: ModelSpec, figure: Figure) -> float:
    """The most that a kernel makes of mxfp4 experts, which are padded to its tiles; of other formats nothing."""
    if not (basis.weight_format or "").startswith("mxfp4"):
        return 0.0
    wide = replace(basis, weight_format="mxfp4-sm100")
    return max(_weights_of(wide, spec, figure, part)[0] for part in basis.stages) * (1 + TOLERANCE)


def _other_formats(basis: Basis, spec: ModelSpec, figure: Figure) -> list[Doubt]:
    """The formats that would fit a figure as well, where the log does not say which it is."""
    if basis.settings.resolved or basis.format_given:
        return []
    sizes = [
        (key, _weights_of(replace(basis, weight_format=key), spec, figure, part)[0])
        for key in ("bf16", "fp8", "int4", "awq")
        for part in basis.stages
    ]
    return [
        Doubt(
            remark("startup_log.other_width", format=key, size_gib=gib),
            gib * (1 - 2 * TOLERANCE),
            gib * (1 + 2 * TOLERANCE),
        )
        for key, gib in sizes
    ]
