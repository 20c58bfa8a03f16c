"""What the players share: scripts that are one module each, and words for all that a visitor reads or hears."""

import json
import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

from runtime import content
from runtime.prose import written
from runtime.quantities import significant
from ui.players import (
    block_stepper,
    journey_player,
    kit,
    pace_player,
    puzzle_player,
    race_player,
    ring_player,
    schedule_player,
)

PLAYERS = {
    "stepper": block_stepper,
    "schedule": schedule_player,
    "ring": ring_player,
    "journey": journey_player,
    "race": race_player,
    "puzzle": puzzle_player,
    "pace": pace_player,
}

CONTROLS = {"play", "pause", "back", "on", "save"}
MARKS = {"lang", "decimal"}
"""What the words are written with."""

WITHOUT = {
    "stepper": {"slider", "keys"},
    "schedule": {"keys"},
    "journey": {"slow"},
    "pace": {"save", "slider", "keys"},
    "puzzle": {"play", "pause", "back", "on", "save", "slider", "speed", "keys"},
}
"""What is named and a player has not: the stepper has a track of steps, the journey's ring no slow rank, the
puzzles no clock, and what is typed is the figure's to save. Only what is one SVG has a text for its keys."""


@pytest.mark.skipif(which("node") is None, reason="node is not installed")
def test_every_players_scripts_parse_as_one_module(tmp_path):
    for name, player in PLAYERS.items():
        whole = tmp_path / f"{name}.mjs"
        whole.write_text(kit.source(player.HERE, player.SCRIPTS), encoding="utf-8")
        done = subprocess.run(["node", "--check", str(whole)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_every_script_of_a_players_folder_is_in_its_module():
    for player in (*PLAYERS.values(), kit):
        named = set(getattr(player, "SCRIPTS", ())) or {
            "colours.js",
            "pens.js",
            "words.js",
            "player.js",
            "svg_player.js",
        }
        named = {script for script in named if not script.startswith("../")}
        assert {path.name for path in Path(player.__file__).parent.glob("*.js")} == named


@pytest.mark.skipif(which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_number_that_a_script_writes_has_the_marks_of_the_page_at_its_first_drawing(tmp_path, language):
    """In core's own digits, from the payload alone: the browser's page may not yet say which language it is in."""
    counts = [0, 999, 28_900, 1_234_567]
    with content.speaking(language):
        marks = {name: kit.words("puzzle")[name] for name in MARKS}
        sizes = [f"{significant(n / 1024, 4)} KiB" if n >= 1024 else f"{n} B" for n in counts]
        wanted = [*sizes, written(1.5, "tick,ticks"), written(1, "tick,ticks")]
    files = [Path(kit.__file__).with_name("words.js"), puzzle_player.HERE / "board.js"]
    scripts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    ticks = "[1.5, 1].map((count) => filled('{{count|tick,ticks}}', { count }))"
    asked = f"speakAs({json.dumps(marks)}); console.log(JSON.stringify([...{counts}.map(written), ...{ticks}]));"
    (tmp_path / "asked.mjs").write_text(f"{scripts}\n{asked}", encoding="utf-8")
    done = subprocess.run(["node", str(tmp_path / "asked.mjs")], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == wanted


@pytest.mark.parametrize("name", PLAYERS)
def test_every_word_a_script_asks_for_is_there_and_none_is_idle(name):
    """A name is asked for as `words.name`, or as a button's, or as `kind_f`, made of a code at its end."""
    source = kit.source(PLAYERS[name].HERE, PLAYERS[name].SCRIPTS)
    asked = set(re.findall(r"\b(?:words|said)\.([a-z_]+)", source)) | CONTROLS
    words = set(kit.words(name)) - MARKS
    assert asked - WITHOUT.get(name, set()) <= words
    first_parts = ("kind_", *re.findall(r"words\[`(\w+_)\$\{", source))
    made_up = {word for word in words if word.startswith(first_parts) or word in ("latency", "bandwidth")}
    assert words - made_up <= asked


def test_buttons_without_a_visible_word_are_named():
    for name in PLAYERS.keys() - {"puzzle"}:
        assert all(kit.words(name)[button] for button in {"back", "on", "save"} - WITHOUT.get(name, set()))


def test_each_player_gets_its_own_words_only():
    assert set(kit.words("ring")) & {name for name in content.load("players") if "." in name} == set()
    assert kit.words("ring")["on"] != kit.words("schedule")["on"]
