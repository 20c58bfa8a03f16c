"""A run that cannot be made says why, whichever of its ranks finds out first."""

import json
import sys
import time

import pytest

torch = pytest.importorskip("torch")

from distributed import run_tp  # noqa: E402


@pytest.mark.parametrize(("rank", "waits_s"), [("0", []), ("1", [run_tp.FIRST_WORD_S])])
def test_no_rank_ends_in_silence_and_rank_0_has_the_first_word(rank, waits_s, monkeypatch, capsys, tmp_path):
    """torchrun ends every rank with the first that ends: a silent rank 1 used to take the reason with it."""
    waited_s = []
    monkeypatch.setattr(time, "sleep", waited_s.append)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    monkeypatch.setattr(run_tp, "end_with_parent", lambda: None)
    monkeypatch.setattr(sys, "argv", ["run_tp", "--checkpoint", str(tmp_path / "none.safetensors")])
    for name, value in {"RANK": rank, "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        run_tp.main()
    said = json.loads(capsys.readouterr().out)
    assert (ended.value.code, said["event"], waited_s) == (2, "error", waits_s)
    assert "no checkpoint none.safetensors" in said["message"]
    assert "python -m distributed.train_grammar" in said["message"]
