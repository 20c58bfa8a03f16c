"""GenAI-Perf's table and AIPerf's, and what they save: as in ai-dynamo/dynamo issue 402, figures of our own."""

import json

import pytest

from core.errors import UnreadableTextError
from core.serving.bench_reader import read_bench_results

ROWS = (
    ("Time To First Token (ms)", "1,293.89", "307.00", "4,751.12"),
    ("Time To Second Token (ms)", "12.88", "11.61", "15.27"),
    ("Request Latency (ms)", "3,360.17", "2,346.66", "6,909.80"),
    ("Inter Token Latency (ms)", "13.87", "13.52", "15.25"),
    ("Output Sequence Length (tokens)", "150.00", "150.00", "150.00"),
    ("Input Sequence Length (tokens)", "2,999.50", "2,998.00", "3,000.00"),
    ("Output Token Throughput (per sec)", "76.51", "N/A", "N/A"),
    ("Request Throughput (per sec)", "0.51", "N/A", "N/A"),
    ("Request Count (count)", "100.00", "N/A", "N/A"),
)


def table(bars: str = "│", head: str = "Statistic") -> str:
    lines = ["NVIDIA GenAI-Perf | LLM Metrics", "┏━━━┳━━━┓"]
    lines += [f"{bars} {f' {bars} '.join(row)} {bars}" for row in ((head, "avg", "min", "p99"), *ROWS)]
    return "\n".join([*lines, "└───┴───┘"])


COMMAND = "genai-perf profile -m llama-3.1-70b --streaming --concurrency 4 \\\n  --endpoint-type chat\n"
SAVED = {
    "request_throughput": {"unit": "requests/sec", "avg": 0.51},
    "request_count": {"unit": "count", "avg": 100.0},
    "time_to_first_token": {"unit": "ms", "avg": 1293.89, "p99": 4751.12, "std": 3.0},
    "inter_token_latency": {"unit": "ms", "avg": 13.87, "p99": 15.25},
    "request_latency": {"unit": "sec", "avg": 3.36017, "p99": 6.9098},
    "input_sequence_length": {"unit": "tokens", "avg": 2999.5},
    "output_sequence_length": {"unit": "tokens", "avg": 150.0},
    "output_token_throughput": {"unit": "tokens/sec", "avg": 76.51},
}


def comma_separated() -> str:
    """The statistics, then what has a value alone."""
    lines = [
        ",".join(f'"{cell}"' if "," in cell else cell for cell in row)
        for row in (("Metric", "avg", "min", "p99"), *ROWS)
    ]
    alone = [line.removesuffix(",N/A,N/A") for line in lines if line.endswith("N/A")]
    return "\n".join([*(line for line in lines if "N/A" not in line), "", "Metric,Value", *alone])


@pytest.mark.parametrize(
    "text",
    [
        comma_separated(),
        table(),
        table("┃"),
        table("|"),
        table(head="Metric"),
        json.dumps(SAVED),
        json.dumps(SAVED, indent=2),
    ],
)
def test_means_and_percentiles_of_a_request_are_read(text):
    (found,) = read_bench_results(text)
    assert (found.ttft.mean_s, found.tpot.mean_s) == pytest.approx((1.29389, 0.01387))
    assert (found.ttft.at(99), found.e2el.mean_s) == pytest.approx((4.75112, 3.36017))
    assert (found.completed, found.mean_prompt_tokens, found.mean_output_tokens) == (100, 2999.5, 150)
    assert (found.requests_per_s, found.output_tokens_per_s) == (0.51, 76.51)


def test_the_command_before_a_table_says_what_was_asked():
    (found,) = read_bench_results(COMMAND + table())
    assert (found.model, found.max_concurrency) == ("llama-3.1-70b", 4)
    two = read_bench_results(f"python -m x.y\n{table()}\n{COMMAND}{table()}")
    assert [(each.model, each.max_concurrency) for each in two] == [(None, None), ("llama-3.1-70b", 4)]


def _told(mean, p99):
    return {"successful": {"mean": mean, "percentiles": {"p001": 1.0, "p50": mean, "p99": p99}}}


GUIDELLM = {
    "metadata": {"version": 1},
    "benchmarks": [
        {
            "config": {"strategy": {"type_": kind, **asked}},
            "metrics": {
                "request_totals": {"successful": 40, "errored": 2, "incomplete": 3},
                "requests_per_second": _told(2.5, 3.0),
                "prompt_token_count": {"successful": {"total_sum": 40 * 512.0}},
                "output_token_count": {"successful": {"total_sum": 40 * 128.0}},
                "output_tokens_per_second": _told(320.0, 400.0),
                "time_to_first_token_ms": _told(80.0, 200.0),
                "inter_token_latency_ms": _told(12.0, 14.0),
                "request_latency": _told(1.604, 2.0),
            },
        }
        for kind, asked in (("synchronous", {}), ("concurrent", {"streams": 4}), ("constant", {"rate": 2.5}))
    ],
}
LLMPERF = {
    "model": "tiny",
    "num_concurrent_requests": 4,
    "results_ttft_s_mean": 0.08,
    "results_ttft_s_quantiles_p99": 0.2,
    "results_inter_token_latency_s_mean": 1.604 / 128,
    "results_end_to_end_latency_s_mean": 1.604,
    "results_number_input_tokens_mean": 512,
    "results_number_output_tokens_mean": 128,
    "results_mean_output_throughput_token_per_s": 320.0,
    "results_num_completed_requests": 40,
    "results_num_completed_requests_per_min": 150.0,
    "results_number_errors": 2,
}


