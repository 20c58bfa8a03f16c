"""The result of a serving benchmark: what a client measured, and where it does not agree with itself.

`vllm bench serve`, the older benchmark_serving.py and SGLang's bench_serving print the same figures. Times are
seconds here, whatever was printed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

Clock = Literal["ttft", "tpot", "itl", "e2el"]
"""To the first token; a request's own mean between tokens; between any two tokens; from end to end."""

SEVERAL_AT_A_TIME = 1.5
"""ITL over TPOT from which a message held more than one token: speculation, or a client too slow."""

CLOCKS: tuple[Clock, ...] = ("ttft", "tpot", "itl", "e2el")
TOLERANCE = 0.03
"""Printed figures are rounded; two that should agree may differ by this much."""


@dataclass(frozen=True)
class Clocked:
    """What one clock showed over all requests. `percentiles` are (percent, seconds) ascending, 50 the median."""

    mean_s: float | None = None
    percentiles: tuple[tuple[float, float], ...] = ()

    def at(self, percent: float) -> float | None:
        """One percentile, if it was printed."""
        return dict(self.percentiles).get(percent)


@dataclass(frozen=True)
class BenchResult:
    """One run of a benchmark. None stands for what was not printed; a rate of infinity for all at once.

    `line` is where it begins, from 1; `warnings` are what is missing or does not agree.
    """

    line: int
    model: str | None = None
    requests_per_s_asked: float | None = None
    max_concurrency: int | None = None
    completed: int | None = None
    failed: int | None = None
    duration_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    requests_per_s: float | None = None
    output_tokens_per_s: float | None = None
    ttft: Clocked = Clocked()
    tpot: Clocked = Clocked()
    itl: Clocked = Clocked()
    e2el: Clocked = Clocked()
    warnings: tuple[str, ...] = ()

    @property
    def mean_prompt_tokens(self) -> float | None:
        """Input tokens a completed request."""
        return _ratio(self.input_tokens, self.completed)

    @property
    def mean_output_tokens(self) -> float | None:
        """Generated tokens a completed request."""
        return _ratio(self.output_tokens, self.completed)

    @property
    def mean_time_s(self) -> float | None:
        """From end to end on average; where it was not printed, the first token and then the others.

        TTFT + (O - 1)·TPOT
        """
        if self.e2el.mean_s is not None:
            return self.e2el.mean_s
        between = self.tpot.mean_s if self.tpot.mean_s is not None else self.itl.mean_s
        if self.ttft.mean_s is None or between is None or self.mean_output_tokens is None:
            return None
        return self.ttft.mean_s + max(0.0, self.mean_output_tokens - 1) * between

    @property
    def mean_concurrency(self) -> float | None:
        """Requests in flight on average, by Little's law."""
        if self.requests_per_s is None or self.mean_time_s is None:
            return None
        return self.requests_per_s * self.mean_time_s


def _ratio(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def doubts(result: BenchResult, ended: bool) -> tuple[str, ...]:
    """What a result lacks, or where its figures do not agree with one another. `ended` is false for a cut paste."""
    said = []
    missing = [clock.upper() for clock in ("ttft", "tpot") if getattr(result, clock).mean_s is None]
    if not ended:
        said.append("cut: the closing line is missing")
    if missing:
        said.append(f"no mean {' or '.join(missing)} was printed")
    if result.failed:
        said.append(f"{result.failed} requests failed and are in no mean")
    said += _disagreements(result)
    if result.itl.mean_s and result.tpot.mean_s and result.itl.mean_s > SEVERAL_AT_A_TIME * result.tpot.mean_s:
        said.append("ITL is far above TPOT: tokens came several at a time")
    return tuple(said)


def _disagreements(result: BenchResult) -> list[str]:
    """Rates that are not their counts over the duration."""
    if not result.duration_s:
        return []
    pairs = (
        ("requests a second", result.requests_per_s, result.completed),
        ("output tokens a second", result.output_tokens_per_s, result.output_tokens),
    )
    return [
        f"{name}: {rate:g} was printed, {count / result.duration_s:.4g} is the count over the duration"
        for name, rate, count in pairs
        if rate is not None and count is not None and _differ(rate, count / result.duration_s)
    ]


def _differ(printed: float, derived: float) -> bool:
    return isfinite(printed) and abs(printed - derived) > TOLERANCE * max(printed, derived) + 0.01


def assembled(
    line: int, model: str | None, figures: Mapping[str, float], clocks: Mapping[Clock, Clocked], ended: bool
) -> BenchResult:
    """A result from the figures that were found, under the names of its fields, with its doubts."""
    result = BenchResult(
        line=line,
        model=model,
        requests_per_s_asked=figures.get("requests_per_s_asked"),
        max_concurrency=_count(figures, "max_concurrency"),
        completed=_count(figures, "completed"),
        failed=_count(figures, "failed"),
        duration_s=figures.get("duration_s"),
        input_tokens=_count(figures, "input_tokens"),
        output_tokens=_count(figures, "output_tokens"),
        requests_per_s=figures.get("requests_per_s"),
        output_tokens_per_s=figures.get("output_tokens_per_s"),
        ttft=clocks.get("ttft", Clocked()),
        tpot=clocks.get("tpot", Clocked()),
        itl=clocks.get("itl", Clocked()),
        e2el=clocks.get("e2el", Clocked()),
    )
    return replace(result, warnings=doubts(result, ended))


def _count(figures: Mapping[str, float], name: str) -> int | None:
    value = figures.get(name)
    return int(value) if value is not None and isfinite(value) else None
