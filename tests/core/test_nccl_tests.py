"""Pasted tables are read as a careful reader would: every kind of paste met in the wild, in fixtures printed anew.

The pastes themselves stay out of the project; where their folder is given by SHARDLAB_CASES, all of them are read.
"""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UnreadableTextError
from core.file_text import text_of
from core.nccl_tests import read_tables
from core.nccl_tests.printed import printed_table
from tests.core.printed_tables import NEW, OLD, OLD_GATHER, Layout, factor_of, header, model_us, row, sizes, table

INFO = "node0:16629:16655 [3] NCCL INFO Launch mode Parallel"
CASES = Path(os.environ.get("SHARDLAB_CASES", "")) / "nccl"


def only(text):
    (found,) = read_tables(text)
    return found


def edit_rows(text, change):
    """The text with each of its rows changed."""
    return "\n".join(change(line) if "float" in line else line for line in text.splitlines())


def facts(found):
    return found.op, found.ranks, len(found.rows), found.trusted


def times(found):
    return [(entry.size_bytes, entry.out_of_place_us) for entry in found.rows]


def test_a_whole_table_is_taken_whole():
    """25 sizes from 8 B to 128 MiB; 20 µs + 1.75 · 8 KiB / 100 GB/s = 20.14 µs."""
    found = only(table())
    assert facts(found) == ("all_reduce", 8, 25, True)
    assert dict(times(found))[8192] == 20.14
    assert (found.nodes, found.dropped, found.warnings) == (1, (), ())


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce"])
def test_a_collective_is_known_by_its_columns_where_it_is_not_named(op):
    unnamed = "\n".join(table(op, ranks=4).splitlines()[1:])
    assert facts(only(unnamed))[:2] == (op, 4)


@pytest.mark.parametrize(("op", "redop"), [("broadcast", False), ("reduce", True)])
def test_the_heading_of_old_versions_tells_a_test_with_a_root(op, redop):
    """Only these two had the column then. A message has swallowed the root itself."""
    layout = Layout(redop=redop, wrong="N/A", wrong_name="error")
    unnamed = "\n".join(table(op, ranks=8, layout=layout).splitlines()[1:])
    broken = edit_rows(unnamed, lambda line: re.sub(r"(float +(?:sum +)?0)", r"\1[message] of a library\n", line))
    assert facts(only(broken))[:2] == (op, 8)


@pytest.mark.parametrize(("ranks", "unchecked"), [(2, True), (4, True), (4, False)])
def test_a_sendrecv_is_known_by_its_bandwidths_where_it_is_not_named(ranks, unchecked):
    """It prints sum and root -1 as an all-reduce does, and busbw = algbw, which an all-reduce has at two ranks."""
    text = "\n".join(table("sendrecv", ranks=ranks).splitlines()[1:])
    text = edit_rows(text, lambda line: line.replace("none", " sum"))
    text = edit_rows(text, lambda line: re.sub(r"0$", "N/A", line)) if unchecked else text
    found = only(text)
    assert facts(found)[:2] == ("sendrecv", ranks)
    assert any("not named" in warning for warning in found.warnings)


def test_a_name_nearby_is_not_believed_against_a_ranks_share():
    """No all-reduce counts n/N elements: what the prose around a table says is another table's."""
    unnamed = "\n".join(["we also ran all_reduce", *table("all_gather", ranks=4).splitlines()[1:]])
    assert facts(only(unnamed)) == ("all_gather", 4, 23, True)


@pytest.mark.parametrize(
    "disguise",
    [
        lambda line: f"[1,0]<stdout>:{line}",
        lambda line: f"[1,0]&lt;stdout&gt;:{line}",
        lambda line: f"[prterun-node0-4242@1,0]<stdout>: {line}",
        lambda line: f"0: {line}",
        lambda line: f"   {line}",
        lambda line: f"> {line}",
        lambda line: f"#{line}",
        lambda line: line.replace("#", " "),
        lambda line: f"2026-05-01T10:00:00.123456789Z {line}",
        lambda line: f"worker-0  | {line}",
        lambda line: f"\x1b[32m{line}\x1b[0m\r",
    ],
    ids=[
        "mpi",
        "escaped",
        "mpi-5",
        "slurm",
        "indented",
        "quoted",
        "commented",
        "bare-marks",
        "timestamps",
        "compose",
        "coloured",
    ],
)
def test_what_stands_around_a_line_does_not_matter(disguise):
    disguised = "\n".join(map(disguise, table().splitlines()))
    assert times(only(disguised)) == times(only(table()))
    assert facts(only(disguised)) == ("all_reduce", 8, 25, True)


