"""`python -m scripts.strategy`: the answer in a terminal, a block as Mermaid, and what is refused in one line."""

import json
import re

import pytest

from scripts.strategy import main
from scripts.terminal import NOTHING_FITS

ZERO_1 = ["--model", "llama-3-8b", "--gpu", "a100-80gb-sxm"]


def test_the_answer_comes_with_its_trace_and_what_would_change_it(capsys):
    """128 GB of states do not fit 85 GB; with the optimizer's 96 GB distributed over eight they do."""
    assert main([*ZERO_1, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["family"], printed["name"], printed["fits"]) == ("ZeRO-1", "ZeRO-1 × 8", True)
    assert any(line.startswith("DDP over all 8: does not fit") for line in printed["trace"])
    assert {flip["input"] for flip in printed["flips"]} >= {"usable memory of a GPU"}


def test_without_json_it_is_read_line_by_line(capsys):
    assert main([*ZERO_1, "--for", "serve", "--goal", "latency", "--sequences", "1"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("TP: TP=")
    assert any(line.startswith("- Take TP=") for line in lines)
    assert re.match(r"- Error, first token: \d+ published times", lines[-1])


def test_a_block_is_printed_as_mermaid(capsys):
    assert main(["--model", "mixtral-8x7b", "--block", "EP", "--ranks", "8"]) == 0
    assert capsys.readouterr().out.startswith("flowchart TD\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--model", "no-such"],
        [*ZERO_1, "--gpus-per-node", "0"],
        [*ZERO_1, "--nodes", "4096"],
        [*ZERO_1, "--sequences", "-1"],
        [*ZERO_1, "--for", "serve", "--output", "0"],
        [*ZERO_1, "--block", "EP"],
        [*ZERO_1, "--block", "TP", "--ranks", "0"],
        [*ZERO_1, "--block", "PP", "--ranks", "100000"],
        [*ZERO_1, "--goal", "both"],
    ],
)
def test_what_cannot_be_answered_ends_in_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert printed.err.count("\n") == 1


def test_nothing_that_fits_is_told_by_the_exit_status(capsys):
    given = ["--model", "llama-3.1-405b", "--gpu", "l4", "--gpus-per-node", "1", "--for", "serve", "--json"]
    assert main(given) == NOTHING_FITS
    assert json.loads(capsys.readouterr().out)["fits"] is False
