"""Tools are asked once, in bounded time and for a bounded text, and nothing they started is left."""

import os
import sys
import time
from pathlib import Path

import pytest

from runtime.machine_tools import COMMANDS, ask, ask_tools, tools_here


def tool(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


def test_what_a_tool_prints_on_either_stream_is_read(tmp_path):
    answer = ask([tool(tmp_path, "smi", "echo one; echo two >&2; exit 3"), "-q"])
    assert (answer.text, answer.status, answer.ended) == ("one\ntwo\n", 3, False)


def test_a_tool_that_hangs_is_ended_with_what_it_started(tmp_path):
    """What it printed before stands; a child of its own holds the pipe no longer than it."""
    mark = tmp_path / "alive"
    slow = tool(tmp_path, "smi", f"echo begun; (sleep 2; touch {mark}) & sleep 60")
    began = time.monotonic()
    answer = ask([slow], longest_s=0.5)
    assert time.monotonic() - began < 30
    assert (answer.text, answer.ended) == ("begun\n", True)
    time.sleep(2.5)
    assert not mark.exists()


def test_a_tool_that_prints_without_end_is_cut(tmp_path):
    answer = ask([tool(tmp_path, "smi", "while :; do echo 0123456789; done")], most_bytes=10_000)
    assert (len(answer.text), answer.cut) == (10_000, True)


def test_a_tool_that_is_not_there_is_not_asked():
    assert tools_here([("no-such-tool-of-anybody", "-q")]) == ()
    assert ask(["/no/such/tool"]).text == ""


def test_after_one_that_hung_its_program_is_not_asked_again(tmp_path):
    slow = tool(tmp_path, "smi", "sleep 60")
    answers = ask_tools([(slow,), (slow, "topo")], longest_s=0.3)
    assert [one.command for one in answers] == [slow]


def test_no_tool_reads_what_was_typed(tmp_path, monkeypatch):
    assert ask([tool(tmp_path, "smi", "cat; echo end")]).text == "end\n"


def test_tools_are_found_on_the_path(tmp_path, monkeypatch):
    tool(tmp_path, "nvidia-smi", 'echo "asked $*"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    answers = [one for one in ask_tools() if one.command.startswith("nvidia-smi")]
    assert [one.text.strip() for one in answers][::2] == ["asked", "asked topo -m"]


def test_commands_only_ask():
    """No flag of theirs sets, resets or writes anything."""
    words = {word for command in COMMANDS for word in command[1:]}
    assert not {
        word for word in words if word.startswith(("--set", "--reset", "-r", "-pl", "-i", "--gpu-reset", "-f"))
    }
