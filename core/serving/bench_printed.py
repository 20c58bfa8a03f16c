"""A benchmark's result printed as `vllm bench serve` prints one: something to paste."""

from math import isfinite

from core.serving.bench_results import CLOCKS, BenchResult, Clocked

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
    said = [("Mean", seen.mean_s)] if seen.mean_s is not None else []
    said += [("Median" if percent == 50 else f"P{percent:g}", time_s) for percent, time_s in seen.percentiles]
    return [_TITLES[clock], *(_line(f"{which} {clock.upper()} (ms)", 1e3 * time_s) for which, time_s in said)]


def _line(label: str, value: float) -> str:
    return f"{label + ':':<{_WIDTH}}{value if isinstance(value, int) else f'{value:.2f}'}"


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
