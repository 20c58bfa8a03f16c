"""A block under every strategy: nothing lost, the ranks send where they must, and Mermaid reads it."""

import re
from math import prod

import pytest

from core.catalog import model
from core.errors import ShardlabError
from core.models.parameters import count_parameters
from core.strategy.block import BLOCKS, Transfer, Weight, block_bytes, block_under
from runtime import content
from runtime.mermaid import escape, mermaid
from tests.each import each

LLAMA, MIXTRAL = model("llama-3-8b"), model("mixtral-8x7b")
DENSE = ("TP", "DDP", "FSDP", "PP")


@pytest.mark.parametrize("spec", [LLAMA, MIXTRAL], ids=lambda spec: spec.key)
def test_the_weights_of_a_block_are_a_layers_own(spec):
    """The count of all layers has the norm behind the last one too."""
    layers = count_parameters(spec).layers - spec.hidden_size
    assert block_bytes(spec) == 2 * layers / spec.num_hidden_layers


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_under_tp_columns_then_rows_and_a_sum_after_each_row_cut(ranks):
    """QKV by columns, output by rows, up by columns, down by rows: two all-reduces forward, two back."""
    block = block_under("TP", LLAMA, ranks, 1)
    cuts = [row.cut for row in block.rows if isinstance(row, Weight)]
    if ranks == 1:
        assert (set(cuts), block.transfers) == ({"whole"}, ())
        return
    assert cuts == ["whole", "columns", "columns", "rows", "whole", "columns", "rows"]
    after_rows = [
        block.rows[place + 1]
        for place, row in enumerate(block.rows)
        if isinstance(row, Weight) and row.cut == "rows"
    ]
    assert [(transfer.op, transfer.when, transfer.payload_bytes) for transfer in after_rows] == [
        ("all-reduce", "forward", 8192)
    ] * 2
    owned = sum(prod(row.shape) for row in block.rows if isinstance(row, Weight) and row.is_owned)
    assert owned * ranks == (count_parameters(LLAMA).layers - 4096) / 32 - 2 * 4096


def test_fsdp_gathers_twice_and_scatters_once_where_ddp_sums_once():
    ddp, fsdp = (block_under(name, LLAMA, 4, 1).transfers for name in ("DDP", "FSDP"))
    assert [(transfer.op, transfer.when) for transfer in ddp] == [("all-reduce", "backward")]
    assert [(transfer.op, transfer.when) for transfer in fsdp] == [
        ("all-gather", "forward"),
        ("all-gather", "backward"),
        ("reduce-scatter", "backward"),
    ]
    assert {transfer.payload_bytes for transfer in (*ddp, *fsdp)} == {block_bytes(LLAMA)}


def test_a_pipeline_sends_one_row_a_token_and_distributes_layers():
    block = block_under("PP", LLAMA, 4, 10)
    assert block.rows[0].held == tuple(("layers", 8 * rank, 8 * rank + 7) for rank in range(4))
    assert [transfer.payload_bytes for transfer in block.transfers] == [10 * 8192] * 2


def test_experts_are_distributed_between_two_all_to_alls():
    """Each token to two of Mixtral's eight experts: twice its row; attention is the same on every rank."""
    block = block_under("EP", MIXTRAL, 4, 10)
    place = next(i for i, row in enumerate(block.rows) if isinstance(row, Weight) and row.cut == "experts")
    dispatch, experts, combine = block.rows[place - 1 : place + 2]
    assert (dispatch.op, combine.op) == ("all-to-all", "all-to-all")
    assert dispatch.payload_bytes == combine.payload_bytes == 10 * 2 * 8192
    assert experts.held == tuple(("experts", 2 * rank, 2 * rank + 1) for rank in range(4))


@pytest.mark.parametrize(
    ("strategy", "spec", "ranks"),
    [("EP", LLAMA, 4), ("TP", LLAMA, 3), ("PP", LLAMA, 5), ("EP", MIXTRAL, 3), ("X", LLAMA, 2)],
)
def test_what_has_no_such_block_is_refused(strategy, spec, ranks):
    with pytest.raises(ShardlabError):
        block_under(strategy, spec, ranks, 1)


EVERY = [(name, LLAMA, ranks) for name in DENSE for ranks in (1, 2, 4, 8)] + [("EP", MIXTRAL, n) for n in (1, 2, 8)]


@each(("strategy", "spec", "ranks"), EVERY)
def test_mermaid_text_is_a_flow_chart_whose_arrows_join_declared_nodes(strategy, spec, ranks):
    text = mermaid(block_under(strategy, spec, ranks, 1))
    head, *lines = text.splitlines()
    assert head == "flowchart TD"
    arrow = re.compile(r'  (\w+) -(?:-|\.-)>(?:\|"[^"]*"\|)? (\w+)')
    node = re.compile(r'  (\w+)(\(\["[^"]*"\]\)|\["[^"]*"\]|\{\{"[^"]*"\}\})')
    declared = {found[1] for line in lines if (found := node.fullmatch(line))}
    joined = [found.groups() for line in lines if (found := arrow.fullmatch(line))]
    assert len(lines) == len(declared) + len(joined)
    assert {name for pair in joined for name in pair} <= declared
    assert all(sum(name in pair for pair in joined) for name in declared) or ranks == 1


def test_a_flow_chart_is_in_words_of_the_language_it_is_taken_away_in():
    block = block_under("TP", LLAMA, 2, 1)
    assert '["rank 0: Wq, heads 0–15"]' in mermaid(block)
    with content.speaking("es"):
        assert '["rango 0: Wq, cabezas 0–15"]' in mermaid(block)
        assert "all-reduce, en el forward: sumas parciales, 8 KiB" in mermaid(block)
        stages = mermaid(block_under("PP", LLAMA, 2, 1))
    assert "etapa 1: capas 16–31, cada una con norma" in stages
    assert not {"whole", "each", "stage", "layers"} & set(re.findall("[a-z]+", stages))


def test_labels_cannot_break_out_of_their_quotes():
    assert escape('a"]\n --> b<script>`#|') == "a#quot;] --#gt; b#lt;script#gt;#96;#35;#124;"


def test_every_strategy_talks_over_more_than_one_rank_and_never_alone():
    for name in BLOCKS:
        spec = MIXTRAL if name == "EP" else LLAMA
        assert not block_under(name, spec, 1, 1).transfers
        assert all(
            isinstance(transfer, Transfer) and transfer.payload_bytes > 0
            for transfer in block_under(name, spec, 2, 1).transfers
        )
