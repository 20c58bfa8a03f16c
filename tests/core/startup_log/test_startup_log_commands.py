"""The command before a log, as people post it: by hand, of a container, of a manifest, of what drives an engine."""

import pytest

from core.startup_log.reader import read_log
from tests.core.startup_log.printed_logs import verdicts

VLLM = """INFO 06-12 08:12:23 [gpu_model_runner.py:1915] Model loading took 7.5121 GiB and 12.1 seconds
INFO 06-12 08:12:43 [gpu_worker.py:276] Available KV cache memory: 60.00 GiB"""
SGLANG = (
    "[2026-07-09 00:00:00 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, mem usage=7.55 GB."
)
ENDS = "--tensor-parallel-size 2"
MODEL = "meta-llama/Llama-3.1-8B-Instruct"


@pytest.mark.parametrize(
    ("command", "log"),
    [
        (f"docker run --gpus all --ipc=host vllm/vllm-openai:v0.11.0 --model {MODEL} {ENDS}", VLLM),
        (f"    image: vllm/vllm-openai\n    command: >\n      --model {MODEL}\n      {ENDS}\n    ports:", VLLM),
        (f'  args:\n  - "--model"\n  - "{MODEL}"\n  - "--tensor-parallel-size"\n  - "2"\n  ports:\n', VLLM),
        (f"docker run --gpus all vllm/vllm-openai:nightly \\\n  {MODEL} {ENDS}", VLLM),
        (f"    command: {MODEL} {ENDS}\n    ports:", VLLM),
        (
            f"    command: >\n      # the --model flag, as ever\n      --model {MODEL}\n      {ENDS}\n    ports:",
            VLLM,
        ),
        (f"SERVE=(\n  vllm serve\n  {MODEL}\n  # ranks\n  {ENDS}\n)\n${{SERVE[@]}} &", VLLM),
        (f"vllm serve {MODEL} --tensor_parallel 2 --max_model_len 8192", VLLM),
        (f"uv run vllm serve {MODEL} \\\n  {ENDS}", VLLM),
        (f"python3 -m dynamo.vllm --model {MODEL} {ENDS}", VLLM),
        (f"python3 -m dynamo.sglang --model-path {MODEL} --tp 2", SGLANG),
        (f"sglang serve --model-path {MODEL} --tp 2 --mem-fraction-static 0.88", SGLANG),
    ],
    ids=[
        "docker",
        "compose",
        "kubernetes",
        "image",
        "one line",
        "comment",
        "array",
        "short flag",
        "uv",
        "dynamo",
        "dynamo of sglang",
        "sglang serve",
    ],
)
def test_a_command_names_the_model_and_its_ranks_however_it_is_written(command, log):
    """sglang serve as in InferenceX issue #2128, a compose file as in vLLM's #51041."""
    found = read_log(f"{command}\n{log}")
    assert found.model is not None
    assert (found.model.key, found.tp_size) == ("llama-3.1-8b", 2)
    assert [check.verdict for check in found.checks if check.quantity == "weights_gib"] == ["ok"]


USED = "vllm serve $MODEL --tensor-parallel-size ${TP}"


@pytest.mark.parametrize(
    "command",
    [
        f"export MODEL={MODEL}\nTP=2\n{USED}",
        f'MODEL="{MODEL}" TP=2 {USED}',
        f"TP=8\nORG=meta-llama\nMODEL=$ORG/Llama-3.1-8B-Instruct\nTP=2\n{USED}",
        f"docker run -e MODEL={MODEL} -e TP=2 image sh -c '{USED}'",
        f"ENV MODEL {MODEL}\nARG TP=2\n{USED}",
        f"ARGS='--model {MODEL} --tensor-parallel-size 2'\nvllm serve $ARGS",
        f"vllm serve ${{MODEL:-{MODEL}}} -tp ${{TP:=2}}",
        f"    environment:\n      MODEL: {MODEL}\n      TP: 2\n    command: >\n      {USED}\n    ports:",
        f"  env:\n  - name: MODEL\n    value: {MODEL}\n  - name: TP\n    value: '2'\n"
        "  args:\n  - vllm serve $(MODEL) --tensor-parallel-size $(TP)\n  ports:",
    ],
)
def test_a_command_s_variables_are_what_the_paste_sets_them_to(command):
    found = read_log(f"{command}\n{VLLM}")
    assert found.model is not None
    assert (found.model.key, found.tp_size) == ("llama-3.1-8b", 2)
    assert {check.verdict for check in found.checks if check.quantity == "weights_gib"} == {"ok"}


def test_variables_that_nobody_sets_are_asked_for_by_name():
    """TP=1 is no more than an assumption then, and what disagrees with it is not called off."""
    found = read_log(f"{USED}\n{VLLM}")
    asked = {remark.code: remark.values.get("name") for remark in found.remarks}
    assert asked == {"startup_log.model_unset": "$MODEL", "startup_log.ranks_assumed": None}
    known = read_log(f"{USED.replace('$MODEL', MODEL)}\n{VLLM}")
    assert {check.verdict for check in known.checks} == {"unexplained"}


def test_a_manifest_s_path_is_no_model_and_its_ranks_are_read():
    """vLLM's issue #51041: the folder goes first, by itself."""
    found = read_log(
        f"    command: >\n      /model\n      --tensor-parallel-size 4\n      --max-num-seqs 32\n{VLLM}"
    )
    assert (found.model, found.tp_size) == (None, 4)


def test_trtllm_serve_has_a_word_before_its_model():
    found = read_log(f"trtllm-serve serve {MODEL} --tp_size 2\n[TRT-LLM] [I] Max KV cache pages per sequence: 4")
    assert found.model is not None
    assert (found.engine, found.model.key, found.tp_size) == ("tensorrt-llm", "llama-3.1-8b", 2)


def test_two_engines_of_one_checkpoint_print_what_is_predicted():
    """Qwen3-235B in 8 bits on four H100, vLLM's issue #21348: twice the tokens, and both are as they should be."""
    sglang = verdicts(
        "python3 -m sglang.launch_server --model /path/to/Qwen3-235B-A22B-FP8 --tp 4 --mem-fraction-static 0.93\n"
        "KV Cache is allocated. #tokens: 367404, K size: 8.23 GB, V size: 8.23 GB"
    )
    assert sglang == {"kv_size_gib": {"ok"}}


def test_an_early_v1_prints_blocks_and_gb():
    """Llama 3.1 70B in w8a8, vLLM's pull 12569: 67.7229 GB are GiB, and 1,381 blocks 10.79 times 2,048 tokens."""
    found = verdicts(
        "VLLM_USE_V1=1 vllm serve neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8 --max-model-len 2048"
        " --gpu-memory-utilization 0.98\n"
        "INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB\n"
        "INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381\n"
        "INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: 10.79x"
    )
    assert found["weights_gib"] == found["max_concurrency"] == {"ok"}
