"""Reading benchmark results out of a paste: printed or saved, several in one, with logs and commands between them.

A printed figure is a label and a number on one line, wherever in it; a saved one is JSON: one object, one a line,
a list of them, or one that was cut off; a sweep's summary is CSV or a table of Markdown, a result a row.
Every pattern is bounded, and so is what is read of a line and of a paste.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import inf, isfinite

from core.errors import Remark, UnreadableTextError, remark
from core.serving.bench_results import CLOCKS, MOST, BenchResult, Clock, Clocked, assembled
from core.serving.saved_results import KEYS, results_in
from core.serving.statistics import as_printed, statistics
from core.text.lines import without_colours
from core.text.numbers import figure, number

LONGEST_LINE = 4000
SHORTEST_LINE = 8
"""Characters of the shortest line that says anything: `model=ab`."""
MOST_RESULTS = 200
MOST_OBJECTS = 400
MOST_FAILURES = 8
"""Braces that begin no JSON: each is tried once, over all that follows it."""
LONGEST_CUT = 200_000

_BEGIN = re.compile(r"={4,20} ?(?:\w{1,20} ){0,3}Serving Benchmark Result", re.IGNORECASE)
_END = re.compile(r"={40,}\W{0,8}$")
_BLANKS = str.maketrans("\t\N{NO-BREAK SPACE}", "  ")
_BETWEEN = r" {0,8}[:|] {0,200}"
_FIGURE = r"([\d.,]{1,24}|inf|nan)"
_TIMED = re.compile(
    r"\b(?P<which>Mean|Median|P(?P<percent>\d{1,2}(?:\.\d{1,3})?)) (?P<clock>TTFT|TPOT|ITL|E2EL|E2E Latency)"
    rf"(?: \((?P<unit>ms|s)\))?{_BETWEEN}(?P<figure>[\d.,]{{1,24}})(?: (?P<after>ms|s)\b)?"
    # the first benchmark_serving.py, of 2023, printed these alone
    rf"|Average latency(?P<token> per output token)?{_BETWEEN}(?P<average>[\d.,]{{1,24}}) s\b",
    re.IGNORECASE,
)
_MORE_CELLS = re.compile(r" {0,200}\| {0,200}\d")
"""Behind a figure, another: a table with a run a column, of which none is known to be meant."""
_SAVED_TIME = re.compile(
    r"(?P<which>mean|median|p(?P<percent>\d{1,2}(?:\.\d{1,3})?))_(?P<clock>ttft|tpot|itl|e2el|e2e_latency)_ms"
)
_CLOCKS: Mapping[str, Clock] = {
    "ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el", "e2e latency": "e2el", "e2e_latency": "e2el",
}  # fmt: skip

_NAMES: tuple[tuple[str, str, str], ...] = (
    ("completed", "completed", r"Successful requests"),
    ("failed", "failed", r"Failed requests"),
    ("duration_s", "duration", r"(?:Benchmark duration|Total time)(?: \(s\))?"),
    ("input_tokens", "total_input_tokens", r"Total input tokens"),
    ("output_tokens", "total_output_tokens", r"Total generated tokens"),
    ("requests_per_s", "request_throughput", r"(?:Request throughput(?: \(req/s\))?|^Throughput)"),
    ("output_tokens_per_s", "output_throughput", r"(?<!Peak )Output token throughput(?: \(tok/s\))?"),
    ("max_concurrency", "max_concurrency", r"(?:Maximum|Max) reqe?uest concurrency"),
    ("requests_per_s_asked", "request_rate", r"(?:Traffic request rate|Request rate configured \(RPS\))"),
)
"""Each figure: its field, its key where it is saved, its label where it is printed."""
_LABELS = tuple((name, re.compile(rf"{label}{_BETWEEN}{_FIGURE}", re.IGNORECASE)) for name, _, label in _NAMES)
_ASKED = _LABELS[-2:]
_ARGUMENT = re.compile(
    r"(?:--|\b)(model|request[-_]rate|max[-_]concurrency)(?: {1,4}|=)['\"]?([^\s'\",)(\\]{1,200})"
)
_ARGUMENTS = {"request_rate": "requests_per_s_asked", "max_concurrency": "max_concurrency"}

_CELL_OF_TIME = re.compile(
    r"(?:(?P<before>mean|avg|median|p\d{1,2}) )?(?P<clock>ttft|tpot|itl|e2el)"
    r"(?: (?P<after>mean|avg|median|p\d{1,2}))? \((?P<unit>ms|s)\)"
)
_CELLS = {
    **dict.fromkeys(("concurrency", "concur", "conc", "max concurrency"), "max_concurrency"),
    **dict.fromkeys(("n req", "n", "num prompts", "requests"), "completed"),
    **dict.fromkeys(("req tput (rps)", "req/s", "requests/s", "request throughput (req/s)"), "request_throughput"),
    **dict.fromkeys(("isl", "input length"), "isl"),
    **dict.fromkeys(("osl", "output length"), "osl"),
}
"""Heads of a sweep's table of Markdown, and the keys of what they say."""
_MOST_CELLS = 40

