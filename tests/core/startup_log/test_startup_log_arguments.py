"""What a log has switched on is heard however it is written, and a checksum that does not know says so."""

import pytest

from core.startup_log.arguments import arguments, is_call, without_nested
from core.startup_log.reader import read_log
from tests.core.startup_log.printed_logs import formula, verdicts

HEAD = "(APIServer pid=1) INFO 07-07 19:59:04 [api_utils.py:273] non-default args: "
BASE = "'model': 'Qwen/Qwen3-8B', 'dtype': 'bfloat16', 'max_model_len': 8192, 'tensor_parallel_size': 1"
LESS = (
    "(EngineCore pid=9) INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 9.0 GiB\n"
    "(EngineCore pid=9) INFO 10-01 10:00:30 [kv_cache_utils.py:1147] GPU KV cache size: 61,920 tokens\n"
)
"""9 GiB hold 65,536 tokens of Qwen3-8B; a draft of two layers of its own takes some of it."""


def test_without_anything_switched_on_too_few_tokens_are_off():
    assert verdicts(f"{HEAD}{{{BASE}}}\n{LESS}") == {"kv_tokens": {"off"}}


@pytest.mark.parametrize(
    "switched",
    [
        "'speculative_config': {'method': 'eagle3', 'model': 'x/y', 'num_speculative_tokens': 3}",
        "'speculative_config': {'method': 'mtp', 'draft': {'a': {'b': 1}}, 'num_speculative_tokens': 1}",
        '\'speculative_config\': \'{"method": "eagle3", "model": "x/y"}\'',
        "'speculative_config': SpeculativeConfig(method='eagle3', model='x', num_spec_tokens=3)",
        "'num_speculative_tokens': 2",
        "'hf_overrides': {'num_hidden_layers': 40}",
        "'kv_transfer_config': KVTransferConfig(kv_connector='LMCacheConnectorV1', kv_role='kv_both')",
        "'lora_modules': [LoRAModulePath(name='a', path='/b', base_model_name=None)]",
        "'cpu_offload_gb': 10.0",
        "'prefill_context_parallel_size': 2",
        "'hf_overrides': [{'num_hidden_layers': 40}]",
        "'additional_config': {'torchair_graph_config': {'enabled': True}}",
        "'a_switch_of_tomorrow': True",
        "'a_switch_of_tomorrow': ['x']",
    ],
)
def test_a_count_is_undecided_where_something_unknown_is_on(switched):
    assert verdicts(f"{HEAD}{{{BASE}, {switched}}}\n{LESS}") == {"kv_tokens": {"unexplained"}}
    assert verdicts(f"{HEAD}{{{switched}, {BASE}}}\n{LESS}") == {"kv_tokens": {"unexplained"}}


@pytest.mark.parametrize(
    "harmless",
    [
        "'speculative_config': None",
        "'hf_overrides': {}",
        "'lora_modules': []",
        "'enable_lora': False",
        "'a_switch_of_tomorrow': None",
        "'a_switch_of_tomorrow': False",
        "'compilation_config': {'level': 3, 'custom_ops': ['all']}",
        "'served_model_name': ['qwen']",
        "'override_generation_config': {'temperature': 0.6}",
        "'enable_prefix_caching': True",
        "'speculative_config': {'method': 'ngram', 'num_speculative_tokens': 4}",
    ],
)
def test_what_is_off_or_harmless_explains_nothing(harmless):
    assert verdicts(f"{HEAD}{{{BASE}, {harmless}}}\n{LESS}") == {"kv_tokens": {"off"}}


@pytest.mark.parametrize(
    "flags",
    [
        '--speculative-config \'{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 3}\'',
        '--speculative-config "{\\"method\\": \\"eagle3\\"}"',
        "--speculative_config={method:eagle3}",
        "--hf-overrides '{\"num_hidden_layers\": 40}'",
        "--switch-of-tomorrow",
        "--switch-of-tomorrow=4",
    ],
)
def test_flags_switch_as_arguments_do(flags):
    assert verdicts(f"vllm serve Qwen/Qwen3-8B {flags}\n{LESS}") == {"kv_tokens": {"unexplained"}}


def test_what_is_switched_on_is_named():
    (check,) = read_log(f"{HEAD}{{{BASE}, 'a_switch_of_tomorrow': {{'x': 1}}}}\n{LESS}").checks
    assert formula(check).startswith("a_switch_of_tomorrow: ")


def test_what_is_within_a_value_is_that_values():
    """The draft's model, its ranks and its quantization are not the engine's."""
    inner = "{'model': 'meta-llama/Llama-3.1-8B', 'tensor_parallel_size': 4, 'quantization': 'fp8'}"
    report = read_log(f"{HEAD}{{'speculative_config': {inner}, {BASE}}}\n{LESS}")
    assert (report.model.key, report.tp_size) == ("qwen3-8b", 1)


