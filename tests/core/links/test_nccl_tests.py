"""Pasted tables are read as a careful reader would: collective, ranks and times, by whatever columns they have.

The pastes themselves stay out of the project; where their folder is given by SHARDLAB_CASES, all of them are read.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UnreadableTextError
from core.links.nccl_tests import read_tables
from core.links.nccl_tests.figures import printed_table, ranks_span
from core.links.nccl_tests.records import Half
from runtime.files import text_of
from tests.core.links.printed_tables import (
    NEW,
    OLD,
    Layout,
    edit_rows,
    facts,
    header,
    model_us,
    only,
    refusal,
    row,
    sizes,
    table,
    times,
    words,
)

CASES = Path(os.environ.get("SHARDLAB_CASES", "")) / "nccl"


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
    assert any("not named" in warning for warning in words(found.warnings))


def test_a_name_nearby_is_not_believed_against_a_ranks_share():
    """No all-reduce counts n/N elements: what the prose around a table says is another table's."""
    unnamed = "\n".join(["we also ran all_reduce", *table("all_gather", ranks=4).splitlines()[1:]])
    assert facts(only(unnamed)) == ("all_gather", 4, 23, True)


@pytest.mark.parametrize(
    "layout",
    [NEW, OLD, Layout(root=False, wrong=None), Layout(in_place=False), Layout(in_place=False, wrong=None)],
    ids=["new", "old", "no-wrong", "no-in-place", "bandwidths-last"],
)
def test_columns_may_be_missing(layout):
    assert times(only(table(layout=layout))) == times(only(table()))


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
    (said,) = words(only("\n".join(rows.splitlines()[1:])).warnings)
    assert "a scatter has too" in said


def test_a_line_on_two_tests_names_none():
    """By its shape the table is a gather's or a scatter's, whatever a line before it has built."""
    unnamed = table("all_gather", 4).splitlines()[1:]
    assert only("\n".join(["built reduce_perf and broadcast_perf", *unnamed])).op == only("\n".join(unnamed)).op


def test_an_uneven_alltoall_is_another_test():
    assert facts(only(table("alltoall", 4).replace("alltoall_perf", "alltoallv_perf")))[:2] == ("alltoallv", 4)


def test_a_table_without_any_header_is_read_by_its_shape():
    rows = "\n".join(line for line in table("all_gather", 16).splitlines() if "float" in line)
    assert facts(only(rows)) == ("all_gather", 16, 21, True)


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
    """algbw is still of the time on the link: the rows would contradict themselves without a word on why."""
    assert "CPU's call" in refusal(table().replace("time", "cputime"))


def test_a_bandwidth_of_one_rank_may_have_no_decimals():
    """Nothing is sent in 0.05 µs, and six figures are all that is printed."""
    lone = edit_rows(table(ranks=1), lambda line: re.sub(r"\S+ +\S+ +\S+ +0$", "0.05  671089  0.00  0", line))
    assert facts(only(lone)) == ("all_reduce", 1, 25, False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_file_is_text_in_any_shells_encoding(encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert len(only(text_of(mark + table().encode(encoding))).rows) == 25


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
    assert says in refusal(text)


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


def test_an_algbw_of_few_digits_is_no_mistyped_one():
    """10 may be 10.49, of which half is 5.24: it agrees with 20.00 and 10.00, and its rounding widens the span."""
    exact, coarse = (
        Half(1.0, a, b, None, ("1", *texts))
        for a, b, *texts in ((20, 10, "20.00", "10.00"), (10, 5.24, "10", "5.24"))
    )
    alone, both = (ranks_span(halves, "all_gather", False) for halves in ([exact] * 3, [exact] * 3 + [coarse]))
    assert both[1] - both[0] > 5 * (alone[1] - alone[0])
    assert both[0] < 2 < both[1]


def test_a_hypercube_of_one_rank_sends_nothing_and_is_no_link():
    found = only(
        "\n".join(
            ["# Collective test starting: hypercube_perf", *header(), *(hypercube(n, 5.0, 1) for n in sizes())]
        )
    )
    assert not found.trusted
