"""Other benchmarks' results under vLLM's names: of GenAI-Perf and AIPerf, of EvalScope, of trtllm-bench.

GenAI-Perf's time between tokens is a request's own mean: (latency - first token) / (tokens - 1).
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping

from core.text.numbers import number

_BARS = str.maketrans("│┃", "||")
_CLOCKS = {"time to first token": "ttft", "inter token latency": "tpot", "request latency": "e2el"}
_MEANS = {
    "output sequence length": "osl",
    "input sequence length": "isl",
    "output token throughput": "output_throughput",
    "request throughput": "request_throughput",
    "request count": "completed",
}
_ASKED = re.compile(
    r"--(concurrency|request-rate|model)(?: {1,4}|=)['\"]?([^\s'\"\\]{1,200})|(?<!\S)-m {1,4}(\S{1,200})"
)
_NAME = re.compile(r"([a-z ]{3,60}?)(?: \(([a-z/ ]{1,24})\))?")
_SECONDS = ("s", "sec", "seconds")
_LONGEST = 4000


def statistics(text: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    """The tables of a text: each with the line of its head, and what the command before it asked for."""
    asked: dict[str, object] = {}
    heads: list[str] = []
    values: dict[str, object] = {}
    begun = 0
    for number_of, line in enumerate(text.splitlines(), start=1):
        if "|" not in (barred := _barred(line[:_LONGEST], heads)):
            if line.strip()[:1] in ("└", "╘") and "mean_ttft_ms" in values:
                yield begun, _whole(values)
                values, heads = {}, []
            for name, given, short in _ASKED.findall(line[:_LONGEST]):
                if name or "perf" in line:  # python has a -m too
                    asked[name or "model"] = given or short
            continue
        cells = [cell.strip().lower() for cell in barred.strip().strip("|").split("|")[:24]]
        if "avg" in cells and cells[0] in ("statistic", "metric"):
            if "mean_ttft_ms" in values:
                yield begun, _whole(values)
            heads, begun = cells, number_of
            values = {"model": asked.get("model"), "max_concurrency": number(asked.get("concurrency"), 1)}
            values["request_rate"] = number(asked.get("request-rate"), 0, infinite=True)
        elif heads and cells == ["metric", "value"]:  # below a CSV's statistics, what has none
            heads = ["metric", "avg"]
        elif heads and len(cells) == len(heads) and (named := _NAME.fullmatch(cells[0])):
            rows = dict(zip(heads[1:], cells[1:], strict=True))
            values |= _row(named[1], named[2] or "ms", rows)
    if "mean_ttft_ms" in values:
        yield begun, _whole(values)


def _barred(line: str, heads: list[str]) -> str:
    """A line with bars between its cells, also one of the CSV that both save."""
    barred = line.translate(_BARS)
    of_csv = line.startswith("Metric,") or (heads[:1] == ["metric"] and "," in line and "|" not in barred)
    return f"|{'|'.join(next(csv.reader([line])))}|" if of_csv else barred


def flat(saved: Mapping[str, object]) -> Mapping[str, object]:
    """A saved result whose statistics are objects of their own, as a plain one; another as it is."""
    if not isinstance(saved.get("time_to_first_token"), dict):
        return saved
    values: dict[str, object] = {}
    for key, given in saved.items():
        if isinstance(given, dict):
            values |= _row(key.replace("_", " "), str(given.get("unit", "ms")), given)
    return _whole(values)


def _row(name: str, unit: str, given: Mapping[str, object]) -> dict[str, object]:
    """One statistic: a clock's mean and percentiles in ms, or another's mean."""
    if name in _MEANS:
        return {_MEANS[name]: number(given.get("avg"), 0)}
    if name not in _CLOCKS:
        return {}
    scale = 1e3 if unit in _SECONDS else 1.0
    numbers = {head: number(value, 0) for head, value in given.items()}
    return {
        f"{'mean' if head == 'avg' else head}_{_CLOCKS[name]}_ms": scale * value
        for head, value in numbers.items()
        if value is not None and (head == "avg" or re.fullmatch(r"p\d{1,2}", head))
    }


def _whole(values: Mapping[str, object]) -> Mapping[str, object]:
    """Lengths as the totals of a saved result."""
    completed = values.get("completed")
    totals = {
        key: length * completed
        for name, key in (("isl", "total_input_tokens"), ("osl", "total_output_tokens"))
        if isinstance(length := values.get(name), float) and isinstance(completed, float)
    }
    return {**values, **totals}


_SPELT = {
    "time taken for tests (s)": "Benchmark duration (s)",
    "number of concurrency": "Maximum request concurrency",
    "succeed requests": "Successful requests",
    "average time to first token (s)": "Mean TTFT (s)",
    "average time per output token (s)": "Mean TPOT (s)",
    "average inter-token latency (s)": "Mean ITL (s)",
    "number of requests": "Successful requests",
    "number of concurrent requests": "Maximum request concurrency",
    "request throughput (req/sec)": "Request throughput (req/s)",
    "total output throughput (tokens/sec)": "Output token throughput (tok/s)",
    "average time-to-first-token [ttft] (ms)": "Mean TTFT (ms)",
    "average time-per-output-token [tpot] (ms)": "Mean TPOT (ms)",
    "average request latency (ms)": "Mean E2EL (ms)",
}
"""EvalScope's names of what vLLM's benchmark prints, then trtllm-bench's."""
_SUMMED = {
    "average input tokens per request": "Total input tokens",
    "average output tokens per request": "Total generated tokens",
    "average input length (tokens)": "Total input tokens",
    "average output length (tokens)": "Total generated tokens",
}
_SUMMARY = re.compile(r"^[|\s]{0,8}([A-Z][\w /()\[\]-]{6,60}?)\s{0,40}[|:]\s{0,60}([\d.]{1,24})[|\s]{0,80}$")
_BREAKDOWN = re.compile(r"^\[(TTFT|TPOT|Latency)\] P(\d{2})\s{0,12}:\s{0,12}([\d.]{1,24})\s{0,12}$")
"""Of trtllm-bench, in ms."""


def as_printed(lines: Iterable[str]) -> Iterator[str]:
    """Lines, those of EvalScope or trtllm-bench under the names that vLLM's benchmark prints."""
    completed = 0.0
    for line in lines:
        short = line if len(line) < 200 else ""
        if broken := _BREAKDOWN.match(short):
            clock = "E2EL" if broken[1] == "Latency" else broken[1]
            yield f"P{broken[2]} {clock} (ms): {broken[3]}"
            continue
        match = _SUMMARY.match(short)
        name, figure = (match[1].lower(), number(match[2], 0)) if match else ("", None)
        if match is None or figure is None:
            yield line
        elif name in _SUMMED and completed:
            yield f"{_SUMMED[name]}: {figure * completed:.0f}"
        elif name == "total latency (ms)":
            yield f"Benchmark duration (s): {1e-3 * figure}"
        elif name in _SPELT:
            completed = figure if _SPELT[name] == "Successful requests" else completed
            yield f"{_SPELT[name]}: {figure}"
        else:
            yield f"{match[1]}: {match[2]}" if "|" in line else line
