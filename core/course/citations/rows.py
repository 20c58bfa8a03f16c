"""Every claim of the course about an engine: release, file, predicate, claim.

The claim's words are prose, under `claim.<engine>.<key>`; `leans_on` is the module of ours that would be wrong. A
claim stands from `since` to before `until`, releases of the package; outside of them it is not asked.
"""

from core.collectives import custom_all_reduce as kernel
from core.collectives.who_sums import FLASHINFER_ALONE_SINCE
from core.course.citations import kernels, starts
from core.course.citations.claim import Citation, Source
from core.course.citations.predicates import Defined, Is, Never, Says
from core.course.reading_rooms import PLACES, ROOMS
from core.errors import UnknownNameError
from core.models.kv_cache import BLOCK_TOKENS
from core.models.parameters import VOCAB_PADDING
from core.placement.preflight import REFUSALS

_PACKAGES = {"megatron": "megatron-core", "fsdp": "torch", "vllm": "vllm"}
SOURCES = (
    *(Source(room.key, room.name, _PACKAGES[room.key], room.root) for room in ROOMS),
    Source("pytorch", "PyTorch", "torch", "torch"),
    Source("sglang", "SGLang", "sglang", "sglang/srt"),
    Source("nccl", "NCCL", "nccl", "src"),
)

_COMMS = "distributed/device_communicators"
_CUSTOM, _CAPS = f"{_COMMS}/custom_all_reduce.py", f"{_COMMS}/all_reduce_utils.py"
_CUDA, _STATE = f"{_COMMS}/cuda_communicator.py", "distributed/parallel_state.py"
_LINEAR, _QUANTISED = "model_executor/layers/linear.py", "model_executor/layers/quantization"
_START = "CustomAllreduce.__init__"
_OURS, _SUMS = "core/collectives/custom_all_reduce.py", "core/collectives/who_sums.py"
_ROOMS, _LOGS, _REFUSES = (
    "content/en/reading_rooms.md",
    "core/startup_log/figures.py",
    "core/placement/preflight_rows.py",
)


def _rule(key: str) -> kernel.Rule:
    return next(rule for rule in kernel.RULES if rule.key == key)


def _env(name: str, default: str) -> Says:
    """An environment variable's default, as vLLM's table of them has it."""
    return Says(f"os.getenv('{name}', '{default}')")


def _refusal(code: str) -> str:
    """A refusal's first words, as an f-string's constant parts have them."""
    row = next(row for row in REFUSALS if row.code == code and "vllm" in row.engines)
    return row.message.partition("{")[0]


