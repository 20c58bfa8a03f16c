"""A learner's bill beside the reference: the same for the solution, apart for a wrong one, and read warily."""

from types import SimpleNamespace

import pytest

from core.comm_cost import bill as solution
from core.comm_cost.submission import LINKS, own_bills, result_of, sizes_of, step_of
from core.scenario import Scenario
from core.steps.view import View
from tests.each import each

STEPS = [
    sizes_of(View(Scenario(tp=ranks, batch=batch), phase, napkin=True).step)
    for ranks in (1, 2, 8)
    for batch in (1, 64)
    for phase in ("decode", "prefill")
]


def wrong(**functions):
    return SimpleNamespace(**{**vars(solution), **functions})


@each("sizes", STEPS)
def test_the_solutions_bill_is_the_references(sizes):
    bills = own_bills(result_of(solution, *sizes), sizes)
    assert [own.link.key for own in bills] == list(LINKS)
    assert all(own.right for own in bills)
    for own in bills:
        assert own.bandwidth_s == pytest.approx(own.due.bandwidth_s, rel=1e-9)


@each("sizes", [sizes for sizes in STEPS if sizes[3] > 1])
def test_half_the_all_reduces_make_half_the_bill(sizes):
    def once_a_layer(*asked):
        return solution.tp_comm_time_per_step(*asked) / 2

    for own in own_bills(result_of(wrong(tp_comm_time_per_step=once_a_layer), *sizes), sizes):
        assert own.comm_s == pytest.approx(own.due.comm_s / 2)
        assert not own.right


def test_a_share_that_is_not_written_yet_leaves_the_bill():
    def unwritten(*_):
        raise NotImplementedError

    bills = own_bills(result_of(wrong(comm_fraction=unwritten), *STEPS[-1]), STEPS[-1])
    assert [own.fraction for own in bills] == [None, None]
    assert not any(own.right for own in bills)


def test_a_step_keeps_its_payload_and_its_compute_in_whole_numbers():
    step = View(Scenario(), napkin=True).step
    again = step_of(*sizes_of(step))
    assert (again.payload_bytes, again.all_reduces) == (step.payload_bytes, step.all_reduces)
    assert again.compute_s == pytest.approx(step.compute_s, abs=1e-9)


GOOD = [1e-3, 5e-4, 0.1]


@each(
    "bills",
    [
        *(None, "x", [], [GOOD], [GOOD, GOOD, GOOD], [GOOD, [1e-3, 5e-4]], [GOOD, "abc"], {"0": GOOD, "1": GOOD}),
        *([GOOD, [bad, 5e-4, 0.1]] for bad in (None, "1", True, float("nan"), float("inf"), -1.0, 1e300, 10**400)),
        [GOOD, [1e-3, 2e-3, 0.1]],
    ],
)
def test_what_is_no_bill_is_not_drawn(bills):
    assert own_bills({"sizes": list(STEPS[0]), "bills": bills}, STEPS[0]) == ()


def test_a_bill_of_another_step_is_not_drawn():
    told = result_of(solution, *STEPS[0])
    assert own_bills(told, STEPS[0])
    assert own_bills(told, STEPS[1]) == ()
    assert own_bills({}, STEPS[0]) == ()