@pytest.mark.parametrize(
    "kept",
    [
        lambda text: "\n".join(f"{number}:{line}" for number, line in enumerate(text.splitlines(), start=1)),
        lambda text: "\n".join(json.dumps({"log": f"{line}\n", "stream": "stdout"}) for line in text.splitlines()),
        lambda text: json.dumps({"stdout": text}),
        lambda text: "\n".join([text] * 5),
    ],
    ids=["grep -n", "a container's log", "one JSON string", "five times over"],
)
def test_however_a_log_was_kept_its_rows_are_the_same(kept):
    """Numbers before lines are no process's label, and a line end written out is one."""
    tables = read_tables(kept(table()))
    assert [times(found) for found in tables] == [times(only(table()))] * len(tables)
    assert all(facts(found) == ("all_reduce", 8, 25, True) for found in tables)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: ",".join(line.split()),
        lambda line: ",".join(f'"{word}"' for word in line.split()),
        lambda line: "| " + " | ".join(line.split()) + " |",
        lambda line: " ".join(f"{int(word):,}" if word.isdigit() else word for word in line.split()),
        lambda line: line.replace(".", ","),
        lambda line: f" 4 {line}",
        lambda line: f"{line}   <- look here",
        lambda line: f"{line[:45]}[1,0]<stdout>:{line[45:]}",
        lambda line: f"{line[:72]}\n{line[72:]}",
        lambda line: f"{line[:45]}\n{line[45:]}",
        lambda line: line.replace(" ", "\xa0"),
        lambda line: line.replace(" ", "&nbsp;") + "<br>",
        lambda line: f'<tr class="odd"><td>{"</td><td>".join(line.split())}</td></tr>',
    ],
    ids=[
        "csv",
        "quoted-csv",
        "markdown",
        "thousands",
        "decimal-comma",
        "leading-column",
        "note",
        "tag-in-row",
        "wrapped",
        "wrapped-early",
        "no-break spaces",
        "html",
        "html-cells",
    ],
)
def test_rows_written_otherwise_are_the_same_rows(change):
    assert times(only(edit_rows(table(), change))) == times(only(table()))


@pytest.mark.parametrize("unchecked", [False, True], ids=["checked", "not-checked"])
@pytest.mark.parametrize("width", [*range(56, 107), 120])
def test_a_narrow_window_takes_nothing_from_a_row(width, unchecked):
    """It may part a row in a figure, in an N/A and at an error column, and the heading between its halves."""
    layout = Layout(wrong="N/A") if unchecked else NEW
    whole = table(largest=1 << 20, layout=layout)
    wrapped = [line[at : at + width] for line in whole.splitlines() for at in range(0, max(1, len(line)), width)]
    found = only("\n".join(wrapped))
    assert [(entry.out_of_place_us, entry.in_place_us) for entry in found.rows] == [
        (entry.out_of_place_us, entry.in_place_us) for entry in only(whole).rows
    ]
    assert facts(found) == ("all_reduce", 8, 18, True)


@pytest.mark.parametrize("words", range(3, 11))
@pytest.mark.parametrize("glue", ["", " "])
def test_a_message_inside_a_row_breaks_nothing(words, glue):
    """The tests print a row in pieces: a library's message may stand between any two, glued to a figure or not."""

    def broken(line):
        end = list(re.finditer(r"\S+", line))[words - 1].end()
        return f"{line[:end]}{glue}{INFO}\n{INFO}\n{line[end:]}" if " 256 " in line else line

    assert times(only(edit_rows(table(), broken))) == times(only(table()))


@pytest.mark.parametrize(
    "message", [INFO, "[node0:99] mca_btl_tcp: connection retried", "libfabric:9:core: warning"]
)
@pytest.mark.parametrize("words", [5, 9])
def test_other_programs_messages_break_a_row_no_more(message, words):
    def broken(line):
        end = list(re.finditer(r"\S+", line))[words - 1].end()
        return f"{line[:end]} {message}\n{line[end:]}" if " 256 " in line else line

    assert times(only(edit_rows(table(), broken))) == times(only(table()))


