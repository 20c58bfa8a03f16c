"""Benchmark results read from a paste: the formats are vLLM's and SGLang's, the figures are made, and agree."""

import json
from math import inf
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import UnreadableTextError
from core.serving.bench_reader import MOST_RESULTS, read_bench_results
from core.serving.bench_results import Clocked, _differ
from runtime.prose import worded

PRINTED = """\
============ Serving Benchmark Result ============
Successful requests:                     200
Failed requests:                         0
Maximum request concurrency:             16
Request rate configured (RPS):           4.00
Benchmark duration (s):                  50.00
Total input tokens:                      204800
Total generated tokens:                  25600
Request throughput (req/s):              4.00
Output token throughput (tok/s):         512.00
Peak output token throughput (tok/s):    700.00
Peak concurrent requests:                20.00
Total Token throughput (tok/s):          4608.00
---------------Time to First Token----------------
Mean TTFT (ms):                          120.50
Median TTFT (ms):                        110.25
P90 TTFT (ms):                           180.00
P99 TTFT (ms):                           250.75
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          12.00
Median TPOT (ms):                        11.50
P99 TPOT (ms):                           15.00
---------------Inter-token Latency----------------
Mean ITL (ms):                           12.00
Median ITL (ms):                         11.00
P99 ITL (ms):                            60.00
----------------End-to-end Latency----------------
Mean E2EL (ms):                          1644.50
Median E2EL (ms):                        1600.00
P99 E2EL (ms):                           2000.00
==================================================
"""

SAVED = {
    "date": "20260101-000000",
    "backend": "vllm",
    "model_id": "meta-llama/Llama-3.1-8B-Instruct",
    "num_prompts": 200,
    "request_rate": "inf",
    "max_concurrency": 16,
    "duration": 50.0,
    "completed": 200,
    "total_input_tokens": 204800,
    "total_output_tokens": 25600,
    "request_throughput": 4.0,
    "output_throughput": 512.0,
    "input_lens": [1024] * 200,
    "errors": ["", "", "{not json"],
    "mean_ttft_ms": 120.5,
    "median_ttft_ms": 110.25,
    "std_ttft_ms": 9.0,
    "p99_ttft_ms": 250.75,
    "mean_tpot_ms": 12.0,
    "mean_itl_ms": 12.0,
}


def words(result):
    return [worded(warning) for warning in result.warnings]


def only(text):
    (result,) = read_bench_results(text)
    return result


def test_a_printed_result_gives_its_counts_and_clocks():
    result = only(PRINTED)
    assert (result.completed, result.failed, result.max_concurrency, result.requests_per_s_asked) == (
        200,
        0,
        16,
        4.0,
    )
    assert (result.duration_s, result.requests_per_s, result.output_tokens_per_s) == (50.0, 4.0, 512.0)
    assert result.ttft.mean_s == 0.1205
    assert result.ttft.percentiles == ((50, 0.11025), (90, 0.18), (99, pytest.approx(0.25075)))
    assert (result.tpot.mean_s, result.itl.at(99), result.e2el.at(50)) == (0.012, 0.06, 1.6)
    assert result.warnings == ()


@pytest.mark.parametrize(
    "label", ["Maximum request concurrency", "Max request concurrency", "Max reqeuest concurrency"]
)
def test_a_limit_is_read_under_every_name_it_was_printed_with(label):
    assert only(PRINTED.replace("Maximum request concurrency", label)).max_concurrency == 16


@pytest.mark.parametrize("blank", ["\t", "\N{NO-BREAK SPACE}"])
def test_figures_behind_tabs_or_hard_blanks_are_read(blank):
    """As a spreadsheet or a web page hands them on."""
    assert only(PRINTED.replace("  ", blank)) == only(PRINTED)


def test_a_sweeps_summary_has_a_result_a_row():
    """`vllm bench sweep` keeps the keys of a saved result as the heads of a CSV."""
    heads = "tag,max_concurrency,completed,total_input_tokens,total_output_tokens,mean_ttft_ms,mean_tpot_ms"
    found = read_bench_results(f"{heads}\na,16,64,65536,8192,200,9\nb,32,64,65536,8192,300,11.5\n")
    assert [(one.line, one.max_concurrency) for one in found] == [(2, 16), (3, 32)]
    assert [one.between_s for one in found] == pytest.approx([0.009, 0.0115])
    assert found[0].mean_prompt_tokens == 1024


