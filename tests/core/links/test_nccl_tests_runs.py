"""Several tables in one paste, and sizes in any order."""

import pytest

from core.links.nccl_tests import read_tables
from tests.core.links.printed_tables import facts, header, only, row, table


def test_several_tables_in_one_paste_are_kept_apart():
    pasted = "\n\n".join(
        table(op, 2) for op in ("all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter")
    )
    assert [found.op for found in read_tables(pasted)] == [
        "all_reduce",
        "all_gather",
        "broadcast",
        "reduce",
        "reduce_scatter",
    ]


def test_sizes_that_begin_anew_are_another_run():
    rows = [line for ranks in (8, 16) for line in table(ranks=ranks).splitlines() if "float" in line]
    assert [(found.ranks, len(found.rows)) for found in read_tables("\n".join(rows))] == [(8, 25), (16, 25)]


def test_one_size_at_several_rank_counts_is_several_tables():
    rows = [f" {n // 8} " + row(1 << 30, 9000.0 + n, ranks=n) for n in (8, 16, 24, 32)]
    assert [found.ranks for found in read_tables("\n".join([*header(), *rows]))] == [8, 16, 24, 32]


@pytest.mark.parametrize("order", [lambda rows: rows[::-1], lambda rows: rows[1::2] + rows[::2]])
def test_rows_in_another_order_are_one_table(order):
    rows = [line for line in table().splitlines() if "float" in line]
    assert facts(only("\n".join(order(rows)))) == ("all_reduce", 8, 25, True)


def test_rows_sorted_by_size_over_several_runs_are_parted_by_their_ranks():
    rows = [row(size, 9000.0 + n, ranks=n) for size in (1 << 30, 1 << 31, 1 << 32) for n in (8, 16, 32)]
    assert [(found.ranks, len(found.rows)) for found in read_tables("\n".join(rows))] == [(8, 3), (16, 3), (32, 3)]
