"""The drawn numbers of timed questions, replayed on the referee's clock from what the question shows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import link
from core.collectives.programs import program
from core.course.quiz import paper
from core.course.quiz.paper import MOST_SEED
from core.quantity import read_quantity
from core.referee.fabric import Fabric
from core.referee.shown import bare, played_s
from core.units import KIB

SEEDS = st.integers(0, MOST_SEED)


def drawn(seed, key):
    """A question of a paper, and a reader of the quantities that its text shows."""
    (question,) = paper(seed, [key])

    def shown(name):
        return read_quantity(question.fields[name]).value

    return question, shown


def wired(shown):
    """The wire that a question describes: its hop and its bandwidth, and nothing besides."""
    return Fabric(
        replace(
            bare(link("ethernet-10g-lab")),
            latency_s=shown("hop"),
            bandwidth_bytes_per_s=shown("bandwidth"),
        )
    )


@given(SEEDS)
def test_the_bill_over_ethernet_is_what_the_wire_takes(seed):
    """So many rings of the payload shown, one after another, message by message."""
    question, shown = drawn(seed, "ethernet_bill")
    ring_s = played_s(wired(shown), program("all_reduce", "ring", 2), 8 * KIB)
    assert question.answer == pytest.approx(int(question.fields["count"]) * ring_s, rel=1e-6)


@given(SEEDS)
def test_at_the_balance_a_ring_waits_as_long_as_it_sends(seed):
    """Of the payload that is the answer: twice its waiting, which is that of an empty payload."""
    question, shown = drawn(seed, "balance")
    ring, wire = program("all_reduce", "ring", int(question.fields["ranks"])), wired(shown)
    waiting_s = 2 * (int(question.fields["ranks"]) - 1) * shown("hop")
    assert played_s(wire, ring, question.answer) == pytest.approx(2 * waiting_s, rel=1e-6)


@given(SEEDS)
def test_the_least_of_a_step_is_the_weights_that_are_read_over_the_memory(seed):
    """From the figures shown, as they are rounded there."""
    question, shown = drawn(seed, "streaming")
    read = shown("weights") - shown("table")
    assert question.answer == pytest.approx(read / shown("memory"), rel=2e-3)


@given(SEEDS)
def test_a_slow_rank_holds_every_other_up(seed):
    question, shown = drawn(seed, "slow_rank")
    longer = 1 + float(question.fields["slow"].split("\u00a0")[0]) / 100
    assert question.answer == pytest.approx(shown("compute") * longer + shown("comm"), rel=1e-6)
