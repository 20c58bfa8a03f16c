"""Questions on how a layer is cut, what its all-reduces carry, and two real ranks."""

from typing import Any

from core.catalog import model
from core.comm_cost.bill import all_reduces_per_step, allreduce_payload_bytes
from core.comm_cost.break_even import crossover_hidden_size
from core.models.kv_cache import heads_on_rank
from core.models.loaded_weights import loaded_weight_bytes
from core.models.parameters import padded_vocab_size, total_parameters
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import ModelSpec
from core.text.question import Bank, Choice, Draw, Number, Taught, choice, number, pick
from core.units import GB, GIB, bandwidth, binary_bytes, decimal_bytes, grouped, seconds

SEE, COUNT, BREAK, BUILD = (Taught("sharding_math", scene) for scene in ("see", "count", "break_it", "build"))
BILL = Taught("comm_cost", "count")
REAL, LOG = (Taught("two_way_tp", scene) for scene in ("bench", "count"))
MODELS = ("llama-3-8b", "llama-3-70b", "qwen2.5-7b", "qwen3-32b")
BANK = Bank()


def shape(row: ModelSpec) -> dict[str, Any]:
    """A model's sizes, under the names that questions have for them."""
    return {
        "model": row.key,
        "layers": row.num_hidden_layers,
        "width": row.hidden_size,
        "mlp": row.intermediate_size,
        "heads": row.num_attention_heads,
        "kv_heads": row.num_key_value_heads,
        "head_dim": row.head_dim,
        "vocabulary": grouped(row.vocab_size),
    }


@BANK.asks("sharding", SEE)
def column_or_row(rng: Draw) -> Choice:
    return choice("columns_rows", ("rows_columns", "columns", "rows"), rng)


@BANK.asks("sharding", BREAK)
def activation_and_sum(rng: Draw) -> Choice:
    return choice("another", ("rounding", "every_rank", "shapes"), rng)


@BANK.asks("sharding", BREAK)
def row_parallel_bias(rng: Draw) -> Number:
    ranks = pick(rng, 2, 4, 8)
    return number(ranks, "count", {"once": 1, "shared": 1 / ranks}, ranks=ranks)


@BANK.asks("sharding", COUNT)
def uneven_heads(rng: Draw) -> Choice:
    row, size = model(pick(rng, "llama-3-8b", "llama-3-70b")), pick(rng, 3, 6, 12)
    broken = "; ".join(check_tp_size(row, size).broken)
    wrong = ("layers", "small", "power")
    return choice("heads", wrong, rng, **shape(row), size=size, broken=broken)


@BANK.asks("sharding", COUNT)
def replicated_kv(rng: Draw) -> Number:
    row, size = model("llama-3-8b"), pick(rng, 4, 8, 16, 32)
    heads = row.num_key_value_heads
    slips = {"part": heads / size, "all": heads}
    answer = heads_on_rank(row.num_key_value_heads, size)
    return number(answer, "count", slips, model=row.key, heads=heads, size=size)


@BANK.asks("sharding", COUNT)
def vocabulary_padding(rng: Draw) -> Number:
    rows = pick(rng, 50_257, 32_001, 151_643, 100_277)
    padded = padded_vocab_size(rows)
    return number(padded, "count", {"below": padded - 64}, rows=grouped(rows))


@BANK.asks("sharding", COUNT)
def counting_parameters(rng: Draw) -> Number:
    row = model(pick(rng, "llama-3-8b", "llama-2-7b", "llama-3-70b"))
    answer = total_parameters(row)
    slips = {
        "two_matrices": answer - row.num_hidden_layers * row.hidden_size * row.intermediate_size,
        "tied": answer - row.vocab_size * row.hidden_size,
    }
    return number(answer, "count", slips, 0.004, **shape(row))


@BANK.asks("payload", BILL)
def decode_payload(rng: Draw) -> Number:
    row, batch = model(pick(rng, *MODELS)), pick(rng, 1, 4, 16, 32)
    answer = allreduce_payload_bytes(batch, row.hidden_size)
    slips = {"one_byte": answer / 2, "one_row": answer / batch, "whole_step": answer * 2 * row.num_hidden_layers}
    return number(answer, "bytes", slips, **shape(row), batch=batch)


@BANK.asks("payload", BILL)
def prefill_payload(rng: Draw) -> Number:
    row, tokens = model(pick(rng, *MODELS)), pick(rng, 512, 2048, 8192)
    answer = allreduce_payload_bytes(tokens, row.hidden_size)
    slips = {"one_row": answer / tokens, "one_byte": answer / 2}
    return number(answer, "bytes", slips, **shape(row), tokens=grouped(tokens))


@BANK.asks("payload", BILL)
def all_reduces_a_step(rng: Draw) -> Number:
    row = model(pick(rng, *MODELS))
    slips = {"parallel": row.num_hidden_layers, "backward": 4 * row.num_hidden_layers}
    return number(all_reduces_per_step(row, 2), "count", slips, **shape(row))


@BANK.asks("real ranks", REAL)
def wider_or_deeper(rng: Draw) -> Choice:
    return choice("wider", ("layers", "ranks", "bandwidth"), rng)


@BANK.asks("real ranks", REAL)
def last_digits(rng: Draw) -> Choice:
    return choice("order", ("equal", "bias", "clocks"), rng)


@BANK.asks("real ranks", REAL)
def crossover(rng: Draw) -> Number:
    wait_s, memory = 1e-6 * pick(rng, 6, 12, 25), 1.008e12
    answer = crossover_hidden_size(wait_s, memory, 2)
    return number(
        answer,
        "count",
        {"one_all_reduce": answer / 2**0.5},
        0.02,
        wait=seconds(wait_s),
        memory=bandwidth(memory, 4),
    )


@BANK.asks("real ranks", LOG)
def startup_lines(rng: Draw) -> Number:
    """Two startup lines of a TP=2 run: half of each sharded matrix and every norm, in GiB."""
    row = model(pick(rng, "llama-3.2-1b", "llama-3-8b", "llama-2-7b"))
    whole = loaded_weight_bytes(row)
    answer = loaded_weight_bytes(row, tp_size=2)
    both = 2 * answer
    slips = {"gb_as_gib": answer / GB * GIB, "whole": whole}
    return number(
        answer, "bytes", slips, 0.01, model=row.key, whole=_gib(whole),
        exact=_gib(answer), both=_gib(both), twice=binary_bytes(both - whole), decimal=decimal_bytes(whole),
    )  # fmt: skip


def _gib(value: float) -> str:
    return f"{value / GIB:.4f} GiB"
