"""A whole tensor computes nothing before it is cut, by whatever road one tries."""

import numpy as np
import pytest

from core.errors import OutOfRangeError
from core.ledger import Ledger
from core.sharding_math.collectives import all_gather
from core.sharding_math.lab import column_parallel, row_parallel
from core.sharding_math.whole import Whole, kept_whole
from tests.each import each

W = np.arange(32.0).reshape(8, 4)
X = np.ones((2, 4))
ROADS = [
    lambda whole: X @ whole.T,
    lambda whole: whole @ X.T,
    lambda whole: np.dot(X, whole.T),
    lambda whole: np.einsum("td,fd->tf", X, whole),
    lambda whole: np.asarray(whole) @ X.T,
    lambda whole: X @ np.array(whole[:], dtype=float).T,
    lambda whole: np.ascontiguousarray(whole.T) + 0,
    lambda whole: np.concatenate([whole, whole]),
    lambda whole: whole + 0,
    lambda whole: 1.0 * whole,
    lambda whole: sum(whole[:4]) + sum(whole[4:]) @ whole,
    lambda whole: X @ whole[:5].T,
    lambda whole: np.copy(whole) * 1,
    lambda whole: whole.reshape(8, 4) - 1,
]


@each("number", range(len(ROADS)))
def test_no_road_leads_to_a_product_with_all_of_it(number):
    said = r"W=\[8, 4\], .* is more than one rank holds: cut it into 4 shares"
    with kept_whole(), pytest.raises(OutOfRangeError, match=said):
        ROADS[number](Whole("W", W, 4))


def test_outside_of_a_call_numpy_makes_no_array_of_it():
    with pytest.raises(OutOfRangeError, match="is more than one rank holds"):
        np.asarray(Whole("W", W, 4))


HARMLESS = [
    lambda whole: np.asarray(whole),
    lambda whole: np.array(whole, dtype=float),
    lambda whole: whole.copy().astype(np.float64),
    lambda whole: np.ascontiguousarray(whole),
    lambda whole: np.atleast_2d(whole).swapaxes(0, 1).T,
    lambda whole: whole.reshape(whole.shape),
]


@each("number", range(len(HARMLESS)))
def test_what_only_makes_an_array_of_it_leaves_it_whole(number):
    whole = Whole("W", W, 4, 0, side_by_side=True)
    with kept_whole():
        same = HARMLESS[number](whole)
        y = np.concatenate([np.asarray(X) @ np.asarray(part).T for part in np.split(same, 4)], axis=1)
    assert np.array_equal(y, X @ W.T)
    assert whole.is_cut_along(0)
    assert np.zeros_like(whole).shape == (8, 4)


def products(side_by_side=False):
    return [X @ share.T for share in np.split(Whole("W", W, 4, 0, side_by_side=side_by_side), 4)]


def test_what_ranks_made_apart_meets_in_a_collective_alone():
    for meet in (sum, lambda h: h[0] * h[3], lambda h: np.maximum(h[1], h[2]), lambda h: h[0] @ h[1].T):
        with pytest.raises(OutOfRangeError, match="hold one of these values each: only a collective"):
            meet(products())
    for put in (np.hstack, np.column_stack, lambda h: np.concatenate(h, axis=1), lambda h: np.append(h[0], h[1])):
        with pytest.raises(OutOfRangeError, match="a gather that the ledger does not show"):
            put(products())
    ledger = Ledger()
    y = all_gather(products(), ledger)
    assert type(y) is np.ndarray
    assert np.array_equal(y, X @ W.T)
    assert ledger.count("all_gather") == 1
    assert np.array_equal(np.hstack(products(side_by_side=True)), X @ W.T)


def test_a_value_stays_with_its_rank_through_what_is_made_of_it():
    first, second = products()[:2]
    for made in (
        first + 1,
        -first,
        np.exp(first).T,
        first.reshape(-1)[::2],
        np.where(first > 0, first, 0),
        first.sum(1),
    ):
        assert made.ranks == {0}
    with pytest.raises(OutOfRangeError, match="ranks=0 and 1"):
        np.exp(first)[0] + second.copy()[0]
    assert not hasattr(np.stack([first, second]), "ranks")  # a rank each, and not one wider array


def test_several_ranks_may_hold_one_share():
    """Two KV heads over four ranks: ranks 0 and 1 have the first."""
    shares = np.split(Whole("Wk", W, 2, 0, num_ranks=4), 2)
    queries = [X @ share.T for share in np.split(Whole("Wq", W, 4, 0), 4)]
    assert [sorted(share.ranks) for share in shares] == [[0, 1], [2, 3]]
    keys = [X @ share.T for share in shares]
    assert (queries[1] @ keys[0][:, :2].T).ranks == {1}
    with pytest.raises(OutOfRangeError, match="hold one of these"):
        queries[1] @ keys[1][:, :2].T


def test_a_share_says_whether_it_met_a_part_of_what_every_rank_has():
    hidden = np.ones((3, 4))
    for cut, met in ((np.split(hidden, 2, axis=1), 2), ([hidden[:, :2].copy()] * 2, 0)):
        whole = Whole("W2", W, 2, 1)
        for own, share in zip(cut, np.split(whole, 2, axis=1), strict=True):
            own @ share.T
        assert len(whole.met) == met


def test_a_share_is_a_plain_array_and_which_shares_were_taken_is_known():
    for cut in (
        lambda whole: np.split(whole, 4),
        lambda whole: [whole[2 * rank : 2 * rank + 2] for rank in range(4)],
        lambda whole: [part.T for part in np.split(whole.T, 4, axis=1)],
        lambda whole: list(whole.reshape(4, 2, 4)),
    ):
        whole = Whole("W", W, 4)
        assert np.array_equal(np.concatenate([X @ part.T for part in cut(whole)], axis=1), X @ W.T)
        assert whole.is_cut_along(0)
        assert not whole.is_cut_along(1)


def test_one_rank_may_hold_all_of_it():
    assert np.array_equal(X @ Whole("W", W, 1)[:].T, X @ W.T)


def test_the_reference_takes_whole_tensors():
    by_outputs, by_inputs, x = Whole("W", W, 2), Whole("W", W, 2), Whole("x", X, 2)
    assert np.array_equal(column_parallel(X, by_outputs, 2), X @ W.T)
    assert np.array_equal(row_parallel(x, by_inputs, 2), X @ W.T)
    assert (by_outputs.is_cut_along(0), by_inputs.is_cut_along(1), x.is_cut_along(1)) == (True, True, True)
