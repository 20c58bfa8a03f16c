"""A whole tensor computes nothing before it is cut, by whatever road one tries."""

import numpy as np
import pytest

from core.errors import OutOfRangeError
from core.sharding_math.lab import column_parallel, row_parallel
from core.sharding_math.whole import Whole
from tests.each import each

W = np.arange(32.0).reshape(8, 4)
X = np.ones((2, 4))
ROADS = [
    lambda whole: X @ whole.T,
    lambda whole: whole @ X.T,
    lambda whole: np.dot(X, whole.T),
    lambda whole: np.einsum("td,fd->tf", X, whole),
    lambda whole: np.asarray(whole),
    lambda whole: np.array(whole[:]),
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
    with pytest.raises(OutOfRangeError, match="is more than one rank holds: cut it into 4 shares"):
        ROADS[number](Whole("W", W, 4))


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
