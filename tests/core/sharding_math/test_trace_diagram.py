"""A trace as the figure's rows and steps. What the browser draws of it is tested in a browser."""

import numpy as np
import pytest

from core.errors import IndivisibleError
from core.sharding_math.examples import run
from core.sharding_math.mistakes import DEAR_ORDERS, MISTAKES, broken
from core.sharding_math.numerics import precision
from core.sharding_math.provenance import signed
from core.sharding_math.trace_diagram import _gap_text, trace_diagram

FLOAT32 = precision("float32")


def diagram(kind="row", num_ranks=4, width=4):
    drawn = run(kind, num_ranks, width, FLOAT32)
    return trace_diagram(drawn.trace, drawn.dense, FLOAT32, drawn.verbs)


def rows(drawn):
    return {row.key: row for row in drawn.rows}


def bars(drawn):
    return [row for row in drawn.rows if row.kind == "bar"]


def number(text):
    return float(text.replace("−", "-"))


def test_a_row_layer_has_five_steps():
    codes = [step.code for step in diagram("row").steps]
    assert codes == ["whole", "shard", "local_matmul", "all_reduce", "compare"]


def test_where_rounding_moved_nothing_the_last_output_is_followed():
    """Every rank of a column layer adds the same products in the same order as one GPU: no output is an ulp off."""
    drawn = diagram("column")
    assert drawn.follow == len(drawn.outputs) - 1


def test_a_column_layer_sends_nothing():
    drawn = diagram("column")
    assert [bar.absent for bar in bars(drawn)] == ["not_needed"]
    assert "all_reduce" not in [step.code for step in drawn.steps]


def test_an_mlp_has_one_bar_between_second_matmul_and_result():
    drawn = diagram("mlp")
    assert [row.key for row in drawn.rows if row.kind == "tensor"] == [
        *("x", "W1", "h", "σ(h)", "W2", "partial y", "y", "dense"),
    ]
    assert [step.key for step in drawn.steps][2:5] == ["matmul", "pointwise", "matmul_2"]
    assert [bar.op for bar in bars(drawn)] == ["all_reduce"]


def test_blocks_hold_what_the_ranks_hold_and_where_it_was_cut_out():
    """Wᵀ is drawn: rank 1 of two has its last two rows, the inputs, or its last two columns, the outputs."""
    block = rows(diagram("row", 2))["W"].blocks[1]
    assert block.cells == (("2.3", "−0.7", "0.2", "−1.4"), ("0.4", "−1.0", "1.9", "−1.2"))
    assert (block.top, block.left) == (2, 0)
    block = rows(diagram("column", 2))["W"].blocks[1]
    assert block.cells == (("1.7", "−1.2"), ("−1.4", "0.4"), ("0.2", "−1.4"), ("1.9", "−1.2"))
    assert (block.top, block.left) == (0, 2)


def test_column_row_and_pair_are_one_layer_whatever_the_ranks():
    """One x, one W and one y: only the cut differs, and the number of ranks changes no number."""
    assert (
        len({str(rows(diagram(kind, n))["dense"].blocks[0].cells) for kind in ("column", "row") for n in (2, 4)})
        == 1
    )
    whole = [
        rows(diagram(kind, 1))[key].blocks[0].cells for kind, key in (("column", "W"), ("row", "W"), ("mlp", "W1"))
    ]
    assert whole[0] == whole[1] == whole[2]
    assert len({str(rows(diagram("mlp", n))["dense"].blocks[0].cells) for n in (1, 2, 4)}) == 1


def test_all_of_a_column_layers_output_is_an_all_gather_in_the_ledger():
    assert [bar.op for bar in bars(diagram("gathered")) if bar.sent] == ["all_gather"]
    assert rows(diagram("gathered"))["y on all"].held == "replicas"


@pytest.mark.parametrize("kind", ["row", "mlp", "attention", "embedding", "sequence"])
def test_the_sum_that_is_written_out_adds_up_as_written(kind):
    """Inputs have one decimal and products two, so no shown sum is off by rounding of the shown terms."""
    for num_ranks in (2, 4):
        width = num_ranks if kind == "sequence" else 2  # each rank has a token at least
        for output in diagram(kind, num_ranks, width).outputs:
            terms = [number(term.value) for term in output.terms]
            assert sum(terms) == pytest.approx(number(output.total), abs=1e-9)
            assert len(terms) == num_ranks


def test_following_an_output_lights_its_row_of_w_and_every_term():
    output = diagram("row").outputs[3]
    lit = {(ring.row, ring.block): (ring.top, ring.left, ring.height, ring.width) for ring in output.rings}
    assert [lit["W", rank] for rank in range(4)] == [(0, 3, 1, 1)] * 4
    assert [lit["partial y", rank] for rank in range(4)] == [(0, 3, 1, 1)] * 4
    assert [term.value for term in output.terms] == ["−0.96", "−0.36", "−0.42", "1.32"]
    assert (output.label, output.total) == ("y[3]", "−0.42")


