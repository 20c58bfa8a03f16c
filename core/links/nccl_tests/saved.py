"""What the tests write to a file, brought to the form in which they print it: one reader for all.

With -J nccl-tests write a report, one JSON object: `args`, `config` with `devices`, `results` with a row for each
size, the footer. With -x rccl-tests write rows of CSV or of JSON. A row is one half of a size: cycle, collective,
ranks, size, whether in place, figures. The heading of CSV lacks a column of its rows where MPI started the run, so
columns are counted from the right.
Source: rccl-tests, src/common.cpp, Reporter::addResult.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from core.text.lines import object_in
from core.text.numbers import whole, whole_number

_TESTS = {
    "AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "Reduce": "reduce",
    "Broadcast": "broadcast", "AlltoAll": "alltoall", "SendRecv": "sendrecv", "Gather": "gather",
    "Scatter": "scatter",
}  # fmt: skip
_WIDTHS = {"64": 8, "double": 8, "16": 2, "half": 2, "int8": 1, "fp8": 1}
_BEFORE = ("numCycle", "name", "nodes", "ranks", "ranksPerNode", "gpusPerRank", "gpus")
_LAST = ("size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")
_BEGUN = re.compile(
    r"^ {0,8}[\[{]{0,2} {0,8}(?:\"numCycle\"|numCycle *,|\d{1,9} *, *\"?[A-Z][A-Za-z]{5,13}\"? *,)", re.M
)
_HEADING = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
_MOST_TABLES = 16
"""Cycles of a run are tables of their own. Of more the first are read, and that is said."""
_NOT_RUN = "N/A N/A N/A N/A"
_REPORT_BEGUN = re.compile(r'\{\s{0,200}"version"\s{0,20}:')
_DECODER = json.JSONDecoder(parse_int=lambda digits: whole(digits[:18]))
MOST_FAILURES = 8
"""Braces that begin no report: each is tried once, over all that follows it."""
_HALF_COLUMNS = "algbw busbw #wrong"


class _Half(NamedTuple):
    """One row: its run (cycle, test, ranks), the first columns of its size, whether in place, and the figures."""

    run: tuple[str, str, int]
    head: str
    in_place: bool
    figures: str


def as_printed(text: str) -> str:
    """The text, whatever was saved in it as its run printed it. Lines are counted in these."""
    return _reports_printed(_rows_printed(text))


def _rows_printed(text: str) -> str:
    """The text, rows that were saved in it printed as tables; as it is where there are none.

    Three dots stand for a row that is cut, and for tables that are left out.
    """
    if _BEGUN.search(text) is None:
        return text
    printed: list[str] = []
    tables = 0
    for run, rows in groupby(_rows(text), key=lambda row: row.run if isinstance(row, _Half) else None):
        if run is None:
            printed += [row for row in rows if isinstance(row, str)]
            continue
        tables += 1
        if tables <= _MOST_TABLES:
            printed += [f"# Collective test starting: {run[1]}_perf", f"# nranks {run[2]}", _HEADING]
            printed += _paired([row for row in rows if isinstance(row, _Half)])
        elif tables == _MOST_TABLES + 1:
            printed.append("...")
    return "\n".join(printed) if tables else text


def _rows(text: str) -> Iterator[_Half | str]:
    """The rows among the lines; another line as it is, a heading of the CSV left out."""
    for line in text.splitlines():
        begun = _BEGUN.match(line)
        half = _half(line) if begun else None
        if half is not None:
            yield half
        elif begun is None or "numCycle" not in begun[0] or "{" in begun[0]:
            yield line if begun is None else "..."


def _half(line: str) -> _Half | None:
    """The row in a line, of either form; None where it is another, or cut."""
    words = _of_json(line) if "{" in line[:12] else [word.strip(' "') for word in line.split(",")]
    if len(words) not in (11, 14) or words[1] not in _TESTS or words[-5] not in ("0", "1"):
        return None
    size, kind, redop = words[-8:-5]
    ranks = whole_number(words[3] if len(words) == 14 else words[2], 1, 10**6)
    size_bytes = whole_number(size, 0, 2**50)
    if ranks is None or size_bytes is None:
        return None
    width = next((width for mark, width in _WIDTHS.items() if mark in kind), 4)
    head = f"{size_bytes} {size_bytes // width} {kind} {redop} -1"
    return _Half((words[0], _TESTS[words[1]], ranks), head, words[-5] == "1", " ".join(words[-4:]))


def _of_json(line: str) -> list[str]:
    """A row's values in the order of the CSV; none where it is another object, or cut."""
    try:
        row = json.loads(line.strip(" \t[],"))
    except (ValueError, RecursionError):
        return []
    if not isinstance(row, dict) or not set(_LAST) <= row.keys():
        return []
    return [str(row[key]) for key in (*_BEFORE, *_LAST) if key in row]


