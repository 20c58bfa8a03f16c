"""One text, one number: groups, decimal commas, signs, ranges, and what is no number at all."""

from math import inf, isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.numbers import LONGEST, number, whole_number


def test_every_way_to_write_a_number_gives_that_number():
    same = {
        1024.0: (
            "1024",
            "1,024",
            "1 024",
            "1\u202f024",
            "1\u00a0024",
            "1'024",
            "1’024",
            "1_024",
            "+1024",
            "1.024e3",
        ),
        1.5: ("1.5", "1,5", " 1.50 ", "15e-1"),
        1024.5: ("1,024.5", "1.024,5", "1 024.5"),
        1234567.0: ("1,234,567", "1.234.567", "1 234 567"),
        0.024: ("0,024", ".024", "0.024"),
        1.024: ("1.024",),
        12.3456: ("12,3456",),
        -3.0: ("-3", "−3", "–3"),
    }
    for value, texts in same.items():
        assert {text: number(text) for text in texts} == dict.fromkeys(texts, value)


def test_what_is_no_number_is_none():
    texts = (
        "",
        "-",
        "--5",
        "+-5",
        "5-",
        "1,02,4",
        "1,,5",
        "1 02",
        "0x10",
        "nan",
        "five",
        "1e",
        "1e99999",
        "٣",
        "1\n\n2",
    )
    assert {text: number(text) for text in texts} == dict.fromkeys(texts)
    assert [number(value) for value in (None, True, [], {}, float("nan"), inf, 10**400, "9" * 5000)] == [None] * 8


def test_infinity_is_a_number_only_where_it_may_be():
    assert [number(said, infinite=True) for said in ("inf", "Infinity", "-∞", inf)] == [inf, inf, -inf, inf]
    assert number("inf") is None
    assert number("inf", most=10, infinite=True) is None


def test_a_number_outside_of_its_range_is_none():
    assert [number(said, 0, 10) for said in ("-0.1", "0", "10", "10.1")] == [None, 0, 10, None]
    assert [whole_number(said, 1, 8) for said in ("0", "1", "8", "9", "1.5", "8,0")] == [None, 1, 8, None, None, 8]


@given(st.integers(-(10**18), 10**18), st.sampled_from(["", ",", "_", " "]))
def test_a_whole_number_is_exact_to_its_last_digit(value, mark):
    assert whole_number(f"{value:,}".replace(",", mark)) == value
    assert whole_number(value) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_python_prints_is_read_back(value):
    assert number(repr(value)) == value


@given(st.one_of(st.text(max_size=2 * LONGEST), st.text("0123456789.,-+e ' _∞inf", max_size=2 * LONGEST)))
@settings(max_examples=300)
def test_no_text_raises(text):
    value, whole = number(text, infinite=True), whole_number(text)
    assert value is None or value == value
    assert whole is None or isfinite(float(whole))


@pytest.mark.parametrize("piece", ["9", "1,", " ", "-", "1.000.", "e", "1'000"])
def test_a_text_of_any_length_is_refused_at_once(piece):
    """Only its length is looked at: no pattern and no `int` sees it."""
    assert number(piece * 1_000_000) is None


def test_a_whole_number_has_eighteen_digits_at_most():
    assert [whole_number(text) for text in ("1e18", "-1e18", "2e18", "-2e18")] == [10**18, -(10**18), None, None]
