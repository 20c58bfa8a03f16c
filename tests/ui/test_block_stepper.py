"""The stepper's payload: the story core tells, as the browser gets it. What it draws is tested in a browser."""

import json
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest

from core.errors import IndivisibleError
from core.sharding_math.examples import run
from core.sharding_math.faults import FAULTS, broken
from core.sharding_math.following import signed
from core.sharding_math.numerics import precision
from core.sharding_math.storytelling import storyboard
from ui.players import block_stepper as stepper
from ui.players.block_stepper import Note, View

SCRIPTS = sorted(Path(stepper.__file__).parent.glob("*.js"))


def board(kind="row", num_ranks=4, width=4):
    drawn = run(kind, num_ranks, width, precision("float32"))
    return storyboard(drawn.trace, drawn.dense, "8 KiB at scale", precision("float32"))


def rows(story):
    return {row.key: row for row in story.rows}


def bar_of(story):
    (bar,) = (row for row in story.rows if row.kind == "bar")
    return bar


def test_a_row_layer_is_told_in_five_steps():
    story = board("row")
    assert [step.name for step in story.steps] == ["whole", "shard", "local matmul", "all-reduce", "compare"]
    assert [row.name for row in story.rows] == ["x", "W", "partial y", "all-reduce", "y", "dense y"]


def test_a_column_layer_says_that_nothing_is_sent():
    story = board("column")
    bar = bar_of(story)
    assert (bar.name, bar.sent) == ("no collective", False)
    assert "all-reduce" not in [step.name for step in story.steps]


def test_an_mlp_has_one_bar_between_second_matmul_and_result():
    story = board("mlp")
    names = [row.name for row in story.rows]
    assert names == ["x", "W1", "h", "σ(h)", "W2", "partial y", "all-reduce", "y", "dense y"]
    assert [step.key for step in story.steps][2:5] == ["matmul", "pointwise", "matmul_2"]


def test_blocks_hold_what_the_ranks_hold_and_where_it_was_cut_out():
    """Rank 1 of four has columns 2 and 3 of W."""
    block = rows(board("row"))["W"].blocks[1]
    assert block.cells == (("2.3", "0.4"), ("−0.7", "−1.0"), ("0.2", "1.9"), ("−1.4", "−1.2"))
    assert (block.top, block.left) == (0, 2)
    block = rows(board("column"))["W"].blocks[1]
    assert (block.top, block.left) == (2, 0)


def test_shapes_are_written_as_a_rank_sees_them():
    row = rows(board("row"))
    assert [row[name].shape for name in ("x", "W", "partial y", "y")] == [
        "[1, 2] a rank",
        "[4, 2] a rank",
        "[1, 4] {U₄}",
        "[1, 4] on all",
    ]
    assert row["W"].whole_shape == "[4, 8]"


WRITTEN = [(kind, ranks) for kind in ("row", "mlp") for ranks in (2, 4, 8)]
WRITTEN += [(kind, ranks) for kind in ("attention", "embedding", "sequence") for ranks in (2, 4)]


@pytest.mark.parametrize(("kind", "num_ranks"), WRITTEN)
def test_the_sum_that_is_written_out_adds_up_as_written(kind, num_ranks):
    """Inputs have one decimal and products two, so no shown sum is off by rounding of the shown terms."""
    for output in board(kind, num_ranks, 2).outputs:
        terms = [float(term.value.replace("−", "-")) for term in output.terms]
        assert sum(terms) == pytest.approx(float(output.total.replace("−", "-")), abs=1e-9)
        assert len(terms) == num_ranks


def test_following_an_output_lights_its_row_of_w_and_every_term():
    output = board("row").outputs[3]
    lit = {(ring.row, ring.block): (ring.top, ring.left, ring.height, ring.width) for ring in output.rings}
    assert [lit["W", rank] for rank in range(4)] == [(3, 0, 1, 2)] * 4
    assert [lit["partial y", rank] for rank in range(4)] == [(0, 3, 1, 1)] * 4
    assert [term.value for term in output.terms] == ["−1.32", "0.90", "−1.50", "0.86"]
    assert (output.label, output.total) == ("y[3]", "−1.06")


