"""The shipped runs: whole, unchanged, and of the shipped checkpoint."""

import hashlib
import io
import shutil
import zipfile

import pytest

from core.errors import UnknownNameError
from core.two_way_tp.predictions import MINI_GPT
from core.two_way_tp.run_log import RunLogError
from core.two_way_tp.scaling import crossover, fitted_link
from runtime import captures
from ui.two_way_tp.words_bench import SHAPED, host_fields

TWO_HOSTS = captures.CAPTURES.parent / "two_hosts"
CHECKPOINT = captures.CAPTURES.parent / "checkpoints" / "minigpt-grammar.safetensors"


def test_a_capture_ships_with_the_app():
    assert "gloo-cpu" in captures.names()


@pytest.mark.parametrize("name", captures.names())
def test_a_capture_is_of_the_shipped_checkpoint(name):
    """Its manifest names the file by sha256, and the machine, versions and command it was made with."""
    manifest = captures.load(name).result.manifest
    shipped = hashlib.sha256(CHECKPOINT.read_bytes()).hexdigest()
    assert manifest.weights == (shipped if captures.load(name).log.model == MINI_GPT else "random, seed 7")
    assert manifest.threads_per_rank == 1
    assert "-m distributed.run_tp --json" in manifest.command
    assert all((manifest.cpu or manifest.gpus, manifest.date, manifest.torch, manifest.python, manifest.system))


@pytest.mark.parametrize("name", captures.names())
def test_a_captures_lines_and_result_tell_the_same_run(name):
    capture = captures.load(name)
    log, result = capture.log, capture.result
    assert log.weights_bytes == tuple(rank.weights_bytes for rank in result.ranks)
    assert log.token_s == pytest.approx(result.per_token.median_s, abs=1e-6)
    assert log.single_token_s == pytest.approx(result.single_per_token.median_s, abs=1e-6)
    assert result.tokens_equal is (log.identical == log.prompts)


@pytest.mark.parametrize("name", ["gloo-cpu", "shm-cpu"])
def test_the_capture_shown_is_the_middle_one_of_five_runs_at_rest(name):
    """By its median token; one command, one day, and TP=1 within a tenth in all of them."""
    shown, repeats = captures.load(name).result, captures.repeats(name)
    assert len(repeats) == 5
    assert shown == sorted(repeats, key=lambda run: run.per_token.median_s)[2]
    assert {(run.manifest.command, run.manifest.date[:10]) for run in repeats} == {
        (shown.manifest.command, shown.manifest.date[:10])
    }
    singles = [run.single_per_token.median_s for run in repeats]
    assert max(singles) < 1.1 * min(singles)
    assert all(run.per_token.median_s > run.single_per_token.median_s for run in repeats)


def test_a_changed_capture_is_refused(tmp_path):
    shutil.copytree(captures.CAPTURES / "gloo-cpu", tmp_path / "gloo-cpu")
    lines = tmp_path / "gloo-cpu" / captures.LINES
    lines.write_text(lines.read_text().replace('"tp_size": 2', '"tp_size": 4', 1))
    with pytest.raises(captures.CaptureError, match="its sha256 differs"):
        captures.load("gloo-cpu", tmp_path)


def test_an_unknown_capture_is_named_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"no capture named 'x'; one of: .*gloo-cpu"):
        captures.load("x")


def test_a_saved_run_is_loaded_as_it_was(tmp_path):
    capture = captures.load("gloo-cpu")
    captures.save(capture.lines_text.splitlines(), capture.result_text, tmp_path / "mine")
    assert captures.load("mine", tmp_path).log == capture.log


def test_a_zip_holds_the_three_files():
    with zipfile.ZipFile(io.BytesIO(captures.zipped(captures.load("gloo-cpu")))) as archive:
        assert archive.namelist() == [f"gloo-cpu/{name}" for name in ("lines.jsonl", "result.json", "SHA256SUMS")]


def test_a_cut_off_log_says_what_is_missing():
    capture = captures.load("gloo-cpu")
    with pytest.raises(RunLogError, match="the log has no tokens line"):
        captures.of_texts("cut", capture.lines_text.split('{"event": "tokens"')[0], capture.result_text)


@pytest.mark.parametrize(("name", "bytes_per_s"), [("1gbit", 1.25e8), ("10gbit", 1.25e9)])
def test_a_link_that_was_shaped_is_measured_as_what_it_was_shaped_to(name, bytes_per_s):
    """Two hosts, a token bucket between them: lab 03's fit of the run's own sums finds its rate."""
    log = captures.load(name, TWO_HOSTS).log
    fit = fitted_link(log)
    assert fit.bandwidth_bytes_per_s == pytest.approx(bytes_per_s, rel=0.05)
    assert log.identical == log.prompts


@pytest.mark.parametrize("name", ["1gbit", "10gbit", "rest-1gbit", "rest-10gbit"])
def test_no_sum_beats_the_link_it_was_shaped_to(name):
    """A sum on two ranks sends its payload once; the bucket lets a burst of 256 KiB through at any rate."""
    rate = {"1gbit": 1.25e8, "10gbit": 1.25e9}[name.removeprefix("rest-")]
    for point in captures.load(name, TWO_HOSTS).log.sweep:
        assert point.median_s > (point.payload_bytes - 256 * 1024) / rate


def test_a_fit_of_noise_is_told_as_one():
    """At rest 10 Gb/s was fitted at twice the link: the page says that the fast links' order is open."""
    rates = {
        name: fitted_link(captures.load(name, TWO_HOSTS).log).bandwidth_bytes_per_s
        for name in ("rest-10gbit", "rest-1gbit")
    }
    assert rates["rest-10gbit"] > 1.25e9
    assert rates["rest-1gbit"] == pytest.approx(1.25e8, rel=0.05)
    for recording in ("", "rest-"):
        runs = [(words, captures.load(recording + name, TWO_HOSTS).log) for name, words in SHAPED.items()]
        assert "an impossible rate over 10 Gb/s, 12" in host_fields(runs)["host_fits"]


def test_a_long_prompt_takes_longer_the_slower_the_link_between_two_hosts():
    prefills = [captures.load(name, TWO_HOSTS).log.prefill for name in ("loopback", "10gbit", "1gbit")]
    assert [one.payload_bytes for one in prefills] == [2**19] * 3
    assert prefills[0].median_s < prefills[1].median_s < prefills[2].median_s


def test_a_recorded_curve_is_read_and_pays_somewhere():
    """Wide models gain on either link; in shared memory from a narrower width on."""
    gloo, shm = (captures.load_curve(backend) for backend in ("gloo", "shm"))
    assert crossover(shm).usual < crossover(gloo).usual < 4096
    for run in (gloo, shm):
        assert run.points[-1].token.median_s < run.points[-1].single.median_s
    assert captures.load_curve("nccl") is None
