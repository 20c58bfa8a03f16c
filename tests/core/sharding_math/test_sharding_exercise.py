"""The count as an exercise: its lines, and answers right, wrong, and right in another unit."""

import pytest

from core.catalog import model
from core.sharding_math.exercise import LEVELS, calculation, grade, is_given

LINES = calculation(model("llama-3-8b"), tokens=1, tp_size=2)


def test_the_lines_lead_to_512_kib():
    """4,096 entries, × 2 B = 8 KiB, 2 × 32 = 64 sums, 64 × 8 KiB = 512 KiB."""
    assert [line.value for line in LINES] == [4096, 8192, 64, 524288]
    assert [line.shown for line in LINES] == ["4\u202f096", "8 KiB", "64", "512 KiB"]
    assert LINES[2].arithmetic == "2 × 32"


def test_one_rank_sends_nothing():
    assert [line.value for line in calculation(model("llama-3-8b"), 1, 1)] == [4096, 8192, 0, 0]


@pytest.mark.parametrize("answer", ["8 KiB", "8192 B", "8,192B", " 8.192 KB", "8.19 kB"])
def test_any_unit_of_bytes_will_do(answer):
    assert grade(answer, LINES[1]).right


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("8 KB", "which of them"),
        ("8192", "In which unit"),
        ("4 KiB", "Half of it"),
        ("16 KiB", "Twice too much"),
        ("1 MiB", "4\u202f096 × 2 B"),
        ("much", "A number"),
        ("8 miles", "In which unit"),
        ("", "A number"),
    ],
)
def test_a_wrong_answer_is_told_what_is_wrong(answer, said):
    graded = grade(answer, LINES[1])
    assert not graded.right
    assert said in graded.feedback


def test_a_count_has_no_unit():
    assert grade("64", LINES[2]).right
    assert "no unit" in grade("64 B", LINES[2]).feedback
    assert "Half of it" in grade("32", LINES[2]).feedback


def test_a_right_answer_is_told_the_arithmetic():
    assert grade("512 KiB", LINES[3]).feedback == "64 × 8 KiB = 512 KiB"


def test_levels_take_the_help_away():
    assert [[is_given(level, line, 4) for line in range(4)] for level in LEVELS] == [
        [True] * 4,
        [True, True, True, False],
        [False] * 4,
    ]
