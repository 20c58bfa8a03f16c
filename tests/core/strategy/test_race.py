"""A race of plans: work and Little's law hold, no step beats the roofline, alone is the closed form."""

from dataclasses import replace
from functools import lru_cache
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import gpu, model
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.plan import Question, judge
from core.placement.planner import place
from core.placement.rank_memory import Overhead, measured_budget
from core.serving.load import EngineCost
from core.serving.simulate import follow, simulate
from core.strategy import entrants as who
from core.strategy.entrants import Entrant, entrants
from core.strategy.race import LOADS, Lane, Race, race

CASES = {
    "dense": ("llama-3-8b", "a100-80gb-sxm", 8),
    "tight": ("llama-3-70b", "h100-sxm", 8),
    "mixture": ("mixtral-8x7b", "a100-80gb-sxm", 8),
    "single": ("llama-3-8b", "a100-80gb-sxm", 1),
    "pair": ("llama-3-8b", "a100-80gb-sxm", 2),
}


def asked(case: str) -> Question:
    named, gpu_key, gpus = CASES[case]
    budget = measured_budget(gpu(gpu_key), 0.9, Overhead())
    return Question(model(named), usual_cluster(gpu(gpu_key), gpus), budget, Demand())


@lru_cache
def entered(case: str) -> tuple[Entrant, ...]:
    """Who races in a case."""
    return entrants(asked(case))


def ran(case: str, load: str, seed: int = 0, requests: int = 150) -> Race:
    """A short race."""
    rate = LOADS[load] * max(entrant.capacity_per_s for entrant in entered(case))
    return race(entered(case), rate, 2048, seed, requests)


RACES = st.builds(
    ran, st.sampled_from(["dense", "tight", "mixture"]), st.sampled_from(list(LOADS)), st.integers(0, 99)
)


def test_who_races():
    """Experts race where there are some, and apart where there are two engines at least."""
    assert [one.kind for one in entered("dense")] == ["tensor", "stages", "replicas", "apart"]
    assert [one.kind for one in entered("mixture")] == ["tensor", "stages", "replicas", "experts", "apart"]
    assert [one.kind for one in entered("single")] == ["tensor"]
    assert (entered("pair")[-1].kind, entered("pair")[-1].readers) == ("apart", 1)
    for case in CASES:
        assert len({one.layout.gpus for one in entered(case)}) == 1


@pytest.mark.parametrize("case", CASES)
def test_who_races_is_the_same_whatever_was_judged_before_and_only_those_who_could_are(case, monkeypatch):
    question, judged = replace(asked(case), expert_parallel=False), []
    placed, usual = place(question).plans, entered(case)
    monkeypatch.setattr(who, "judge", lambda _, layout: judged.append(layout) or judge(question, layout))
    assert entrants(question, placed) == usual
    assert not {plan.layout for plan in placed} & set(judged)
    assert len(judged) <= 2


def test_no_group_leaves_its_nvlink_domain():
    """Two nodes of eight: the widest group is a node's."""
    budget = measured_budget(gpu("h100-sxm"), 0.9, Overhead())
    two = usual_cluster(gpu("h100-sxm"), 8, nodes=2)
    found = entrants(Question(model("llama-3-70b"), two, budget, Demand()))
    assert [one.layout.name for one in found[:2]] == ["TP=8 ×2", "TP=8 PP=2"]


@given(RACES)
def test_every_lane_does_the_same_work_and_no_request_is_lost(found: Race):
    first = found.lanes[0]
    for lane in found.lanes:
        assert sorted(lane.ways.arrived) == sorted(first.ways.arrived)
        (done,), (waiting,), (running,) = (
            at([lane.end_s]) for at in (lane.done_at, lane.waiting_at, lane.running_at)
        )
        assert (done, waiting, running) == (lane.requests, 0, 0)
        for arrived, begun, first_s, ready, held, freed, done_s in zip(*lane.ways, strict=True):
            assert arrived <= begun <= first_s
            assert ready <= held <= freed <= done_s
            assert begun <= ready


@given(RACES)
def test_no_cache_holds_more_than_it_can(found: Race):
    for lane in found.lanes:
        assert max(lane.running_at(lane.ways.held)) <= lane.entrant.slots
        assert lane.most_fill <= 1