_OBJECT = re.compile(r"(?:^[ \t\[]{0,80}|,\s{0,20})\{", re.MULTILINE)
_PAIR = re.compile(r'"(\w{1,40})": ?(-?[\d.eE+]{1,30}|Infinity|"[^"\n]{0,200}")')
_DECODER = json.JSONDecoder(parse_int=float)


def read_bench_results(text: str) -> tuple[BenchResult, ...]:
    """Every result in a text, in order, at most `MOST_RESULTS`.

    Raises UnreadableTextError where there is none.
    """
    printed = islice(_printed(text), MOST_RESULTS)
    stated = (_result(values, line, ended=True) for line, values in statistics(text))
    every = (*printed, *_saved(text), *_swept(text), *_tabled(text), *stated)
    results = sorted(every, key=lambda result: result.line)
    if not results:
        raise UnreadableTextError("no_benchmark")
    return tuple(results[:MOST_RESULTS])


@dataclass
class _Draft:
    """A result as far as it has been read. `asked` is what a command line before it said."""

    line: int = 1
    model: str | None = None
    asked: dict[str, float] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    means: dict[Clock, float] = field(default_factory=dict)
    percentiles: dict[Clock, dict[float, float]] = field(default_factory=dict)
    refused: list[Remark] = field(default_factory=list)
    headed: bool = False

    @property
    def is_result(self) -> bool:
        """Whether it has a rate or a clock, and not a heading alone."""
        return bool(self.means or self.percentiles or "requests_per_s" in self.figures)

    def finished(self, ended: bool) -> BenchResult:
        """The result. One that was printed without a frame has no closing line to miss."""
        clocks = {
            clock: Clocked(self.means.get(clock), tuple(sorted(self.percentiles.get(clock, {}).items())))
            for clock in CLOCKS
        }
        closed = ended or not self.headed
        return assembled(self.line, self.model, self.asked | self.figures, clocks, closed, self.refused)

    def take_time(self, which: str, percent: str | None, clock: Clock, seconds: float) -> None:
        """A mean or a percentile of a clock; one that shows 0 was not read, as where nothing is streamed."""
        if seconds and which.lower() == "mean":
            self.means[clock] = seconds
        elif seconds:
            self.percentiles.setdefault(clock, {})[figure(percent or "50")] = seconds

    def number(self, name: str, given: object) -> float | None:
        """A figure where it is one; what is out of all bounds is left out, and said."""
        value = number(given, 0, infinite=True)
        beyond = value is not None and value > MOST[name] and not (name == "requests_per_s_asked" and value == inf)
        if beyond or (value is None and isinstance(given, float) and given == given):
            self.refused.append(remark("placement.bench_left_out", name=name, figure=str(given)[:24]))
            return None
        return value


def _printed(text: str) -> Iterator[BenchResult]:
    """Results as they were printed. What is asked for after one belongs to the next."""
    draft, next_draft = _Draft(), _Draft()
    for number_of, whole_line in enumerate(as_printed(text.splitlines()), start=1):
        if len(whole_line) < SHORTEST_LINE:
            continue
        line = without_colours(whole_line[:LONGEST_LINE]).translate(_BLANKS)
        heading = _BEGIN.search(line) is not None
        if draft.is_result and (heading or _begins_again(draft, line)):
            yield draft.finished(ended=False)
            draft, next_draft = next_draft, _Draft()
        if heading:
            draft.line, draft.headed = number_of, True
        elif draft.is_result and draft.headed and _END.search(line):
            yield draft.finished(ended=True)
            draft, next_draft = next_draft, _Draft()
        elif not (_take_time(draft, line) or _take_label(draft, line)):
            _take_asked(next_draft if draft.is_result else draft, line)
        elif not draft.headed and len(draft.figures) + len(draft.means) == 1:
            draft.line = number_of  # a result without a heading begins at its first figure
    if draft.is_result:
        yield draft.finished(ended=False)


def _begins_again(draft: _Draft, line: str) -> bool:
    """Whether a line states a count that the result already has: another has begun without a heading."""
    name, pattern = _LABELS[0]
    return name in draft.figures and pattern.search(line) is not None


def _take_time(draft: _Draft, line: str) -> bool:
    match = _TIMED.search(line)
    seconds = None if match is None else draft.number("time_s", match["figure"] or match["average"])
    if match is None or seconds is None or _MORE_CELLS.match(line, match.end()):
        return False
    if match["average"]:
        draft.means["tpot" if match["token"] else "e2el"] = seconds
    else:
        scale = 1.0 if (match["unit"] or match["after"] or "ms").lower() == "s" else 1e-3
        draft.take_time(match["which"], match["percent"], _CLOCKS[match["clock"].lower()], scale * seconds)
    return True


