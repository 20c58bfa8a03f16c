"""The refusals that an engine makes itself, in its own words, before it loads a byte: a command passes them all.

A layout is refused here with the sentence that the engine would print, so that it can be searched for. Each row
says which engine, where in its source, and in which release. TensorRT-LLM has no wheel to read them in: its files
are quoted at the commit of its main branch that each says.
"""

from dataclasses import dataclass

from core.models.checkpoint import as_served
from core.placement import preflight_checks as checks
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.preflight_checks import Check, Engine, Start
from core.specs import GpuSpec, ModelSpec


@dataclass(frozen=True)
class Refusal:
    """One refusal. `check` returns what its sentence names where it holds, None where the engine goes on."""

    code: str
    engines: tuple[Engine, ...]
    message: str
    source: str
    check: Check
    read_in: str


_TRT = "TensorRT-LLM main at 05ebebb"
_TRT_HEADS, _TRT_KEYS = "TensorRT-LLM main at 00547a2", "TensorRT-LLM main at cb4c622"
_TRT_WIDTHS = "TensorRT-LLM main at ed53795"
_TRT_LINEAR, _TRT_EXPERTS = "TensorRT-LLM main at 00bbf71", "TensorRT-LLM main at 002366a"
_TRT_SCALES = "tensorrt_llm/_torch/modules/linear.py, load_weight_shard: the scales"
_SIZES = "The size of tensor a ({rows}) must match the size of tensor b ({left}) at non-singleton dimension"
_TOO_OLD = (
    "The quantization method {width} is not supported for the current GPU. Minimum capability: {least}. Current"
    " capability: {capability}."
)

_RELEASES = {"vllm": "vLLM 0.33.0", "sglang": "SGLang 0.5.23"}
_FP8 = "vllm/model_executor/layers/quantization/utils/fp8_utils.py"


def _row(
    code: str, engines: tuple[Engine, ...], message: str, source: str, check: Check, read_in: str = ""
) -> Refusal:
    return Refusal(code, engines, message, source, check, read_in or _RELEASES[engines[0]])


