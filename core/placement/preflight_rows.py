"""The rows of what engines refuse themselves: each says which engine, where in its source, and in which release.

TensorRT-LLM has no wheel to read them in: its files are quoted at the commit of its main branch that each says.
"""

from dataclasses import dataclass

from core.placement import preflight_checks as checks
from core.placement.preflight_checks import Check, Engine


@dataclass(frozen=True)
class Refusal:
    """One refusal. `check` returns what its sentence names where it holds, None where the engine goes on."""

    code: str
    engines: tuple[Engine, ...]
    message: str
    read_in: str
    source: str
    check: Check


_TRT = "TensorRT-LLM main at 05ebebb"
_TRT_HEADS, _TRT_KEYS = "TensorRT-LLM main at 00547a2", "TensorRT-LLM main at cb4c622"
_TRT_WIDTHS = "TensorRT-LLM main at ed53795"
_TRT_LINEAR, _TRT_EXPERTS = "TensorRT-LLM main at 00bbf71", "TensorRT-LLM main at 002366a"
_TRT_SCALES = "tensorrt_llm/_torch/modules/linear.py, load_weight_shard: the scales"
_TOO_OLD = (
    "The quantization method {width} is not supported for the current GPU. Minimum capability: {least}. Current"
    " capability: {capability}."
)