def test_an_output_of_a_column_layer_was_made_by_one_rank():
    output = diagram("column", 2).outputs[3]
    assert {(ring.row, ring.block) for ring in output.rings} == {("y", 1), ("W", 1), ("dense", 0)}
    assert {term.rank for term in output.terms} == {1}


def test_a_token_is_followed_to_its_row_of_the_table():
    """Token 5 of eight over four ranks is the second row of rank 2; the others' terms are zeros."""
    output = diagram("embedding").outputs[1]
    lit = {(ring.row, ring.block): (ring.top, ring.width) for ring in output.rings if ring.row == "E"}
    assert lit == {("E", 2): (1, 4)}
    assert [number(term.value) != 0 for term in output.terms] == [False, False, True, False]


def test_copied_kv_heads_lie_on_one_another_before_the_cut():
    """Two KV heads over four ranks: neighbours' blocks start from the same place in the whole."""
    blocks = rows(diagram("attention"))["Wkv"].blocks
    assert [block.left for block in blocks] == [0, 0, 2, 2]
    assert blocks[0].cells == blocks[1].cells


def test_a_sum_in_two_halves_has_two_bars_and_a_row_a_rank_between():
    drawn = diagram("sequence")
    assert [bar.op for bar in bars(drawn)] == ["reduce_scatter", "all_gather"]
    assert rows(drawn)["y"].rank_cells == (1, 2)
    assert [block.top for block in rows(drawn)["y"].blocks] == [0, 1, 2, 3]


def test_one_rank_needs_no_collective():
    drawn = diagram("row", 1)
    assert [bar.absent for bar in bars(drawn)] == ["one_rank"]
    assert not any(row.owned for row in drawn.rows if row.kind == "tensor")


def test_a_cut_that_leaves_a_remainder_is_refused():
    for num_ranks in (3, 6):
        with pytest.raises(IndivisibleError, match=f"in_features=4 does not divide over num_ranks={num_ranks}"):
            diagram("row", num_ranks)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_cells_are_marked_with_their_difference_and_right_ones_are_not(mistake):
    layer = broken(mistake, 2)
    right, wrong = (trace_diagram(trace, layer.dense) for trace in (layer.right, layer.wrong))
    assert not any(block.wrong for row in right.rows if row.kind == "tensor" for block in row.blocks)
    result = rows(wrong)[layer.wrong.result.name]
    gaps = [part - layer.dense for part in layer.wrong.result.parts]
    for block, gap in zip(result.blocks, gaps, strict=True):
        assert set(block.wrong) == {(0, int(j)) for j in np.flatnonzero(np.abs(gap[0]) > 1e-9)}
    shown = [number(text) for block in result.blocks for text in block.under if text]
    assert max(map(abs, shown)) == pytest.approx(abs(layer.gap().largest), abs=0.005)
    if any(not np.array_equal(gap, gaps[0]) for gap in gaps):  # rounding is nothing to follow there
        assert wrong.follow == len(wrong.outputs) - 1


def test_every_row_has_its_own_key():
    """The browser finds rows by key; two all-reduces are two rows."""
    layer = broken("reduced_twice", 2)
    drawn = trace_diagram(layer.wrong, layer.dense, unwanted=layer.unwanted)
    assert len({row.key for row in drawn.rows}) == len(drawn.rows)
    assert [bar.fault for bar in bars(drawn)] == [False, True]


def test_another_order_of_cuts_needs_neither_of_its_collectives():
    """Row then column sums the hidden row and gathers y: the pair does neither, so both are marked."""
    for order in DEAR_ORDERS:
        layer = broken(order, 2)
        drawn = trace_diagram(layer.wrong, layer.dense, unwanted=layer.unwanted)
        assert [bar.fault for bar in bars(drawn)] == [True, True]
        assert [bar.fault for bar in bars(trace_diagram(layer.right, layer.dense))] == [False]


def test_a_mistake_is_held_against_the_result_it_should_have():
    """The activation first gives a wrong σ(y), and the dense result beside it is σ(y), not y."""
    for mistake in MISTAKES:
        layer = broken(mistake, 2)
        names = {trace_diagram(trace, layer.dense).result for trace in (layer.right, layer.wrong)}
        assert len(names) == 1, names


def test_numbers_are_written_with_a_minus_and_without_a_negative_zero():
    assert [signed(-1.316, 2), signed(-0.004, 2), signed(2.0, 0)] == ["−1.32", "0.00", "2"]


def test_a_difference_below_one_has_its_sign():
    one = np.array([True])
    assert [_gap_text(np.array([gap]), one) for gap in (0.5, 2.0, -0.5)] == ["+0.50", "+2.00", "−0.50"]
