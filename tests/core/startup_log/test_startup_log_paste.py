"""What a log passes through on its way into a paste changes none of its figures."""

from dataclasses import replace
from html import escape

import pytest

from core.errors import UnreadableTextError
from core.startup_log import reader
from core.startup_log.lines import masked
from core.startup_log.reader import LIMIT_FIGURES, read_log
from tests.core.startup_log.printed_logs import QWEN2, notes, told


@pytest.mark.parametrize(
    "decorate",
    [
        pytest.param(lambda line: f"\x1b[1;36m{line}\x1b[0;0m", id="colours"),
        pytest.param(lambda line: f"^[[0;36m{line}^[[0;0m", id="colours in carets"),
        pytest.param(lambda line: f"> {line}", id="quote marks"),
        pytest.param(lambda line: f"vllm-1  | {line}", id="docker compose"),
        pytest.param(lambda line: f"[pod/vllm-0/main] {line}", id="kubectl"),
        pytest.param(lambda line: f"Nov 21 10:00:00 node7 vllm[812]: {line}", id="journald"),
        pytest.param(lambda line: f"2026-11-21T10:00:00.123456Z {line}", id="time stamps"),
        pytest.param(lambda line: f"│ {line:<300} │", id="a frame"),
        pytest.param(lambda line: f"<font color='#2AA1B3'><b>{escape(line)}</b></font>", id="a page's source"),
        pytest.param(lambda line: f"# {line}", id="comments of a script"),
        pytest.param(lambda line: f"{line}\r", id="carriage returns"),
        pytest.param(lambda line: f"Loading: 10%\rLoading: 99%\r{line}", id="a progress bar before"),
        pytest.param(lambda line: f"```\n{line}\n```", id="fences"),
        pytest.param(lambda line: f"{line}\n[... 19 progress-bar repaints elided ...]", id="elided lines"),
    ],
)
def test_what_a_log_passes_through_changes_nothing(decorate):
    assert told(read_log("\n".join(map(decorate, QWEN2.split("\n"))))) == told(read_log(QWEN2))


@pytest.mark.parametrize("width", [72, 80, 100, 120, 132])
def test_a_terminal_that_cuts_lines_anywhere_changes_nothing(width):
    """The cut falls inside words and numbers; glued at the width they are whole again."""
    cut = "\n".join(
        line[start : start + width] for line in QWEN2.split("\n") for start in range(0, len(line), width)
    )
    assert told(read_log(cut)) == told(read_log(QWEN2))


def test_two_lines_cut_at_one_width_are_enough_beside_a_longer_one():
    """7.1 | 217 GiB on both ranks: glued it is one number, with a space another. The first line is whole."""
    whole = QWEN2.split("\n")
    width = whole[1].index("7.1217") + 3
    cut = [f"{line[:width]}\n{line[width:]}" if "Model loading took" in line else line for line in whole]
    assert told(read_log("\n".join(cut))) == told(read_log(QWEN2))


def test_an_editor_that_breaks_lines_at_spaces_changes_nothing():
    broken = QWEN2.replace("Maximum concurrency for", "Maximum concurrency\nfor").replace(", dtype=", ",\n dtype=")
    assert told(read_log(broken)) == told(read_log(QWEN2))


def test_several_records_run_into_one_line_are_each_read():
    """A paste that lost its newlines: one line with everything."""
    assert {check.quantity for check in read_log(QWEN2.replace("\n", " ")).checks} == {
        check.quantity for check in read_log(QWEN2).checks
    }


def test_hosts_paths_and_keys_are_covered():
    line = (
        "ip-10-0-1-2:512:533 [0] NCCL INFO model='/home/ada/models/Qwen3-32B' host=node7.lab.example "
        "tcp://192.168.3.4:5000 10.1.2.3:29500 ada@lab.example api_key='s3cret99' hf_abcdefghijkl 00:39:33 [x.py:7]"
        " 'api_key': ['t0ken-abc'] as attention backend./home/eva/sglang/models/qwen3.py:195: Deprecated"
    )
    shown = masked(line)
    for secret in ("10-0-1-2", "ada", "node7", "192.168", "10.1.2", "s3cret99", "abcdefgh", "t0ken", "eva"):
        assert secret not in shown
    assert "Qwen3-32B" in shown
    assert "00:39:33 [x.py:7]" in shown


def test_a_megabyte_is_read_in_pieces_that_do_not_grow():
    """Each start's figures are taken once: a log repeated a hundred times has a hundred times the checks."""
    once = len(read_log(QWEN2).checks)
    assert len(read_log("\n".join([QWEN2] * 100)).checks) == 100 * once


def test_a_line_too_long_is_cut_and_said():
    report = read_log(f"{QWEN2}\nINFO vLLM {'x' * 60_000} Model loading took 9.9 GiB")
    assert told(report) == told(read_log(QWEN2))
    assert any("first 60\u202f000 characters of line 9" in note for note in notes(report))


@pytest.mark.parametrize("size", ["9" * 70, "0", "-2", "1.5", "inf"])
def test_a_size_that_no_engine_takes_is_not_taken(size):
    """Neither a number of seventy digits nor none at all reaches the arithmetic; two ranks are seen to speak."""
    report = read_log(QWEN2.replace("tensor_parallel_size=2", f"tensor_parallel_size={size}"))
    assert report.tp_size in (1, 2)


@pytest.mark.parametrize(
    ("logged", "predicted", "cut"),
    [(50, 4899, False), (50, 4900, True), (50, 5202, True), (50, 5203, False), (50, 50.4, False), (51, 50, False)],
)
def test_a_count_with_the_first_digits_of_the_predicted_one_may_be_cut(logged, predicted, cut):
    """Within a fiftieth of 5000 to 5100: from 4900 to 5202, both of them in."""
    check = replace(read_log(QWEN2).checks[0], logged=logged, predicted=predicted)
    assert reader._may_be_cut(check) == cut


def test_more_figures_than_a_start_prints_are_refused_before_they_are_checked():
    """However they are packed into lines; a thousand ranks that print four each are read."""
    of_a_rank = "(VllmWorker pid={0}) INFO Available KV cache memory: 5 GiB, model loading took {0}.5 GiB"
    many = [of_a_rank.format(rank) for rank in range(LIMIT_FIGURES // 2)]
    report = read_log("\n".join(many))
    assert len(report.checks) == LIMIT_FIGURES // 2
    with pytest.raises(UnreadableTextError, match=r"4,098 figures are more than a startup log has"):
        read_log("\n".join([*many, many[0]]))
    with pytest.raises(UnreadableTextError, match="more than a startup log has"):
        read_log(f"INFO {'GPU KV cache size: 1,000 tokens ' * 5000}\n" * 20)


@pytest.mark.parametrize(
    "nasty",
    [
        "(" * 100_000,
        "[" * 100_000,
        "a:" * 100_000,
        "'" * 100_000,
        "0," * 100_000,
        "</b" * 50_000,
        "Prefetching /a" * 20_000,
    ],
)
def test_a_hostile_line_is_only_a_long_line(nasty):
    text = f"{QWEN2}\nINFO vLLM {nasty} took with config: model={nasty}\n"
    assert told(read_log(text)) == told(read_log(QWEN2))