def test_an_output_of_a_column_layer_was_made_by_one_rank():
    output = board("column").outputs[5]
    assert {(ring.row, ring.block) for ring in output.rings} == {("y", 2), ("W", 2), ("dense", 0)}
    assert {term.rank for term in output.terms} == {2}


def test_a_token_is_followed_to_its_row_of_the_table():
    """Token 5 of eight over four ranks is the second row of rank 2; the others' terms are zeros."""
    output = board("embedding").outputs[1]
    lit = {(ring.row, ring.block): (ring.top, ring.width) for ring in output.rings if ring.row == "E"}
    assert lit == {("E", 2): (1, 4)}
    assert [float(term.value.replace("−", "-")) != 0 for term in output.terms] == [False, False, True, False]


def test_copied_kv_heads_lie_on_one_another_before_the_cut():
    """Two KV heads over four ranks: neighbours' blocks start from the same place in the whole."""
    blocks = rows(board("attention"))["Wkv"].blocks
    assert [block.top for block in blocks] == [0, 0, 2, 2]
    assert blocks[0].cells == blocks[1].cells


def test_a_sum_in_two_halves_has_two_bars_and_a_row_a_rank_between():
    story = board("sequence")
    assert [row.name for row in story.rows if row.kind == "bar"] == ["reduce-scatter", "all-gather"]
    assert rows(story)["y"].shape == "[1, 2] a rank"
    assert [block.top for block in rows(story)["y"].blocks] == [0, 1, 2, 3]


def test_one_rank_is_told_without_a_collective():
    story = board("row", 1)
    assert not bar_of(story).sent
    assert not any(row.owned for row in story.rows if row.kind == "tensor")


@pytest.mark.parametrize("num_ranks", [3, 6])
def test_a_cut_that_leaves_a_remainder_is_refused(num_ranks):
    with pytest.raises(IndivisibleError, match=f"in_features=8 does not divide over num_ranks={num_ranks}"):
        board("row", num_ranks)


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_cells_are_marked_with_their_difference_and_right_ones_are_not(fault):
    found = broken(fault, 2)
    right, wrong = (storyboard(trace, found.dense) for trace in (found.right, found.wrong))
    assert not any(block.wrong for row in right.rows if row.kind == "tensor" for block in row.blocks)
    result = next(row for row in wrong.rows if row.kind == "tensor" and row.key == found.wrong.result.name)
    gaps = [part - found.dense for part in found.wrong.result.parts]
    for block, gap in zip(result.blocks, gaps, strict=True):
        assert set(block.wrong) == {(0, int(j)) for j in np.flatnonzero(np.abs(gap[0]) > 1e-9)}
    shown = [float(text.replace("−", "-")) for block in result.blocks for text in block.under if text]
    assert max(map(abs, shown)) == pytest.approx(abs(found.gap().largest), abs=0.005)


def test_every_row_has_its_own_key():
    """The browser finds rows by key; two all-reduces are two rows."""
    story = storyboard(broken("reduced_twice", 2).wrong, broken("reduced_twice", 2).dense)
    keys = [row.key for row in story.rows]
    assert len(set(keys)) == len(keys)


def test_numbers_are_written_with_a_minus_and_without_a_negative_zero():
    assert [signed(-1.316, 2), signed(-0.004, 2), signed(2.0, 0)] == ["−1.32", "0.00", "2"]


def test_the_payload_is_plain_json_with_every_view():
    views = [
        View(board("row", 4, width), ("a caption",) * 5, (Note("t", "h", "x", (0,)),), "r") for width in (4, 2)
    ]
    data = json.loads(json.dumps(stepper.payload(views, "row", True, 3, True)))
    assert (data["start"], data["present"], len(data["views"])) == (3, True, 2)
    assert data["views"][1]["board"]["rows"][0]["blocks"][3]["cells"] == [["−0.2", "−1.4"]]
    assert data["views"][0]["notes"] == [
        {"title": "t", "headline": "h", "text": "x", "steps": [0], "kind": "plain"}
    ]


@pytest.mark.skipif(which("node") is None, reason="needs node")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_well_formed(script):
    subprocess.run(["node", "--check", str(script)], check=True, capture_output=True)
