"""How long a rank that says nothing is waited for: as long as it is given processor time, up to a bound."""

from collections import Counter
from multiprocessing import Pipe

import pytest

pytest.importorskip("torch")

from distributed import local_ranks
from distributed.local_ranks import IDLE_S, TIMEOUT_S, RankError

RANKS = 2
WAITS = 100
"""How often all of them stay silent where nobody gives them up; then they answer."""


LOST = f"a rank did not answer within {TIMEOUT_S:.0f} s"


def waits_for(monkeypatch, given_s: float) -> tuple[int, str]:
    """How often ranks are waited for that are given so many seconds a wait, together; and what is said at last."""
    pipes = [Pipe(duplex=False) for _ in range(RANKS)]
    used_s, waited, said = Counter(), [], ""

    def silent(asked, timeout_s):
        assert timeout_s == TIMEOUT_S
        if len(waited) == WAITS:
            for _, theirs in pipes:
                theirs.send(("answer", 7))
            return asked
        waited.append(len(asked))
        used_s[0] += given_s
        return []

    monkeypatch.setattr(local_ranks, "wait", silent)
    monkeypatch.setattr(local_ranks, "processor_s", used_s.__getitem__)
    try:
        assert local_ranks._answers([ours for ours, _ in pipes], list(range(RANKS))) == [7] * RANKS
    except RankError as error:
        said = str(error)
    finally:
        for pipe in pipes:
            for end in pipe:
                end.close()
    return len(waited), said


def test_a_silent_rank_that_is_given_processor_time_is_waited_for(monkeypatch):
    """A machine that others use gives a rank a few seconds a minute: late, and not lost."""
    assert waits_for(monkeypatch, 1.1 * IDLE_S) == (WAITS, "")


@pytest.mark.parametrize("given_s", [0, 0.9 * IDLE_S])
def test_a_silent_rank_that_only_waits_is_given_up_at_once(monkeypatch, given_s):
    """What a rank uses up while it looks for its peers is no sign of life."""
    assert waits_for(monkeypatch, given_s) == (1, LOST)


def test_a_silent_rank_that_computes_without_end_is_given_up(monkeypatch):
    """All of them together are given no more than each could have had, once, on an idle machine."""
    assert waits_for(monkeypatch, TIMEOUT_S / 4) == (4 * RANKS, LOST)
