"""Predicted against published from a terminal."""

import json

import pytest

from runtime.published import SHIPPED, published_table, shipped_table
from scripts import accuracy


def test_the_answer_is_one_json_object_with_every_row(capsys):
    assert accuracy.main([str(SHIPPED), "--json"]) == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert err == ""
    table = shipped_table()
    tested = [one for one in table.measurements if one.quantity != "decode" or not one.group.waits_over_nodes]
    assert (len(said["rows"]), said["out_of_memory"]["rows"]) == (len(tested), len(table.out_of_memory))
    assert said["roofline_above_measured"] == said["skipped"] == []
    assert set(said["decode"]) == {"train", "test"}
    assert {"gpu_class", "kind", "quantity", "rows", "median_error", "p90_error"} <= said["classes"][0].keys()
    assert sum(line["rows"] for line in said["sources"]) == len(said["rows"])
    served = sum(line["rows"] for line in said["classes"])
    assert sum(line["rows"] for line in said["regimes"]) == served
    assert {"gpu_class", "quantity", "regime", "rows", "median_error", "p90_error", "worst_error"} <= set(
        said["regimes"][0]
    )
    assert {line["regime"] for line in said["regimes"]} == {"memory", "arithmetic", "wires"}


def test_the_table_says_the_median_error_and_bias_of_each_source(capsys):
    assert accuracy.main([str(SHIPPED), "--rows"]) == 0
    out, _ = capsys.readouterr()
    assert "median error" in out
    assert "roofline above a measurement: 0 of" in out
    assert "never tested here" in out
    assert "rule: a source is fitted or tested as a whole" in out
    assert "table: published_times.csv" in out


def test_without_a_table_it_reads_the_folder_of_cases_or_what_ships(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SHARDLAB_CASES", str(tmp_path))
    accuracy.main(["--json"])
    assert json.loads(capsys.readouterr().out)["table"] == "published_times.csv"
    (tmp_path / "measurements.csv").write_bytes(SHIPPED.read_bytes())
    accuracy.main(["--json"])
    assert json.loads(capsys.readouterr().out)["table"] == "measurements.csv"


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot read"), (b"source,model\na,b\n", "has no column"), (b"\xff\xfe\x00", "cannot read")],
)
def test_a_file_that_is_no_table_is_one_line_on_stderr(capsys, tmp_path, content, said):
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        accuracy.main([str(path), "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_table_that_was_kept_is_read_back_as_it_was(capsys, tmp_path):
    """As it was printed, then under our own names: the same times, and every prediction the same."""
    printed, kept = tmp_path / "printed.csv", tmp_path / "kept.csv"
    printed.write_text(
        "source,model,dtype,gpu,tp,pp,batch,in_len,out_len,metric,value,note\n"
        "a,Llama-2-7B,bf16,A100-80GB,1,1,1,5,,decode tokens/s,104.9,\n"
        "b,Llama-2-70B,int8,A100-80GB,8,1,max,128,128,output tokens/s,5000,vLLM\n"
        "b,Llama-2-70B,bf16,A100-80GB,1,1,1,5,,decode tokens/s,OOM,\n"
    )
    accuracy.main([str(printed), "--keep", str(kept)])
    assert published_table(kept) == published_table(printed)
    capsys.readouterr()
