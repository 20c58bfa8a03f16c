"""The one-shot all-reduce over shared memory, on two and three real ranks, against Gloo's."""

import errno
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from distributed import collectives, shared_memory  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402
from distributed.shared_memory import SLOT_BYTES, SharedMemoryError, SharedMemoryGroup, why_not_here  # noqa: E402

pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here())
SHAPES = [(1,), (7,), (1, 96), (3, 1, 96), (5, 1000)]


def on_ranks(ranks, check):
    return run_ranks(ranks, Path(__file__), check.__name__, Path(collectives.__file__))


def part(rank, call, shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1000 * call + rank))


def sums(_, gloo):
    group = SharedMemoryGroup(timeout_s=30)
    results = []
    for call in range(200):
        shape = SHAPES[call % len(SHAPES)]
        mine = group.all_reduce(part(group.rank, call, shape))
        theirs = gloo.all_reduce(part(group.rank, call, shape))
        results.append((float((mine - theirs).abs().max()), mine.flatten()[:3].tolist()))
    return results, group.ledger.count("all_reduce")


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_sum_is_gloos_and_the_same_bits_on_every_rank(ranks):
    """200 calls of five sizes run through both sets of slots; Gloo may add three ranks in another order."""
    answers = on_ranks(ranks, sums)
    first, counted = answers[0]
    assert counted == 200
    assert max(apart for apart, _ in first) < 1e-5
    assert all(results == [(apart, bits) for apart, bits in results] for results, _ in answers)
    assert all([bits for _, bits in results] == [bits for _, bits in first] for results, _ in answers)


def gather(_, gloo):
    group = SharedMemoryGroup(timeout_s=30)
    mine = torch.full((2, 3), float(group.rank))
    return group.all_gather(mine).tolist()


def test_the_gather_puts_ranks_side_by_side():
    rows = [[0.0] * 3 + [1.0] * 3] * 2
    assert on_ranks(2, gather) == [rows, rows]


def too_large(_, gloo):
    group = SharedMemoryGroup(timeout_s=30)
    x = torch.ones(SLOT_BYTES // 4 + 1)
    return float(group.all_reduce(x).sum()), group.ledger.count("all_reduce")


def test_a_payload_that_no_slot_holds_goes_through_gloo():
    total = 2.0 * (SLOT_BYTES // 4 + 1)
    assert on_ranks(2, too_large) == [(total, 1), (total, 1)]


def lonely(_, gloo):
    group = SharedMemoryGroup(timeout_s=0.5)
    if group.rank == 1:
        time.sleep(2)
        return "came late"
    start_s = time.monotonic()
    try:
        group.all_reduce(torch.ones(4))
    except TimeoutError as error:
        return f"{error} after {time.monotonic() - start_s:.0f}"
    return "came through"


def test_a_peer_that_does_not_come_is_an_error_and_no_endless_wait():
    assert on_ranks(2, lonely)[0].startswith("rank 1 did not come to a sum within 0.5 s")


def where_it_lies(_, gloo):
    group = SharedMemoryGroup(timeout_s=30)
    group.all_reduce(torch.ones(1))
    return [
        line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "memfd" in line
    ]


def test_the_memory_never_has_a_name():
    """Whatever kills the ranks or their server, and whenever: there is no file to be left behind."""
    assert on_ranks(2, where_it_lies) == [["/memfd:shardlab (deleted)"]] * 2


def refused(_, gloo, rank):
    """One rank cannot have the memory, and neither falls out of step with the other."""

    def too_many(*_):
        raise OSError(errno.EMFILE, "")

    if gloo.rank == rank:
        os.memfd_create = shared_memory.os.open = too_many
    try:
        SharedMemoryGroup(timeout_s=5)
    except SharedMemoryError as error:
        return str(error), float(gloo.all_reduce(torch.ones(1)))
    return "came through"


@pytest.mark.parametrize("rank", [0, 1])
def test_where_one_rank_cannot_have_it_every_rank_says_why(rank):
    answers = run_ranks(2, Path(__file__), "refused", Path(collectives.__file__), rank=rank)
    assert answers == [("Too many open files", 2.0)] * 2


def on_a_host_each(_, gloo):
    """On ranks that torchrun would have started so: whether Gloo is what they get, and what they say of it."""
    told = []
    os.environ |= {"RANK": str(gloo.rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}
    shared_memory.collectives = SimpleNamespace(join=lambda *_: gloo)
    shared_memory.say = lambda event, **values: told.append((event, values["backend"], values["why"]))
    return shared_memory.join("shm", 5.0) is gloo, told


def test_ranks_of_two_hosts_meet_over_gloo_and_the_first_says_why():
    said = ("fallback", "gloo", "the ranks are started on several hosts, which share no memory")
    assert on_ranks(2, on_a_host_each) == [(True, [said]), (True, [])]
