"""The stepper's payload: core's diagram in words, as the browser gets it."""

import json
import re
import subprocess
from pathlib import Path
from shutil import which
from typing import get_args

import pytest

from core.scenario import Scenario
from core.sharding_math.drawn import payload
from core.sharding_math.examples import Kind, run
from core.sharding_math.mistakes import DEAR_ORDERS, MISTAKES, broken
from core.sharding_math.numerics import precision
from core.sharding_math.rounding import Trial
from core.sharding_math.trace_diagram import trace_diagram
from runtime import content
from runtime.prose import named
from ui.players import block_stepper as stepper
from ui.prose import prose_of
from ui.sharding_math.boards import note, still, table, view, worded
from ui.sharding_math.words import fields

SCRIPTS = sorted(Path(stepper.__file__).parent.glob("*.js"))
FLOAT32 = precision("float32")


def board(kind="row", num_ranks=4):
    drawn = run(kind, num_ranks, fmt=FLOAT32)
    return worded(trace_diagram(drawn.trace, drawn.dense, FLOAT32, drawn.verbs), ", 8 KiB at scale")


def test_rows_and_steps_have_their_names():
    row = board("row")
    assert [step["name"] for step in row["steps"]] == ["whole", "shard", "local matmul", "all-reduce", "compare"]
    assert [one["name"] for one in row["rows"]] == ["x", "W.T", "partial y", "all-reduce", "y", "dense y"]
    assert row["outputs"][0]["terms"][3]["label"] == "rank 3"
    assert board("column")["outputs"][0]["terms"][1]["label"] == "x[1]·W"


def test_every_tensor_that_is_called_by_a_word_is_called_so_in_every_language():
    """What is called by a letter is called so everywhere, as a token is."""
    mistaken = [broken(name, 2) for name in (*MISTAKES, *DEAR_ORDERS)]
    traces = [run(kind, 2).trace for kind in get_args(Kind)]
    traces += [trace for mistake in mistaken for trace in (mistake.right, mistake.wrong)]
    names = {tensor.name for trace in traces for tensor in trace.tensors if re.search("[a-z]{2}", tensor.name)}
    for language in set(content.finished()) - {content.ENGLISH}:
        with content.speaking(language):
            assert {name for name in names if named("sharding_math", name) == name} == {"token", "Wkv"}


def test_shapes_are_written_as_a_rank_sees_them():
    shapes = {row["key"]: row["shape"] for row in board("row")["rows"]}
    assert [shapes[name] for name in ("x", "W", "partial y", "y", "dense")] == [
        *("[1, 1] a rank", "[1, 4] a rank", "[1, 4] {U₄}", "[1, 4] on all", "on one device"),
    ]
    assert {row["key"]: row for row in board("row")["rows"]}["W"]["whole_shape"] == "[4, 4]"


def test_a_bar_says_what_it_carries_or_why_it_is_absent():
    (sent,) = (row for row in board("row")["rows"] if row["kind"] == "bar")
    assert sent["shape"] == "sum over 4"
    assert sent["text"] == "Σ  one payload, 4 × 4 bytes here, 8 KiB at scale"
    (absent,) = (row for row in board("column")["rows"] if row["kind"] == "bar")
    assert (absent["name"], absent["sent"], absent["shape"]) == ("no collective", False, "ledger empty")


def test_a_board_is_a_table_too():
    """Each block on each rank, the bar between them, the step from which it stands, in the figure's own words."""
    drawn = run("row", 2, fmt=FLOAT32)
    lines = table(still(drawn, "", 0))
    assert [(line.step, line.tensor, line.rank) for line in lines] == [
        ("whole", "x", "0"), ("whole", "x", "1"), ("whole", "W.T", "0"), ("whole", "W.T", "1"),
        ("local matmul", "partial y", "0"), ("local matmul", "partial y", "1"), ("all-reduce", "all-reduce", ""),
        ("all-reduce", "y", "0"), ("all-reduce", "y", "1"), ("whole", "dense y", ""),
    ]  # fmt: skip
    assert lines[4].values == "2.94 −0.64 2.62 −1.32"


def test_what_a_gather_carries_at_scale_is_the_hidden_row():
    """14,336 × 2 B = 28 KiB, where the all-reduce of the pair is 8 KiB."""
    assert payload(Scenario(), "gathered") == 28 * 1024
    assert payload(Scenario(), "mlp") == 8 * 1024


def test_every_mistake_can_be_worded():
    for mistake in MISTAKES:
        layer = broken(mistake, 2)
        names = [row["name"] for row in worded(trace_diagram(layer.wrong, layer.dense))["rows"]]
        assert "all-reduce" in names


def test_the_activation_first_stands_beside_a_dense_result_after_its_activation():
    """`dense y` stood there, beside numbers that are σ(y)."""
    layer = broken("activation_before_sum", 2)
    for trace in (layer.right, layer.wrong):
        (dense,) = (row for row in worded(trace_diagram(trace, layer.dense))["rows"] if row.get("held") == "dense")
        assert dense["name"] == "dense σ(y)"


def test_a_view_is_plain_json_with_a_caption_a_step_and_notes(monkeypatch):
    trial = Trial(in_features=8, out_features=8, num_ranks=4, dtype="float32", order="ring")
    prose = prose_of("sharding_math", fields(Scenario(), "row", 4, "No all-reduce", trial))
    seen = view(run("row", 4, fmt=FLOAT32), prose, "row", 8192, FLOAT32)
    sent = []
    monkeypatch.setattr(stepper, "_stepper", lambda key, data: sent.append(json.loads(json.dumps(data))))
    stepper.block_stepper(seen, seen, key="row", present=True, start=3)
    (data,) = sent
    assert (data["start"], data["present"], len(data["views"])) == (3, True, 2)
    assert data["views"][1]["board"]["rows"][0]["blocks"][3]["cells"] == [["−1.1"]]
    assert all(data["views"][0]["captions"])
    assert len(data["views"][0]["captions"]) == 5
    ledger, *_, dense = data["views"][0]["notes"]
    assert (ledger["steps"], dense["headline"]) == ([0, 1, 2], "largest error 3 ulps")


def test_a_note_opens_with_its_title_and_headline():
    made = note("##### Ledger\n#### empty\nNothing *sent*\nyet.", (0, 1))
    assert (made.title, made.headline, made.text, made.steps) == ("Ledger", "empty", "Nothing sent yet.", (0, 1))


@pytest.mark.skipif(which("node") is None, reason="needs node")
@pytest.mark.slow
def test_scripts_are_well_formed():
    for script in SCRIPTS:
        subprocess.run(["node", "--check", str(script)], check=True, capture_output=True)
