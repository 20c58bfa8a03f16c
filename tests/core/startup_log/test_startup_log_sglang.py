"""SGLang's pools: whose a cache is beside a draft's, states, windows; and weights over ranks of their own."""

import pytest

from core.startup_log.reader import read_log
from core.startup_log.records import Given
from tests.core.startup_log.printed_logs import verdicts

ARGS = "[2026-01-04 07:41:02] server_args=ServerArgs(model_path='{}', {})\n"
MAIN = "[2026-01-04 07:46:36 TP5] Load weight end. type=Qwen3ForCausalLM, avail mem=53.11 GB, mem usage=7.88 GB.\n"
DRAFT = "[2026-01-04 07:47:06 TP5] Load weight end. type=LlamaForCausalLMEagle3, mem usage=0.58 GB.\n"
POOL = "[2026-01-04 07:47:06 TP5] KV Cache is allocated. #tokens: 1172096, K size: {0} GB, V size: {0} GB\n"
QWEN = ARGS.format("Qwen3-32B", "tp_size=8, page_size=128, speculative_algorithm='EAGLE3'")


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ((MAIN, POOL.format("17.89"), DRAFT, POOL.format("0.28")), "ok ok ok ? ? ?"),
        ((MAIN, DRAFT, POOL.format("17.89")), "ok ? ok ok"),
        ((MAIN, DRAFT, POOL.format("17.89"), POOL.format("0.28")), "ok ? ok ok ? ?"),
        ((POOL.format("17.89"), POOL.format("0.28")), "ok ok ? ?"),
        ((MAIN, POOL.format("17.89")), "ok ok ok"),
        ((MAIN, POOL.format("17.89"), DRAFT, POOL.format("0.28")) * 2, "ok ok ok ? ? ? " * 2),
    ],
)
def test_the_first_cache_of_a_rank_is_the_models(printed, verdict):
    """Qwen3-32B over eight ranks with an EAGLE3 draft: 17.89 GiB of keys, 0.28 of them the draft's."""
    told = {"ok": "ok", "unexplained": "?", "off": "off"}
    found = [told[check.verdict] for check in read_log(QWEN + "".join(printed)).checks]
    assert found == verdict.split()


NEMOTRON = ARGS.format("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "tp_size=4, page_size=1")
STATES = (
    "[2026-01-04 07:46:36 TP0] Mamba Cache is allocated. max_mamba_cache_size: {},"
    " conv_state size: {} GB, ssm_state size: {} GB\n"
)


def test_states_are_read_beside_the_cache():
    """As a start of NemotronH on four ranks printed them: eight requests and a spare one, 0.10 GB of states.

    23 Mamba layers · 64 heads / 4 · 64 · 128 · 4 bytes = 12.06 MB a request, 9 of them 0.101 GiB; and of its 6
    layers of attention 1,557,504 tokens · 768 bytes = 2.23 GiB of keys.
    """
    text = (
        f"{NEMOTRON}[2026-01-04 07:46:36 TP0] Load weight end. type=NemotronHForCausalLM, mem usage=14.76 GB\n"
        f"{STATES.format(8, '0.00', '0.10')}"
        "[2026-01-04 07:46:36 TP0] KV Cache is allocated. #tokens: 1557504, K size: 2.23 GB, V size: 2.23 GB\n"
    )
    assert verdicts(text) == {"weights_gib": {"ok"}, "state_gib": {"ok"}, "kv_size_gib": {"ok"}}


def test_states_of_another_size_are_off_and_narrow_ones_undecided():
    """428 requests and a spare one take 4.82 GiB of states and 0.08 of convolutions; in 16 bits half of those."""
    assert verdicts(NEMOTRON + STATES.format(428, "0.08", "4.82")) == {"state_gib": {"ok"}}
    assert verdicts(NEMOTRON + STATES.format(428, "0.08", "2.41")) == {"state_gib": {"unexplained"}}
    assert verdicts(NEMOTRON + STATES.format(428, "0.08", "9.64")) == {"state_gib": {"off"}}


def test_states_without_a_count_are_undecided():
    line = "[2026-01-04 07:46:36 TP0] Mamba Cache is allocated. conv_state size: 0.08GB, ssm_state size: 4.82GB\n"
    assert verdicts(NEMOTRON + line) == {"state_gib": {"unexplained"}}


def test_layers_with_a_window_have_a_cache_of_their_own():
    """gpt-oss-120b: 18 of its 36 layers see all, 18 a window, each 1,024 bytes of keys and as many of values."""
    pool = "[2026-01-04 07:46:36] KV Cache is allocated. #tokens: {0}, K size: {1} GB, V size: {1} GB\n"
    text = (
        ARGS.format("openai/gpt-oss-120b", "tp_size=1, page_size=1, dtype='bfloat16'")
        + pool.format(1_000_000, "17.17")
        + pool.format(800_000, "13.73")
        + "[2026-01-04 07:46:36] max_total_num_tokens=1000000, chunked_prefill_size=4096\n"
    )
    assert verdicts(text) == {"kv_size_gib": {"ok"}, "kv_tokens": {"ok"}}


DEEPSEEK = (
    "tp_size=8, dp_size=8, enable_dp_attention=True, moe_a2a_backend='deepep', moe_dense_tp_size=1,"
    " enable_dp_lm_head=True, ep_num_redundant_experts=32"
)
MOE = "[2025-05-09 15:00:14 DP2 TP2] Load weight end. type=DeepseekV3ForCausalLM, mem usage={} GB."


def test_data_parallel_attention_and_experts_apart_are_predicted():
    """DeepSeek-V3 on 8 GPUs, 32 experts kept twice: 105.59 GB a rank, sgl-project/sglang issue 6017."""
    report = read_log(ARGS.format("deepseek-ai/DeepSeek-V3", DEEPSEEK) + MOE.format("105.59"))
    (check,) = report.checks
    assert check.verdict == "ok"
    assert abs(check.residual_fraction) < 0.002


def test_other_weights_of_data_parallel_attention_are_undecided():
    text = ARGS.format("deepseek-ai/DeepSeek-V3", DEEPSEEK) + MOE.format("90.00")
    assert verdicts(text) == {"weights_gib": {"unexplained"}}


@pytest.mark.parametrize(("dp", "tp"), [(8, 1), (4, 2), (2, 4), (1, 8)])
def test_experts_of_a_vllm_with_replicas_are_over_all_ranks(dp, tp):
    """Qwen3-235B-A22B in bf16: 227.1e9 parameters are experts', a share of all ranks; 7.9e9 are each replica's.

    By hand: 94 layers · 128 experts · 3 · 4,096 · 1,536 weights, and of the rest attention and the two tables.
    """
    experts = 94 * 128 * 3 * 4096 * 1536 * 2 / (tp * dp)
    kv = max(1, 4 // tp)
    attention = 94 * 4096 * 128 * (2 * 64 / tp + 2 * kv) * 2
    rest = 94 * (4096 * 128 + 2 * 4096) * 2 + 2 * 151_936 * 4096 * 2 / tp
    gib = (experts + attention + rest) / 2**30
    config = (
        "INFO 10-01 10:00:01 [core.py:1] Initializing a V1 LLM engine (v0.11.0) with config:"
        f" model='Qwen/Qwen3-235B-A22B', dtype=torch.bfloat16, tensor_parallel_size={tp}, data_parallel_size={dp}\n"
    )
    line = f"INFO 10-01 10:00:20 [gpu_model_runner.py:5089] Model loading took {gib:.2f} GiB memory and 9 seconds"
    assert verdicts(config + line, Given()) == {"weights_gib": {"ok"}}