REFUSALS: tuple[Refusal, ...] = (
    _row(
        "heads",
        ("vllm",),
        "Total number of attention heads ({heads}) must be divisible by tensor parallel size ({tp}).",
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.heads,
    ),
    _row(
        "heads",
        ("sglang",),
        "assert self.total_num_heads % tp_size == 0",
        "sglang/srt/models/llama.py, LlamaAttention",
        checks.heads,
    ),
    _row(
        "heads",
        ("trtllm",),
        "assert self.num_heads % (tp_size * cp_size) == 0",
        "tensorrt_llm/_torch/modules/attention.py, Attention.__init__",
        checks.heads,
        _TRT_HEADS,
    ),
    _row(
        "kv_heads",
        ("vllm", "sglang"),
        "assert {left} % {right} == 0",
        "vllm/model_executor/models/llama.py, LlamaAttention; sglang/srt/models/llama.py has it too",
        checks.kv_heads("self.total_num_kv_heads", "tp_size"),
    ),
    _row(
        "kv_heads",
        ("trtllm",),
        "assert {left} % {right} == 0",
        "tensorrt_llm/_torch/models/modeling_utils.py, duplicate_kv_weight",
        checks.kv_heads("num_kv_heads", "tensor_parallel_size"),
        _TRT_KEYS,
    ),
    _row(
        "widths",
        ("vllm",),
        "{width} is not divisible by {tp}",
        "vllm/distributed/utils.py, ensure_divisibility, of a dense MLP's down_proj",
        checks.widths,
    ),
    _row(
        "widths",
        ("sglang",),
        "{width} is not divisible by {tp}",
        "sglang/srt/distributed/utils.py, ensure_divisibility, of a dense MLP's down_proj",
        checks.widths,
    ),
    _row(
        "widths",
        ("trtllm",),
        "in_features {width} must be divisible by tp_size {tp}",
        "tensorrt_llm/_torch/modules/linear.py, Linear.__init__, of a dense MLP's down_proj",
        checks.widths,
        _TRT_WIDTHS,
    ),
    _row(
        "expert_widths",
        ("vllm",),
        "assert self.intermediate_size % tp_size == 0",
        "vllm/model_executor/layers/fused_moe/config.py, FusedMoEConfig.__post_init__",
        checks.expert_widths,
    ),
    _row(
        "expert_widths",
        ("sglang",),
        "assert intermediate_size % self.moe_tp_size == 0",
        "sglang/srt/layers/moe/fused_moe_triton/layer.py, FusedMoE.__init__",
        checks.expert_widths,
    ),
    _row(
        "expert_blocks",
        ("vllm", "sglang"),
        "The output_size of gate's and up's weight = {part} is not divisible by weight quantization"
        " block_n = {block}.",
        f"{_FP8}, validate_fp8_block_shape_moe; SGLang's is a copy of it",
        checks.expert_blocks,
    ),
    _row(
        "column_blocks",
        ("vllm", "sglang"),
        "Weight output_partition_size = {part} is not divisible by weight quantization block_n = {block}.",
        f"{_FP8}, validate_fp8_block_shape",
        checks.column_blocks,
    ),
    _row(
        "row_blocks",
        ("vllm", "sglang"),
        "Weight input_size_per_partition = {part} is not divisible by weight quantization block_k = {block}.",
        f"{_FP8}, validate_fp8_block_shape",
        checks.row_blocks,
    ),
    _row(
        "expert_blocks",
        ("trtllm",),
        f"{_SIZES} 0",
        f"{_TRT_SCALES} of an expert's gate and up, copied in fused_moe/quantization.py; a later one"
        " asserts intermediate_size_per_partition % FP8_QUANT_BLOCK_SIZE == 0 there",
        checks.short_scales(checks.expert_blocks),
        _TRT_EXPERTS,
    ),
    _row(
        "row_blocks",
        ("trtllm",),
        f"{_SIZES} 1",
        f"{_TRT_SCALES} of the attention's output",
        checks.short_scales(checks.row_blocks),
        _TRT_LINEAR,
    ),
    _row(
        "groups",
        ("vllm", "sglang"),
        "The input size is not aligned with the quantized weight shape. This can be caused by too large tensor"
        " parallel size.",
        "vllm/model_executor/layers/quantization/auto_awq.py, create_weights; issue #13980 at 0.7.3",
        checks.groups,
    ),
    _row(
        "shared_ranks",
        ("vllm",),
        "tensor parallel size {tp} must be greater than total num kv heads {kv_heads} when enable decode context"
        " parallel for GQA/MQA",
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_ranks,
    ),
    _row(
        "shared_copies",
        ("vllm",),
        "decode context parallel size must less than or equal to (tensor parallel size {tp} // total num kv heads"
        " {kv_heads}) = {most}, but got {dcp}",
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_copies,
    ),
    _row(
        "shared_queries",
        ("vllm",),
        "Total number of q per kv attn heads ({queries}) must be divisible by dcp world size when enable decode"
        " context parallel for GQA ({dcp}).",
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_queries,
    ),
    _row(
        "shared_cache",
        ("trtllm",),
        "No such option: --decode_context_parallel_size",
        "tensorrt_llm/commands/serve.py: its --cp_size takes GPUs of its own",
        checks.no_shared_cache,
        _TRT,
    ),
    _row(
        "stages",
        ("trtllm",),
        "pp size cannot be larger than num_hidden_layers",
        "tensorrt_llm/mapping.py, Mapping.pp_layers",
        checks.stages,
        _TRT,
    ),
    _row(
        "nodes",
        ("sglang",),
        "tp_size must be divisible by number of nodes",
        "sglang/srt/arg_groups/validation_hook.py, check_server_args",
        checks.nodes,
    ),
    _row(
        "staged_draft",
        ("sglang",),
        "PP + speculative decoding is only supported in disaggregated prefill mode",
        "sglang/srt/server_args.py, ServerArgs.check_server_args",
        checks.staged_draft,
        "SGLang main, quoted in 2026",
    ),
    _row(
        "bf16",
        ("vllm",),
        "Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your {gpu} GPU has compute"
        " capability {capability}. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for"
        " example: --dtype=half.",
        "vllm/platforms/cuda.py, CudaPlatformBase.check_if_supports_dtype",
        checks.no_bf16,
    ),
    _row(
        "capability",
        ("vllm",),
        _TOO_OLD,
        "vllm/config/vllm.py, VllmConfig._get_quantization_config; get_min_capability of each method",
        checks.too_old("vllm"),
    ),
    _row(
        "capability",
        ("sglang",),
        _TOO_OLD,
        "sglang/srt/model_loader/loader.py, _get_quantization_config",
        checks.too_old("sglang"),
    ),
    _row(
        "narrow_experts",
        ("trtllm",),
        "WFP4A16 MoE is unsupported on SM{capability}.",
        "as printed for gpt-oss-120b on an A100 (docs.gpustack.ai, performance-lab/gpt-oss-120b/a100), and on an L4"
        " (TensorRT-LLM issue 6717)",
        checks.narrow_experts,
        "TensorRT-LLM 1.2.0rc0",
    ),
    _row(
        "context",
        ("sglang",),
        "Warning: User-specified context_length ({asked}) is greater than the derived context_length ({most}).",
        "sglang/srt/configs/model_config.py, ModelConfig._derive_context_length",
        checks.context,
    ),
    _row(
        "context",
        ("vllm",),
        "User-specified max_model_len ({asked}) is greater than the derived max_model_len"
        " (max_position_embeddings={most} or model_max_length=None in model's config.json).",
        "vllm/config/model.py, _get_and_verify_max_len",
        checks.context,
    ),
)
"""What is checked, in the order in which an engine meets it."""


@dataclass(frozen=True)
class Refused:
    """A refusal that a layout meets, as the engine prints it."""

    refusal: Refusal
    text: str


def preflight(
    model: ModelSpec,
    layout: Layout,
    demand: Demand,
    engine: Engine = "vllm",
    gpu: GpuSpec | None = None,
    gpus_per_node: int | None = None,
) -> tuple[Refused, ...]:
    """The refusals that an engine would end a layout's start with; none where it goes on to load the weights.

    Without a `gpu` what depends on it is not asked.
    """
    asked = Start(as_served(model, demand.dtype), layout, demand, gpu, gpus_per_node)
    met = ((row, row.check(asked)) for row in REFUSALS if engine in row.engines)
    return tuple(Refused(row, row.message.format(**values)) for row, values in met if values is not None)
