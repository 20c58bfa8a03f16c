"""`scripts.race`: the page's race in a terminal."""

import json

from scripts import race
from scripts.terminal import NOTHING_FITS


def test_the_race_of_the_page_in_a_terminal(capsys):
    assert race.main(["--model", "llama-3-8b", "--gpu", "a100", "--load", "light", "--requests", "40"]) == 0
    out = capsys.readouterr().out
    assert "\nfirst: tensor\n" in out
    assert "Error, between tokens: 72 published times" in out.splitlines()[-2]
    assert "5 read and 3 write" in out


def test_json_has_every_lane_and_the_winner_is_the_quickest(capsys):
    given = ["--model", "mixtral-8x7b", "--gpu", "a100", "--requests", "60", "--json"]
    assert race.main(given) == 0
    said = json.loads(capsys.readouterr().out)
    lanes = {lane["kind"]: lane for lane in said["lanes"]}
    assert list(lanes) == ["tensor", "stages", "replicas", "experts", "apart"]
    assert len(said["tested"]) == 2
    assert said["winner"] == min(lanes, key=lambda kind: lanes[kind]["answer_s"])


def test_a_model_that_fits_nowhere_races_nowhere(capsys):
    assert race.main(["--model", "llama-3.1-405b", "--gpu", "l4", "--gpus-per-node", "2"]) == NOTHING_FITS
    assert capsys.readouterr().out.startswith("No plan fits. The nearest is")
