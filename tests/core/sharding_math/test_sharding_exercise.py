"""The count as an exercise: its lines, and answers right, wrong, and right in another unit."""

from core.catalog import model
from core.sharding_math.exercise import LEVELS, calculation, is_given
from core.text.question import judge

ENTRIES, PAYLOAD, COUNT, TOTAL = calculation(model("llama-3-8b"), tokens=1, tp_size=2)


def grade(answer, line):
    """What is told of an answer."""
    return judge(line.question, answer).block


def test_the_lines_lead_to_512_kib():
    """4,096 entries, × 2 B = 8 KiB, 2 × 32 = 64 sums, 64 × 8 KiB = 512 KiB."""
    assert [line.value for line in (ENTRIES, PAYLOAD, COUNT, TOTAL)] == [4096, 8192, 64, 524288]
    assert (COUNT.first, COUNT.second) == (2, 32)


def test_one_rank_sends_nothing_and_no_answer_divides_by_it():
    lines = calculation(model("llama-3-8b"), 1, 1)
    assert [line.value for line in lines] == [4096, 8192, 0, 0]
    assert (grade("0", lines[2]), grade("64", lines[2])) == ("by_hand.why", "by_hand.why")
    assert [judge(lines[2].question, answer).right for answer in ("0", "64")] == [True, False]


def test_any_unit_of_bytes_will_do():
    for answer in ("8 KiB", "8192 B", "8,192B", " 8.192 KB", "8.19 kB"):
        assert judge(PAYLOAD.question, answer).right, answer


def test_a_wrong_answer_is_told_what_is_wrong():
    remarks = {
        "8 KB": "by_hand.slip_thousands",
        "8192": "judge.no_unit_bytes",
        "4 KiB": "by_hand.slip_half",
        "16 KiB": "by_hand.slip_twice",
        "1 MiB": "by_hand.why",
        "much": "judge.no_number",
        "8 miles": "judge.other_unit_bytes",
        "": "judge.no_number",
    }
    assert {answer: grade(answer, PAYLOAD) for answer in remarks} == remarks


def test_a_count_has_no_unit():
    assert [grade(answer, COUNT) for answer in ("64", "64 B", "32")] == [
        "by_hand.why",
        "judge.other_unit_count",
        "by_hand.slip_half",
    ]


def test_levels_take_the_help_away():
    assert [[is_given(level, line, 4) for line in range(4)] for level in LEVELS] == [
        [True] * 4,
        [True, True, True, False],
        [False] * 4,
    ]