SWEEP = """### Performance Benchmark Sweeps for Qwen3-30B-A3B on A100
|  ISL  | OSL  | Concurrency | N Req | TTFT (ms) | TPOT (ms) | Tput User (TPS) | E2EL (ms) | Req Tput (RPS) |
|-------|------|-------------|-------|-----------|-----------|-----------------|-----------|----------------|
|   128 |  128 |           1 |     8 |      35.7 |       9.6 |          103.92 |    1257.8 |          0.795 |
|  1024 |  128 |           1 |     4 |      70.3 |       9.8 |          102.26 |    1312.3 |          0.762 |

Then words, and a row without a head: | 1 | 2 |
"""
"""tt-inference-server issue #340."""
PERCENTILES = """| Concur |  N  | TTFT Avg (ms) | TTFT P50 (ms) | TTFT P99 (ms) | TPOT Avg (ms) | Req/s  |
|--------|-----|---------------|---------------|---------------|---------------|--------|
|      1 |   8 |          92.3 |          91.7 |          97.0 |          39.5 | 0.1956 |
"""
"""tt-inference-server pull #1446."""
A_RUN_A_COLUMN = """| Metric | conc=8 | conc=16 | conc=32 | conc=64 |
|--------|-------:|--------:|--------:|--------:|
| Mean TTFT (ms) | 330.6 | 356.0 | 426.5 | 423.1 |
| Mean TPOT (ms) | 12.8 | 17.2 | 25.6 | 34.6 |
"""
"""InferenceX issue #870."""


def test_a_sweep_s_table_of_markdown_has_a_result_a_row():
    first, second = read_bench_results(SWEEP)
    assert (first.line, first.max_concurrency, first.completed, first.mean_prompt_tokens) == (4, 1, 8, 128)
    assert (second.mean_prompt_tokens, second.mean_output_tokens) == (1024, 128)
    assert (second.ttft.mean_s, second.tpot.mean_s, second.e2el.mean_s) == pytest.approx((0.0703, 0.0098, 1.3123))
    assert second.requests_per_s == 0.762
    (one,) = read_bench_results(PERCENTILES)
    assert (one.ttft.mean_s, one.ttft.at(50), one.ttft.at(99)) == (0.0923, 0.0917, 0.097)
    assert (one.max_concurrency, one.completed, one.requests_per_s) == (1, 8, 0.1956)


def test_a_table_with_a_run_a_column_is_no_one_run():
    """It was read as its first column's, without a word."""
    with pytest.raises(UnreadableTextError, match="no benchmark result"):
        read_bench_results(A_RUN_A_COLUMN)


def test_gaps_stand_for_an_output_tokens_time_where_that_is_not_printed():
    """SGLang prints the gaps alone."""
    text = "Successful requests: 8\nRequest throughput (req/s): 2.7\nMean ITL (ms): 7.86\n"
    (found,) = read_bench_results(text)
    assert (found.tpot.mean_s, found.between_s) == (None, pytest.approx(0.00786))


def test_lengths_follow_from_the_counts():
    """1,024 in and 128 out."""
    result = only(PRINTED)
    assert (result.mean_prompt_tokens, result.mean_output_tokens) == (1024, 128)


@pytest.mark.parametrize(
    "dress",
    [
        lambda line: f"(APIServer pid=158) {line}",
        lambda line: f"[1,0]<stdout>:{line}",
        lambda line: f"2026-01-01T00:00:00Z stdout F {line}",
        lambda line: f"> {line}",
        lambda line: f'"{line}"',
        lambda line: f"\x1b[0m{line}\r",
    ],
)
def test_prefixes_do_not_matter(dress):
    dressed = only("\n".join(dress(line) for line in PRINTED.splitlines()))
    assert (dressed.completed, dressed.ttft, dressed.warnings) == (200, only(PRINTED).ttft, ())


def test_several_results_in_one_paste_are_told_apart():
    second = PRINTED.replace("120.50", "99.00")
    found = read_bench_results(f"some log\n{PRINTED}\n100%|███| 200/200 [00:50<00:00, 4.00it/s]\n{second}")
    assert [result.ttft.mean_s for result in found] == [0.1205, 0.099]
    assert [result.line for result in found] == [2, 2 + len(PRINTED.splitlines()) + 2]


