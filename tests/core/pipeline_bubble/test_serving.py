"""Pipelines that serve: closed forms against simulation, exactly, and what saturates when."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError
from core.pipeline_bubble.bubble import fill_drain
from core.pipeline_bubble.schedules import orders
from core.pipeline_bubble.schedules.actions import Placement
from core.pipeline_bubble.schedules.serving import (
    Pipe,
    chunked_prefill_time,
    decode,
    filling_microbatches,
    random_traffic,
    simulated_cycle,
    steady_decode,
)
from core.pipeline_bubble.schedules.simulator import Costs, simulate

TIMES = st.fractions(Fraction(1, 4), 6, max_denominator=4)
SENDS = st.sampled_from(["latency", "serial", "blocking"])


@st.composite
def pipes(draw):
    times = draw(st.lists(TIMES, min_size=1, max_size=5))
    links = draw(st.lists(st.fractions(0, 4, max_denominator=4), min_size=len(times) - 1, max_size=len(times) - 1))
    return Pipe(tuple(times), tuple(links), draw(st.fractions(0, 5, max_denominator=4)), draw(SENDS))


@given(pipe=pipes(), microbatches=st.integers(1, 8))
def test_a_flush_takes_what_the_closed_form_says_over_every_kind_of_link(pipe, microbatches):
    """Σt + Σl + (m - 1) · max t: uneven stages, stragglers, links that delay, carry one at a time or hold on."""
    costs = Costs(stage_times=pipe.stage_times, link_delays=pipe.hops[:-1], send=pipe.send)
    stages = len(pipe.stage_times)
    timeline = simulate(fill_drain(stages, microbatches), Placement(stages), costs)
    assert timeline.makespan == pipe.traverse + (microbatches - 1) * pipe.pace


@given(pipe=pipes(), microbatches=st.integers(1, 8))
def test_decode_settles_to_the_cycle_of_the_closed_form(pipe, microbatches):
    """On every stage a microbatch comes round again after exactly max(m·max t, Σt + Σl + ret), in the long run."""
    rounds = 12
    stages = len(pipe.stage_times)
    last = [span for span in decode(pipe, microbatches, rounds) if span.rank == stages - 1]
    ends = [span.end for span in last if span.action.microbatch % microbatches == 0]
    assert ends[-1] - ends[-2] == steady_decode(pipe, microbatches).cycle


@given(pipe=pipes(), microbatches=st.integers(1, 8))
def test_a_round_that_repeats_an_earlier_one_gives_the_same_cycle(pipe, microbatches):
    assert simulated_cycle(pipe, microbatches) == steady_decode(pipe, microbatches).cycle


@st.composite
def looped_pipes(draw):
    """Two or three chunks a rank, every stage and every link with a time of its own."""
    ranks, chunks = draw(st.integers(1, 4)), draw(st.integers(2, 3))
    times = draw(st.lists(TIMES, min_size=ranks * chunks, max_size=ranks * chunks))
    delays = st.fractions(0, 4, max_denominator=4)
    links = draw(st.lists(delays, min_size=ranks * chunks - 1, max_size=ranks * chunks - 1))
    return Pipe(tuple(times), tuple(links), draw(delays), draw(SENDS), chunks)


@given(pipe=looped_pipes(), microbatches=st.integers(1, 6))
def test_a_round_over_several_chunks_is_the_simulators_forward_pass(pipe, microbatches):
    """From an empty pipe one token of each: fill and drain over the same stages, distributed in a loop."""
    costs = Costs(stage_times=pipe.stage_times, link_delays=pipe.link_delays, send=pipe.send)
    actions = orders.fill_drain(pipe.ranks, microbatches, pipe.chunks)
    timeline = simulate(actions, Placement(pipe.ranks, pipe.chunks), costs)
    ours = decode(pipe, microbatches, 1)
    assert sorted(zip(ours.actions, ours.starts, ours.ends, strict=True)) == sorted(
        zip(timeline.actions, timeline.starts, timeline.ends, strict=True)
    )


@given(pipe=looped_pipes(), microbatches=st.integers(1, 6))
def test_over_several_chunks_no_cycle_is_shorter_than_the_busiest_rank_or_the_way_round(pipe, microbatches):
    steady = steady_decode(pipe, microbatches)
    assert steady.cycle >= max(microbatches * pipe.pace, pipe.traverse + pipe.return_delay)
    assert max(steady.utilisation) <= 1


@given(ranks=st.integers(1, 5), chunks=st.integers(1, 3), microbatches=st.integers(1, 10), time=TIMES)
def test_equal_chunks_over_free_links_settle_to_the_closed_form(ranks, chunks, microbatches, time):
    """A rank's own turn round its chunks is what fills it: m·v·t once there are p microbatches, p·v·t before."""
    steady = steady_decode(Pipe((time,) * (ranks * chunks), chunks=chunks), microbatches)
    assert steady.cycle == max(microbatches, ranks) * chunks * time


