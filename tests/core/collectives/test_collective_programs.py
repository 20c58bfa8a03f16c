"""Collectives run message by message: they compute what they should, and count what the closed forms say."""

from dataclasses import replace

import numpy as np
import pytest

from core.collectives.across import hierarchical_all_reduce as hierarchical_cost
from core.collectives.cost import ALGORITHMS, collective_cost, is_power_of_two
from core.collectives.programs import PROGRAMS, hierarchical_all_reduce, program, run
from core.errors import OutOfRangeError, UnknownNameError
from core.specs import LinkSpec
from tests.each import each

UNIT = LinkSpec(key="unit", name="unit", latency_s=1.0, bandwidth_bytes_per_s=1.0)
CASES = [
    (op, algorithm, ranks)
    for op, algorithm in PROGRAMS
    for ranks in (1, 2, 3, 4, 5, 7, 8, 12, 16)
    if algorithm != "rabenseifner" or is_power_of_two(ranks)
]


def whole_numbers(ranks, chunks, width=3):
    """Arrays of whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(ranks)
    return [rng.integers(-99, 99, (chunks, width)).astype(float) for _ in range(ranks)]


def expected(op, inputs, rank):
    """What a rank must hold, by definition of the collective; None where its buffer may hold anything."""
    total = sum(inputs)
    if op == "all_reduce":
        return total
    if op == "all_gather":
        return np.array([array[chunk] for chunk, array in enumerate(inputs)])
    if op == "all_to_all":
        return np.array([array[rank] for array in inputs])
    if op == "broadcast":
        return inputs[0]
    return total[rank]


@each(("op", "algorithm", "ranks"), CASES)
def test_every_rank_ends_with_what_the_collective_promises(op, algorithm, ranks):
    plan = program(op, algorithm, ranks)
    inputs = whole_numbers(ranks, plan.chunks)
    for rank, buffer in enumerate(run(plan, inputs).buffers):
        held = buffer[rank] if op == "reduce_scatter" else buffer
        np.testing.assert_array_equal(held, expected(op, inputs, rank))


@each(("op", "algorithm", "ranks"), CASES)
def test_counts_equal_the_closed_form(op, algorithm, ranks):
    plan = program(op, algorithm, ranks)
    inputs = whole_numbers(ranks, plan.chunks)
    done, cost = run(plan, inputs), collective_cost(op, algorithm, inputs[0].nbytes, ranks, UNIT)
    assert (done.steps, done.traffic_bytes) == (cost.steps, cost.traffic_bytes)


@pytest.mark.parametrize(("gpus", "nodes"), [(1, 1), (8, 1), (1, 4), (4, 2), (2, 3), (8, 4)])
def test_the_hierarchy_sums_and_counts_level_by_level(gpus, nodes):
    plan = hierarchical_all_reduce(gpus, nodes)
    inputs = whole_numbers(gpus * nodes, plan.chunks)
    done = run(plan, inputs)
    for buffer in done.buffers:
        np.testing.assert_array_equal(buffer, sum(inputs))
    cost = hierarchical_cost(inputs[0].nbytes, gpus, nodes, UNIT, UNIT)
    across = done.round_bytes[gpus - 1 : gpus - 1 + 2 * (nodes - 1)]
    assert (len(across), sum(across)) == (cost.network.steps, cost.network.traffic_bytes)
    assert done.steps - len(across) == cost.inside.steps
    assert done.traffic_bytes - sum(across) == cost.inside.traffic_bytes


def test_a_round_without_messages_moves_nothing():
    """Of one rank too, which has nobody to send to."""
    for ranks in (1, 2):
        idle = replace(program("all_reduce", "ring", ranks), rounds=((),))
        assert run(idle, whole_numbers(ranks, idle.chunks)).round_bytes == (0,)


def test_messages_of_a_hierarchy_stay_on_their_level():
    """2 nodes of 4: only the middle rounds leave a node, and there each GPU talks to its own twin."""
    for number, messages in enumerate(hierarchical_all_reduce(4, 2).rounds):
        crossing = [message for message in messages if message.source // 4 != message.target // 4]
        assert crossing == ([] if number not in (3, 4) else list(messages))
        assert all(message.source % 4 == message.target % 4 for message in crossing)


def test_in_a_ring_each_rank_sends_one_chunk_to_the_next():
    for messages in program("all_reduce", "ring", 5).rounds:
        assert [(m.source, m.target, len(m.chunks)) for m in messages] == [(r, (r + 1) % 5, 1) for r in range(5)]


def test_every_closed_form_has_a_program():
    assert PROGRAMS.keys() == ALGORITHMS.keys()


def test_inputs_are_left_as_they_were():
    plan = program("all_reduce", "ring", 4)
    inputs = whole_numbers(4, 4)
    before = [array.copy() for array in inputs]
    run(plan, inputs)
    for array, copy in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_what_does_not_fit_is_refused():
    with pytest.raises(OutOfRangeError, match="4 arrays of 4 chunks"):
        run(program("all_reduce", "ring", 4), whole_numbers(3, 4))
    with pytest.raises(OutOfRangeError, match="power of two"):
        program("all_reduce", "rabenseifner", 6)
    with pytest.raises(OutOfRangeError, match="ranks=0"):
        program("all_reduce", "ring", 0)
    with pytest.raises(UnknownNameError, match="all_to_all ring"):
        program("all_to_all", "ring", 4)
