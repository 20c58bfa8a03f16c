"""What a table says against itself: units, wrong results, missing rows, ranks that do not fit."""

import re

import pytest

from core.links.fit import fit_link
from tests.core.links.printed_tables import (
    OLD_GATHER,
    Layout,
    edit_rows,
    facts,
    header,
    model_us,
    only,
    row,
    sizes,
    table,
    times,
    words,
)


def test_rows_of_zero_bytes_are_dropped_and_said():
    half = "     0.02    0.00    0.00      0"
    zero = f"           0             0     float     sum      -1{half}{half}"
    found = only("\n".join([*header(), zero, zero, *(row(n, model_us(n)) for n in sizes())]))
    assert words(found.dropped) == ["zero bytes: nothing was sent"] * 2
    assert len(found.rows) == 25


def test_milliseconds_of_2019_are_told_by_the_bandwidth():
    """0.293 ms for 1 MiB is 3.58 GB/s; 0.293 µs would be 3,579."""
    found = only(table(ranks=2, gb_s=3.6, fixed_us=9, layout=Layout(root=False, wrong="N/A", unit_us=1000)))
    assert dict(times(found))[1 << 20] == pytest.approx(9 + (1 << 20) / 3600, abs=0.6)
    assert any("milliseconds" in warning for warning in words(found.warnings))


def test_milliseconds_are_told_by_the_old_columns_where_no_bandwidth_shows():
    """Eight bytes in 0.009: too small for two decimals of GB/s, but only 2019 called its columns so."""
    names = (
        "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res"
    )
    rows = [
        f"#{n:12d}{n // 4:14d}   float     sum    0.009   0.00   0.00       N/A    0.010   0.00   0.00      N/A"
        for n in (4, 8, 16)
    ]
    assert {us for _, us in times(only("\n".join([names, *rows])))} == {9.0}


@pytest.mark.parametrize("op", ["all_gather", "reduce_scatter"])
@pytest.mark.parametrize("unit_us", [1.0, 1000.0])
def test_a_ranks_share_of_algbw_is_known_by_the_count(op, unit_us):
    """Before mid-2020 algbw was n/(N·t) and busbw (N-1) times that."""
    layout = Layout(redop=op == "reduce_scatter", root=False, wrong="0e+00", unit_us=unit_us)
    found = only(table(op, 4, layout, per_rank=True))
    assert facts(found)[:2] == (op, 4)
    assert found.trusted
    assert any("rank's share" in warning for warning in words(found.warnings))


def test_a_headless_tail_of_an_old_all_gather_is_no_wrong_table():
    rows = [line for line in table("all_gather", 2, OLD_GATHER, per_rank=True).splitlines() if "float" in line]
    assert facts(only("\n".join(rows[12:])))[:2] == ("all_gather", 2)


def test_one_rank_is_no_link():
    found = only(table(ranks=1))
    assert (found.ranks, found.trusted) == (1, False)
    assert any("one rank" in warning for warning in words(found.warnings))


@pytest.mark.parametrize(
    ("printed_rows", "failure"), [(0, ""), (0, "Test NCCL failure common.cu:954"), (6, "Segmentation fault (core)")]
)
def test_a_failed_run_says_so(printed_rows, failure):
    lines = table().splitlines()
    first = next(number for number, line in enumerate(lines) if "float" in line)
    found = only("\n".join([*lines[: first + printed_rows], failure]))
    assert len(found.rows) == printed_rows
    assert any("stopped" in warning or failure in warning for warning in words(found.warnings))


def test_a_failure_before_the_run_is_not_this_runs():
    assert only("srun: error: node1: task 0: Exited\n" + table()).warnings == ()


def test_values_out_of_bounds_are_said():
    found = only(table().replace("values : 0 OK", "values : 7 FAILED"))
    assert any("check failed" in warning for warning in words(found.warnings))


def test_a_wrong_result_is_left_out():
    lines = [*header(), *(row(n, model_us(n)) for n in sizes())]
    lines[-1] = re.sub(r" 0$", " 3", lines[-1])
    found = only("\n".join(lines))
    assert [one.size_bytes for one in found.rows] == sizes()[:-1]
    assert "wrong (3)" in words(found.dropped)[0]
    assert words(found.warnings)[0].startswith("this network corrupts data: the sums of 1 row")


