"""Which arguments of an engine change what a rank's weights or cache take: those that predictions know, and others.

An argument that is on, and neither read nor known to leave both alone, makes a checksum say that it cannot tell.
Of a list that holds every argument with its default, only those whose names speak of weights or of a cache count.
Source of the names: vllm/engine/arg_utils.py, EngineArgs; sglang/srt/server_args.py, ServerArgs.
"""

import re
from collections.abc import Mapping

_READ = (
    "model", "model_path", "model_tag", "tokenizer", "tokenizer_path", "served_model_name", "dtype", "torch_dtype",
    "quantization", "kv_cache_dtype", "tensor_parallel_size", "tensor_parallel", "tp_size", "tp",
    "pipeline_parallel_size", "pipeline_parallel", "pp_size", "pp", "data_parallel_size", "dp_size", "dp",
    "decode_context_parallel_size", "dcp_size", "enable_expert_parallel", "ep_size", "ep", "expert_parallel_size",
    "max_seq_len", "max_model_len", "context_length", "block_size", "tokens_per_block", "page_size", "swap_space",
    "max_num_batched_tokens", "num_gpu_blocks_override", "device", "device_config", "nnodes", "node_rank",
    r"speculative_\w{1,40}", "num_speculative_tokens", "num_spec_tokens", "enable_lora", "lora_modules",
    "lora_paths",
    r"max_lora\w{1,40}", r"lora_\w{1,40}", "max_loras", "max_cpu_loras",
    r"cpu_offload\w{0,40}", r"kt_\w{1,40}", "enable_dp_attention",
    "enable_attention_dp", r"offload_\w{1,40}", "moe_dense_tp_size", "enable_dp_lm_head",
    r"enable_deepep_moe|enable_ep_moe|(?:ep_)?num_redundant_experts",
    r"enable_eplb|eplb_\w{1,40}|init_expert_location",
    r"ep_dispatch\w{0,40}",
)  # fmt: skip
"""What the settings hear."""
_HARMLESS = (
    r"host|port|uds|api_key|\w{0,40}_port|\w{0,40}_host|ssl_\w{1,40}|root_path|middleware|allow\w{0,40}|allowed_\w{1,40}|\w{0,40}cors\w{0,40}",
    r"\w{0,40}log\w{0,40}|\w{0,40}trace\w{0,40}|\w{0,40}metric\w{0,40}|\w{0,40}profil\w{0,40}|\w{0,40}timeout\w{0,40}|uvicorn_\w{1,40}|disable_fastapi_docs|h11_\w{1,40}",
    r"subparser|dispatch_function|headless|nccl_port|dist_\w{1,40}|master_\w{1,40}|distributed_\w{1,40}|data_parallel_\w{1,40}|ray_\w{1,40}",
    r"trust_remote_code|revision|code_revision|tokenizer_\w{1,40}|download_dir|seed|random_seed|skip_tokenizer_init|rm|it|d|name",
    r"\w{0,40}template\w{0,40}|\w{0,40}parser\w{0,40}|enable_auto_tool_choice|tool_\w{1,40}|response_role|return_tokens_as_token_ids|chat\w{0,40}",
    r"gpu_memory_utilization|mem_fraction_static|kv_cache_memory_bytes|kv_cache_free_gpu_memory_fraction|max_num_seqs",
    r"max_running_requests|max_batch_size|max_num_tokens|max_total_tokens|max_prefill_tokens|chunked_prefill_size",
    r"enable_chunked_prefill|enable_prefix_caching|no_enable_prefix_caching|prefix_caching_\w{1,40}|long_prefill_\w{1,40}",
    r"max_num_partial_prefills|max_long_partial_prefills|max_seq_len_to_capture|max_logprobs|scheduling_policy",
    r"enforce_eager|cuda_graph_\w{1,40}|cudagraph_\w{1,40}|disable_cuda_graph\w{0,40}|compilation_config|optimization_level|O|O\d",
    r"disable_custom_all_reduce|enable_\w{0,40}allreduce\w{0,40}|enable_symm_mem|enable_nccl_nvls|enable_mscclpp|all2all_backend",
    r"moe_a2a_backend|deepep_mode|moe_runner_backend|attention_backend|prefill_attention_backend|sampling_\w{1,40}",
    r"decode_attention_backend|mm_attention_backend|async_scheduling|disable_radix_cache|disable_overlap_schedule",
    r"schedule_\w{1,40}|stream_interval|watchdog_\w{1,40}|disable_cascade_attn|generation_config|override_generation_config",
    r"guided_decoding_backend|structured_outputs_config|grammar_backend|\w{0,40}usage_stats\w{0,40}|enable_server_load_tracking",
    r"load_format|model_loader_extra_config|safetensors_load_strategy|use_tqdm_on_load|config_format|ignore_patterns",
    r"worker_cls|worker_extension_cls|worker_use_ray|engine_use_ray|enable_p2p_check|tp_comm_\w{1,40}|max_workers",
    r"mm_processor_\w{1,40}|allowed_media_domains|limit_mm_per_prompt|interleave_mm_strings|skip_mm_profiling|io_processor\w{0,40}",
    r"enable_prompt_tokens_details|enable_force_include_usage|enable_request_id_headers|enable_ssl_refresh|backend",
    r"gpus|ipc|shm_size|network|env|volume|entrypoint|runtime|restart|privileged|ulimit|cap_add|user|workdir|mount|init",
    r"warmups|skip_server_warmup|weight_version|constrained_json_\w{1,40}|decode_log_interval|numa_\w{1,40}|base_gpu_id|gpu_id_step",
    r"kv_events_config|enable_cache_report|preferred_sampling_params|crash_dump_\w{1,40}",
    r"use_v2_block_manager|preemption_mode|num_scheduler_steps|multi_step_stream_outputs|disable_async_output_proc",
    r"disable_frontend_multiprocessing|api_server_count|enable_log_\w{1,40}|generation_tokens_buckets|prompt_tokens_buckets",
    r"bucket_\w{1,40}|triton_attention_\w{1,40}|torch_compile_\w{1,40}|enable_torch_compile|disable_shared_experts_fusion|flashinfer_\w{1,40}",
    r"hf_token|file|config|yaml|version|help|no_\w{1,40}",
)  # fmt: skip
"""What neither weights nor a cache's count of tokens from the memory left for it depend on."""
_KNOWN = re.compile("|".join((*_READ, *_HARMLESS)))
_WATCHED = re.compile(
    r"override|eplb|redundant|prefill_context_parallel|pcp|attn_cp|kv_offload|hicache|hierarchical|mamba|swa|hybrid|kv_sharing"
    r"|embedding|convert|task|runner|model_impl|quantiz|modelopt|torchao|sparse|double_sparsity|nsa|moe_dp"
    r"|additional_config"
)
_DEFAULTS = frozenset({
    "generate", "auto", "False", "None", "dense", "lru", "fcfs", "0.8", "0.9", "1", "-1", "native", "2.0",
    "write_through", "kernel", "layer_first", "align", "none", "float32", "no_buffer", "file", "online_softmax",
})  # fmt: skip


def unknown(given: Mapping[str, str], whole_list: bool) -> tuple[str, ...]:
    """The arguments among those that are on of which nobody here knows what they do to weights or a cache."""
    return tuple(
        name
        for name, value in given.items()
        if not _KNOWN.fullmatch(name)
        and not (whole_list and (_WATCHED.search(name) is None or value.strip("'\"") in _DEFAULTS))
    )
