"""The KV cache is smaller than "24 GB x 0.9 - weights": what else is paid out of the same nine tenths."""

from core.catalog import gpu, model
from core.clinic.case import Case, Figure, bars
from core.models.kv_cache import BLOCK_TOKENS, kv_blocks, kv_bytes_per_token, kv_tokens, max_concurrency
from core.models.weights import held_weight_bytes
from core.specs import ModelSpec
from core.units import GIB

MODEL, GPU = "llama-3-8b", "rtx-4090"
UTILISATION, MAX_MODEL_LEN = 0.9, 8192
SEQUENCES, FEWER_TOKENS = 256, 2048
OUTSIDE_TORCH_BYTES = 0.1 * GIB
"""The CUDA context's and the libraries' own: 0.03 to 0.20 GiB in public startup logs."""


def kv_too_small() -> Case:
    """The case: an 8B model on one 24 GB GPU, expected by the name on the box, and found."""
    row, gpu_spec = model(MODEL), gpu(GPU)
    weights = held_weight_bytes(row)
    peak = activation_peak_bytes(row, MAX_MODEL_LEN)
    lean_peak = activation_peak_bytes(row, FEWER_TOKENS)
    expected = UTILISATION * 24 * GIB - weights
    budget = UTILISATION * gpu_spec.usable_memory_bytes
    room = budget - weights - peak - OUTSIDE_TORCH_BYTES
    lean_room = room + peak - lean_peak
    blocks, tokens = kv_blocks(room, row, 1), kv_tokens(room, row, 1)
    concurrency = max_concurrency(room, row, 1, MAX_MODEL_LEN)
    return Case(
        key="kv_too_small",
        truth="budget",
        candidates=("rounding", "heads", "budget", "weights"),
        figures=(
            Figure("utilisation", UTILISATION, "fraction"),
            Figure("named", 24 * GIB, "bytes"),
            Figure("reported", gpu_spec.usable_memory_bytes, "bytes"),
            Figure("weights", weights, "bytes"),
            Figure("expected", expected, "bytes"),
            Figure("expected_tokens", kv_tokens(expected, row, 1), "count"),
            Figure("tokens", tokens, "count"),
            Figure("blocks", blocks, "count"),
            Figure("room", room, "bytes"),
            Figure("over", expected / room - 1, "fraction"),
            Figure("peak", peak, "bytes"),
            Figure("outside", OUTSIDE_TORCH_BYTES, "bytes"),
            Figure("name_costs", UTILISATION * (24 * GIB - gpu_spec.usable_memory_bytes), "bytes"),
            Figure("rounding", (BLOCK_TOKENS - 1) * kv_bytes_per_token(row), "bytes"),
            Figure("token_bytes", kv_bytes_per_token(row), "bytes"),
            Figure(
                "all_heads_tokens",
                kv_tokens(expected, row, 1) * row.num_key_value_heads // row.num_attention_heads,
                "count",
            ),
            Figure("batched", MAX_MODEL_LEN, "count"),
            Figure("fewer", FEWER_TOKENS, "count"),
            Figure("lean_tokens", kv_tokens(lean_room, row, 1), "count"),
            Figure("fp8_tokens", kv_tokens(lean_room, row, 1, "fp8"), "count"),
        ),
        log=(
            f"Loading model weights took {weights / GIB:.2f} GB",
            f"# GPU blocks: {blocks}, # CPU blocks: {kv_blocks(4 * GIB, row, 1)}",
            f"Maximum concurrency for {MAX_MODEL_LEN} tokens per request: {concurrency:.2f}x",
        ),
        model=bars(
            "bytes",
            {
                "name": {"weights": weights, "kv": expected},
                "driver": {"weights": weights, "activations": peak, "outside": OUTSIDE_TORCH_BYTES, "kv": room},
            },
        ),
        fix=bars(
            "bytes",
            {"long": {"activations": peak, "kv": room}, "lean": {"activations": lean_peak, "kv": lean_room}},
        ),
    )


def activation_peak_bytes(row: ModelSpec, tokens: int) -> float:
    """The least a profiling run of `tokens` must hold at once: one MLP's inputs and outputs, and the logits.

        2·T·(3·I + 2·d) + 6·S·V

    Gate and up [T, 2I] with their product [T, I], the residual and its norm [T, d] each, in two bytes; logits of S
    sequences in two bytes and, to be sampled from, in four. An engine's peak is this or more.
    """
    layer = 2 * tokens * (3 * row.intermediate_size + 2 * row.hidden_size)
    return layer + 6 * min(SEQUENCES, tokens) * row.vocab_size