def test_two_processes_of_one_log_are_kept_apart():
    """Open MPI 5 names its daemon in the tag; the rank is behind the comma still."""
    pairs = zip(table().splitlines(), table("all_gather").splitlines(), strict=False)
    text = "\n".join(f"[prterun-n-1@1,0]<stdout>: {a}\n[prterun-n-1@1,8]<stdout>: {b}" for a, b in pairs)
    assert [found.op for found in read_tables(text)] == ["all_reduce", "all_gather"]


@pytest.mark.parametrize("before", ["2026-05-01T10:00:{:02d}.123Z stdout F ", "worker-0  | ", "[{:12.6f}] "])
def test_a_message_inside_a_row_breaks_nothing_under_a_logs_own_marks(before):
    """Each line is stamped, so what is left of the row does not stand at the beginning of its line."""
    cut = edit_rows(table(), lambda line: f"{line[:46]}{INFO}\n{INFO}\n{line[46:]}")
    stamped = "\n".join(before.format(number % 60) + line for number, line in enumerate(cut.splitlines()))
    assert times(only(stamped)) == times(only(table()))


def test_a_count_of_wrong_results_is_no_time_where_a_line_is_cut():
    """7 wrong results, then a window's edge in the in-place bandwidth: the rest looks like half a row by itself."""
    cut = edit_rows(table(), lambda line: re.sub(r"   0( +\S+ +\S+\.\d)(\d .*)$", r"   7\1\n\2", line))
    found = only(cut)
    assert {entry.out_of_place_us for entry in found.rows} == {None}
    assert [entry.in_place_us for entry in found.rows] == [us for _, us in times(only(table()))]


def test_messages_between_rows_and_matrices_of_numbers_are_no_rows():
    matrix = "   D\\D     0      1\n     0 916.92  49.78\n     1  49.85 920.12\n"
    busy = "\n".join(f"{line}\n{INFO}" for line in table().splitlines())
    assert times(only(matrix + busy + "\n" + matrix)) == times(only(table()))


@pytest.mark.parametrize(
    "layout",
    [NEW, OLD, Layout(root=False, wrong=None), Layout(in_place=False), Layout(in_place=False, wrong=None)],
    ids=["new", "old", "no-wrong", "no-in-place", "bandwidths-last"],
)
def test_columns_may_be_missing(layout):
    assert times(only(table(layout=layout))) == times(only(table()))


def report(op="all_reduce", ranks=8, time="time", okay="true"):
    """The same run as `table`, as -J writes it."""
    lines = [line.split() for line in table(op, ranks).splitlines() if "float" in line]
    device = {"hostname": "node0", "device_hex": "0000:01:00", "device_info": "NVIDIA Imaginary"}
    return {
        "version": 3,
        "args": [f"/opt/nccl-tests/build/{op}_perf", "-g", str(ranks)],
        "config": {
            "nthreads": 1,
            "ngpus": ranks,
            "minimum_bytes": int(lines[0][0]),
            "maximum_bytes": int(lines[-1][0]),
            "step_factor": 2,
            "devices": [{**device, "rank": number, "device": number} for number in range(ranks)],
        },
        "results": [reported(words, op, ranks, time) for words in lines],
        "out_of_bounds": {"count": 0, "okay": okay},
    }


def reported(words, op, ranks, time):
    """One row of a report, out of the words of a printed one."""
    algbw = int(words[0]) / float(words[5]) / 1e3
    half = {time: float(words[5]), "alg_bw": algbw, "bus_bw": algbw * factor_of(op, ranks), "nwrong": 0.0}
    heads = {"size": int(words[0]), "count": int(words[1]), "type": "float", "redop": words[3], "root": "    -1"}
    return {**heads, "out_of_place": half, "in_place": {**half, "nwrong": None} if op == "alltoall" else half}


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "alltoall"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_report_in_json_is_the_table_that_was_printed(op, indent):
    printed = only(table(op))
    found = only(json.dumps(report(op), indent=indent))
    assert (facts(found), times(found)) == (facts(printed), times(printed))
    assert (found.dropped, found.warnings, found.nodes) == ((), (), 1)


def test_reports_and_logs_in_one_text_are_kept_apart():
    text = f"NCCL version 2.28\n{json.dumps(report('all_gather'))}\n{json.dumps(report())}\n{table('alltoall')}"
    assert [found.op for found in read_tables(text)] == ["all_gather", "all_reduce", "alltoall"]


