"""The referee's clock: closed forms, the other simulators and shared ports, on one event queue."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.collectives import across, cost
from core.collectives.programs import PROGRAMS, hierarchical_all_reduce, program
from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.serving import Pipe, steady_decode
from core.specs import LinkSpec
from tests.core.referee.clock import Work, replay
from tests.core.referee.fabric import Fabric, around
from tests.each import each

LINK = LinkSpec("link", "link", latency_s=2.0, bandwidth_bytes_per_s=4.0, base_s=3.0)
PORT = LinkSpec("port", "port", latency_s=8.0, bandwidth_bytes_per_s=1.0, scope="node", reach="network")


@each(("op", "algorithm"), PROGRAMS)
@each("ranks", [1, 2, 4, 8])
def test_every_program_ends_on_the_clock_when_its_closed_form_does(op, algorithm, ranks):
    """Two ways to one number; without the barrier between rounds a tree may only be quicker."""
    told = cost.collective_cost(op, algorithm, 6720.0, ranks, LINK)
    found = replay(Fabric(LINK).collective(program(op, algorithm, ranks), 6720.0)).end_s
    assert found <= told.total_s * (1 + 1e-12)
    if algorithm in ("ring", "recursive_doubling", "rabenseifner", "one_shot", "two_shot", "direct"):
        assert found == pytest.approx(told.total_s)


@given(st.integers(1, 4), st.integers(1, 4), st.floats(1, 1e6))
def test_two_levels_take_what_the_closed_form_says_where_a_node_has_one_port(gpus, nodes, payload):
    """The port is shared by the node's GPUs: L rings of n/L bytes cross it, one after another."""
    told = across.hierarchical_all_reduce(payload, gpus, nodes, LINK, PORT).total_s
    found = replay(Fabric(LINK, gpus, PORT).collective(hierarchical_all_reduce(gpus, nodes), payload)).end_s
    assert found <= told * (1 + 1e-9)
    bytes_s = 2 * (nodes - 1) / nodes * payload / PORT.bandwidth_bytes_per_s
    assert found >= bytes_s * (1 - 1e-9)


def test_a_port_of_the_node_is_shared_and_a_gpus_own_is_not():
    """Four GPUs of one node send 8 bytes each to another: 32 bytes through one port, 8 through each of four."""
    for scope, lasts_s in (("node", 32.0), ("gpu", 8.0)):
        network = LinkSpec("n", "n", 1.0, 1.0, scope=scope, reach="network")
        works = [Fabric(LINK, 4, network).message(str(gpu), gpu, 4 + gpu, 8.0) for gpu in range(4)]
        assert replay(works).end_s == lasts_s + 1.0


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(0, 5),
    st.integers(1, 6),
)
def test_decode_round_a_pipe_settles_as_the_pipeline_simulator_has_it(stages, hop, microbatches):
    """`steady_decode`'s cycle, from two late laps of the event queue."""
    laps = 40
    works = around([float(s) for s in stages], [(0.0, float(hop))] * (len(stages) - 1), microbatches, laps)
    ran = replay(works).ran
    last = len(stages) - 1
    ends = [ran[f"token {lap}.0.{last}"].end_s for lap in range(laps)]
    cycle = (ends[-1] - ends[laps // 2]) / (laps - 1 - laps // 2)
    pipe = Pipe(tuple(stages), (hop,) * (len(stages) - 1))
    assert cycle == pytest.approx(float(steady_decode(pipe, microbatches).cycle), rel=0.02)


def test_work_that_cannot_be_run_is_refused_by_name():
    with pytest.raises(OutOfRangeError, match="names no work"):
        replay([Work("a", (), 1.0, after=("b",))])
    with pytest.raises(OutOfRangeError, match="waits for itself"):
        replay([Work("a", (), 1.0, after=("b",)), Work("b", (), 1.0, after=("a",))])
    with pytest.raises(OutOfRangeError, match="network"):
        Fabric(LINK, 2).message("x", 0, 3, 1.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 5), st.floats(0, 5)), max_size=30))
def test_nothing_is_held_by_two_at_once_and_no_port_is_busy_longer_than_the_clock_ran(rows):
    works = [Work(str(n), (f"port {port}",), lasts, from_s=begin) for n, (port, lasts, begin) in enumerate(rows)]
    done = replay(works)
    assert all(busy <= done.end_s + 1e-9 for busy in done.busy_s.values())
    for port in {port for port, _, _ in rows}:
        spans = sorted(done.ran[str(n)] for n, (held, _, _) in enumerate(rows) if held == port)
        assert all(one.free_s <= other.start_s + 1e-9 for one, other in pairwise(spans))
