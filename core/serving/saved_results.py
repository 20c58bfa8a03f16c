"""What benchmarks save as JSON, under the names of vLLM's: AIPerf and GenAI-Perf, GuideLLM, LLMPerf, InferenceX.

GuideLLM's time between tokens is a request's own mean, without its first token. LLMPerf's has the first in it: here
it is (latency - first token) / (tokens - 1), of the means. InferenceX keeps vLLM's names, in seconds.
"""

import re
from collections.abc import Iterator, Mapping

from core.serving.statistics import flat
from core.text.lines import object_in
from core.text.numbers import number

KEYS = re.compile(r'"(?:request_throughput|mean_ttft|results_ttft_s_mean|time_to_first_token_ms)"')
"""One of these is in every result, and before nothing else that is worth decoding."""
_GUIDELLM = (
    ("ttft", "time_to_first_token_ms", 1.0),
    ("tpot", "inter_token_latency_ms", 1.0),
    ("e2el", "request_latency", 1e3),
)
_LLMPERF = (("ttft", "ttft"), ("e2el", "end_to_end_latency"))
_IN_SECONDS = re.compile(r"(?:mean|median|p\d{1,2}(?:\.\d{1,3})?)_(?:ttft|tpot|itl|e2el)")
_PERCENTILE = re.compile(r"p\d{2}")


def results_in(saved: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The results of one JSON object: one, one a benchmark of GuideLLM's, or none."""
    if "results_ttft_s_mean" in saved:
        yield _llmperf(saved)
    elif "request_throughput" in saved:
        yield flat(saved)
    elif isinstance(saved.get("mean_ttft"), float):
        yield _in_seconds(saved)
    benchmarks = saved.get("benchmarks")
    for benchmark in map(object_in, benchmarks if isinstance(benchmarks, list) else ()):
        asked, metrics = (
            object_in(benchmark.get("config") or benchmark.get("args")),
            object_in(benchmark.get("metrics")),
        )
        if "time_to_first_token_ms" in metrics:
            yield _guidellm(metrics, object_in(asked.get("strategy")))


def _guidellm(metrics: Mapping[str, object], strategy: Mapping[str, object]) -> Mapping[str, object]:
    """One benchmark: what was asked of it is its strategy's streams, or rate."""
    asked_at_once = 1.0 if strategy.get("type_") == "synchronous" else number(strategy.get("streams"), 1)
    values: dict[str, object] = {
        "completed": object_in(metrics.get("request_totals")).get("successful"),
        "failed": object_in(metrics.get("request_totals")).get("errored"),
        "total_input_tokens": _of_completed(metrics, "prompt_token_count").get("total_sum"),
        "total_output_tokens": _of_completed(metrics, "output_token_count").get("total_sum"),
        "request_throughput": _of_completed(metrics, "requests_per_second").get("mean"),
        "output_throughput": _of_completed(metrics, "output_tokens_per_second").get("mean"),
        "max_concurrency": asked_at_once,
        "request_rate": number(strategy.get("rate"), 0),
    }
    for clock, name, scale in _GUIDELLM:
        told = _of_completed(metrics, name)
        percentiles = {
            which: given
            for which, given in object_in(told.get("percentiles")).items()
            if _PERCENTILE.fullmatch(which)
        }
        for which, given in {"mean": told.get("mean"), **percentiles}.items():
            if (value := number(given, 0)) is not None:
                values[f"{which}_{clock}_ms"] = scale * value
    return values


def _of_completed(metrics: Mapping[str, object], name: str) -> Mapping[str, object]:
    return object_in(object_in(metrics.get(name)).get("successful"))


def _llmperf(saved: Mapping[str, object]) -> Mapping[str, object]:
    """A summary, flat, in seconds; requests a minute."""
    figures = {name.removeprefix("results_"): number(given, 0) for name, given in saved.items()}
    completed, a_minute = figures.get("num_completed_requests"), figures.get("num_completed_requests_per_min")
    prompt, output = figures.get("number_input_tokens_mean"), figures.get("number_output_tokens_mean")
    values: dict[str, object] = {
        "model": saved.get("model"),
        "completed": completed,
        "failed": figures.get("number_errors"),
        "max_concurrency": figures.get("num_concurrent_requests"),
        "output_throughput": figures.get("mean_output_throughput_token_per_s"),
        "request_throughput": None if a_minute is None else a_minute / 60,
        "total_input_tokens": None if completed is None or prompt is None else completed * prompt,
        "total_output_tokens": None if completed is None or output is None else completed * output,
    }
    for clock, name in _LLMPERF:
        for which in ("mean", "p50", "p90", "p95", "p99"):
            value = figures.get(f"{name}_s_{which if which == 'mean' else f'quantiles_{which}'}")
            values[f"{which}_{clock}_ms"] = None if value is None else 1e3 * value
    whole_s, first_s = figures.get("end_to_end_latency_s_mean"), figures.get("ttft_s_mean")
    if whole_s is not None and first_s is not None and output is not None and output > 1:
        values["mean_tpot_ms"] = 1e3 * max(0.0, whole_s - first_s) / (output - 1)
    return values


def _in_seconds(saved: Mapping[str, object]) -> Mapping[str, object]:
    """An aggregate of a run: its clocks in seconds, `conc` requests at once."""
    times = {name: number(given, 0) for name, given in saved.items() if _IN_SECONDS.fullmatch(name)}
    return {
        "model": saved.get("model"),
        "max_concurrency": number(saved.get("conc"), 1),
        **{f"{name}_ms": 1e3 * value for name, value in times.items() if value is not None},
    }