def test_a_report_of_wrong_results_or_of_the_cpu_says_so():
    assert any("check failed" in warning for warning in only(json.dumps(report(okay="false"))).warnings)
    with pytest.raises(UnreadableTextError, match="CPU's call"):
        read_tables(json.dumps(report(time="cpu_time")))


@pytest.mark.parametrize(
    "broken",
    [
        {"version": 3, "results": [None, {"out_of_place": 1}]},
        {"version": 3, "config": [], "results": [], "args": {"out_of_place": 0}},
        {"version": 3, "results": {"out_of_place": "[" * 9}},
    ],
)
def test_a_report_without_rows_is_refused_or_empty(broken):
    with suppress(UnreadableTextError):
        assert [found.rows for found in read_tables(json.dumps(broken))] == [()]
    with suppress(UnreadableTextError):
        read_tables(json.dumps(report())[:900])


def hypercube(size, time_us, ranks):
    """A row of the hypercube: both bandwidths are of what leaves a rank."""
    algbw = size / time_us / 1e3 * (ranks - 1) / ranks
    half = f"{time_us:9.1f}{algbw:8.2f}{algbw:8.2f}      0"
    return f"{size:12d}{size // 4 // ranks:14d}     float              -1{half}{half}"


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_hypercubes_bandwidths_are_of_what_leaves_a_rank(ranks):
    rows = [hypercube(n, model_us(n), ranks) for n in sizes(1 << 10)]
    found = only("\n".join(["# Collective test starting: hypercube_perf", *header(), *rows]))
    assert (facts(found), found.dropped, found.warnings) == (("hypercube", ranks, 18, True), (), ())


def test_an_unnamed_gather_may_be_a_scatter():
    rows = edit_rows(table("all_gather", 4), lambda line: line.replace("-1", " 0"))
    (said,) = only("\n".join(rows.splitlines()[1:])).warnings
    assert "a scatter has too" in said


def test_an_uneven_alltoall_is_another_test():
    assert facts(only(table("alltoall", 4).replace("alltoall_perf", "alltoallv_perf")))[:2] == ("alltoallv", 4)


def test_a_table_without_any_header_is_read_by_its_shape():
    rows = "\n".join(line for line in table("all_gather", 16).splitlines() if "float" in line)
    assert facts(only(rows)) == ("all_gather", 16, 21, True)


def test_all_rows_on_one_line_are_parted():
    rows = " ".join(line for line in table().splitlines() if "float" in line)
    assert times(only(rows)) == times(only(table()))


@pytest.mark.parametrize(("cut_at", "kept"), [(0, 12), (20, 12), (50, 12), (68, 12), (80, 13), (90, 13)])
def test_a_cut_row_is_left_out_unless_its_first_half_is_whole(cut_at, kept):
    lines = table().splitlines()
    first = next(number for number, line in enumerate(lines) if "float" in line)
    found = only("\n".join(lines[: first + 12]) + "\n" + lines[first + 12][:cut_at])
    assert len(found.rows) == kept
    assert any("missing" in warning or "cut" in warning for warning in found.warnings)


def test_a_cut_is_said_with_its_line():
    cut = "\n".join([*header(), row(8, 20.0), row(16, 20.0), row(32, 20.0)[:50]])
    found = only(cut)
    assert [entry.line for entry in found.dropped] == [6]
    assert any("cut in the middle of a row (line 6)" in warning for warning in found.warnings)


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


def test_rows_of_zero_bytes_are_dropped_and_said():
    half = "     0.02    0.00    0.00      0"
    zero = f"           0             0     float     sum      -1{half}{half}"
    found = only("\n".join([*header(), zero, zero, *(row(n, model_us(n)) for n in sizes())]))
    assert [entry.reason for entry in found.dropped] == ["zero bytes: nothing was sent"] * 2
    assert len(found.rows) == 25


def test_milliseconds_of_2019_are_told_by_the_bandwidth():
    """0.293 ms for 1 MiB is 3.58 GB/s; 0.293 µs would be 3,579."""
    found = only(table(ranks=2, gb_s=3.6, fixed_us=9, layout=Layout(root=False, wrong="N/A", unit_us=1000)))
    assert dict(times(found))[1 << 20] == pytest.approx(9 + (1 << 20) / 3600, abs=0.6)
    assert any("milliseconds" in warning for warning in found.warnings)


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
    assert any("rank's share" in warning for warning in found.warnings)


