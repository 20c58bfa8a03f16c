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


@pytest.mark.parametrize(
    "text", [table(), table("┃"), table("|"), table(head="Metric"), json.dumps(SAVED), json.dumps(SAVED, indent=2)]
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