def _take_label(draft: _Draft, line: str) -> bool:
    for name, pattern in _LABELS:
        match = pattern.search(line)
        value = None if match is None else draft.number(name, match[1])
        if value is None:
            continue
        if name in _ARGUMENTS.values() and draft.is_result:
            return False
        draft.figures[name] = value
        return True
    return False


def _take_asked(draft: _Draft, line: str) -> None:
    """What a command line, or the arguments that a benchmark prints, asked for."""
    for match in _ARGUMENT.finditer(line):
        name, given = match[1].replace("-", "_"), match[2]
        if name == "model":
            draft.model = given
            continue
        value = draft.number(_ARGUMENTS[name], given)
        if value is not None and (isfinite(value) or name == "request_rate"):
            draft.asked[_ARGUMENTS[name]] = value
    for name, pattern in _ASKED:
        label = pattern.search(line)
        value = None if label is None else draft.number(name, label[1])
        if value is not None:
            draft.asked[name] = value


def _saved(text: str) -> Iterator[BenchResult]:
    """The results among the JSON objects of a text."""
    at, line, counted, objects, failures = 0, 1, 0, 0, 0
    cut_at: int | None = None
    while KEYS.search(text, at) and objects < MOST_OBJECTS and failures < MOST_FAILURES:
        start = _OBJECT.search(text, at)
        if start is None:
            break
        at = start.end() - 1
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            cut_at, at, failures = at, at + 1, failures + 1
            continue
        for result in results_in(value) if isinstance(value, dict) else ():
            yield _result(result, line, ended=True)
        at, objects, cut_at = end, objects + 1, None
    if cut_at is not None:
        values = {name: given.strip('"') for name, given in _PAIR.findall(text[cut_at : cut_at + LONGEST_CUT])}
        if "request_throughput" in values:
            yield _result(values, text.count("\n", 0, cut_at) + 1, ended=False)


def _swept(text: str) -> Iterator[BenchResult]:
    """The rows of a table whose heads are the keys of a saved result, as `vllm bench sweep` writes it."""
    lines = text.splitlines()[: MOST_RESULTS + 1]
    heads = lines[0] if lines and len(lines[0]) <= LONGEST_LINE else ""
    if "mean_ttft_ms" not in heads.split(","):
        return
    for number_of, row in enumerate(csv.DictReader(line[:LONGEST_LINE] for line in lines), start=2):
        yield _result({name: given for name, given in row.items() if name}, number_of, ended=True)


def _tabled(text: str) -> Iterator[BenchResult]:
    """The rows of a sweep's table of Markdown: a run's lengths, requests at once and mean times."""
    heads: list[tuple[str, float]] = []
    for number_of, line in enumerate(text.splitlines(), start=1):
        if "|" not in line:
            heads = []
            continue
        cells = [cell.strip() for cell in line[:LONGEST_LINE].strip().strip("|").split("|")[:_MOST_CELLS]]
        named = [_head(cell.lower()) for cell in cells]
        if {"mean_ttft_ms", "mean_tpot_ms"} <= {key for key, _ in named}:
            heads = named
        elif heads and len(cells) == len(heads):
            given = ((key, scale, number(cell, 0)) for (key, scale), cell in zip(heads, cells, strict=True))
            values = {key: scale * value for key, scale, value in given if key and value is not None}
            if "mean_ttft_ms" in values:
                for length, key in (("isl", "total_input_tokens"), ("osl", "total_output_tokens")):
                    if length in values and "completed" in values:
                        values[key] = values[length] * values["completed"]
                yield _result(values, number_of, ended=True)


def _head(cell: str) -> tuple[str, float]:
    """The key that a table's head stands for, and what its unit is in a saved result's; "" for none."""
    match = _CELL_OF_TIME.fullmatch(cell)
    if match is None:
        return _CELLS.get(cell, ""), 1.0
    which = match["before"] or match["after"] or "mean"
    return f"{'mean' if which == 'avg' else which}_{match['clock']}_ms", 1e3 if match["unit"] == "s" else 1.0


def _result(values: Mapping[str, object], line: int, ended: bool) -> BenchResult:
    """A saved result: what `mean_ttft_ms` and its like say, the counts and the rates."""
    name = values.get("model_id") or values.get("model") or values.get("model_name")
    draft = _Draft(line, name[:200] if isinstance(name, str) else None, headed=True)
    for field_name, key, _ in _NAMES:
        if (value := draft.number(field_name, values.get(key))) is not None:
            draft.figures[field_name] = value
    for key, given in values.items():
        match = _SAVED_TIME.fullmatch(key) if len(key) <= 40 else None
        if match is not None and (value := draft.number("time_s", given)) is not None and isfinite(value):
            draft.take_time(match["which"], match["percent"], _CLOCKS[match["clock"]], 1e-3 * value)
    return draft.finished(ended)
