"""The harness of served times, and a table that is told before it is looked at."""

import json

import pytest

from core.evidence.served import told_digest
from runtime.foretold import tables
from runtime.served import served_table
from scripts import foretell, served

HEAD = "system,model,backend,dtype,tp,ep,batch,isl,measured_s,id"
ROWS = (
    "h200_sxm,llama-3.1-70b,vllm,fp8,4,1,16,1024,0.0112,a_1024x1024_c16_1",
    "b200_sxm,minimax-m2,vllm,fp8,4,1,32,8192,0.0145,a_8192x1024_c32_2",
    "b200_sxm,deepseek-r1,sglang,fp8,8,1,8,1024,0.0094,a_1024x1024_c8_3",
    "h200_sxm,qwen3-235b-a22b,vllm,fp8,1,1,8,1000,0.0549,a_1000x100_c8_4",
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "printed.csv"
    path.write_text("# somebody's\n" + "\n".join((HEAD, *ROWS)) + "\n", encoding="utf-8")
    return path


def test_a_table_as_it_was_printed_is_told_three_ways_and_says_what_it_leaves_out(table, capsys):
    """Three models on two systems; the fourth row's 235 GB are on no one H200."""
    assert served.main([str(table), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["rows"], said["left_out"]["no_room"]) == (4, 1)
    assert said["every"]["shipped"]["rows"] == said["every"]["model_left_out"]["rows"] == 3
    assert said["every"]["blind"] is None
    assert {line["group"] for line in said["system"]} == {"h200-sxm", "b200-sxm"}
    assert said["every"]["shipped"]["median_error"] < 0.35


def test_the_shipped_table_is_printed_by_system_model_engine_width_and_ranks(capsys):
    assert served.main(["--fit"]) == 0
    text = capsys.readouterr().out
    assert {line.split()[0] for line in text.splitlines()[1:33]} >= {"every", "system", "model", "engine", "width"}
    assert "fitted: hopper_reached 0.88" in text


def test_a_table_is_told_before_it_is_looked_at(table, tmp_path, capsys):
    """Every row is kept with what was told of it, and the ledger has one line and a digest of it all."""
    ledger, kept = tmp_path / "ledger.jsonl", tmp_path / "kept.csv"
    arguments = ["table", "mine", str(table), "--keep", str(kept), "--commit", "abc", "--source", "a page"]
    assert foretell.main([*arguments, "--ledger", str(ledger)]) == 0
    capsys.readouterr()
    (line,) = tables(ledger)
    rows = served_table(kept)
    assert (line.key, line.file, line.rows, line.commit) == ("mine", "kept.csv", 4, "abc")
    assert told_digest(rows) == line.digest
    assert all(row.told_s > 0 for row in rows)
    assert served.main([str(kept), "--json"]) == 0
    blind = json.loads(capsys.readouterr().out)["every"]["blind"]
    assert blind["rows"] == 3
