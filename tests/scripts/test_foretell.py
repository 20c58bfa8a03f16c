"""Predictions from a terminal: appended with the time of day, and nothing is written that the ledger refuses."""

import json

import pytest

from runtime.foretold import LEDGER, foretold
from scripts.foretell import main


def test_a_prediction_is_put_down_then_seen_then_listed(tmp_path, capsys):
    kept = ["--ledger", str(tmp_path / "foretold.jsonl")]
    assert main(["list", *kept]) == 0
    assert main(["add", "one", "--model", "llama-3-8b", "--gpu", "l40s", *kept]) == 0
    before = (tmp_path / "foretold.jsonl").read_bytes()
    assert main(["seen", "one", "--measured-ms", "25", "--source", "a page", *kept, "--json"]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (said["seen"], said["predictions"][0]["measured_s"]) == (1, 0.025)
    assert (tmp_path / "foretold.jsonl").read_bytes().startswith(before)
    kept_now = (tmp_path / "foretold.jsonl").read_bytes()
    for again in (
        ["seen", "one", "--measured-ms", "20", "--source", "b"],
        ["add", "one", "--model", "llama-3-8b", "--gpu", "l40s"],
        ["seen", "two", "--measured-ms", "20", "--source", "b"],
        ["seen", "one", "--measured-ms", "-1", "--source", "b"],
    ):
        with pytest.raises(SystemExit) as ended:
            main([*again, *kept])
        assert ended.value.code == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "foretold.jsonl").read_bytes() == kept_now


def test_the_ledger_that_ships_can_be_read_and_holds_predictions_of_what_was_never_tested():
    assert LEDGER.is_file()
    assert any(one.tested_rows == 0 for one in foretold())
