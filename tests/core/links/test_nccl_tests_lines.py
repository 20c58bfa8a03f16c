"""What mangles the lines of a table on their way into a paste, and what is still read of them."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.links.nccl_tests import read_tables
from tests.core.links.printed_tables import (
    NEW,
    Layout,
    edit_rows,
    facts,
    header,
    only,
    row,
    sizes,
    table,
    times,
    words,
)

INFO = "node0:16629:16655 [3] NCCL INFO Launch mode Parallel"


@pytest.mark.parametrize(
    "disguise",
    [
        lambda line: f"[1,0]<stdout>:{line}",
        lambda line: f"[0] {line}".replace("     -1 ", "     -1[0] ") if "float" in line else line,
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
        "mpi-rank-alone",
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


@given(width=st.integers(56, 120), unchecked=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_narrow_window_takes_nothing_from_a_row(width, unchecked):
    """It may part a row in a figure, in an N/A and at an error column, and the heading between its halves."""
    layout = Layout(wrong="N/A") if unchecked else NEW
    whole = table(largest=1 << 20, layout=layout)
    wrapped = [line[at : at + width] for line in whole.splitlines() for at in range(0, max(1, len(line)), width)]
    narrow = only("\n".join(wrapped))
    assert [(entry.out_of_place_us, entry.in_place_us) for entry in narrow.rows] == [
        (entry.out_of_place_us, entry.in_place_us) for entry in only(whole).rows
    ]
    assert facts(narrow) == ("all_reduce", 8, 18, True)


ATTENTION = "node0:99:101 [0] graph/xml.cc:12 NCCL ATTN failed: a value was not found, taking another"
DIAGNOSIS = "node0:99 NCCL DIAG [OK] net bw: skipped (single host or no network transport)"


@pytest.mark.parametrize("message", [ATTENTION, DIAGNOSIS, ATTENTION.replace("ATTN", "WARN")])
def test_records_of_another_level_are_no_rows_and_no_failure_of_the_tests(message):
    """NCCL 2.32 writes ATTN and DIAG beside INFO and WARN, behind a file and a line."""
    busy = "\n".join(f"{line}\n{message}" for line in table().splitlines())
    assert times(only(busy)) == times(only(table()))
    if "WARN" not in message:
        assert facts(only(busy)) == facts(only(table()))


@pytest.mark.parametrize("glue", ["", " "])
def test_a_message_inside_a_row_breaks_nothing(glue):
    """The tests print a row in pieces: a library's message may stand between any two, glued to a figure or not."""
    whole = table()
    for pieces in range(3, 11):

        def broken(line, pieces=pieces):
            end = list(re.finditer(r"\S+", line))[pieces - 1].end()
            return f"{line[:end]}{glue}{INFO}\n{INFO}\n{line[end:]}" if " 256 " in line else line

        assert times(only(edit_rows(whole, broken))) == times(only(whole)), pieces


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
    assert (found.rows, found.wrong_sums) == ((), len(sizes()))


def test_messages_between_rows_and_matrices_of_numbers_are_no_rows():
    matrix = "   D\\D     0      1\n     0 916.92  49.78\n     1  49.85 920.12\n"
    busy = "\n".join(f"{line}\n{INFO}" for line in table().splitlines())
    assert times(only(matrix + busy + "\n" + matrix)) == times(only(table()))


def test_a_line_too_long_is_cut_and_said():
    """What stands in its first sixty thousand characters is read."""
    lines = table().splitlines()
    found = only("\n".join([*lines[:-3], lines[-4] + " " * 60_000 + lines[-5], *lines[-3:]]))
    assert [entry.size_bytes for entry in found.rows] == [*sizes(), 1 << 27]
    assert words(found.dropped) == ["only the first 60\u202f000 characters of this line were read"]


def test_all_rows_on_one_line_are_parted():
    rows = " ".join(line for line in table().splitlines() if "float" in line)
    assert times(only(rows)) == times(only(table()))


@pytest.mark.parametrize(("cut_at", "kept"), [(0, 12), (20, 12), (50, 12), (68, 12), (80, 13), (90, 13)])
def test_a_cut_row_is_left_out_unless_its_first_half_is_whole(cut_at, kept):
    lines = table().splitlines()
    first = next(number for number, line in enumerate(lines) if "float" in line)
    found = only("\n".join(lines[: first + 12]) + "\n" + lines[first + 12][:cut_at])
    assert len(found.rows) == kept
    assert any("missing" in warning or "cut" in warning for warning in words(found.warnings))


def test_a_cut_is_said_with_its_line():
    cut = "\n".join([*header(), row(8, 20.0), row(16, 20.0), row(32, 20.0)[:50]])
    found = only(cut)
    assert [entry.line for entry in found.dropped] == [6]
    assert any("cut in the middle of a row (line 6)" in warning for warning in words(found.warnings))


@pytest.mark.parametrize(
    "line", ["." * 200_000, ". " * 100_000, "8 2 float " + "a" * 200_000, "1 " * 100_000, ":" * 200_000]
)
def test_no_line_takes_long(line):
    """Each of these took a naive pattern minutes."""
    assert len(read_tables(table() + "\n" + line)[0].rows) == 25