def test_what_guidellm_and_llmperf_save_is_the_same_result():
    """Keys as GuideLLM 0.7's schemas and LLMPerf's token_benchmark_ray.py have them, figures of our own.

    LLMPerf's time between tokens has the first token in it, GuideLLM's has not.
    """
    one, at_once, at_a_rate = read_bench_results(json.dumps(GUIDELLM))
    (other,) = read_bench_results(json.dumps(LLMPERF, indent=4))
    assert (one.max_concurrency, at_once.max_concurrency, other.max_concurrency) == (1, 4, 4)
    assert (at_a_rate.max_concurrency, at_a_rate.requests_per_s_asked) == (None, 2.5)
    for found in (one, at_once, at_a_rate, other):
        assert (found.ttft.mean_s, found.ttft.at(99), found.tpot.mean_s) == pytest.approx((0.08, 0.2, 0.012))
        assert (found.completed, found.failed, found.e2el.mean_s) == (40, 2, pytest.approx(1.604))
        assert (found.mean_prompt_tokens, found.mean_output_tokens) == (512, 128)
        assert (found.requests_per_s, found.output_tokens_per_s) == (2.5, 320)


def test_an_aggregate_keeps_its_seconds():
    (found,) = read_bench_results(
        json.dumps({"hw": "b200", "conc": 64, "mean_ttft": 0.4, "p99_tpot": 0.02, "mean_tpot": 0.01})
    )
    assert (found.ttft.mean_s, found.tpot.mean_s, found.tpot.at(99)) == pytest.approx((0.4, 0.01, 0.02))
    assert found.max_concurrency == 64


def test_a_table_of_other_statistics_is_no_result():
    with pytest.raises(UnreadableTextError, match="no benchmark result"):
        read_bench_results("| Statistic | avg | p99 |\n| Rain (mm) | 3 | 4 |\n")


EVALSCOPE = """evalscope perf --parallel 4 --model llama-3.1-70b
Benchmarking summary:
| Key                               | Value     |
| --------------------------------- | --------- |
| Time taken for tests (s)          | 121.531   |
| Number of concurrency             | 4         |
| Total requests                    | 8         |
| Succeed requests                  | 8         |
| Failed requests                   | 0         |
| Output token throughput (tok/s)   | 134.8     |
| Request throughput (req/s)        | 0.0658    |
| Average latency (s)               | 60.7      |
| Average time to first token (s)   | 0.05      |
| Average time per output token (s) | 0.029     |
| Average input tokens per request  | 64.5      |
| Average output tokens per request | 2048.0    |
"""


def test_evalscope_s_summary_has_other_names_for_the_same():
    """The layout of modelscope/evalscope issue 243 and of what it has printed since."""
    (found,) = read_bench_results(EVALSCOPE)
    assert (found.completed, found.failed, found.max_concurrency, found.duration_s) == (8, 0, 4, 121.531)
    assert (found.ttft.mean_s, found.tpot.mean_s) == (0.05, 0.029)
    assert (found.mean_prompt_tokens, found.mean_output_tokens) == (64.5, 2048)


TRTLLM = """===========================================================
= REQUEST DETAILS
===========================================================
Number of requests:             256
Number of concurrent requests:  25.6206
Average Input Length (tokens):  8192.0000
Average Output Length (tokens): 128.0000
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     0.9765
Total Output Throughput (tokens/sec):             124.9920
Total Token Throughput (tokens/sec):              8124.4800
Total Latency (ms):                               262159.4
Average request latency (ms):                     25780.8
Per User Output Throughput [w/ ctx] (tps/user):   4.9650
Average time-to-first-token [TTFT] (ms):          3100.5
Average time-per-output-token [TPOT] (ms):        17.8583
-- Per-Request Time-per-Output-Token [TPOT] Breakdown (ms)
[TPOT] MINIMUM: 15.1
[TPOT] P99    : 19.5
[TPOT] AVERAGE: 17.8583
"""


def test_trtllm_bench_has_other_names_for_the_same():
    """The layout of TensorRT-LLM's pulls 7104 and 9459."""
    (found,) = read_bench_results(TRTLLM)
    assert (found.completed, found.max_concurrency, found.requests_per_s) == (256, 25, 0.9765)
    assert (found.mean_prompt_tokens, found.mean_output_tokens, found.output_tokens_per_s) == (8192, 128, 124.992)
    assert (found.ttft.mean_s, found.tpot.mean_s, found.tpot.at(99)) == pytest.approx((3.1005, 0.0178583, 0.0195))
    assert (found.duration_s, found.e2el.mean_s) == pytest.approx((262.1594, 25.7808))
