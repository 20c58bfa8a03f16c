"""The errors that stand beside predicted times, as a table takes them along."""

import csv
import io
import re
from pathlib import Path

import pytest

from core.catalog import GPUS, gpu, model
from core.evidence.accuracy import TESTED, accuracy_of
from core.placement.assumed import held_to
from core.placement.cases import case_plans
from runtime import content
from runtime.prose import worded
from tests.each import each
from ui import tested

ROOT = Path(__file__).resolve().parents[2]


@each("key", GPUS)
def test_a_saved_table_of_predicted_times_says_how_far_such_times_were_off(key):
    """n, median and p90 of the class and quantity, in every row; 0 published times where none was tested."""
    row = model("llama-3-8b")
    saved = tested.marked(b"plan,itl_ms\nTP=1,7.5\nTP=2,5\n", tested.columns((gpu(key), row)))
    first, second = csv.DictReader(io.StringIO(saved.decode()))
    known = accuracy_of(gpu(key), row, "decode")
    assert int(first["decode_published_times"]) == (known.n if known else 0)
    assert ("decode_median_error" in first) is (known is not None)
    assert {name: first[name] for name in first if "_" in name and name != "itl_ms"}.items() <= second.items()


def test_a_table_of_two_gpus_says_the_errors_of_both():
    """The worked case of one node or two saved the first GPU's alone."""
    compared = [(one.question.cluster.gpu, one.question.model) for one, _ in case_plans("two_nodes")]
    saved, keys = tested.columns(*compared), {gpu_spec.key for gpu_spec, _ in compared}
    assert len(keys) == 2
    for gpu_spec, row in compared:
        known = accuracy_of(gpu_spec, row, "decode")
        assert saved[f"{gpu_spec.key}_{row.key}_decode_published_times"] == (known.n if known else 0)
    assert tested.columns(compared[0], compared[0]) == tested.columns(compared[0])


def test_a_table_of_no_prediction_is_saved_as_it_is():
    assert tested.marked(b"a\n1\n", {}) == b"a\n1\n"


@pytest.mark.parametrize("language", ["en", "es"])
def test_one_published_time_alone_has_no_median(language):
    """How many there are and of how many sources stands beside every error."""
    median = {"en": "The median", "es": "La mediana"}[language]
    pairs = [(gpu(g), model(m)) for g in ("h100-sxm", "mi300x") for m in ("llama-3-8b", "qwen3-next-80b-a3b")]
    with content.speaking(language):
        said = [
            (accuracy_of(*pair, quantity), worded(line))
            for pair in pairs
            for quantity, line in zip(("decode", "first_token"), held_to(*pair), strict=True)
        ]
    assert {bool(known and known.n == 1) for known, _ in said} == {True, False}
    assert all((median in line) == (known.n > 1) for known, line in said if known)
    counts = [(line, rf"\b{known.n}\b.*\b{known.sources}\b") for known, line in said if known and known.n > 1]
    assert all(re.search(both, line) for line, both in counts)
    assert [key for key, known in TESTED.items() if known.n < known.sources] == []
