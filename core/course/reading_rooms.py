"""Reading rooms: places in three code bases where the course's decisions are taken, at a named release.

A place is a file and a name; what the design decides there is prose, under the place's own key.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """One code base at one release. `root` is where its files' paths begin."""

    key: str
    name: str
    release: str
    root: str


@dataclass(frozen=True)
class Place:
    """One class, function or method; `lab` and `scene` teach what is decided there."""

    room: str
    key: str
    file: str
    symbol: str
    lab: str
    scene: str


MEGATRON = Room("megatron", "Megatron-LM", "core_v0.19.2", "megatron/core")
FSDP = Room("fsdp", "PyTorch FSDP", "2.13.0", "torch/distributed/fsdp/_fully_shard")
VLLM = Room("vllm", "vLLM", "0.33.0", "vllm")
ROOMS = (MEGATRON, FSDP, VLLM)

_LAYERS, _MAPPINGS = "tensor_parallel/layers.py", "tensor_parallel/mappings.py"
_ENTROPY, _RANDOM = "tensor_parallel/cross_entropy.py", "tensor_parallel/random.py"
_PARAM, _GROUP, _COLLECTIVES = "_fsdp_param.py", "_fsdp_param_group.py", "_fsdp_collectives.py"
_LINEAR, _VOCABULARY = "model_executor/layers/linear.py", "model_executor/layers/vocab_parallel_embedding.py"
_LOGITS, _UTILS = "model_executor/layers/logits_processor.py", "distributed/utils.py"
_CUDA = "distributed/device_communicators/cuda_communicator.py"
_CUSTOM = "distributed/device_communicators/custom_all_reduce.py"

PLACES = (
    Place("megatron", "column", _LAYERS, "ColumnParallelLinear", "sharding_math", "see"),
    Place("megatron", "row", _LAYERS, "RowParallelLinear", "sharding_math", "break_it"),
    Place("megatron", "copy", _MAPPINGS, "_CopyToModelParallelRegion", "sharding_math", "count"),
    Place("megatron", "reduce", _MAPPINGS, "_ReduceFromModelParallelRegion", "sharding_math", "count"),
    Place("megatron", "sequence", _MAPPINGS, "_ReduceScatterToSequenceParallelRegion", "sharding_math", "bench"),
    Place("megatron", "embedding", _LAYERS, "VocabParallelEmbedding", "sharding_math", "bench"),
    Place("megatron", "entropy", _ENTROPY, "_VocabParallelCrossEntropy", "comm_cost", "count"),
    Place("megatron", "overlap", _LAYERS, "LinearWithGradAccumulationAndAsyncCommunication", "comm_cost", "bench"),
    Place("megatron", "seeds", _RANDOM, "model_parallel_cuda_manual_seed", "sharding_math", "limits"),
    Place("megatron", "order", "parallel_state.py", "RankGenerator", "comm_cost", "see"),
    Place("fsdp", "grain", "_fully_shard.py", "fully_shard", "comm_cost", "count"),
    Place("fsdp", "rows", _PARAM, "FSDPParam._init_sharded_param", "sharding_math", "see"),
    Place("fsdp", "one_buffer", _COLLECTIVES, "foreach_all_gather", "comm_cost", "count"),
    Place("fsdp", "streams", _GROUP, "FSDPCommContext", "comm_cost", "bench"),
    Place("fsdp", "reshard", _GROUP, "FSDPParamGroup.post_forward", "comm_cost", "bench"),
    Place("fsdp", "prefetch", _GROUP, "FSDPParamGroup._backward_prefetch", "comm_cost", "bench"),
    Place("fsdp", "gradients", _COLLECTIVES, "foreach_reduce", "sharding_math", "count"),
    Place("fsdp", "mean", _COLLECTIVES, "_get_gradient_divide_factors", "sharding_math", "bench"),
    Place("fsdp", "two_levels", "_fsdp_common.py", "HSDPMeshInfo", "comm_cost", "see"),
    Place("fsdp", "precision", "_fsdp_api.py", "MixedPrecisionPolicy", "comm_cost", "count"),
    Place("vllm", "column", _LINEAR, "ColumnParallelLinear.forward", "sharding_math", "see"),
    Place("vllm", "merged", _LINEAR, "MergedColumnParallelLinear", "sharding_math", "see"),
    Place("vllm", "qkv", _LINEAR, "QKVParallelLinear", "sharding_math", "bench"),
    Place("vllm", "row", _LINEAR, "RowParallelLinear.forward", "sharding_math", "break_it"),
    Place("vllm", "padding", _VOCABULARY, "pad_vocab_size", "sharding_math", "bench"),
    Place("vllm", "logits", _LOGITS, "LogitsProcessor._gather_logits", "comm_cost", "count"),
    Place("vllm", "divide", "config/model.py", "ModelConfig.verify_with_parallel_config", "sharding_math", "bench"),
    Place("vllm", "workers", "v1/executor/multiproc_executor.py", "MultiprocExecutor", "two_way_tp", "engines"),
    Place("vllm", "groups", "distributed/parallel_state.py", "initialize_model_parallel", "comm_cost", "see"),
    Place("vllm", "dispatch", _CUDA, "CudaCommunicator.all_reduce", "comm_cost", "engines"),
    Place("vllm", "custom", _CUSTOM, "CustomAllreduce.should_custom_ar", "comm_cost", "limits"),
    Place("vllm", "stages", _UTILS, "get_pp_indices", "pipeline_bubble", "engines"),
)


def places(room: Room) -> tuple[Place, ...]:
    """The places of a room, in the order they are read."""
    return tuple(reading for reading in PLACES if reading.room == room.key)
