"""TP sizes from a terminal: JSON on stdout, or one line on stderr and exit status 2."""

import json

import pytest

from scripts import tp_sizes


def test_an_8b_model_allows_six_sizes_up_to_64(capsys):
    """32 heads and 8 KV heads: powers of two to 32, KV heads copied above 8."""
    assert tp_sizes.main(["--model", "meta-llama/Meta-Llama-3-8B", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["model"] == "llama-3-8b"
    assert len(answer["sizes"]) == 64
    copies = {size["tp_size"]: size["kv_copies"] for size in answer["sizes"] if size["verdict"] != "refused"}
    assert copies == {1: 1, 2: 1, 4: 1, 8: 1, 16: 2, 32: 4}
    assert "num_attention_heads: 32 = 10 × 3 + 2" in answer["sizes"][2]["broken"]


def test_a_quantisation_group_narrows_the_choice(capsys):
    assert tp_sizes.main(["--model", "llama-2-7b", "--group", "128", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [size["tp_size"] for size in answer["sizes"] if size["verdict"] != "refused"] == [1, 2]


def test_the_table_lists_what_is_allowed(capsys):
    assert tp_sizes.main(["--model", "llama-3-8b", "--largest", "16"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["TP=1", "TP=2", "TP=4", "TP=8", "TP=16"]
    assert lines[-1].endswith("2 ranks hold each KV head")


@pytest.mark.parametrize(
    "bad",
    [["--model", "nobody"], ["--model", "llama-3-8b", "--largest", "0"], ["--model", "llama-3-8b", "--group", "0"]],
)
def test_bad_input_is_one_line_on_stderr_and_status_2(capsys, bad):
    with pytest.raises(SystemExit) as ended:
        tp_sizes.main([*bad, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
