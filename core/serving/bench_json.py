"""Benchmark results as they were saved: one JSON object, one a line, a list of them, or one that was cut off."""

import json
import re
from collections.abc import Iterator, Mapping
from math import inf, isfinite

from core.serving.bench_results import CLOCKS, BenchResult, Clock, Clocked, assembled

MOST_OBJECTS = 400
MOST_FAILURES = 8
"""Braces that begin no JSON: each is tried once, over all that follows it."""
LONGEST_CUT = 200_000

_KEY = '"request_throughput"'
_OBJECT = re.compile(r"(?:^[ \t\[]{0,80}|,\s{0,20})\{", re.MULTILINE)
_PAIR = re.compile(r'"(\w{1,40})": ?(-?[\d.eE+]{1,30}|Infinity|"[^"\n]{0,200}")')
_CLOCK = re.compile(r"(mean|median|p(\d{1,2}(?:\.\d{1,3})?))_(ttft|tpot|itl|e2el|e2e_latency)_ms")
_CLOCKS: Mapping[str, Clock] = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el", "e2e_latency": "e2el"}
_NAMES = {
    "request_rate": "requests_per_s_asked",
    "max_concurrency": "max_concurrency",
    "completed": "completed",
    "failed": "failed",
    "duration": "duration_s",
    "total_input_tokens": "input_tokens",
    "total_output_tokens": "output_tokens",
    "request_throughput": "requests_per_s",
    "output_throughput": "output_tokens_per_s",
}


def saved_results(text: str) -> Iterator[BenchResult]:
    """The results among the JSON objects of a text."""
    place, objects, failures, cut_at = 0, 0, 0, -1
    while text.find(_KEY, place) >= 0 and objects < MOST_OBJECTS and failures < MOST_FAILURES:
        start = _OBJECT.search(text, place)
        if start is None:
            break
        place = start.end() - 1
        try:
            found, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            cut_at, place, failures = place, place + 1, failures + 1
            continue
        if isinstance(found, dict) and "request_throughput" in found:
            yield _result(found, _line(text, place), ended=True)
        place, objects, cut_at = end, objects + 1, -1
    if cut_at >= 0:
        pairs = dict(_PAIR.findall(text[cut_at : cut_at + LONGEST_CUT]))
        if "request_throughput" in pairs:
            yield _result({name: said.strip('"') for name, said in pairs.items()}, _line(text, cut_at), ended=False)


_DECODER = json.JSONDecoder()


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _result(found: Mapping[str, object], line: int, ended: bool) -> BenchResult:
    figures = {field: value for name, field in _NAMES.items() if (value := _number(found.get(name))) is not None}
    said = found.get("model_id") or found.get("model") or found.get("model_name")
    model = said[:200] if isinstance(said, str) else None
    return assembled(line, model, figures, {clock: _clocked(found, clock) for clock in CLOCKS}, ended)


def _clocked(found: Mapping[str, object], clock: Clock) -> Clocked:
    """What `mean_ttft_ms`, `median_ttft_ms` and `p99_ttft_ms` say."""
    mean_s: float | None = None
    percentiles: dict[float, float] = {}
    for name, said in found.items():
        matched = _CLOCK.fullmatch(name) if len(name) <= 40 else None
        value = _number(said)
        if matched is None or _CLOCKS[matched[3]] != clock or value is None or not isfinite(value):
            continue
        if matched[1] == "mean":
            mean_s = 1e-3 * value
        else:
            percentiles[float(matched[2] or 50)] = 1e-3 * value
    return Clocked(mean_s, tuple(sorted(percentiles.items())))


def _number(said: object) -> float | None:
    """A number, also as text: a rate without a limit is saved as "inf". None for what is none, or below 0."""
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return None
    try:
        value = float(said)
    except (ValueError, OverflowError):
        return None
    return value if 0 <= value <= inf else None
