"""A live run on lab 02's page: what it printed stays, whatever ends it."""

import pytest

from runtime import torch_here
from runtime.run_request import RunRefusedError
from runtime.torchrun import Outcome
from tests.pages.test_two_way_tp import opened
from ui.two_way_tp import live_run

LINES = ('{"event": "start"}', '{"event": "prompt", "number": 3, "of": 10}')


class EndedRun:
    """A run that prints two lines and ends without a result; or breaks while it is watched."""

    elapsed_s = 1.0

    def __init__(self, status: str, message: str = "") -> None:
        self.status, self.message = status, message or f"The run ended: {status}."
        self.outcome = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.outcome = Outcome(self.status, self.message, 9.0, LINES, None)

    def watch(self):
        yield LINES[0]
        yield None
        yield LINES[1]
        if self.status == "broke":
            raise RunRefusedError(
                "another run is going on this machine: one at a time; it ends within 300 s, try then"
            )


@pytest.mark.parametrize("status", ["silent", "failed", "overran", "broke"])
def test_what_was_printed_stays_and_the_next_run_can_be_made(status, monkeypatch):
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    monkeypatch.setattr(torch_here, "has_torch", lambda: True)
    monkeypatch.setattr(live_run, "start", lambda request: EndedRun(status))
    at = opened(real_scene="Bench", real_figure="two arms")
    at.button(key="live_start").click().run()
    assert not at.exception
    assert len(at.error) == 1
    assert "\n".join(LINES) in [code.value for code in at.code]
    assert at.button(key="live_start").label == "Run it here on the CPU"