def test_a_headless_tail_of_an_old_all_gather_is_no_wrong_table():
    rows = [line for line in table("all_gather", 2, OLD_GATHER, per_rank=True).splitlines() if "float" in line]
    assert facts(only("\n".join(rows[12:])))[:2] == ("all_gather", 2)


def test_one_rank_is_no_link():
    found = only(table(ranks=1))
    assert (found.ranks, found.trusted) == (1, False)
    assert any("one rank" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("printed_rows", "failure"), [(0, ""), (0, "Test NCCL failure common.cu:954"), (6, "Segmentation fault (core)")]
)
def test_a_failed_run_says_so(printed_rows, failure):
    lines = table().splitlines()
    first = next(number for number, line in enumerate(lines) if "float" in line)
    found = only("\n".join([*lines[: first + printed_rows], failure]))
    assert len(found.rows) == printed_rows
    assert any("stopped" in warning or failure in warning for warning in found.warnings)


def test_a_failure_before_the_run_is_not_this_runs():
    assert only("srun: error: node1: task 0: Exited\n" + table()).warnings == ()


def test_values_out_of_bounds_are_said():
    found = only(table().replace("values : 0 OK", "values : 7 FAILED"))
    assert any("check failed" in warning for warning in found.warnings)


def test_a_wrong_result_is_left_out():
    lines = [*header(), *(row(n, model_us(n)) for n in sizes())]
    lines[-1] = re.sub(r" 0$", " 3", lines[-1])
    found = only("\n".join(lines))
    assert found.rows[-1].in_place_us is None
    assert "wrong (3)" in found.dropped[0].reason


@pytest.mark.parametrize("printed", ["2.62144e+07", "1e+06", "5"])
def test_a_count_of_wrong_results_may_be_large(printed):
    """It is printed in six figures: 2.62144e+07 wrong elements are no rounding error."""
    lines = [*header(), *(row(n, model_us(n)) for n in sizes())]
    lines[-1] = re.sub(r" 0$", f" {printed}", lines[-1])
    found = only("\n".join(lines))
    assert found.rows[-1].in_place_us is None
    assert f"wrong ({printed})" in found.dropped[0].reason


@pytest.mark.parametrize("printed", ["5e-07", "0e+00", "3e+02"])
def test_an_error_of_old_versions_is_no_count(printed):
    """Their in-place halves of a test that cannot be in place show any error."""
    assert only(table(layout=Layout(root=False, wrong=printed, wrong_name="error"))).dropped == ()


def test_a_time_of_ten_seconds_is_printed_with_an_exponent():
    slow = row(1 << 34, 2.0e7).replace("20000000", " 2.0e+07")
    text = "\n".join([*header(), *(row(n, model_us(n, gb_s=0.9)) for n in sizes(1 << 20)), slow])
    found = only(text)
    assert (found.rows[-1].out_of_place_us, found.rows[-1].in_place_us) == (2.0e7, 2.0e7)
    assert found.dropped == ()


def iterated(line):
    """A row with the spread of its iterations after each half, and the time of day, as -I and -T add them."""
    spread = "    20.10    31.50    31.10     4.20"
    words = list(re.finditer(r"\S+", line))
    return f"{line[: words[8].end()]}{spread}{line[words[8].end() :]}{spread}  2026-05-01 10:00:00"


@pytest.mark.parametrize("headed", [True, False])
def test_the_spread_of_iterations_is_no_half_of_a_row(headed):
    text = edit_rows(table(), iterated)
    text = re.sub(r"#wrong", "#wrong  i_min  i_max  i_p99  i_cv%", text)
    text = text if headed else "\n".join(line for line in text.splitlines() if "i_min" not in line)
    found = only(text)
    assert [(entry.out_of_place_us, entry.in_place_us) for entry in found.rows] == [
        (entry.out_of_place_us, entry.in_place_us) for entry in only(table()).rows
    ]
    assert (found.dropped, found.warnings) == ((), ())


def test_a_cut_in_the_spread_of_iterations_leaves_the_first_half():
    text = re.sub(r"#wrong", "#wrong  i_min  i_max  i_p99  i_cv%", edit_rows(table(), iterated))
    cut = text[: text.index("  134217728")] + iterated(row(1 << 27, model_us(1 << 27)))[:125]
    last = only(cut).rows[-1]
    assert (last.out_of_place_us, last.in_place_us) == (1362.2, None)


