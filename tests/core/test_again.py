"""The formulas that pages print, worked a second time from catalog rows: counted and added up, not by core."""

from dataclasses import replace
from itertools import combinations, pairwise, product
from math import prod

import pytest

from core.catalog import GPUS, LINKS, MODELS, link
from core.collectives.cost import as_measured, one_shot_all_reduce
from core.comm_cost.bill import Step, balance_payload_bytes, bill, weight_streaming_s
from core.comm_cost.break_even import crossover_hidden_size
from core.comm_cost.expert_parallel import expected_distinct_ranks, expert_parallel_bill
from core.comm_cost.measured import measured_time_s, series_of
from core.comm_cost.node_boundary import node_bill
from core.comm_cost.remedies import overlap_break_even
from core.course.start_here import ridge_tokens
from core.models.kv_cache import kv_bytes_per_token
from core.models.parameters import total_parameters
from core.models.weights import held_weight_bytes
from core.pipeline_bubble.bubble import bubble_fraction, bubble_overhead, microbatches_for_budget
from core.specs import MoeSpec
from core.steps.speculation import expected_speedup
from core.strategy.training.memory import model_states
from runtime.measurements import measured_all_reduces
from tests.each import each

PLAIN = ("llama-3-8b", "llama-3-70b", "llama-3.1-405b", "llama-2-7b", "codellama-13b", "mistral-7b")
"""Attention with whole query heads and a gated MLP, no bias, and tables that are not tied."""
RING = [key for key, row in LINKS.items() if row.base_s >= 0]
RANKS = (2, 4, 8)


def _ring(payload_bytes: float, ranks: int, over) -> tuple[float, float]:
    """Waiting and moving of one all-reduce, hop by hop: each sends one chunk, all around but one, twice.

    Over a link whose rings were timed, what the table of measurements has between two payloads.
    """
    waits, moved = over.base_s, 0.0
    for _ in (*range(1, ranks), *range(1, ranks)):
        waits += over.latency_s
        moved += payload_bytes / ranks / over.bandwidth_bytes_per_s
    if over.rings:
        points = series_of(measured_all_reduces(), over.measured_series, ranks)
        payload = min(max(payload_bytes, points[0].payload_bytes), points[-1].payload_bytes)
        return waits, max(moved, measured_time_s(points, payload) - waits)
    return waits, moved + over.ramp * (waits * moved) ** 0.5


@pytest.mark.parametrize("key", PLAIN)
def test_weights_and_cache_of_a_model_counted_matrix_by_matrix(key):
    row = MODELS[key]
    d, q, kv = row.hidden_size, row.num_attention_heads * row.head_dim, row.num_key_value_heads * row.head_dim
    attention = [(d, q), (d, kv), (d, kv), (q, d)]
    mlp = [(d, row.intermediate_size), (d, row.intermediate_size), (row.intermediate_size, d)]
    norms = [(d, 1), (d, 1)]
    layers = row.num_hidden_layers * sum(map(prod, attention + mlp + norms))
    assert total_parameters(row) == layers + 2 * row.vocab_size * d + d
    assert held_weight_bytes(row) == 2 * total_parameters(row)
    assert kv_bytes_per_token(row) == sum(2 * 2 * kv for _ in range(row.num_hidden_layers))
    for gpu in GPUS.values():
        assert weight_streaming_s(row, gpu, counted="read") * gpu.memory_bytes_per_s == pytest.approx(
            2 * (total_parameters(row) - row.vocab_size * d)
        )
        assert ridge_tokens(gpu) == pytest.approx(gpu.bf16_flops / gpu.memory_bytes_per_s)


@each(("key", "ranks"), list(product(RING, RANKS)))
def test_a_bill_of_every_link_added_up_hop_by_hop(key, ranks):
    row = MODELS["llama-3-8b"]
    for over, tokens in product((link(key), as_measured(link(key))), (1, 64, 2048)):
        waits, moved = _ring(tokens * row.hidden_size * 2, ranks, over)
        priced = bill(Step(row, ranks, tokens, 10e-3, divided=True), over)
        sums = 2 * row.num_hidden_layers
        assert priced.waiting_s == pytest.approx(sums * waits)
        assert priced.bandwidth_s == pytest.approx(sums * moved)
        assert priced.speedup == pytest.approx(10e-3 / (10e-3 / ranks + sums * (waits + moved)))
        share = sums * (waits + moved) / (10e-3 / ranks + sums * (waits + moved))
        assert priced.comm_fraction == pytest.approx(share)
    for over in (link(key), as_measured(link(key))):
        waits, moved = _ring(balance_payload_bytes(ranks, over), ranks, over)
        assert waits == pytest.approx(moved)