def test_arguments_end_where_their_list_goes_on():
    text = "server_args=ServerArgs(model_path='/a', x=[], y={'a': {'b': (1, 2)}}, lora=[L(a='x')], z=True) took: 3"
    found = {
        "model_path": "'/a'",
        "x": "[]",
        "y": "{'a': {'b': (1, 2)}}",
        "lora": "[L(a='x')]",
        "z": "True",
    }
    assert arguments(text) == found
    assert without_nested("args: Namespace(model=PosixPath('/a/b'), x={'model': 'c'})").endswith("x=")


@pytest.mark.parametrize(
    "call",
    [
        'llm = LLM(model="Qwen/Qwen3-8B", tensor_parallel_size=2)',
        'llm = LLM("Qwen/Qwen3-8B", tensor_parallel_size=2, gpu_memory_utilization=0.9)',
        'llm = vllm.LLM(\n    model="Qwen/Qwen3-8B",  # the model\n    tensor_parallel_size=2,\n)',
        "args = AsyncEngineArgs(\n    model='Qwen/Qwen3-8B',\n    tensor_parallel_size=2,\n    dtype='bfloat16')",
        'llm = LLM(tensor_parallel_size=2, model="Qwen/Qwen3-8B", speculative_config={"model": "x/y"})',
    ],
)
def test_a_scripts_call_is_a_launch(call):
    log = "INFO 06-12 08:12:23 [gpu_model_runner.py:1915] Model loading took 7.6405 GiB and 12.1 seconds\n"
    report = read_log(f"from vllm import LLM\n{call}\n{log}")
    assert (report.model.key, report.tp_size) == ("qwen3-8b", 2)


def test_sglangs_call_is_a_launch_too():
    call = 'import sglang as sgl\nllm = sgl.Engine(model_path="Qwen/Qwen3-8B", tp_size=2)\n'
    log = (
        "[2026-07-09 00:00:00 TP0] Load weight end. type=Qwen3ForCausalLM, dtype=torch.bfloat16, mem usage=7.65 GB."
    )
    assert read_log(call + log).model.key == "qwen3-8b"


def test_a_mention_of_a_class_is_no_call():
    assert not is_call("Initializing a V1 LLM engine (v0.33.0) with config: model='x'")
    assert not is_call("see LLM(...) in the docs")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/root/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/9216db5781bf21249d130ec9da84", "qwen3-8b"),
        ("/data/models/Qwen/Qwen3-8B/main", "qwen3-8b"),
        ("/root/.cache/modelscope/hub/models/Qwen/Qwen3-8B", "qwen3-8b"),
        ("/models/Qwen3-8B/", "qwen3-8b"),
        ("/hub/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0e9e39f249a16976918f65", "llama-3.1-8b"),
    ],
)  # fmt: skip
def test_a_model_is_named_by_the_folder_of_a_cache(path, key):
    assert read_log(f"{HEAD}{{'model': '{path}', 'tensor_parallel_size': 1}}\n{LESS}").model.key == key


def test_a_caches_folder_says_the_weights_width():
    """Qwen3-8B in FP8: 8.79 GiB beside 15.27 in bf16, so the bf16 figure would be off."""
    path = "/hub/models--Qwen--Qwen3-8B-FP8/snapshots/220b46e3b2180893580a4454f21f22d3ebb187d3"
    log = "INFO 06-12 08:12:23 [gpu_model_runner.py:1915] Model loading took 15.27 GiB and 12.1 seconds\n"
    assert verdicts(f"vllm serve {path}\n{log}")["weights_gib"] != {"ok"}


def test_a_folder_without_a_name_is_known_by_what_it_is_served_as():
    text = (
        f"{HEAD}{{'model': '/models/base', 'served_model_name': ['Qwen3-8B'], 'tensor_parallel_size': 1}}\n{LESS}"
    )
    report = read_log(text)
    assert report.model.key == "qwen3-8b"
    assert [check.verdict for check in report.checks] == ["unexplained"]


def test_a_cache_of_rows_of_several_kinds_is_never_off():
    """DeepSeek-V4 on two H20: 7.71 GiB left, 150,992 tokens printed, whose layout the log does not say."""
    text = (
        "INFO 10-01 10:00:01 [core.py:123] Initializing a V1 LLM engine (v0.33.0) with config:"
        " model='deepseek-ai/DeepSeek-V4-Flash', max_seq_len=121344, tensor_parallel_size=2, kv_cache_dtype=fp8\n"
        "INFO 10-01 10:00:30 [gpu_worker.py:773] Available KV cache memory: 7.71 GiB\n"
        "INFO 10-01 10:00:30 [kv_cache_utils.py:1147] GPU KV cache size: {} tokens\n"
    )
    for tokens in ("150,992", "324,928", "90,000"):
        assert "off" not in verdicts(text.format(tokens))["kv_tokens"]
