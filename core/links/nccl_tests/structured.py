"""What the tests write with -J, brought to the form in which they print it: one reader for both.

A report is one JSON object: `args`, `config` with `devices`, `results` with a row for each size, the footer.
"""

import json
import re
from typing import Any

from core.text.numbers import whole

_BEGINNING = re.compile(r'\{\s{0,200}"version"\s{0,20}:')
_DECODER = json.JSONDecoder(parse_int=lambda digits: whole(digits[:18]))
MOST_FAILURES = 8
"""Braces that begin no report: each is tried once, over all that follows it."""
_HALF_COLUMNS = "algbw busbw #wrong"


def as_printed(text: str) -> str:
    """The text, each report in it replaced by the lines that its run printed. Lines are counted in these."""
    if '"out_of_place"' not in text:
        return text
    parts, end, failures = [], 0, 0
    for beginning in _BEGINNING.finditer(text):
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
    config, rows = _object(report.get("config")), [_object(entry) for entry in report["results"]]
    arguments = report.get("args")
    name = str(arguments[0]) if isinstance(arguments, list) and arguments else ""
    time = "cputime" if any("cpu_time" in _object(row.get("out_of_place")) for row in rows) else "time"
    step = f"{config['step_factor']}(factor)" if "step_factor" in config else f"{config.get('step_bytes')}(bytes)"
    devices = config.get("devices")
    return [
        f"# Collective test starting: {' '.join(name.split())}",
        f"# nThread {config.get('nthreads')} nGpus {config.get('ngpus')} minBytes {config.get('minimum_bytes')} "
        f"maxBytes {config.get('maximum_bytes')} step: {step}",
        *(_device_line(_object(device)) for device in (devices if isinstance(devices, list) else [])),
        f"# size count type redop root {time} {_HALF_COLUMNS} {time} {_HALF_COLUMNS}",
        *(_row_line(row) for row in rows),
        f"# Out of bounds values : {_footer(report, 'out_of_bounds', 'count')} "
        + ("OK" if _footer(report, "out_of_bounds", "okay") in ("true", "True") else "FAILED"),
        f"# Avg bus bandwidth : {_footer(report, 'average_bus_bandwidth', 'bandwidth')}",
    ]


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _footer(report: dict[str, Any], name: str, key: str) -> str:
    return str(_object(report.get(name)).get(key))


def _device_line(device: dict[str, Any]) -> str:
    words = f"# Rank {device.get('rank')} on {device.get('hostname')} device {device.get('device')}"
    return " ".join(f"{words} [{device.get('device_hex')}] {device.get('device_info')}".split())


def _row_line(row: dict[str, Any]) -> str:
    names = " ".join(str(row.get(key, "")) for key in ("size", "count", "type", "redop", "root"))
    return f"{' '.join(names.split())} {_half(row.get('out_of_place'))} {_half(row.get('in_place'))}"


def _half(value: object) -> str:
    """time, algbw, busbw and #wrong; N/A where the half was not run or not checked."""
    half = _object(value)
    if not half:
        return "N/A N/A N/A N/A"
    figures = (half.get("time", half.get("cpu_time")), half.get("alg_bw"), half.get("bus_bw"))
    wrong = half.get("nwrong")
    return " ".join([*map(_figure, figures), f"{wrong:g}" if isinstance(wrong, float | int) else "N/A"])


def _figure(value: object) -> str:
    return f"{value:.6f}" if isinstance(value, float | int) else str(value)