def test_a_cut_result_keeps_what_there_is_and_says_so():
    cut = PRINTED[: PRINTED.index("Median TPOT")]
    result = only(cut)
    assert (result.tpot.mean_s, result.itl.mean_s) == (0.012, None)
    assert "cut: the closing line is missing" in words(result)


def test_a_saved_result_that_was_cut_is_told_by_its_line():
    (result,) = read_bench_results('some log\n\n{"request_throughput": 4.0, "mean_ttft_ms": 120.5, "mean_tpo')
    assert (result.line, result.ttft.mean_s) == (3, 0.1205)


def test_a_result_cut_by_the_next_one_is_flagged_alone():
    first, second = read_bench_results(PRINTED[: PRINTED.index("-----Time per")] + PRINTED)
    assert words(first) == ["cut: the closing line is missing", "no mean TPOT was printed"]
    assert second.warnings == ()


def test_results_without_their_heading_begin_at_their_first_count():
    bare = "\n".join(line for line in PRINTED.splitlines() if "=" not in line)
    first, second = read_bench_results(f"{bare}\n{bare}")
    assert first.ttft == second.ttft == only(PRINTED).ttft
    assert first.warnings == second.warnings == ()


def test_a_command_line_before_a_result_belongs_to_it_and_not_to_the_one_before():
    command = "vllm bench serve --model Qwen/Qwen3-8B --request-rate inf --max-concurrency 8 \\"
    bare = "\n".join(line for line in PRINTED.splitlines() if "oncurrency" not in line and "RPS" not in line)
    first, second = read_bench_results(f"{bare}\n{command}\n{bare}")
    assert (first.model, first.max_concurrency, first.requests_per_s_asked) == (None, None, None)
    assert (second.model, second.max_concurrency, second.requests_per_s_asked) == ("Qwen/Qwen3-8B", 8, inf)


def test_arguments_as_python_prints_them_are_read_too():
    said = only(
        f"Namespace(model='org/name', request_rate=2.5, max_concurrency=None)\n{PRINTED[:400]}{PRINTED[400:]}"
    )
    assert (said.model, said.max_concurrency) == ("org/name", 16)


def test_units_after_the_figure_as_the_older_script_printed_them():
    result = only("Successful requests: 10\nBenchmark duration: 5.000000 s\nRequest throughput: 2.00 requests/s\n"
                  "Mean TTFT: 50.05 ms\nMean TPOT: 21.00 ms\n")  # fmt: skip
    assert (result.duration_s, result.requests_per_s, result.ttft.mean_s, result.tpot.mean_s) == (
        5,
        2,
        0.05005,
        0.021,
    )


def test_the_first_script_s_averages_are_read():
    result = only("Total time: 10.00 s\nThroughput: 5.00 requests/s\nAverage latency: 3.20 s\n"
                  "Average latency per token: 0.01 s\nAverage latency per output token: 0.05 s\n")  # fmt: skip
    assert (result.e2el.mean_s, result.tpot.mean_s, result.requests_per_s) == (3.2, 0.05, 5)


def test_sglang_s_words_are_read():
    text = (
        "============ Serving Benchmark Result ============\nBackend: sglang\nTraffic request rate: inf\n"
        "Max request concurrency: not set\nSuccessful requests: 10\nBenchmark duration (s): 5.0\n"
        "Total generated tokens: 100\nTotal generated tokens (retokenized): 99\nRequest throughput (req/s): 2.0\n"
        "Mean E2E Latency (ms): 443.32\nMean TTFT (ms): 21.59\nMean TPOT (ms): 1.47\nMax ITL (ms): 8.28\n"
        + "="
        * 50
    )
    result = only(text)
    assert (result.requests_per_s_asked, result.max_concurrency, result.output_tokens) == (inf, None, 100)
    assert (result.e2el.mean_s, result.itl.mean_s) == (pytest.approx(0.44332), None)


def test_a_table_of_markdown_is_read():
    result = only("| Successful requests | 10 |\n| Mean TTFT (ms) | 1,120.50 |\n| Mean TPOT (ms) | 12.00 |\n")
    assert result.ttft.mean_s == pytest.approx(1.1205)


@pytest.mark.parametrize("indent", [None, 2])
def test_saved_json_is_read(indent):
    result = only(json.dumps(SAVED, indent=indent))
    assert (result.model, result.requests_per_s_asked, result.max_concurrency) == (SAVED["model_id"], inf, 16)
    assert result.ttft.percentiles == ((50, 0.11025), (99, pytest.approx(0.25075)))
    assert (result.mean_prompt_tokens, result.warnings) == (1024, ())


