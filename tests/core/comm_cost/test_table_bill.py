"""A bill by the learner's own table: interpolated where it has rows, extrapolated aloud where it has not."""

import pytest

from core.catalog import model
from core.comm_cost.bill import Step, bill
from core.comm_cost.readings import misreadings
from core.comm_cost.table_bill import table_bill
from core.links.fit import fit_link, fit_links, link_of
from core.links.nccl_tests import read_tables
from tests.core.links.printed_tables import header, row, sizes, table

LLAMA = model("llama-3-8b")


def priced(text, tp_size, tokens=1):
    tables = read_tables(text)
    return table_bill(tables[0], fit_links(tables)[0], Step(LLAMA, tp_size, tokens))


def test_at_the_tables_ranks_the_table_is_the_price():
    """64 all-reduces of 8 KiB, measured at 20.14 µs."""
    found = priced(table(ranks=8), 8)
    assert (found.by, found.remarks, found.step.all_reduces) == ("table", (), 64)
    assert found.priced.comm_s == pytest.approx(64 * 20.14e-6)
    assert found.ratio == pytest.approx(1.0, abs=0.001)
    assert found.priced.comm_fraction == pytest.approx(64 * 20.14e-6 / (8e-3 + 64 * 20.14e-6))


def test_in_the_bulge_the_table_is_dearer_than_its_fit():
    bulging = "\n".join([*header(), *(row(n, 20 + 0.05 * n**0.5 + 1.75 * n / 1e5) for n in sizes())])
    found = priced(bulging, 8, tokens=128)
    assert found.by == "table"
    assert found.ratio < 0.9


def test_another_number_of_ranks_is_an_extrapolation_and_says_so():
    found = priced(table(ranks=8), 4)
    assert found.by == "fit"
    assert found.remarks == ("other_ranks", "launch_untold")


def test_a_base_carries_the_fit_to_other_ranks():
    """7.3 µs once and 3.1 µs a hop at N = 2 and 8 give 7.3 + 6 · 3.1 = 25.9 µs at 4."""
    pasted = "\n".join(table(ranks=n, fixed_us=7.3 + 3.1 * 2 * (n - 1)) for n in (2, 8))
    found = priced(pasted, 4)
    assert found.fitted.waiting_s == pytest.approx(64 * 25.9e-6, rel=1e-3)
    assert "launch_untold" not in found.remarks


def test_the_extrapolation_is_what_every_lab_prices_on_the_link():
    tables = read_tables(table(ranks=8))
    fit = fit_link(tables[0])
    found = table_bill(tables[0], fit, Step(LLAMA, 16, 2048))
    assert found.priced.comm_s == pytest.approx(bill(Step(LLAMA, 16, 2048), link_of(fit)).comm_s, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "tokens", "remark"),
    [(table("all_gather"), 1, "not_all_reduce"), (table(largest=4096), 2048, "outside")],
)
def test_what_the_table_lacks_is_said(text, tokens, remark):
    found = priced(text, 8, tokens)
    assert found.by == "fit"
    assert found.remarks == (remark,)


def test_a_table_outside_of_its_sizes_is_priced_by_its_numbers():
    found = priced(table(largest=1 << 20), 8, tokens=2048)
    assert found.by == "fit"
    assert found.priced.comm_s == pytest.approx(64 * (20e-6 + 1.75 * 16_777_216 / 100e9), rel=1e-3)


def test_one_rank_pays_nothing():
    assert priced(table(ranks=8), 1).priced.comm_s == 0


def test_without_ranks_no_bill_can_be_told():
    small = "\n".join([*header(), *(row(n, 47.0, ranks=16) for n in sizes(8, 256))])
    assert priced(small, 16) is None


def test_busbw_for_algbw_is_wrong_by_the_factor_and_the_average_by_more():
    """At 8 ranks k = 1.75; the footer's average, dragged down by small messages, tells times too slow."""
    (found,) = read_tables(table(ranks=8))
    right, as_algbw, average = misreadings(found)
    assert right.ratio == pytest.approx(1.0)
    assert as_algbw.ratio == pytest.approx(1 / 1.75)
    assert average.ratio > 3
    assert misreadings(read_tables(table(ranks=1))[0]) == ()
