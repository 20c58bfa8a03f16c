"""A run that cannot be made says why, whichever of its ranks finds out first; one that differs ends in 1."""

import json
import sys
import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from core.two_way_tp.predictions import MINI_GPT  # noqa: E402
from distributed import run_tp  # noqa: E402
from distributed.baseline import Alone, measured  # noqa: E402
from distributed.collectives import Group  # noqa: E402
from distributed.job import make_job  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402


@pytest.fixture
def begun(monkeypatch):
    """Calls the program as torchrun does, and gives what it is ended by."""

    def begin(rank, *options):
        monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
        monkeypatch.setattr(run_tp, "end_with_parent", lambda: None)
        monkeypatch.setattr(sys, "argv", ["run_tp", *options])
        for name, value in {"RANK": rank, "LOCAL_WORLD_SIZE": "2"}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            run_tp.main()
        return ended.value.code

    return begin


@pytest.mark.parametrize(("rank", "waits_s"), [("0", []), ("1", [run_tp.FIRST_WORD_S])])
def test_no_rank_ends_in_silence_and_rank_0_has_the_first_word(rank, waits_s, begun, monkeypatch, capsys, tmp_path):
    """torchrun ends every rank with the first that ends: a silent rank 1 used to take the reason with it."""
    waited_s = []
    monkeypatch.setattr(time, "sleep", waited_s.append)
    code = begun(rank, "--checkpoint", str(tmp_path / "none.safetensors"))
    said = json.loads(capsys.readouterr().out)
    assert (code, said["event"], waited_s) == (2, "error", waits_s)
    assert "no checkpoint none.safetensors" in said["message"]
    assert "python -m distributed.train_grammar" in said["message"]


def reported(module, group, path, changed):
    """On a rank: the status of a run whose arm of one process wrote `changed` as one token's number too many.

    What comes after the comparison has no say in it, and is left out; of several hosts nobody takes a trace.
    """
    module.slow_one_rank = module.break_layers = lambda *_: None
    module.several_hosts, module.trace = lambda: True, None
    args = Namespace(steps_per_prompt=2, json=Path(path), device="cpu", prompts=2)
    job = make_job(MINI_GPT.key)
    job = replace(job, given=job.given[:2], prompts=job.prompts[:2])
    single = measured(job.model(Group()), job, args)
    single.tokens[1][0] += changed
    single.memory_bytes_per_s = 1.0
    return module.report(args, job, group, torch.device("cpu"), Alone(single, None) if not group.rank else None)


@pytest.mark.ranks
def test_tokens_that_differ_end_in_exit_1(begun, monkeypatch, tmp_path):
    """One token of two prompts differs between the arms: rank 0 writes so, and its status is the run's."""
    path = tmp_path / "result.json"
    program = Path(run_tp.__file__)
    statuses = run_ranks(2, Path(__file__), reported.__name__, program, path=str(path), changed=1)
    assert statuses == [1, 0]
    assert json.loads(path.read_text())["tokens_equal"] is False
    monkeypatch.setattr(run_tp, "run_rank", lambda *_: 1)
    assert begun("0") == 1
