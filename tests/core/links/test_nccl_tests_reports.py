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