def test_the_cpus_time_of_a_call_is_no_collectives():
    """algbw is still of the time on the wire: the rows would contradict themselves without a word on why."""
    with pytest.raises(UnreadableTextError, match="CPU's call"):
        read_tables(table().replace("time", "cputime"))


def test_a_bandwidth_of_one_rank_may_have_no_decimals():
    """Nothing is sent in 0.05 µs, and six figures are all that is printed."""
    lone = edit_rows(table(ranks=1), lambda line: re.sub(r"\S+ +\S+ +\S+ +0$", "0.05  671089  0.00  0", line))
    assert facts(only(lone)) == ("all_reduce", 1, 25, False)


def test_a_row_that_contradicts_itself_is_left_out():
    """Edited to 999.9 µs, an 8 MiB row is no longer 50 GB/s."""
    found = only(re.sub(r"(8388608 .*?-1\s+)\d+\.\d", r"\g<1>999.9", table()))
    assert found.rows[20].out_of_place_us is None
    assert "contradicts itself" in found.dropped[0].reason


def test_a_size_that_is_not_its_count_is_left_out():
    """128 B are 32 floats; cut to 28 B they are not, and no bandwidth of 0.01 GB/s would show it."""
    found = only(table().replace("         128 ", "          28 "))
    assert [entry.size_bytes for entry in found.rows][3:5] == [64, 256]
    assert "28 B is not 32 elements" in found.dropped[0].reason


def test_the_footers_average_tells_of_rows_removed():
    lines = [line for line in table().splitlines() if not line.lstrip().startswith(("4096 ", "8192 "))]
    without_request = "\n".join(line for line in lines if "nThread" not in line)
    assert any("footer" in warning for warning in only(without_request).warnings)


def test_the_run_asked_for_more_sizes_than_are_here():
    lines = [line for line in table().splitlines() if "Avg" not in line]
    assert any("asked for 25 sizes, 23 are here" in w for w in only("\n".join(lines[:20] + lines[22:])).warnings)


def test_an_elision_is_said():
    lines = table().splitlines()
    assert any("left out" in warning for warning in only("\n".join([*lines[:20], "...", *lines[24:]])).warnings)


def test_the_figures_are_believed_against_an_edited_device_list():
    """busbw/algbw = 1.75 is 8 ranks, whatever the list says."""
    edited = "\n".join(line for line in table().splitlines() if not re.search(r"Rank  [67]|nThread", line))
    found = only(edited)
    assert found.ranks == 8
    assert any("believed" in warning for warning in found.warnings)


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
def test_a_mislabelled_table_is_not_trusted(op, named):
    found = only(table(op).replace(f"{op}_perf", f"{named}_perf"))
    assert not found.trusted
    assert any("mislabelled" in warning for warning in found.warnings)


def test_one_mistyped_bandwidth_spoils_its_row_and_not_the_table():
    """32 MiB at 55.26 GB/s is 96.71 of busbw over 8 ranks, not 36.71."""
    found = only(table().replace("96.71", "36.71"))
    assert (found.trusted, found.ranks, len(found.rows)) == (True, 8, 24)
    assert "not the factor of 8 ranks" in found.dropped[0].reason