@pytest.mark.parametrize("half", ["out-of-place", "in-place", "both"])
def test_no_half_of_a_wrong_row_is_in_the_fit(half):
    """Row 12 took ten times as long and summed wrong: the fit is that of the others, to the last bit."""
    lines = [*header(), *(row(n, model_us(n) * (10 if at == 12 else 1)) for at, n in enumerate(sizes()))]
    pattern = {"out-of-place": r" 0( +\S+ +\S+ +\S+ +0)$", "in-place": r" 0()$", "both": r" 0( +\S+ +\S+ +\S+ +)0$"}
    put = {"out-of-place": r" 4\1", "in-place": r" 4", "both": r" 4\g<1>4"}
    at = len(header()) + 12
    lines[at] = re.sub(pattern[half], put[half], lines[at])
    found = only("\n".join(lines))
    without = only("\n".join(lines[:at] + lines[at + 1 :]))
    assert (found.wrong_sums, found.corrupts, without.corrupts) == (1, True, False)
    assert fit_link(found) == fit_link(without)


def test_a_table_of_which_every_row_is_wrong_is_a_table_still():
    lines = [*header(), *(re.sub(r" 0$", " 9", row(n, model_us(n))) for n in sizes())]
    found = only("\n".join(lines))
    assert (found.rows, found.trusted, found.corrupts) == ((), False, True)


def test_a_check_that_failed_is_a_headline_without_a_row_too():
    found = only(table().replace("values : 0 OK", "values : 7 FAILED"))
    assert (found.corrupts, found.wrong_sums) == (True, 0)
    assert words(found.warnings)[0].startswith("this network corrupts data")


@pytest.mark.parametrize("printed", ["2.62144e+07", "1e+06", "5", "inf", "nan"])
def test_a_count_of_wrong_results_may_be_large(printed):
    """It is printed in six figures: 2.62144e+07 wrong elements are no rounding error."""
    lines = [*header(), *(row(n, model_us(n)) for n in sizes())]
    lines[-1] = re.sub(r" 0$", f" {printed}", lines[-1])
    found = only("\n".join(lines))
    assert found.rows[-1].size_bytes == sizes()[-2]
    assert f"wrong ({printed})" in words(found.dropped)[0]


@pytest.mark.parametrize("printed", ["5e-07", "0e+00", "3e+02"])
def test_an_error_of_old_versions_is_no_count(printed):
    """Their in-place halves of a test that cannot be in place show any error."""
    assert only(table(layout=Layout(root=False, wrong=printed, wrong_name="error"))).dropped == ()


def test_a_row_that_contradicts_itself_is_left_out():
    """Edited to 999.9 µs, an 8 MiB row is no longer 50 GB/s."""
    found = only(re.sub(r"(8388608 .*?-1\s+)\d+\.\d", r"\g<1>999.9", table()))
    assert found.rows[20].out_of_place_us is None
    assert "contradicts itself" in words(found.dropped)[0]


def test_a_size_that_is_not_its_count_is_left_out():
    """128 B are 32 floats; cut to 28 B they are not, and no bandwidth of 0.01 GB/s would show it."""
    found = only(table().replace("         128 ", "          28 "))
    assert [entry.size_bytes for entry in found.rows][3:5] == [64, 256]
    assert "28 B is not 32 elements" in words(found.dropped)[0]


def test_the_footers_average_tells_of_rows_removed():
    lines = [line for line in table().splitlines() if not line.lstrip().startswith(("4096 ", "8192 "))]
    without_request = "\n".join(line for line in lines if "nThread" not in line)
    assert any("footer" in warning for warning in words(only(without_request).warnings))


def test_the_run_asked_for_more_sizes_than_are_here():
    lines = [line for line in table().splitlines() if "Avg" not in line]
    assert any(
        "asked for 25 sizes, 23 are here" in w for w in words(only("\n".join(lines[:20] + lines[22:])).warnings)
    )


def test_an_elision_is_said():
    lines = table().splitlines()
    assert any(
        "left out" in warning for warning in words(only("\n".join([*lines[:20], "...", *lines[24:]])).warnings)
    )


