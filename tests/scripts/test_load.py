"""A plan under load from a terminal."""

import json

import pytest

from core.serving.bench_results import example_bench
from scripts import load
from scripts.terminal import NOTHING_FITS

PLAN = ["--model", "qwen2-7b", "--gpu", "a100", "--prompt", "1024", "--output", "128"]


def answered(capsys, *arguments):
    assert load.main([*PLAN, *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_the_ladder_is_one_json_object(capsys):
    said = answered(capsys, "--requests", "200", "--itl-p99-ms", "200")
    assert said["rates"][-1]["requests_per_s"] == pytest.approx(said["capacity_per_s"], rel=0.2)
    assert said["rates"][0]["kept"]
    assert all(
        "for this class of GPU and kind of model. The median is off by" in sentence for sentence in said["tested"]
    )
    assert said["kept_per_s"] >= said["rates"][0]["requests_per_s"]


def test_two_replicas_complete_twice_as_much(capsys):
    one, two = (answered(capsys, "--requests", "50", "--replicas", str(replicas)) for replicas in (1, 2))
    assert two["capacity_per_s"] == pytest.approx(2 * one["capacity_per_s"])
    assert two["most_running_per_engine"] == one["most_running_per_engine"]


def test_a_plan_that_does_not_fit_and_a_promise_that_none_keeps_are_told_by_the_status(capsys):
    assert load.main([*PLAN, "--tp", "1", "--prompt", "2000000"]) == NOTHING_FITS
    assert "the longest that does has" in capsys.readouterr().out
    assert load.main([*PLAN, "--requests", "20", "--itl-p99-ms", "0.1", "--json"]) == NOTHING_FITS
    assert json.loads(capsys.readouterr().out)["met"] is False


def test_where_no_plan_is_named_and_one_gpu_is_too_small_the_plan_that_is_taken_is_run(capsys):
    """DeepSeek-V3 on eight H200: 675 GB do not fit on one, and `plan` takes TP=8."""
    asked = ["--model", "deepseek-ai/DeepSeek-V3", "--gpu", "h200-sxm", "--requests", "20", "--json"]
    assert load.main(asked) == 0
    unnamed = json.loads(capsys.readouterr().out)
    assert load.main([*asked, "--tp", "8"]) == 0
    named = json.loads(capsys.readouterr().out)
    assert unnamed["plan"] == named["plan"] == "TP=8"
    assert unnamed["rates"] == named["rates"]
    assert load.main([*asked, "--tp", "1"]) == NOTHING_FITS


def test_a_benchmark_stands_beside_its_prediction(capsys, tmp_path):
    """Published: 18.47 ms between tokens on half of one A100."""
    path = tmp_path / "bench.txt"
    path.write_text(f"{example_bench()}\nSuccessful requests: 3\nMean TTFT (ms): 50.0\n", encoding="utf-8")
    first, second = answered(capsys, "--utilisation", "0.5", "--bench", str(path))["results"]
    assert first["predicted"]["itl_mean_s"] == pytest.approx(first["measured"]["tpot"]["mean_s"], rel=0.1)
    assert "lengths of requests are unknown" in second["refused"]


def test_without_json_it_is_a_table(capsys, tmp_path):
    path = tmp_path / "bench.txt"
    path.write_text(example_bench(), encoding="utf-8")
    assert load.main([*PLAN, "--requests", "50"]) == load.main([*PLAN, "--bench", str(path)]) == 0
    out, _ = capsys.readouterr()
    assert "requests a second" in out
    assert out.count("Error, between tokens: 72 published times") == 2
    assert "all at once" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--requests", "0"], "requests=0"),
        (["--seed", "-1"], "seed=-1"),
        (["--chunk", "0"], "chunk_tokens=0"),
        (["--gpus-per-node", "0"], "gpus_per_node=0"),
        (["--tp", "5"], "plan=TP=5"),
        (["--model", "llama-3-405b"], "no model named"),
        (["--bench", "/nowhere/at/all"], "cannot read"),
        (["--ttft-p99-ms", "soon"], "invalid finite value"),
    ],
)
def test_bad_input_is_one_line_on_stderr(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        load.main([*PLAN, *arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