def area_s(lane: Lane) -> float:
    """Requests in the system over time, added up step by step between events."""
    ways = lane.ways
    times = sorted({time for some in (*ways[:5], ways.done) for time in some})
    inside = [
        sum(arrived <= time < done for arrived, done in zip(ways.arrived, ways.done, strict=True)) for time in times
    ]
    return sum(count * (end - start) for count, start, end in zip(inside, times, times[1:], strict=False))


def test_little_s_law_holds_of_every_lane():
    """Requests in the system on average = arrivals a second · time in the system, in the whole of a race."""
    for lane in ran("mixture", "rush", requests=80).lanes:
        assert area_s(lane) == pytest.approx(lane.answer_s * lane.requests, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_no_step_beats_the_roofline(case):
    for entrant in entered(case):
        one = replace(entrant.layout, replicas=1)
        assert entrant.cost.decode_at(1) >= asked(case).timing(one, 1).roofline_itl_s
        assert list(entrant.cost.decode_s) == sorted(entrant.cost.decode_s)


@pytest.mark.parametrize("case", CASES)
def test_at_a_load_near_nothing_an_answer_is_its_closed_form(case):
    """P, the delay, the cache's way where it has one, and (O - 1)·D(1)."""
    for lane in race(entered(case), 1e-4, 2048, requests=5).lanes:
        cost = lane.entrant.cost
        alone_s = cost.prefill_s + cost.prefill_delay_s + (cost.output_tokens - 1) * cost.decode_at(1)
        assert lane.answer_s == pytest.approx(alone_s + lane.entrant.transfer_s)
        assert lane.answer_s == pytest.approx(lane.entrant.alone_s)
        assert lane.ttft_s == pytest.approx(cost.prefill_s + cost.prefill_delay_s)


def test_the_same_seed_is_the_same_race():
    assert ran("dense", "busy", 7) == ran("dense", "busy", 7)
    assert ran("dense", "busy", 7) != ran("dense", "busy", 8)


def test_the_load_decides_who_wins():
    """Llama-3-8B on eight A100: one group wins an empty house, and loses a full one, where its queue grows."""
    found = {load: ran("dense", load, requests=400) for load in LOADS}
    winners = {load: one.lanes[one.winner].entrant.kind for load, one in found.items()}
    assert winners["light"] == "tensor"
    assert winners["rush"] != "tensor"
    rates = [lane.entrant.capacity_per_s for lane in found["rush"].lanes]
    assert rates[0] < found["rush"].arrivals_per_s < max(rates)
    assert found["rush"].lanes[0].most_waiting > 10 * max(1, found["light"].lanes[0].most_waiting)


def test_a_split_keeps_both_sides_as_busy_as_it_can():
    apart = entered("dense")[-1]
    assert 0 < apart.readers < apart.engines
    reading = apart.readers * apart.reader.capacity_per_s
    writing = apart.writers * apart.writer.capacity_per_s
    assert apart.capacity_per_s == min(reading, writing)


@given(RACES, st.lists(st.floats(0, 1), max_size=5))
def test_what_is_told_of_a_moment_is_of_those_who_were_there(found: Race, shares: list[float]):
    """Counted one request and one moment after another."""
    for lane in found.lanes:
        ways, times = lane.ways, [share * lane.end_s for share in shares]
        rows = list(zip(*ways, strict=True))
        for time, waiting, running, wait, gap in zip(
            times,
            lane.waiting_at(times),
            lane.running_at(times),
            lane.ttft_at(times),
            lane.itl_at(times),
            strict=True,
        ):
            assert waiting == sum(row[0] <= time < row[1] or row[3] <= time < row[4] for row in rows)
            assert running == sum(row[4] <= time < row[5] for row in rows)
            waits = [row[2] - row[0] for row in rows if row[2] <= time]
            gaps = [(row[6] - row[2]) / (lane.output_tokens - 1) for row in rows if row[6] <= time]
            assert wait == (pytest.approx(fmean(waits)) if waits else None)
            assert gap == (pytest.approx(fmean(gaps)) if gaps else None)


def test_following_a_run_is_simulating_it():
    cost = EngineCost(100, 50, 0.1, (1, 8), (0.01, 0.02), most_running=8)
    arrivals = [0.05 * k for k in range(40)]
    course, result = follow(cost, arrivals, 64), simulate(cost, arrivals, 64)
    took = [done - came for came, done in zip(course.arrivals_s, course.done_s, strict=True)]
    assert sum(took) / len(took) == pytest.approx(result.sojourn_mean_s)