def test_json_lines_and_lists_hold_several():
    other = {**SAVED, "mean_ttft_ms": 99.0}
    for text in (f"{json.dumps(SAVED)}\n{json.dumps(other)}", json.dumps([SAVED, other])):
        assert [result.ttft.mean_s for result in read_bench_results(text)] == [0.1205, pytest.approx(0.099)]


def test_cut_json_keeps_its_numbers_and_says_so():
    result = only(json.dumps(SAVED)[:-30])
    assert (result.ttft.mean_s, result.completed) == (0.1205, 200)
    assert words(result)[0].startswith("cut")


def test_json_behind_other_braces_is_found():
    assert only("{ not json\n" + json.dumps(SAVED)).completed == 200


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Failed requests:                         0", "Failed requests:  7", "7 requests failed"),
        ("(req/s):              4.00", "(req/s):  9.00", "requests a second: 9 was printed, 4 is the count"),
        ("(tok/s):         512.00", "(tok/s):  800.00", "output tokens a second: 800 was printed"),
        ("12.00\nMedian ITL", "40.00\nMedian ITL", "several at a time"),
    ],
)
def test_figures_that_do_not_agree_are_named(before, after, said):
    assert before in PRINTED
    assert any(said in warning for warning in words(only(PRINTED.replace(before, after))))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("duration", float("inf")),
        ("request_throughput", 1e300),
        ("total_input_tokens", -5.0),
        ("mean_ttft_ms", 1e300),
    ],
)
def test_a_figure_that_nobody_can_measure_is_left_out_and_said(field, value):
    result = only(json.dumps({**SAVED, field: value}))
    assert any("beyond what can be measured" in said for said in words(result))
    figures = (result.duration_s, result.requests_per_s, result.input_tokens, result.ttft.mean_s)
    assert figures.count(None) == 1


def test_an_integer_of_thousands_of_digits_is_left_out():
    result = only(json.dumps(SAVED).replace("204800", "9" * 5000))
    assert result.input_tokens is None
    assert "`input_tokens` is left out: inf is beyond what can be measured" in words(result)


@pytest.mark.parametrize(
    "text", ["", "hello", "============ Serving Benchmark Result ============", "{}", "[" * 5000]
)
def test_a_text_without_a_result_is_refused(text):
    with pytest.raises(UnreadableTextError, match="no benchmark result"):
        read_bench_results(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mean TTFT (ms): " + " " * 1_000_000,
        "=" * 1_000_000,
        "{" * 1_000_000 + '"request_throughput"',
        '{\n"request_throughput": 1, ' * 40_000,
        "Mean TTFT (ms): 1\n" * 55_000,
        "[" * 999_000 + '"request_throughput"',
        ", {" * 300_000 + '"request_throughput"',
        "--model " * 120_000,
    ],
)
def test_a_megabyte_of_anything_is_read_or_refused_at_once(text):
    """Well under a second on an idle machine; two are allowed on a busy one."""
    began = process_time()
    try:
        found = read_bench_results(text)
    except UnreadableTextError:
        found = ()
    assert process_time() - began < 10  # a catastrophe, not a speed
    assert len(found) <= MOST_RESULTS


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.integers(0, len(PRINTED)))
def test_no_text_breaks_the_reader(noise, place):
    text = PRINTED[:place] + noise + PRINTED[place:]
    assert all(result.line >= 1 for result in read_bench_results(text + PRINTED))


@pytest.mark.parametrize("printed", [0.0, 0.01, 0.5, 900.0])
def test_a_figure_does_not_differ_from_itself(printed):
    assert not _differ(printed, printed)
    assert _differ(printed, 1.2 * printed + 0.02)


def test_a_clock_that_shows_nothing_was_not_read():
    """A client that does not stream: as in SGLang's issue 12389."""
    saved = {
        "request_throughput": 3.2,
        "mean_ttft_ms": 0.0,
        "p99_ttft_ms": 0.0,
        "mean_tpot_ms": 4.76,
        "completed": 9,
    }
    (found,) = read_bench_results(json.dumps(saved))
    assert (found.ttft, found.tpot.mean_s) == (Clocked(), pytest.approx(0.00476))
    assert [warning.values["clocks"] for warning in found.warnings] == ["TTFT"]
