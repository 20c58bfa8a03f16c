"""Claims that a plan's command and a start's log lean on: flags of engines, lines and defaults of NCCL."""

from core.course.citations.predicates import Defined, Has, Never, Says

_COMMAND, _LOG, _REFERENCE = "core/placement/serve_flags.py", "core/clinic/hang_log.py", "content/en"
_FIELDS = "arg_groups/fields"


def _flags(*names: str) -> Has:
    """Flags as vLLM adds them to its parser."""
    return Has(*(f"'--{name}'" for name in names))


def _fields(*names: str) -> Has:
    """Flags as SGLang makes them of a field's annotation: `tp_size` is `--tp-size`."""
    return Has(*(f"{name.replace('-', '_')}: A[" for name in names))


# fmt: off
VLLM = (
    ("flags", "engine/arg_utils.py", "EngineArgs.add_cli_args",
     _flags("tensor-parallel-size", "pipeline-parallel-size", "decode-context-parallel-size", "data-parallel-size",
            "enable-expert-parallel", "distributed-executor-backend", "data-parallel-backend",
            "data-parallel-size-local", "data-parallel-address", "data-parallel-rpc-port", "gpu-memory-utilization",
            "max-model-len", "max-num-seqs", "max-num-batched-tokens", "kv-cache-dtype", "dtype", "quantization",
            "trust-remote-code"), _COMMAND, "0.31.0"),
    ("context_parallel", "config/parallel.py", "ParallelConfig",
     Says("decode_context_parallel_size"), _REFERENCE, "0.11.0"),
    ("connector", "distributed/kv_transfer/kv_connector/v1/base.py", "KVConnectorBase_V1", Defined(), _REFERENCE,
     "0.9.0"),
)
SGLANG = (
    ("flags_ranks", f"{_FIELDS}/parallel.py", "",
     _fields("tp-size", "pp-size", "dcp-size", "dp-size", "ep-size", "nnodes", "node-rank", "dist-init-addr"),
     _COMMAND),
    ("flags_memory", f"{_FIELDS}/schedule.py", "",
     _fields("mem-fraction-static", "max-running-requests", "chunked-prefill-size"), _COMMAND),
    ("flags_model", f"{_FIELDS}/model.py", "",
     _fields("context-length", "kv-cache-dtype", "dtype", "quantization", "trust-remote-code"), _COMMAND),
    ("flag_attention", "server_args.py", "", Says("'--enable-dp-attention'", "--attn-dp-size <dp-size>"), _COMMAND,
     "0.5.22"),
    ("one_page_more", "mem_cache/memory_pool.py", "", Says("self.size + self.page_size"),
     "core/startup_log/predict_cache.py"),
)
PYTORCH = (
    ("compares_calls", "distributed/distributed_c10d.py", "",
     Says("get_debug_level() == DebugLevel.DETAIL", "_create_process_group_wrapper"), "core/clinic/hang.py"),
    ("ranks_number", "distributed/elastic/agent/server/local_elastic_agent.py", "", Says("'RANK': str("),
     "content/en/glossary.md"),
)
NCCL = (
    ("lazy", "init.cc", "", Says("comm->runtimeConn = comm->cuMemSupport && ncclParamRuntimeConnect()"),
     "core/clinic/hang.py", "2.22"),
    ("lazy_default", "init.cc", "", Says('NCCL_PARAM(RuntimeConnect, "RUNTIME_CONNECT", 1)'), "core/clinic/hang.py",
     "2.22"),
    ("complete", "init.cc", "", Says("rank %d nranks %d", "- Init COMPLETE"), _LOG),
    ("every_version", "init.cc", "",
     Says("ncclDebugLevel > NCCL_LOG_WARN || (ncclDebugLevel != NCCL_LOG_NONE && myrank == 0)", "showVersion"),
     "core/clinic/hang.py", "2.22"),
    ("rank_0_version", "init.cc", "", Says("if (myrank == 0) showVersion()"), "core/clinic/hang.py", "", "2.22"),
    ("mismatch", "init.cc", "", Says("Mismatched NCCL version detected : rank %d version %d rank %d version %d",
     "ncclInvalidUsage"), _LOG, "2.23"),
    ("no_comparison", "init.cc", "", Never("Mismatched NCCL version"), _LOG, "", "2.23"),
    ("refused", "misc/socket.cc", "", Says('"Call to connect returned %s, retrying"'), _LOG, "", "2.27"),
    ("no_route", "misc/socket.cc", "", Says('"socketStartConnect: Connect to %s failed : %s"'), _LOG, "",
     "2.27"),
    ("no_room", "misc/shmutils.cc", "", Says("Error: failed to extend %s to %ld bytes"), _LOG, "", "2.30"),
    ("no_room_now", "os/linux.cc", "", Says("Error: failed to extend %s to %ld bytes"), _LOG, "2.30"),
    ("connected", "transport/generic.cc", "", Says("Connected all rings"), _LOG, "2.22"),
    ("bootstrap", "bootstrap.cc", "", Says("Bootstrap: Using%s"), _LOG, "2.25"),
    ("sockets", "transport/net_socket.cc", "", Says("NET/Socket : Using%s"), _LOG),
    ("not_docker", "misc/socket.cc", "", Says('"^docker,lo'), "content/en/clinic.md"),
    ("switch_wait", "graph/tuning.cc", "", Says("{ 0, 0, 25 }"), "core/comm_cost/kernels.py", "2.27"),
)
# fmt: on