def test_the_figures_are_believed_against_an_edited_device_list():
    """busbw/algbw = 1.75 is 8 ranks, whatever the list says."""
    edited = "\n".join(line for line in table().splitlines() if not re.search(r"Rank  [67]|nThread", line))
    found = only(edited)
    assert found.ranks == 8
    assert any("believed" in warning for warning in words(found.warnings))


def test_a_device_list_cut_short_is_made_up_by_the_processs_gpus():
    """A broadcast's busbw tells no ranks; one process ran eight GPUs, of which four are listed."""
    short = "\n".join(line for line in table("broadcast").splitlines() if not re.search(r"Rank  [4567]", line))
    assert (only(short).ranks, only(short).nodes) == (8, None)


def test_beyond_64_ranks_the_list_is_believed():
    """1440 ranks print 1.9986: within its rounding of 2."""
    assert only(table(ranks=1440, fixed_us=2000)).ranks == 1440


def test_small_rows_alone_do_not_tell_the_ranks():
    found = only("\n".join([*header(), *(row(n, 47.0, ranks=16) for n in sizes(8, 256))]))
    assert (found.ranks, found.trusted) == (None, True)
    assert found.warnings


@pytest.mark.parametrize(("op", "named"), [("all_gather", "all_reduce"), ("all_reduce", "all_gather")])
def test_a_mislabeled_table_is_not_trusted(op, named):
    found = only(table(op).replace(f"{op}_perf", f"{named}_perf"))
    assert not found.trusted
    assert any("mislabeled" in warning for warning in words(found.warnings))


def test_one_mistyped_bandwidth_spoils_its_row_and_not_the_table():
    """32 MiB at 55.26 GB/s is 96.71 of busbw over 8 ranks, not 36.71."""
    found = only(table().replace("96.71", "36.71"))
    assert (found.trusted, found.ranks, len(found.rows)) == (True, 8, 24)
    assert "not the factor of 8 ranks" in words(found.dropped)[0]


def test_a_table_of_which_most_does_not_hold_is_not_trusted():
    """Each time was rewritten to 3.30 µs, and the bandwidths were not."""
    found = only(
        edit_rows(table(), lambda line: re.sub(r"(\s)\d+\.?\d*(?=\s+\d+\.\d\d\s+\d+\.\d\d\s)", r"\g<1>3.30", line))
    )
    assert not found.trusted
    assert any("not to be trusted" in warning for warning in words(found.warnings))


def test_two_ranks_on_one_gpu_are_no_link():
    shared = table(ranks=2).replace("device  1 [0000:01:00]", "device  0 [0000:00:00]")
    assert any("share one GPU" in warning for warning in words(only(shared).warnings))


def test_a_bus_without_its_domain_may_be_of_several_gpus():
    """Older versions print [0x01] alone, which every GPU of a machine with a domain for each has."""
    listed = re.sub(r"device +\d \[[^]]*\]", "device  0 [0x01]", table(ranks=4))
    (said,) = words(only(listed).warnings)
    assert "without a PCI domain" in said


@pytest.mark.parametrize(("contradict", "trusted"), [(4, True), (5, False)])
def test_a_table_half_of_whose_rows_hold_is_trusted_and_no_other(contradict, trusted):
    """Eight rows, of which some took ten times what their bandwidth says."""
    printed = [row(n, model_us(n)) for n in sizes(1 << 20)]
    times = r"(\d+)\.(\d+)( +[\d.]+ +[\d.]+ +0)"
    edited = [re.sub(times, r"\g<1>0.\g<2>\g<3>", line) for line in printed[:contradict]]
    found = only("\n".join([*header(), *edited, *printed[contradict:]]))
    assert (len(found.rows), found.trusted) == (8 - contradict, trusted)


def test_a_last_figure_that_is_missing_is_told():
    """The in-place half's count of wrong results, of one row of many; a lone row has none to compare with."""
    printed = [row(n, model_us(n)) for n in sizes(1 << 20)]
    cut = re.sub(r"\s+0$", "", printed[-1])
    found = [only("\n".join([*header(), *rows])) for rows in ((*printed[:-1], cut), printed)]
    assert ["links.last_figure_cut" in {one.code for one in each.warnings} for each in found] == [True, False]
