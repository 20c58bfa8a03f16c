"""Predictions made before a figure was seen: appended, chained, judged once, never changed."""

import json

import pytest

from core.catalog import gpu, model
from core.errors import ShardlabError
from core.evidence.accuracy import accuracy_of
from core.evidence.foretold import foretell, predicted_line, read_foretold, seen_line
from core.models.weights import read_weight_bytes

MADE, LATER, BEFORE = "2026-11-22T10:00:00+00:00", "2026-11-23T10:00:00+00:00", "2026-11-21T10:00:00+00:00"


def told(key="one", **asked):
    return foretell(key, MADE, **{"model_key": "llama-3-8b", "gpu_key": "l40s", **asked})


def ledger(*makers):
    lines = []
    for make in makers:
        lines.append(make(lines[-1] if lines else ""))
    return lines


FIRST = ledger(lambda before: predicted_line(before, told()))


def test_a_prediction_is_never_under_its_roofline_and_says_what_tested_it():
    one = told()
    least_s = read_weight_bytes(model("llama-3-8b")) / gpu("l40s").memory_bytes_per_s
    assert one.predicted_s > least_s
    assert one.tested_rows == 0
    tested = told(gpu_key="a100-80gb-sxm")
    assert tested.tested_rows == accuracy_of(gpu("a100-80gb-sxm"), model("llama-3-8b"), "decode").n


def test_what_was_put_down_is_read_back_with_what_was_seen():
    lines = ledger(
        lambda before: predicted_line(before, told()),
        lambda before: predicted_line(before, told("two", batch=8)),
        lambda before: seen_line(before, "one", LATER, 0.02, "a page"),
    )
    one, two = read_foretold(lines)
    assert one.ratio == pytest.approx(told().predicted_s / 0.02)
    assert (one.source, two.ratio, two.batch) == ("a page", None, 8)


def test_a_line_that_was_changed_breaks_all_that_follow():
    lines = ledger(
        lambda before: predicted_line(before, told()), lambda before: predicted_line(before, told("two"))
    )
    entry = json.loads(lines[0])
    entry["predicted_s"] *= 0.9
    for wrong in ([json.dumps(entry), lines[1]], [lines[1]], lines[::-1], ["{}"], ["no JSON"], ["[]"]):
        with pytest.raises(ShardlabError):
            read_foretold(wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda before: predicted_line(before, told()),
        lambda before: seen_line(before, "nobody", LATER, 0.02, "a page"),
        lambda before: seen_line(before, "one", BEFORE, 0.02, "a page"),
    ],
    ids=["told twice", "never told", "seen before"],
)
def test_a_prediction_cannot_be_made_again_or_seen_before_it_was(make):
    with pytest.raises(ShardlabError):
        read_foretold([*FIRST, make(FIRST[-1])])


def test_a_prediction_is_judged_once():
    lines = [*FIRST, seen_line(FIRST[-1], "one", LATER, 0.02, "a page")]
    with pytest.raises(ShardlabError, match="judged once"):
        read_foretold([*lines, seen_line(lines[-1], "one", LATER, 0.03, "another")])


def test_what_is_seen_in_the_second_of_the_prediction_is_seen_after_it():
    (one,) = read_foretold([*FIRST, seen_line(FIRST[-1], "one", MADE, 0.02, "a page")])
    assert one.seen == MADE