# fmt: off
_VLLM = (
    ("custom_order", _CUSTOM, _START,
     Says("world_size not in CustomAllreduce._SUPPORTED_WORLD_SIZES", "unsupported world size",
     "CUSTOM_ALL_REDUCE_MAX_SIZES",
          "world_size > 2 and (not fully_connected)", "more than two PCIe-only GPUs", "_can_p2p(rank, world_size)",
          "lacks GPU P2P capability"), _OURS, "0.10.2"),
    ("one_node", _CUSTOM, _START, Says(_rule("one_node").logs.rstrip(".")), _OURS, "0.5.0",
     _rule("one_node").until),
    ("world_size", _CUSTOM, _START, Says(_rule("world_size").logs), _OURS, "0.9.0"),
    ("mnnvl_gpus", _CUSTOM, _START, Says(_rule("nvlink_gpus").logs, "more than two PCIe-only GPUs"), _OURS,
     _rule("nvlink_gpus").since),
    ("mnnvl_multicast", _CUSTOM, _START, Says("lacks GPU P2P capability", _rule("nvlink_domain").logs), _OURS,
     _rule("nvlink_domain").since),
    ("nvlink", _CUSTOM, _START, Says(_rule("nvlink").logs), _OURS, "0.9.0"),
    ("p2p", _CUSTOM, _START, Says(_rule("p2p").logs), _OURS, "0.9.0"),
    ("sixteen", _CUSTOM, "CustomAllreduce._SUPPORTED_WORLD_SIZES", Is([*kernel.WORLD_SIZES, 16]), _OURS,
     kernel.SIXTEEN_RANKS_SINCE),
    ("eight", _CUSTOM, "CustomAllreduce._SUPPORTED_WORLD_SIZES", Is([*kernel.WORLD_SIZES]), _OURS, "0.9.0",
     kernel.SIXTEEN_RANKS_SINCE),
    ("eight_reduce", _CUSTOM, "CustomAllreduce.should_custom_ar", Says("self.world_size > 8: return False"), _OURS,
     kernel.SIXTEEN_RANKS_SINCE),
    ("max_size", _CUSTOM, f"{_START}(max_size)", Is(kernel.MAX_BYTES), _OURS, "0.9.0"),
    ("sixteen_bytes", _CUSTOM, "CustomAllreduce.should_custom_ar",
     Says("inp_size % 16 != 0", "self.world_size == 2 or self.fully_connected", "inp_size < self.max_size"), _OURS,
     "0.9.0"),
    ("formats", _CUSTOM, "CustomAllreduce.should_custom_ar", Says("(torch.float32, torch.float16, torch.bfloat16)"),
     _ROOMS, "0.31.0"),
    *((f"cap_{capability}", _CAPS, "CUSTOM_ALL_REDUCE_MAX_SIZES", Says(f"'{capability}': {{{_sizes}"), _OURS,
       kernel.CAPS_SINCE[capability])
      for capability, _sizes in (("9.0", "2: 64 * MiB, 4: 32 * MiB, 6: MiB // 2, 8: MiB // 4"),
                                 ("10.0", "2: 2 * MiB, 4: 2 * MiB, 6: 1 * MiB, 8: 1 * MiB"),
                                 ("10.3", "2: 4 * MiB, 4: 4 * MiB, 6: 8 * MiB, 8: 4 * MiB"))),
    *((f"most_{capability}", _CAPS, "SYMM_MEM_ALL_REDUCE_MAX_SIZES", Says(f"'{capability}': {{{_sizes}"), _OURS,
       "0.28.0")
      for capability, _sizes in (("9.0", "2: 64 * MiB, 4: 32 * MiB, 6: 64 * MiB, 8: 64 * MiB"),
                                 ("10.0", "2: 8 * MiB, 4: 32 * MiB, 6: 128 * MiB, 8: 128 * MiB"),
                                 ("10.3", "2: 4 * MiB, 4: 32 * MiB, 6: 32 * MiB, 8: 64 * MiB"))),
    ("p2p_believed", "envs.py", "", _env("VLLM_SKIP_P2P_CHECK", "1"), _OURS, kernel.P2P_BELIEVED_SINCE),
    ("p2p_tested", "envs.py", "", _env("VLLM_SKIP_P2P_CHECK", "0"), _OURS, "0.6.0", kernel.P2P_BELIEVED_SINCE),
    ("p2p_cache", f"{_COMMS}/all_reduce_utils.py", "gpu_p2p_access_check",
     Says("reading GPU P2P access cache from %s"),
     "core/clinic/kernel_off.py", "0.11.0"),
    ("symmetric_on", "envs.py", "", _env("VLLM_ALLREDUCE_USE_SYMM_MEM", "1"), _OURS,
     kernel.SYMMETRIC_MEMORY_DEFAULT_SINCE),
    ("flashinfer_on", "envs.py", "", _env("VLLM_ALLREDUCE_USE_FLASHINFER", "1"), _SUMS,
     FLASHINFER_ALONE_SINCE),
    ("nccl_symmetric_off", "envs.py", "", _env("VLLM_USE_NCCL_SYMM_MEM", "0"), _ROOMS, "0.11.0"),
    ("dispatch", _CUDA, "CudaCommunicator.all_reduce",
     Says("should_nccl_symm_mem_allreduce", "qr_comm.should_quick_allreduce", "fi_ar_comm.all_reduce",
          "ca_comm.should_custom_ar", "symm_mem_comm.should_use_symm_mem", "pynccl_comm.all_reduce"), _ROOMS,
          "0.31.0"),
    ("dispatch_yields", _CUDA, "CudaCommunicator.all_reduce",
     Says("not use_fi_ar", "should_nccl_symm_mem_allreduce", "fi_pcie_ipc_ar_comm.should_use",
          "fi_ar_comm.all_reduce", "aiter_ar_comm.should_custom_ar", "ca_comm.should_custom_ar"), _ROOMS, "0.33.0"),
    ("delegates", _STATE, "GroupCoordinator._all_reduce_out_place",
     Says("self.device_communicator.all_reduce(input_)"),
     "content/en/comm_cost.md"),
    ("logits_everywhere", "platforms/interface.py", "Platform.use_all_gather", Says("return True"), _ROOMS,
     "0.28.0"),
    ("logits_gather", "model_executor/layers/logits_processor.py", "LogitsProcessor._gather_logits",
     Says("if self.use_all_gather", "tensor_model_parallel_all_gather(logits)", "else",
     "tensor_model_parallel_gather"),
     "content/en/two_way_tp.md"),
    ("heads", "config/model.py", "ModelConfig.verify_with_parallel_config",
     Says("raise ValueError(f'" + _refusal("heads"), "must be divisible by tensor parallel size"), _REFUSES,
     "0.11.0"),
    ("context", "config/model.py", "_get_and_verify_max_len", Says(_refusal("context")), _REFUSES, "0.11.0"),
    ("kv_heads", "model_executor/models/llama.py", "LlamaAttention.__init__",
     Says("if self.total_num_kv_heads >= tp_size", "assert self.total_num_kv_heads % tp_size == 0", "else",
          "assert tp_size % self.total_num_kv_heads == 0"), _REFUSES),
    ("expert_blocks", f"{_QUANTISED}/utils/fp8_utils.py", "validate_fp8_block_shape_moe",
     Says(_refusal("expert_blocks")),
     _REFUSES, "0.31.0"),
    ("groups", f"{_QUANTISED}/auto_awq.py", "", Says("input_size_per_partition % group_size != 0",
     _refusal("groups")),
     _REFUSES, "0.31.0"),
    ("block_k", f"{_QUANTISED}/utils/fp8_utils.py", "validate_fp8_block_shape",
     Says("Weight input_size_per_partition =", "is not divisible by weight quantization block_k",
          "Weight output_partition_size =", "is not divisible by weight quantization block_n"), _REFUSES, "0.11.0"),
    ("batch_defaults", "engine/arg_utils.py", "EngineArgs.get_batch_defaults",
     Says("device_memory >= 160 * GiB_bytes", "OPENAI_API_SERVER: 16384", "OPENAI_API_SERVER: 1024",
          "device_memory >= 70 * GiB_bytes", "'a100' not in device_name", "OPENAI_API_SERVER: 8192",
          "OPENAI_API_SERVER: 1024", "else", "OPENAI_API_SERVER: 2048", "OPENAI_API_SERVER: 256"),
     "core/catalog/gpus.py", "0.31.0"),
    ("utilisation", "config/cache.py", "CacheConfig.gpu_memory_utilization", Is(0.92), _ROOMS, "0.31.0"),
    ("block_tokens", "config/cache.py", "CacheConfig.DEFAULT_BLOCK_SIZE", Is(BLOCK_TOKENS),
     "core/models/kv_cache.py",
     "0.15.0"),
    ("padding", "model_executor/layers/vocab_parallel_embedding.py", "DEFAULT_VOCAB_PADDING_SIZE",
     Is(VOCAB_PADDING),
     "core/models/parameters.py"),
    ("column_left_cut", _LINEAR, "ColumnParallelLinear.__init__(gather_output)", Is(False), _ROOMS),
    ("row_bias", _LINEAR, "RowParallelLinear.forward",
     Says("None if self.tp_rank > 0 or self.skip_bias_add else self.bias", "tensor_model_parallel_all_reduce"),
     _ROOMS),
    ("stages", "distributed/utils.py", "get_pp_indices", Says("range(2, remaining_layers + 2)",
     "partitions[-i] += 1"),
     "core/models/loaded_weights.py", "0.8.0"),
    ("batch_queue", "v1/engine/core.py", "EngineCore.step_with_batch_queue", Defined(),
     "content/en/pipeline_bubble.md",
     "0.8.0"),
    ("batches_in_flight", "config/vllm.py", "VllmConfig.max_concurrent_batches",
     Says("pp_size + 1", "return pp_size"),
     "content/en/pipeline_bubble.md", "0.31.0"),
    ("hand_over", "model_executor/models/llama.py", "LlamaModel.__init__", Says("'hidden_states', 'residual'"),
     "content/en/pipeline_bubble.md", "0.9.0"),
    ("experts_apart", "model_executor/layers/fused_moe/config.py", "FusedMoEParallelConfig.use_all2all_kernels",
     Says("self.use_ep and", "self.dp_size > 1"), "content/en/comm_cost.md", "0.31.0"),
    ("two_sums", "model_executor/models/gpt_j.py", "GPTJMLP.__init__",
     Says("RowParallelLinear(intermediate_size, hidden_size, quant_config=quant_config, prefix="),
     "core/sharding_math/step_ledger.py", "0.31.0"),
    ("one_sum", "model_executor/models/commandr.py", "CohereMLP.__init__(reduce_results)", Is(False),
     "core/sharding_math/step_ledger.py", "0.31.0"),
    ("workers", "v1/executor/multiproc_executor.py", "MultiprocExecutor._init_executor", Says("tp_size * pp_size"),
     _ROOMS,
     "0.31.0"),
    ("initialise", _STATE, "initialize_model_parallel",
     Says("data_parallel_size", "pipeline_model_parallel_size", "tensor_model_parallel_size"), _ROOMS),
    ("initialise_context", _STATE, "initialize_model_parallel",
     Says("data_parallel_size, pipeline_model_parallel_size, prefill_context_model_parallel_size,"
          " tensor_model_parallel_size"), _ROOMS, "0.28.0"),
    ("flashinfer_most", "compilation/passes/fusion/allreduce_rms_fusion.py", "FI_ALLREDUCE_FUSION_MAX_SIZE_MB",
     Says("90: {2: 64, 4: 2, 8: 0.5}"), _SUMS, "0.28.0"),
    ("flashinfer_fused", "config/vllm.py", "", Says("'fuse_allreduce_rms': enable_allreduce_rms_fusion"), _SUMS,
     "0.28.0"),
    ("switch_sums", f"{_COMMS}/symm_mem.py", "SymmMemCommunicator.all_reduce",
     Says("torch.ops.symm_mem.multimem_all_reduce_"), _SUMS, "0.28.0"),
    ("log_weights", "v1/worker/gpu_model_runner.py", "", Says("Model loading took %s GiB memory and %.6f seconds"),
     _LOGS,
     "0.11.0"),
    ("log_free", "v1/worker/gpu_worker.py", "", Says("Available KV cache memory: %s GiB"), _LOGS, "0.11.0"),
    ("log_cache", "v1/core/kv_cache_utils.py", "",
     Says("KV cache size: %s tokens", "Maximum concurrency for %s tokens per request: %.2fx"), _LOGS, "0.11.0"),
    ("log_version", "v1/engine/core.py", "", Says("LLM engine (v%s) with config: %s"),
     "core/startup_log/settings.py",
     "0.8.0"),
    ("log_nccl", f"{_COMMS}/pynccl.py", "", Says("vLLM is using nccl==%s"), "core/clinic/hang_log.py"),
    ("log_ranks", _STATE, "init_distributed_environment",
     Says("world_size=%d rank=%d local_rank=%d distributed_init_method=%s"), "core/startup_log/settings.py",
     "0.8.0"),
)
_NAMES = (
    ("group_sum", _STATE, "GroupCoordinator.all_reduce"),
    ("sum_of_a_group", "distributed/communication_op.py", "tensor_model_parallel_all_reduce"),
    ("embedding", "model_executor/layers/vocab_parallel_embedding.py", "VocabParallelEmbedding"),
    ("head", "model_executor/layers/vocab_parallel_embedding.py", "ParallelLMHead"),
)
_VLLM += tuple((*row, Defined(), "content/en") for row in _NAMES)
_SGLANG = (
    ("log_weights", "model_executor/model_runner.py", "", Says("Load weight end. ", "mem usage="), _LOGS),
    ("log_cache", "mem_cache/memory_pool.py", "", Says("#tokens: ", "K size: ", "GB, V size: "), _LOGS),
    ("log_tokens", "managers/scheduler.py", "", Says("max_total_num_tokens="), _LOGS),
    ("divide", "distributed/utils.py", "ensure_divisibility", Says("'{} is not divisible by {}'"), _REFUSES),
    ("nvlink", f"{_COMMS}/custom_all_reduce_utils.py", "", Says("not supported on more than two PCIe-only GPUs"),
     _OURS),
)
_MEGATRON = (
    ("three_states", "tensor_parallel/random.py", "model_parallel_cuda_manual_seed",
     Says("add(_DATA_PARALLEL_RNG_TRACKER_NAME", "add(_MODEL_PARALLEL_RNG_TRACKER_NAME",
          "add(_EXPERT_PARALLEL_RNG_TRACKER_NAME"), _ROOMS),
    ("overlap_backward", "tensor_parallel/layers.py", "LinearWithGradAccumulationAndAsyncCommunication.backward",
     Says("async_op=True", "handle.wait()"), _ROOMS),
    ("no_overlap_forward", "tensor_parallel/layers.py", "LinearWithGradAccumulationAndAsyncCommunication.forward",
     Never("async_op=True"), _ROOMS),
    ("tp_first", "parallel_state.py", "initialize_model_parallel(order)", Is("tp-cp-ep-dp-pp"), _ROOMS),
    ("order_of_sums", "tensor_parallel/mappings.py", "_reduce", Says("torch.distributed.all_reduce"),
     "content/en/comm_cost.md"),
    ("column_left_cut", "tensor_parallel/layers.py", "ColumnParallelLinear.__init__(gather_output)", Is(False),
     _ROOMS),
    ("row_bias", "tensor_parallel/layers.py", "RowParallelLinear.forward",
     Says("reduce_from_tensor_model_parallel_region", "output_ + self.bias"), _ROOMS),
    ("region_sum", "tensor_parallel/mappings.py", "reduce_from_tensor_model_parallel_region", Defined(),
     "content/en"),
    ("interleaved", "pipeline_parallel/schedules.py", "forward_backward_pipelining_with_interleaving", Defined(),
     "content/en/pipeline_bubble.md"),
    ("one_call", "pipeline_parallel/p2p_communication.py", "P2PCommunicator", Defined(),
     "content/en/pipeline_bubble.md"),
)
_PYTORCH = (
    ("row_wise", "distributed/tensor/parallel/style.py", "RowwiseParallel", Says("Replicate()", "Shard(-1)"),
     "content/en/comm_cost.md"),
    ("column_wise", "distributed/tensor/parallel/style.py", "ColwiseParallel", Defined(), "content/en"),
    ("buffers", "nn/parallel/distributed.py", "DistributedDataParallel._pre_forward", Says("self._sync_buffers()"),
     "content/en/strategy.md"),
    ("parallelize", "distributed/tensor/parallel/api.py", "parallelize_module", Defined(),
     "content/en/two_way_tp.md"),
    *((name.lower(), "distributed/pipelining/schedules.py", name, Defined(),
    "core/pipeline_bubble/schedules/orders.py")
      for name in ("ScheduleGPipe", "Schedule1F1B", "ScheduleInterleaved1F1B", "ScheduleLoopedBFS",
                   "ScheduleInterleavedZeroBubble", "ScheduleZBVZeroBubble", "ScheduleDualPipeV")),
)
# fmt: on

_PLACED = tuple(
    Citation(cited.room, cited.key, cited.file, cited.symbol, Defined(), "core/course/reading_rooms.py")
    for cited in PLACES
)
_SAID = {
    "vllm": (*_VLLM, *starts.VLLM, *kernels.VLLM),
    "sglang": (*_SGLANG, *starts.SGLANG, *kernels.SGLANG),
    "megatron": _MEGATRON,
    "pytorch": (*_PYTORCH, *starts.PYTORCH),
    "nccl": starts.NCCL,
}
CITATIONS = (
    *_PLACED,
    *(Citation(engine, f"claim.{row[0]}", *row[1:]) for engine, rows in _SAID.items() for row in rows),
)


def source(engine: str) -> Source:
    """The row of an engine. Raises UnknownNameError for one that is not cited."""
    for each in SOURCES:
        if each.engine == engine:
            return each
    raise UnknownNameError("engine", engine, [each.engine for each in SOURCES])


def citations(engine: str) -> tuple[Citation, ...]:
    """What is said of an engine, in the order it is asked."""
    return tuple(row for row in CITATIONS if row.engine == engine)