@pytest.mark.parametrize("ranks", RANKS)
def test_what_lab_03_says_of_kernels_overlap_widths_and_nodes(ranks):
    over, slow = link("nvlink-lab"), link("ethernet-10g-lab")
    read = one_shot_all_reduce(8192, ranks, over)
    assert read.traffic_bytes == sum(8192 for _ in range(ranks - 1))
    hidden = overlap_break_even(sum(_ring(8192, ranks, over)), sum(_ring(8192, ranks, slow)))
    assert sum(_ring(8192, ranks, slow)) * (1 - hidden) == pytest.approx(sum(_ring(8192, ranks, over)))
    # at the crossover what a layer of 12 d² saves is what its two sums take
    width = crossover_hidden_size(25e-6, 1e12, ranks)
    assert 2 * 12 * width**2 / 1e12 * (1 - 1 / ranks) == pytest.approx(2 * 25e-6)
    # over two nodes: the labs' links have no launch; inside a ring of its own, outside a ring of two with a share
    inside, network = link("nvlink-lab"), link("ethernet-10g-lab")
    step = Step(MODELS["llama-3-8b"], 2 * ranks)
    port = replace(
        network, bandwidth_bytes_per_s=network.bandwidth_bytes_per_s / (ranks if network.scope == "node" else 1)
    )
    both = sum(_ring(8192, ranks, inside)) + sum(_ring(8192 / ranks, 2, port))
    assert node_bill(step, ranks, inside, network).whole.comm_s == pytest.approx(step.all_reduces * both)


def _grid(stages: int, microbatches: int) -> tuple[int, int]:
    """Busy cells and all cells, when each stage takes the next microbatch a tick after the stage before."""
    busy = {(stage, stage + m) for stage in range(stages) for m in range(microbatches)}
    return len(busy), stages * (1 + max(tick for _, tick in busy))


@each(("stages", "microbatches"), list(product((1, 2, 4, 8), (1, 3, 8, 16, 63))))
def test_a_bubble_counted_cell_by_cell(stages, microbatches):
    busy, cells = _grid(stages, microbatches)
    assert bubble_fraction(stages, microbatches) * cells == cells - busy
    assert bubble_overhead(stages, microbatches) * busy == cells - busy
    assert cells // stages == microbatches + stages - 1
    need = microbatches_for_budget(stages, "0.1") if stages > 1 else 1
    idle = [1 - busy / cells for busy, cells in (_grid(stages, m) for m in range(need, need + 2))]
    assert idle[0] <= 0.1 + 1e-12
    assert all(one >= other for one, other in pairwise(idle))
    assert stages == 1 or 1 - _grid(stages, need - 1)[0] / _grid(stages, need - 1)[1] > 0.1


def test_what_is_said_of_experts_drafts_and_training_states_by_trying_all():
    moe = MODELS["mixtral-8x7b"].moe
    assert isinstance(moe, MoeSpec)
    drawn = list(combinations(range(moe.num_experts), moe.num_experts_per_tok))
    for ranks in RANKS:
        here = moe.num_experts // ranks
        reached = sum(len({one // here for one in chosen}) for chosen in drawn) / len(drawn)
        assert expected_distinct_ranks(moe, ranks) == pytest.approx(reached)
        ratio = expert_parallel_bill(MODELS["mixtral-8x7b"], 64 * ranks, ranks, link("nvlink-4")).traffic_ratio
        assert 2 * ratio == pytest.approx(moe.num_experts_per_tok / ranks)
    # a draft counts if all before it were kept: the lengths, each by its chance
    kept, cost = 0.8, 0.05
    for drafts in (1, 3, 7):
        chances = [kept**n * (1 - kept if n < drafts else 1) for n in range(drafts + 1)]
        yielded = sum((n + 1) * chance for n, chance in enumerate(chances))
        assert sum(chances) == pytest.approx(1)
        assert expected_speedup(kept, drafts, cost) == pytest.approx(yielded / (1 + drafts * cost))
    for zero, ranks in product(range(4), RANKS):
        kinds = zip((12, 2, 2), (1, 2, 3), strict=True)  # optimizer, gradients, weights, and from which stage cut
        assert model_states(1e9, zero, ranks).total == pytest.approx(
            sum(1e9 * size / (ranks if zero >= since else 1) for size, since in kinds)
        )