_NEWEST, _SGLANG = "vLLM 0.33.0", "SGLang 0.5.23"
_FP8 = "vllm/model_executor/layers/quantization/utils/fp8_utils.py"

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        "heads",
        ("vllm",),
        "Total number of attention heads ({heads}) must be divisible by tensor parallel size ({tp}).",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.heads,
    ),
    Refusal(
        "heads",
        ("sglang",),
        "assert self.total_num_heads % tp_size == 0",
        _SGLANG,
        "sglang/srt/models/llama.py, LlamaAttention",
        checks.heads,
    ),
    Refusal(
        "heads",
        ("trtllm",),
        "assert self.num_heads % (tp_size * cp_size) == 0",
        _TRT_HEADS,
        "tensorrt_llm/_torch/modules/attention.py, Attention.__init__",
        checks.heads,
    ),
    Refusal(
        "kv_heads",
        ("vllm",),
        "assert {left} % {right} == 0",
        _NEWEST,
        "vllm/model_executor/models/llama.py, LlamaAttention: KV heads divide over the ranks, or ranks over them",
        checks.kv_heads("self.total_num_kv_heads", "tp_size"),
    ),
    Refusal(
        "kv_heads",
        ("sglang",),
        "assert {left} % {right} == 0",
        _SGLANG,
        "sglang/srt/models/llama.py, LlamaAttention",
        checks.kv_heads("self.total_num_kv_heads", "tp_size"),
    ),
    Refusal(
        "kv_heads",
        ("trtllm",),
        "assert {left} % {right} == 0",
        _TRT_KEYS,
        "tensorrt_llm/_torch/models/modeling_utils.py, duplicate_kv_weight",
        checks.kv_heads("num_kv_heads", "tensor_parallel_size"),
    ),
    Refusal(
        "widths",
        ("vllm",),
        "{width} is not divisible by {tp}",
        _NEWEST,
        "vllm/distributed/utils.py, ensure_divisibility, of a dense MLP's down_proj",
        checks.widths,
    ),
    Refusal(
        "widths",
        ("sglang",),
        "{width} is not divisible by {tp}",
        _SGLANG,
        "sglang/srt/distributed/utils.py, ensure_divisibility, of a dense MLP's down_proj",
        checks.widths,
    ),
    Refusal(
        "widths",
        ("trtllm",),
        "in_features {width} must be divisible by tp_size {tp}",
        _TRT_WIDTHS,
        "tensorrt_llm/_torch/modules/linear.py, Linear.__init__, of a dense MLP's down_proj",
        checks.widths,
    ),
    Refusal(
        "expert_widths",
        ("vllm",),
        "assert self.intermediate_size % tp_size == 0",
        _NEWEST,
        "vllm/model_executor/layers/fused_moe/config.py, FusedMoEConfig.__post_init__",
        checks.expert_widths,
    ),
    Refusal(
        "expert_widths",
        ("sglang",),
        "assert intermediate_size % self.moe_tp_size == 0",
        _SGLANG,
        "sglang/srt/layers/moe/fused_moe_triton/layer.py, FusedMoE.__init__",
        checks.expert_widths,
    ),
    Refusal(
        "expert_blocks",
        ("vllm", "sglang"),
        "The output_size of gate's and up's weight = {part} is not divisible by weight quantization"
        " block_n = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape_moe; SGLang's is a copy of it",
        checks.expert_blocks,
    ),
    Refusal(
        "column_blocks",
        ("vllm", "sglang"),
        "Weight output_partition_size = {part} is not divisible by weight quantization block_n = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape",
        checks.column_blocks,
    ),
    Refusal(
        "row_blocks",
        ("vllm", "sglang"),
        "Weight input_size_per_partition = {part} is not divisible by weight quantization block_k = {block}.",
        _NEWEST,
        f"{_FP8}, validate_fp8_block_shape",
        checks.row_blocks,
    ),
    *(
        Refusal(
            code,
            ("trtllm",),
            "The size of tensor a ({rows}) must match the size of tensor b ({left}) at non-singleton dimension "
            f"{dimension}",
            read_in,
            source,
            checks.short_scales(check),
        )
        for code, check, dimension, read_in, source in (
            (
                "expert_blocks",
                checks.expert_blocks,
                0,
                _TRT_EXPERTS,
                f"{_TRT_SCALES} of an expert's gate and up, copied in fused_moe/quantization.py; a later one"
                " asserts intermediate_size_per_partition % FP8_QUANT_BLOCK_SIZE == 0 there",
            ),
            ("row_blocks", checks.row_blocks, 1, _TRT_LINEAR, f"{_TRT_SCALES} of the attention's output"),
        )
    ),
    Refusal(
        "groups",
        ("vllm", "sglang"),
        "The input size is not aligned with the quantized weight shape. This can be caused by too large tensor"
        " parallel size.",
        _NEWEST,
        "vllm/model_executor/layers/quantization/auto_awq.py, create_weights; issue #13980 at 0.7.3",
        checks.groups,
    ),
    Refusal(
        "shared_ranks",
        ("vllm",),
        "tensor parallel size {tp} must be greater than total num kv heads {kv_heads} when enable decode context"
        " parallel for GQA/MQA",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_ranks,
    ),
    Refusal(
        "shared_copies",
        ("vllm",),
        "decode context parallel size must less than or equal to (tensor parallel size {tp} // total num kv heads"
        " {kv_heads}) = {most}, but got {dcp}",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_copies,
    ),
    Refusal(
        "shared_queries",
        ("vllm",),
        "Total number of q per kv attn heads ({queries}) must be divisible by dcp world size when enable decode"
        " context parallel for GQA ({dcp}).",
        _NEWEST,
        "vllm/config/model.py, ModelConfig.verify_with_parallel_config",
        checks.shared_queries,
    ),
    Refusal(
        "shared_cache",
        ("trtllm",),
        "No such option: --decode_context_parallel_size",
        _TRT,
        "tensorrt_llm/commands/serve.py: its --cp_size takes GPUs of its own",
        checks.no_shared_cache,
    ),
    Refusal(
        "stages",
        ("trtllm",),
        "pp size cannot be larger than num_hidden_layers",
        _TRT,
        "tensorrt_llm/mapping.py, Mapping.pp_layers",
        checks.stages,
    ),
    Refusal(
        "nodes",
        ("sglang",),
        "tp_size must be divisible by number of nodes",
        _SGLANG,
        "sglang/srt/arg_groups/validation_hook.py, check_server_args",
        checks.nodes,
    ),
    Refusal(
        "bf16",
        ("vllm",),
        "Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your {gpu} GPU has compute"
        " capability {capability}. You can use float16 instead by explicitly setting the `dtype` flag in CLI, for"
        " example: --dtype=half.",
        _NEWEST,
        "vllm/platforms/cuda.py, CudaPlatformBase.check_if_supports_dtype",
        checks.no_bf16,
    ),
    Refusal(
        "capability",
        ("vllm",),
        _TOO_OLD,
        _NEWEST,
        "vllm/config/vllm.py, VllmConfig._get_quantization_config; get_min_capability of each method",
        checks.too_old("vllm"),
    ),
    Refusal(
        "capability",
        ("sglang",),
        _TOO_OLD,
        _SGLANG,
        "sglang/srt/model_loader/loader.py, _get_quantization_config",
        checks.too_old("sglang"),
    ),
    Refusal(
        "narrow_experts",
        ("trtllm",),
        "WFP4A16 MoE is unsupported on SM{capability}.",
        "TensorRT-LLM 1.2.0rc0",
        "as printed for gpt-oss-120b on an A100 (docs.gpustack.ai, performance-lab/gpt-oss-120b/a100), and on an L4"
        " (TensorRT-LLM issue 6717)",
        checks.narrow_experts,
    ),
    Refusal(
        "context",
        ("sglang",),
        "Warning: User-specified context_length ({asked}) is greater than the derived context_length ({most}).",
        _SGLANG,
        "sglang/srt/configs/model_config.py, ModelConfig._derive_context_length",
        checks.context,
    ),
    Refusal(
        "context",
        ("vllm",),
        "User-specified max_model_len ({asked}) is greater than the derived max_model_len"
        " (max_position_embeddings={most} or model_max_length=None in model's config.json).",
        _NEWEST,
        "vllm/config/model.py, _get_and_verify_max_len",
        checks.context,
    ),
)
"""What is checked, in the order in which an engine meets it."""
