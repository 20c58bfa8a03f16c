"""The time to a first token at a concurrency: a prompt waits for those before it."""

import heapq
import random

import pytest

from core.catalog import gpu, link, model
from core.placement import steps
from core.placement.cluster import ClusterSpec
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question
from core.placement.rank_memory import measured_budget
from core.placement.steps import closed_wait_s


def followed_s(users: int, service_s: float, thinks_s: float, jobs: int = 30_000) -> float:
    """The mean wait, user by user: each away for an exponential while, equal jobs, first come first served."""
    rng, free_s, waited_s = random.Random(7), 0.0, 0.0
    comes = [(rng.expovariate(1 / thinks_s), user) for user in range(users)]
    heapq.heapify(comes)
    for _ in range(jobs):
        now_s, user = heapq.heappop(comes)
        begins_s = max(now_s, free_s)
        waited_s, free_s = waited_s + begins_s - now_s, begins_s + service_s
        heapq.heappush(comes, (free_s + rng.expovariate(1 / thinks_s), user))
    return waited_s / jobs


@pytest.mark.parametrize(("users", "thinks_s"), [(2, 1.0), (4, 2.0), (16, 15.0), (16, 30.0), (64, 10.0)])
def test_the_mean_wait_is_that_of_users_followed_one_by_one(users, thinks_s):
    """A mean value analysis is exact for jobs of random length; for equal ones it is up to 29 % too short here."""
    told_s, found_s = closed_wait_s(users, 0.734, thinks_s), followed_s(users, 0.734, thinks_s)
    assert told_s == pytest.approx(found_s, rel=0.3, abs=0.03)


def test_one_user_waits_for_nobody_and_many_for_all_the_others():
    assert closed_wait_s(1, 0.5, 3.0) == 0.0
    assert closed_wait_s(1000, 0.5, 0.0) == pytest.approx(999 * 0.5, rel=0.01)
    assert closed_wait_s(8, 0.0, 1.0) == closed_wait_s(8, 0.0, 0.0) == 0.0


@pytest.mark.parametrize("busy", [0.01, 0.9, 1.0, 1.03, 3.0, 1e6])
def test_many_users_wait_as_if_all_were_added_one_by_one(monkeypatch, busy):
    users, service_s = 20_000, 0.01
    thinks_s = users * service_s / busy
    told_s = closed_wait_s(users, service_s, thinks_s)
    monkeypatch.setattr(steps, "STEPPED_USERS", users)
    assert told_s == pytest.approx(closed_wait_s(users, service_s, thinks_s), rel=1e-9)


def question(concurrency: int) -> Question:
    cluster = ClusterSpec(gpu("h200-sxm"), link("nvlink-4"), link("ib-ndr"), 1)
    demand = Demand(prompt_tokens=8192, output_tokens=1024, concurrency=concurrency)
    return Question(model("qwen3-32b"), cluster, measured_budget(gpu("h200-sxm")), demand)


def test_sixteen_at_once_wait_about_as_much_longer_as_was_published():
    """Qwen3.6-27B on one H200, 8,192 in: first token 734 ms alone and 1,198 at 16 at once, 1.63 times."""
    first = {users: question(users).timing(Layout(1)).ttft_s for users in (1, 2, 16)}
    assert first[1] == question(1).timing(Layout(1)).alone_ttft_s < first[2] < first[16]
    assert 1.2 < first[16] / first[1] < 2.5


def test_more_copies_share_the_waiting():
    cluster = ClusterSpec(gpu("h200-sxm"), link("nvlink-4"), link("ib-ndr"), 4)
    demand = Demand(prompt_tokens=8192, output_tokens=1024, concurrency=16)
    asked = Question(model("qwen3-32b"), cluster, measured_budget(gpu("h200-sxm")), demand)
    one, four = asked.timing(Layout(1)), asked.timing(Layout(1, replicas=4))
    assert four.alone_ttft_s == one.alone_ttft_s
    assert four.ttft_s < one.ttft_s
