"""The report in JSON that newer releases write."""

import json
from contextlib import suppress

import pytest

from core.errors import UnreadableTextError
from core.links.nccl_tests import read_tables
from tests.core.links.printed_tables import factor_of, facts, only, refusal, table, times, words


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
    assert any("check failed" in warning for warning in words(only(json.dumps(report(okay="false"))).warnings))
    assert "CPU's call" in refusal(json.dumps(report(time="cpu_time")))


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


SAVED = [(2**power, 10 + 2**power / 2e5, 9 + 2**power / 2e5) for power in range(20, 27)]


def _saved(size: int, time_us: float, in_place: int, form: str) -> str:
    """One half of a size as rccl-tests save it, of two nodes of four ranks."""
    algbw = size / time_us / 1e3
    names = [
        *("numCycle", "name", "nodes", "ranks", "ranksPerNode", "gpusPerRank", "size", "type", "redop", "inPlace"),
        *("time", "algBw", "busBw", "wrong"),
    ]
    figures = (round(time_us, 4), round(algbw, 4), round(algbw * 1.75, 4))
    values = (0, "AllReduce", 2, 8, 4, 1, size, "float", "sum", in_place, *figures, "0")
    if form == "json":
        return json.dumps(dict(zip(names, values, strict=True)))
    return ", ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_rccl_tests_save_is_the_table_they_print(form):
    """The heading of the CSV lacks a column of its rows; an MPI run's ranks are in every row."""
    head = "numCycle, collective, ranks, rankspernode, gpusperrank, size, type, redop, inplace, time, algbw, busbw"
    rows = [_saved(size, half, in_place, form) for size, *both in SAVED for in_place, half in enumerate(both)]
    (table,) = read_tables("\n".join([head] * (form == "csv") + rows))
    assert (table.op, table.ranks, len(table.rows)) == ("all_reduce", 8, len(SAVED))
    assert not table.warnings
    (cut,) = read_tables("\n".join([*rows[:-2], rows[-1][:40]]))
    assert len(cut.rows) == len(SAVED) - 1
    assert any("left out" in word for word in words(cut.warnings))


def test_of_many_cycles_the_first_are_read_and_that_is_said():
    """Ten thousand tables of a row each, of thousands of ranks, are no more work than sixteen."""
    cycles = "\n".join(
        f'{n}, "AllReduce", 1, 4096, 8, 1, 8388608, float, sum, 0, 91.1, 92.08, 184.12, 0' for n in range(99)
    )
    tables = read_tables(cycles)
    assert len(tables) == 16
    assert {found.ranks for found in tables} == {4096}
    assert any("left out" in word for word in words(tables[-1].warnings))
