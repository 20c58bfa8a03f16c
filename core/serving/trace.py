"""A trace of requests: when each arrived, how long its prompt was and its output. CSV with a header, or JSON lines.

Names are those of the traces that are published: Azure's (TIMESTAMP, ContextTokens, GeneratedTokens), Mooncake's
(timestamp in ms, input_length, output_length), and plain ones (arrival, prompt, output).
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import mean

from core.errors import UnreadableTextError
from core.text.numbers import number, whole_number

MOST_REQUESTS = 5000
"""Requests of a trace that are sent; the rest is left out, and counted."""
MOST_CHARACTERS = 2**20
LONGEST_TOKENS = 10**7
MOST_TIME = 1e15

_ARRIVAL = ("arrival", "arrivals", "arrivaltime", "timestamp", "time", "start", "t")
_PROMPT = ("prompt", "prompttokens", "promptlen", "contexttokens", "inputlength", "inputtokens", "input", "isl")
_OUTPUT = ("output", "outputtokens", "outputlen", "generatedtokens", "outputlength", "responsetokens", "osl")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)", re.ASCII)
_MILLISECONDS = re.compile(r"ms|milli", re.IGNORECASE)


@dataclass(frozen=True)
class Trace:
    """Requests in the order in which they arrived, from the first one on.

    `left_out` were past the most, `unread` are lines that say no request. `open_end`: the last line was not ended,
    so its last number may be cut.
    """

    arrivals_s: tuple[float, ...]
    prompts: tuple[int, ...]
    outputs: tuple[int, ...]
    left_out: int = 0
    unread: int = 0
    open_end: bool = False

    @property
    def requests(self) -> int:
        return len(self.arrivals_s)

    @property
    def mean_prompt(self) -> float:
        return mean(self.prompts)

    @property
    def mean_output(self) -> float:
        return mean(self.outputs)

    @property
    def rate_per_s(self) -> float:
        """Requests a second, from the first to the last; endless where all came at once."""
        return (self.requests - 1) / self.arrivals_s[-1] if self.arrivals_s[-1] else float("inf")


def read_trace(text: str) -> Trace:
    """A trace out of a text.

    Raises UnreadableTextError for a text without the three columns, or without a row that can be read.
    """
    requests, unread, request = [], 0, None
    beyond = text[MOST_CHARACTERS:]
    text = text[:MOST_CHARACTERS].lstrip("\ufeff")
    if beyond:  # the line that the limit cuts is none, and those behind it are counted
        unread = beyond.count("\n") + (not beyond.endswith("\n"))
        text = text[: text.rfind("\n") + 1]
    for row in _rows(text):
        request = _request(row)
        if request is None:
            unread += 1
        else:
            requests.append(request)
    open_end = request is not None and text[-1:] not in ("\n", "\r", "}")
    if not requests:
        raise UnreadableTextError("no_request")
    requests.sort()
    kept, start = requests[:MOST_REQUESTS], requests[0][0]
    arrivals, prompts, outputs = zip(
        *((time_s - start, prompt, output) for time_s, prompt, output in kept), strict=True
    )
    return Trace(arrivals, prompts, outputs, len(requests) - len(kept), unread, open_end)


def _rows(text: str) -> Iterator[Mapping[str, str]]:
    """Each line under the names of its columns."""
    lines = text.splitlines()
    if text.lstrip().startswith("{"):
        yield from _objects(lines)
        return
    filled = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not filled:
        return
    delimiter = next((one for one in "\t;," if one in filled[0]), ",")
    reader = csv.reader(filled, delimiter=delimiter)
    try:
        heads = next(reader)
        for cells in reader:
            yield dict(zip(heads, cells, strict=False))
    except csv.Error as error:
        raise UnreadableTextError("no_csv", error=error) from error


def _objects(lines: Sequence[str]) -> Iterator[Mapping[str, str]]:
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        yield {str(name): str(value)[:40] for name, value in row.items()} if isinstance(row, dict) else {}


def _request(row: Mapping[str, str]) -> tuple[float, int, int] | None:
    """When, how much in, how much out; None for a row that does not say."""
    arrival, prompt, output = _columns(tuple(row))
    if arrival is None or prompt is None or output is None:
        return None
    time_s = _seconds(arrival, row[arrival], jsonl="hash_ids" in row)
    tokens = (_tokens(row[prompt]), _tokens(row[output]))
    return None if time_s is None or None in tokens else (time_s, tokens[0], tokens[1])  # type: ignore[return-value]


@lru_cache(maxsize=8)
def _columns(heads: tuple[str, ...]) -> tuple[str | None, str | None, str | None]:
    """The names of the three columns among a row's; the rows of a trace have the same."""
    names = {re.sub(r"[\W_]|(?:ms|seconds|sec|s)$", "", name.lower()): name for name in heads}
    names |= {re.sub(r"[\W_]", "", name.lower()): name for name in heads}
    arrival, prompt, output = (
        next((names[one] for one in known if one in names), None) for known in (_ARRIVAL, _PROMPT, _OUTPUT)
    )
    return arrival, prompt, output


def _seconds(name: str, text: str, jsonl: bool) -> float | None:
    """A time in seconds: a number, in ms where its name says so or the trace is Mooncake's, or a date."""
    value = number(text, -MOST_TIME, MOST_TIME)
    if value is None:
        return _dated(text)
    return value / 1e3 if jsonl or _MILLISECONDS.search(name) else value


def _dated(text: str) -> float | None:
    """A date and a time of day as seconds from some day on; a zone, the same on every line, does not matter."""
    match = _DATE.match(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute = (whole_number(part) or 0 for part in match.groups()[:5])
    # days by the Gregorian count, years beginning in March
    year, month = (year - 1, month + 9) if month < 3 else (year, month - 3)
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day
    return 86_400.0 * days + 3600 * hour + 60 * minute + (number(match[6]) or 0.0)


def _tokens(text: str) -> int | None:
    return whole_number(text, 1, LONGEST_TOKENS)