def test_a_table_of_which_most_does_not_hold_is_not_trusted():
    """Each time was rewritten to 3.30 µs, and the bandwidths were not."""
    found = only(
        edit_rows(table(), lambda line: re.sub(r"(\s)\d+\.?\d*(?=\s+\d+\.\d\d\s+\d+\.\d\d\s)", r"\g<1>3.30", line))
    )
    assert not found.trusted
    assert any("not to be trusted" in warning for warning in found.warnings)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_file_is_text_in_any_shells_encoding(encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert len(only(text_of(mark + table().encode(encoding))).rows) == 25


def test_two_ranks_on_one_gpu_are_no_link():
    shared = table(ranks=2).replace("device  1 [0000:01:00]", "device  0 [0000:00:00]")
    assert any("share one GPU" in warning for warning in only(shared).warnings)


def test_a_bus_without_its_domain_may_be_of_several_gpus():
    """Older versions print [0x01] alone, which every GPU of a machine with a domain for each has."""
    listed = re.sub(r"device +\d \[[^]]*\]", "device  0 [0x01]", table(ranks=4))
    (said,) = only(listed).warnings
    assert "without its PCI domain" in said


@pytest.mark.parametrize(
    "change",
    [
        lambda line: " ".join([*line.split()[:5], *["N/A"] * 4, *line.split()[9:]]),
        lambda line: line[:48] + line[80:],
    ],
    ids=["not-available", "taken-out"],
)
def test_in_place_times_stand_in_where_out_of_place_is_missing(change):
    found = only(edit_rows(table(), change).replace("out-of-place", ""))
    assert {entry.out_of_place_us for entry in found.rows} == {None}
    assert [entry.time_us for entry in found.rows] == [us for _, us in times(only(table()))]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no row"),
        ("we measured 8 GPUs and were happy", "no row"),
        ("9" * 5000 + " 1 float 1 1 1", "no row"),
        (
            "elements   min (us)   p50 (us)   p99 (us)   max (us)    samples\n   1   195   263   342   437   3921",
            "gloo",
        ),
        ("\n".join([*header(), row(8, 20.0)[:48] + "   XXXXX  XXX.XX  XXX.XX    N/A"]), "placeholder"),
    ],
    ids=["empty", "prose", "digits", "gloo", "placeholder"],
)
def test_what_holds_no_table_is_refused_in_a_sentence(text, says):
    with pytest.raises(UnreadableTextError, match=says):
        read_tables(text)


@pytest.mark.parametrize(
    "line", ["." * 200_000, ". " * 100_000, "8 2 float " + "a" * 200_000, "1 " * 100_000, ":" * 200_000]
)
def test_no_line_takes_long(line):
    """Each of these took a naive pattern minutes."""
    assert len(read_tables(table() + "\n" + line)[0].rows) == 25


@pytest.mark.skipif(not CASES.is_dir(), reason="SHARDLAB_CASES names no folder of real pastes")
def test_every_real_paste_gives_its_collective_and_ranks():
    """Each file's own notes say `op` and `ranks`; what they call unknown, claimed or underivable is not held."""
    for path in sorted(CASES.glob("*.txt")):
        text = path.read_text(errors="replace")
        notes = dict(re.findall(r"^## (op|ranks|format): (.*)$", text, re.M))
        if path.name.startswith(("gloo", "placeholder")):
            with pytest.raises(UnreadableTextError):
                read_tables(text)
            continue
        found = read_tables("\n".join(line for line in text.splitlines() if not line.startswith("## ")))
        ops = re.findall(r"all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce", notes["op"])
        ranks = [int(number) for number in re.findall(r"\d+", re.sub(r"\(.*", "", notes["ranks"]))]
        assert {entry.op for entry in found} <= set(ops), path.name
        if "INCONSISTENT" in path.name:
            assert not found[0].trusted
        elif not any(entry.ranks is None for entry in found):
            assert [entry.ranks for entry in found] in (ranks, ranks * len(found)), path.name
        else:
            assert path.name.startswith(("frag-h20", "frag-mi250x")), path.name


@given(
    op=st.sampled_from(["all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"]),
    ranks=st.integers(2, 64),
    fixed_us=st.floats(3, 300),
    gb_s=st.floats(1, 500),
)
@settings(max_examples=60, deadline=None)
def test_what_is_printed_is_read_back(op, ranks, fixed_us, gb_s):
    """Any machine's table, to the digits printed; the ranks are told, or it is said that they are not."""
    points = [(n * ranks, fixed_us + n * ranks / gb_s / 1e3) for n in sizes(8, 1 << 28)]
    found = only(printed_table(op, ranks, points))
    assert (found.op, found.trusted, found.dropped) == (op, True, ())
    assert found.ranks == ranks or (found.warnings and (found.ranks is None or op == "all_reduce"))
    assert [entry.size_bytes for entry in found.rows] == [size for size, _ in points]
    assert [entry.out_of_place_us for entry in found.rows] == pytest.approx([us for _, us in points], rel=2e-3)


@given(st.text(alphabet=st.sampled_from(list(" \n#|,.:;-[]<>0123456789eE/NAXxusfloathalfsum\"'`")), max_size=400))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_the_reader_stumble(noise):
    """A text is read or refused; around a table it takes no row away."""
    with suppress(UnreadableTextError):
        read_tables(noise)
    rows = {entry.size_bytes for found in read_tables(f"{noise}\n\n{table()}") for entry in found.rows}
    assert set(sizes()) <= rows