@given(pipe=pipes(), microbatches=st.integers(1, 4))
def test_a_token_enters_only_after_the_one_before_has_come_back(pipe, microbatches):
    stages = len(pipe.stage_times)
    spans = {(span.rank, span.action.microbatch): span for span in decode(pipe, microbatches, 3)}
    for item in range(2 * microbatches):
        back = spans[stages - 1, item].end + pipe.return_delay
        assert spans[0, item + microbatches].start >= back


def test_one_sequence_keeps_one_stage_of_p_busy_for_ever():
    """Utilisation 1/p whatever the number of tokens: the pipe buys nothing for latency."""
    steady = steady_decode(Pipe((1,) * 8), 1)
    assert steady.utilisation == (Fraction(1, 8),) * 8
    assert steady.cycle == 8


def test_the_pipe_is_full_at_p_microbatches_with_equal_stages_and_free_links():
    pipe = Pipe((1,) * 8)
    assert filling_microbatches(pipe) == 8
    assert steady_decode(pipe, 8).utilisation == (1,) * 8


@given(pipe=pipes())
def test_beyond_m_star_more_microbatches_add_latency_and_no_throughput(pipe):
    full = filling_microbatches(pipe)
    before, at, beyond = (steady_decode(pipe, m) for m in (max(1, full - 1), full, full + 1))
    assert beyond.items_per_time == at.items_per_time == 1 / Fraction(pipe.pace)
    assert beyond.cycle > at.cycle
    assert full == 1 or before.items_per_time < at.items_per_time


def test_links_and_the_way_back_move_m_star():
    """(8 + 7·½ + 2) / 1 = 13.5, so 14 microbatches where 8 were enough."""
    assert filling_microbatches(Pipe((1,) * 8, (Fraction(1, 2),) * 7, 2)) == 14


def test_a_straggler_sets_the_pace_of_all():
    """One stage at twice the time halves the throughput, wherever it stands."""
    for place in range(4):
        times = tuple(2 if stage == place else 1 for stage in range(4))
        assert steady_decode(Pipe(times), 12).items_per_time == Fraction(1, 2)


@given(stages=st.integers(1, 8), chunks=st.integers(1, 12))
def test_chunks_of_a_prompt_follow_one_another_through_the_pipe(stages, chunks):
    """(n + p - 1)c against n·p·c: the exception to "no latency from a pipe", simulated both ways."""
    chunked = simulate(fill_drain(stages, chunks), Placement(stages)).makespan
    whole = simulate(fill_drain(stages, 1), Placement(stages), Costs(forward=chunks)).makespan
    assert chunked == chunked_prefill_time(stages, chunks, 1)
    assert Fraction(whole, chunked) == Fraction(chunks * stages, chunks + stages - 1)


def test_a_deeper_pipe_starves_more_under_the_same_traffic():
    """The model's work is one unit; cut over p stages each is busy 1/p of what one GPU would be, and a token is no
    faster. Seeded, 400 sequences of 20 tokens at a fiftieth of the rate one GPU could take.
    """
    found = [
        random_traffic(Pipe((Fraction(1, p),) * p), 0.02 / 2, 400, 20, np.random.default_rng(4))
        for p in (1, 2, 4, 8)
    ]
    for deeper, shallower in pairwise(reversed(found)):
        assert deeper.utilisation == pytest.approx(shallower.utilisation / 2, rel=0.1)
    assert all(traffic.mean_token_time >= 1 for traffic in found)
    assert found[-1].mean_token_time == pytest.approx(1, rel=0.15)


def test_a_token_that_meets_nobody_waits_for_its_stages_and_hops_alone():
    """One sequence that comes at once into an empty pipe: 2 + 3 of work and a hop of 1."""
    alone = random_traffic(Pipe((2, 3), (1,)), 1e6, 1, 1, np.random.default_rng(4))
    assert alone.mean_token_time == pytest.approx(6)
    assert alone.utilisation == pytest.approx(5 / 2 / 6)


def test_traffic_is_the_same_for_the_same_seed():
    one, two = (random_traffic(Pipe((1, 1)), 0.1, 50, 3, np.random.default_rng(7)) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pipe(()),
        lambda: Pipe((1, 1), (1, 1)),
        lambda: Pipe((0, 1)),
        lambda: Pipe((1, 1), (-1,)),
        lambda: steady_decode(Pipe((1,)), 0),
    ],
)
def test_a_pipe_that_cannot_be_is_refused(make):
    with pytest.raises(OutOfRangeError):
        make()
