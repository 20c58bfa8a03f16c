"""QR codes, module by module against a second implementation, and the choice of a mask by the standard's points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError
from ui.figures.qr import LONGEST, penalty, qr_code

qrcode = pytest.importorskip("qrcode", reason="the bare Pythons have no second implementation")
ADDRESSES = st.text("abcdefghijklmnopqrstuvwxyz0123456789:/.?=-ROM%", min_size=1, max_size=LONGEST)


def by_qrcode(text, mask):
    """The same by the package `qrcode`, another author's."""
    other = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, mask_pattern=mask, border=0)
    other.add_data(qrcode.util.QRData(text.encode(), mode=qrcode.util.MODE_8BIT_BYTE))
    other.make()
    return np.array(other.get_matrix(), bool)


@given(ADDRESSES, st.integers(0, 7))
def test_every_module_is_where_another_implementation_has_it(text, mask):
    assert np.array_equal(qr_code(text, mask), by_qrcode(text, mask))


@pytest.mark.parametrize("length", [14, 15, 26, 27, 42, 43, 62, 63, 84, 85, LONGEST])
def test_a_text_has_the_smallest_version_that_holds_it(length):
    """Table 7, level M: 14, 26, 42, 62, 84 and 106 bytes; where one ends the next begins."""
    held = (14, 26, 42, 62, 84, 106)
    version = next(number for number, most in enumerate(held, 1) if length <= most)
    modules = qr_code("a" * length)
    assert modules.shape == (17 + 4 * version,) * 2
    assert any(np.array_equal(modules, by_qrcode("a" * length, mask)) for mask in range(8))


def test_what_is_longer_is_refused():
    with pytest.raises(OutOfRangeError, match="107"):
        qr_code("a" * (LONGEST + 1))


@given(ADDRESSES)
def test_no_mask_is_read_better_than_the_chosen_one(text):
    assert penalty(qr_code(text)) == min(penalty(qr_code(text, mask)) for mask in range(8))


@pytest.mark.parametrize(
    ("drawn", "points"),
    [
        # 21 runs of 21 each way, 3 + 16 points a run; 400 blocks of four; all dark is 50 % off, ten times 5 %
        (np.ones((21, 21), bool), 2 * 21 * 19 + 3 * 400 + 100),
        # a chessboard: no run, no block, half dark within 5 %
        (np.indices((21, 21)).sum(axis=0) % 2 == 0, 0),
    ],
    ids=["dark", "chessboard"],
)
def test_points_are_the_standards(drawn, points):
    assert penalty(drawn) == points


def test_what_looks_like_a_finder_costs_forty():
    """One row 1011101 with four light modules after it, in a chessboard that has no such run."""
    board = np.indices((21, 21)).sum(axis=0) % 2 == 0
    board[10, 5:16] = [1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    without = board.copy()
    without[10, 15] = True
    assert penalty(board) - penalty(without) >= 40
