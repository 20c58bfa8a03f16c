"""The result of a serving benchmark: what a client measured, and where it does not agree with itself.

`vllm bench serve`, the older benchmark_serving.py and SGLang's bench_serving print the same figures. Times are
seconds here, whatever was printed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

from core.errors import Remark, remark

Clock = Literal["ttft", "tpot", "itl", "e2el"]
"""To the first token; a request's own mean between tokens; between any two tokens; from end to end."""

SEVERAL_AT_A_TIME = 1.5
"""ITL over TPOT from which a message held more than one token: speculation, or a client too slow."""

CLOCKS: tuple[Clock, ...] = ("ttft", "tpot", "itl", "e2el")
MOST: Mapping[str, float] = {
    "completed": 1e12, "failed": 1e12, "duration_s": 1e9, "input_tokens": 1e15, "output_tokens": 1e15,
    "requests_per_s": 1e9, "output_tokens_per_s": 1e12, "max_concurrency": 1e9, "requests_per_s_asked": 1e9,
    "time_s": 1e12,
}  # fmt: skip
"""Above, a figure is nobody's measurement: whatever is computed of it stays a number."""

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
    warnings: tuple[Remark, ...] = ()

    @property
    def mean_prompt_tokens(self) -> float | None:
        return _ratio(self.input_tokens, self.completed)

    @property
    def mean_output_tokens(self) -> float | None:
        return _ratio(self.output_tokens, self.completed)

    @property
    def between_s(self) -> float | None:
        """The mean time between tokens: an output token's, or where that was not printed the gaps' own."""
        return self.itl.mean_s if self.tpot.mean_s is None else self.tpot.mean_s


def _ratio(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def doubts(result: BenchResult, ended: bool) -> tuple[Remark, ...]:
    """What a result lacks, or where its figures do not agree with one another. `ended` is false for a cut paste."""
    missing = [clock.upper() for clock in ("ttft", "tpot") if getattr(result, clock).mean_s is None]
    itl_s, tpot_s = result.itl.mean_s, result.tpot.mean_s
    several = bool(itl_s and tpot_s and itl_s > SEVERAL_AT_A_TIME * tpot_s)
    checks = (
        (not ended, remark("placement.bench_cut")),
        (bool(missing), remark("placement.bench_no_mean", clocks=" or ".join(missing))),
        (bool(result.failed), remark("placement.bench_failed", failed=result.failed)),
        *((True, doubt) for doubt in _disagreements(result)),
        (several, remark("placement.bench_several_at_a_time")),
    )
    return tuple(doubt for applies, doubt in checks if applies)


def _disagreements(result: BenchResult) -> list[Remark]:
    """Rates that are not their counts over the duration."""
    if not result.duration_s:
        return []
    pairs = (
        ("placement.bench_requests_differ", result.requests_per_s, result.completed),
        ("placement.bench_tokens_differ", result.output_tokens_per_s, result.output_tokens),
    )
    return [
        remark(code, rate=rate, derived=count / result.duration_s)
        for code, rate, count in pairs
        if rate is not None and count is not None and _differ(rate, count / result.duration_s)
    ]


def _differ(printed: float, derived: float) -> bool:
    return isfinite(printed) and abs(printed - derived) > TOLERANCE * max(printed, derived) + 0.01


def assembled(
    line: int,
    model: str | None,
    figures: Mapping[str, float],
    clocks: Mapping[Clock, Clocked],
    ended: bool,
    refused: Sequence[Remark] = (),
) -> BenchResult:
    """A result from figures under the names of its fields, with its doubts, and what was refused of it."""
    rates = {name: figures[name] for name in _RATES if name in figures}
    counts = {name: _count(figures, name) for name in _COUNTS}
    result = BenchResult(line, model, **rates, **counts, **clocks)  # type: ignore[arg-type]
    return replace(result, warnings=(*refused, *doubts(result, ended)))


_RATES = ("requests_per_s_asked", "duration_s", "requests_per_s", "output_tokens_per_s")
_COUNTS = ("max_concurrency", "completed", "failed", "input_tokens", "output_tokens")


def _count(figures: Mapping[str, float], name: str) -> int | None:
    value = figures.get(name)
    return int(value) if value is not None and isfinite(value) else None


_WIDTH = 41
_TITLES = {
    "ttft": "---------------Time to First Token----------------",
    "tpot": "-----Time per Output Token (excl. 1st token)------",
    "itl": "---------------Inter-token Latency----------------",
    "e2el": "----------------End-to-end Latency----------------",
}


def printed_bench(result: BenchResult) -> str:
    """The lines of a result, those left out that it has no figure for."""
    counts = (
        ("Successful requests", result.completed),
        ("Maximum request concurrency", result.max_concurrency),
        ("Request rate configured (RPS)", _finite(result.requests_per_s_asked)),
        ("Benchmark duration (s)", result.duration_s),
        ("Total input tokens", result.input_tokens),
        ("Total generated tokens", result.output_tokens),
        ("Request throughput (req/s)", result.requests_per_s),
        ("Output token throughput (tok/s)", result.output_tokens_per_s),
    )
    lines = ["============ Serving Benchmark Result ============"]
    lines += [_line(label, value) for label, value in counts if value is not None]
    for clock in CLOCKS:
        lines += _clock_lines(clock, getattr(result, clock))
    return "\n".join([*lines, "=" * 50])


def _clock_lines(clock: str, seen: Clocked) -> list[str]:
    if seen == Clocked():
        return []
    named = [("Mean", seen.mean_s)] if seen.mean_s is not None else []
    named += [("Median" if percent == 50 else f"P{percent:g}", time_s) for percent, time_s in seen.percentiles]
    return [_TITLES[clock], *(_line(f"{which} {clock.upper()} (ms)", 1e3 * time_s) for which, time_s in named)]


def _line(label: str, value: float) -> str:
    return f"{label + ':':<{_WIDTH}}{value if isinstance(value, int) else f'{value:.2f}'}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def example_bench() -> str:
    """A published result in vLLM's format: 50 prompts at once to Qwen2-7B on half the memory of one A100.

    Source: github.com/dennislee22/vLLM-benchmarking, test 5.
    """
    published = BenchResult(
        line=1,
        completed=50,
        duration_s=21.73,
        input_tokens=51_200,
        output_tokens=51_200,
        requests_per_s=2.30,
        output_tokens_per_s=2356.12,
        ttft=Clocked(mean_s=2.58058),
        tpot=Clocked(mean_s=0.01847),
    )
    return f"vllm bench serve --model Qwen/Qwen2-7B-Instruct --num-prompts 50\n{printed_bench(published)}"