def _paired(rows: list[_Half]) -> Iterator[str]:
    """A line a size, its halves side by side, out of place first."""
    for head, halves in groupby(rows, key=lambda row: row.head):
        sides = {half.in_place: half.figures for half in halves}
        yield " ".join([head, *(sides.get(side, _NOT_RUN) for side in (False, True))])


def _reports_printed(text: str) -> str:
    """The text, each report in it replaced by the lines that its run printed."""
    if '"out_of_place"' not in text:
        return text
    parts, end, failures = [], 0, 0
    for beginning in _REPORT_BEGUN.finditer(text):
        if beginning.start() < end:
            continue
        report, after = _report(text, beginning.start())
        if report is None:
            failures += 1
            if failures == MOST_FAILURES:
                break
        else:
            parts += [text[end : beginning.start()], "\n", "\n".join(_lines(report)), "\n"]
            end = after
    return "".join([*parts, text[end:]])


def _report(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """The report that begins there and where it ends; None where it is cut or something else."""
    try:
        report, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
    return (report, end) if isinstance(report.get("results"), list) else (None, start)


def _lines(report: dict[str, Any]) -> list[str]:
    """Name, request, devices, heading, rows and footer."""
    config, rows = object_in(report.get("config")), [object_in(entry) for entry in report["results"]]
    arguments = report.get("args")
    name = str(arguments[0]) if isinstance(arguments, list) and arguments else ""
    time = "cputime" if any("cpu_time" in object_in(row.get("out_of_place")) for row in rows) else "time"
    step = f"{config['step_factor']}(factor)" if "step_factor" in config else f"{config.get('step_bytes')}(bytes)"
    devices = config.get("devices")
    return [
        f"# Collective test starting: {' '.join(name.split())}",
        f"# nThread {config.get('nthreads')} nGpus {config.get('ngpus')} minBytes {config.get('minimum_bytes')} "
        f"maxBytes {config.get('maximum_bytes')} step: {step}",
        *(_device_line(object_in(device)) for device in (devices if isinstance(devices, list) else [])),
        f"# size count type redop root {time} {_HALF_COLUMNS} {time} {_HALF_COLUMNS}",
        *(_row_line(row) for row in rows),
        f"# Out of bounds values : {_footer(report, 'out_of_bounds', 'count')} "
        + ("OK" if _footer(report, "out_of_bounds", "okay") in ("true", "True") else "FAILED"),
        f"# Avg bus bandwidth : {_footer(report, 'average_bus_bandwidth', 'bandwidth')}",
    ]


def _footer(report: dict[str, Any], name: str, key: str) -> str:
    return str(object_in(report.get(name)).get(key))


def _device_line(device: Mapping[str, Any]) -> str:
    words = f"# Rank {device.get('rank')} on {device.get('hostname')} device {device.get('device')}"
    return " ".join(f"{words} [{device.get('device_hex')}] {device.get('device_info')}".split())


def _row_line(row: Mapping[str, Any]) -> str:
    names = " ".join(str(row.get(key, "")) for key in ("size", "count", "type", "redop", "root"))
    return " ".join([*names.split(), *(_half_of_report(row.get(half)) for half in ("out_of_place", "in_place"))])


def _half_of_report(value: object) -> str:
    """time, algbw, busbw and #wrong; N/A where the half was not run or not checked."""
    half = object_in(value)
    if not half:
        return _NOT_RUN
    figures = (half.get("time", half.get("cpu_time")), half.get("alg_bw"), half.get("bus_bw"))
    wrong = half.get("nwrong")
    return " ".join([*map(_figure, figures), f"{wrong:g}" if isinstance(wrong, float | int) else "N/A"])


def _figure(value: object) -> str:
    return f"{value:.6f}" if isinstance(value, float | int) else str(value)
