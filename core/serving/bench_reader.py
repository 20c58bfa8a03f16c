"""Reading benchmark results out of a paste: several in one, with prefixes, logs and command lines between them.

A printed figure is a label and a number on one line, wherever in it; a saved one is JSON. Every pattern is bounded,
and so is what is read of one line and of one paste.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

from core.errors import UnreadableTextError
from core.serving.bench_json import saved_results
from core.serving.bench_results import CLOCKS, BenchResult, Clock, Clocked, assembled

LONGEST_LINE = 4000
MOST_RESULTS = 200

_BEGIN = re.compile(r"={4,20} ?(?:\w{1,20} ){0,3}Serving Benchmark Result", re.IGNORECASE)
_END = re.compile(r"={40,}\W{0,8}$")
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_BLANKS = str.maketrans("\t\N{NO-BREAK SPACE}", "  ")
_BETWEEN = r" {0,8}[:|] {0,200}"
_FIGURE = r"([\d.,]{1,24}|inf|nan)"
_CLOCK = re.compile(
    r"\b(Mean|Median|P(?P<percent>\d{1,2}(?:\.\d{1,3})?)) (?P<clock>TTFT|TPOT|ITL|E2EL|E2E Latency)"
    rf"(?: \((?P<unit>ms|s)\))?{_BETWEEN}(?P<figure>[\d.,]{{1,24}})(?: (?P<after>ms|s)\b)?",
    re.IGNORECASE,
)
_CLOCKS: Mapping[str, Clock] = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2el", "e2e latency": "e2el"}
_AVERAGE = re.compile(rf"Average latency(?P<token> per output token)?{_BETWEEN}(?P<figure>[\d.,]{{1,24}}) s\b")
"""The first benchmark_serving.py, of 2023, printed these alone."""

_LABELS = tuple(
    (name, re.compile(rf"{label}{_BETWEEN}{_FIGURE}", re.IGNORECASE))
    for name, label in (
        ("completed", r"Successful requests"),
        ("failed", r"Failed requests"),
        ("duration_s", r"(?:Benchmark duration|Total time)(?: \(s\))?"),
        ("input_tokens", r"Total input tokens"),
        ("output_tokens", r"Total generated tokens"),
        ("requests_per_s", r"(?:Request throughput(?: \(req/s\))?|^Throughput)"),
        ("output_tokens_per_s", r"(?<!Peak )Output token throughput(?: \(tok/s\))?"),
        ("max_concurrency", r"(?:Maximum|Max) reqe?uest concurrency"),
        ("requests_per_s_asked", r"(?:Traffic request rate|Request rate configured \(RPS\))"),
    )
)
_ARGUMENT = re.compile(
    r"(?:--|\b)(model|request[-_]rate|max[-_]concurrency)(?: {1,4}|=)['\"]?([^\s'\",)(\\]{1,200})"
)
_ASKED = {"request_rate": "requests_per_s_asked", "max_concurrency": "max_concurrency"}


def read_bench_results(text: str) -> tuple[BenchResult, ...]:
    """Every result in a text, in order, at most `MOST_RESULTS`.

    Raises UnreadableTextError where there is none.
    """
    results = sorted((*_printed(text), *saved_results(text)), key=lambda result: result.line)
    if not results:
        raise UnreadableTextError(
            'no benchmark result in this text; paste from "Serving Benchmark Result" on, or the saved JSON'
        )
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
        return assembled(self.line, self.model, self.asked | self.figures, clocks, ended or not self.headed)


def _printed(text: str) -> Iterator[BenchResult]:
    """Results as they were printed. What is asked for after one belongs to the next."""
    draft, following = _Draft(), _Draft()
    for number, whole_line in enumerate(text.splitlines(), start=1):
        line = _ANSI.sub("", whole_line[:LONGEST_LINE]).translate(_BLANKS)
        heading = _BEGIN.search(line) is not None
        if draft.is_result and (heading or _begins_again(draft, line)):
            yield draft.finished(ended=False)
            draft, following = following, _Draft()
        if heading:
            draft.line, draft.headed = number, True
        elif draft.is_result and draft.headed and _END.search(line):
            yield draft.finished(ended=True)
            draft, following = following, _Draft()
        elif not _take_figure(draft, line, number):
            _take_asked(following if draft.is_result else draft, line)
    if draft.is_result:
        yield draft.finished(ended=False)


def _begins_again(draft: _Draft, line: str) -> bool:
    """Whether a line states a count that the result already has: another has begun without a heading."""
    name, pattern = _LABELS[0]
    return name in draft.figures and pattern.search(line) is not None


def _take_figure(draft: _Draft, line: str, number: int) -> bool:
    """Take a line's clock, count or rate, if it has one. A result without a heading begins at its first."""
    if not (_take_clock(draft, line) or _take_average(draft, line) or _take_label(draft, line)):
        return False
    if not draft.headed and len(draft.figures) + len(draft.means) == 1:
        draft.line = number
    return True


def _take_clock(draft: _Draft, line: str) -> bool:
    found = _CLOCK.search(line)
    seconds = None if found is None else _number(found["figure"])
    if found is None or seconds is None:
        return False
    seconds *= 1.0 if (found["unit"] or found["after"] or "ms").lower() == "s" else 1e-3
    clock = _CLOCKS[found["clock"].lower()]
    if found[1].lower() == "mean":
        draft.means[clock] = seconds
    else:
        draft.percentiles.setdefault(clock, {})[float(found["percent"] or 50)] = seconds
    return True


def _take_average(draft: _Draft, line: str) -> bool:
    found = _AVERAGE.search(line)
    seconds = None if found is None else _number(found["figure"])
    if found is None or seconds is None:
        return False
    draft.means["tpot" if found["token"] else "e2el"] = seconds
    return True


def _take_label(draft: _Draft, line: str) -> bool:
    for name, pattern in _LABELS:
        found = pattern.search(line)
        value = None if found is None else _number(found[1])
        if value is None or value != value:
            continue
        if name in _ASKED.values() and draft.is_result:
            return False
        draft.figures[name] = value
        return True
    return False


def _take_asked(draft: _Draft, line: str) -> None:
    """What a command line, or the arguments that a benchmark prints, asked for."""
    for found in _ARGUMENT.finditer(line):
        name, said = found[1].replace("-", "_"), found[2]
        if name == "model":
            draft.model = said
            continue
        value = _number(said)
        if value is not None and (isfinite(value) or name == "request_rate"):
            draft.asked[_ASKED[name]] = value
    for name, pattern in _LABELS[-2:]:
        found_label = pattern.search(line)
        value = None if found_label is None else _number(found_label[1])
        if value is not None:
            draft.asked[name] = value


def _number(text: str) -> float | None:
    """A figure as printed, its thousands apart or not; None for anything else."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
