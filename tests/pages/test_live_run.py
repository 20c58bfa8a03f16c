"""A live run on lab 02's page: what it printed stays, whatever ends it."""

import pytest

from core.errors import remark
from runtime import captures, torch_here
from runtime.content import slug
from runtime.run_request import RunRefusedError
from runtime.torchrun import Outcome
from tests.pages.test_two_way_tp import opened
from ui.two_way_tp import live_run

LINES = ('{"event": "start"}', '{"event": "prompt", "number": 3, "of": 10}')


ENDED = {
    "silent": remark("errors.run.silent", silence=90),
    "overran": remark("errors.run.overran", wall=300),
    "failed": remark("errors.run.launcher_ended", signal="SIGKILL"),
}
"""What the runtime says of a run that gave no result, by how it ended."""


class EndedRun:
    """A run that prints some lines and ends; or breaks while it is watched."""

    elapsed_s = 1.0

    def __init__(self, status: str, lines=LINES, result: str | None = None) -> None:
        self.status, self.lines, self.result = status, lines, result
        self.ended = ENDED.get(status)
        self.outcome = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.outcome = Outcome(self.status, self.ended, 9.0, self.lines, self.result)

    def watch(self):
        yield self.lines[0]
        yield None
        yield from self.lines[1:]
        if self.status == "broke":
            raise RunRefusedError("run.busy", wall=300)


@pytest.fixture
def offered(monkeypatch):
    """A machine that makes runs: `offered(run)` is what each of them will be; what was asked for."""
    monkeypatch.setenv("SHARDLAB_LIVE_RUNS", "1")
    monkeypatch.setattr(torch_here, "has_torch", lambda: True)
    asked = []

    def makes(run):
        monkeypatch.setattr(live_run, "start", lambda request: asked.append(request) or run)
        return asked

    return makes


def test_a_run_replaces_the_recorded_one_and_can_be_kept(offered):
    """What it printed and wrote, as a recorded run did; that a real one is read so, `test_torchrun.py` holds."""
    made = captures.load("shm-cpu")
    asked = offered(EndedRun("done", tuple(made.lines_text.splitlines()), made.result_text))
    at = opened(real_scene="bench", real_figure="two_arms", real_wire="shared_memory")
    at.button(key="live_start").click().run()
    assert not at.exception
    assert not at.error
    assert [request.options for request in asked] == [("--backend", "shm", "--model", made.log.model.key)]
    assert [button.proto.label for button in at.get("download_button")] == ["Download this run"]
    at.query_params["real_scene"] = "count"
    at.run()
    assert not at.exception
    assert at.query_params["real_run"] == slug(live_run.NAME)


@pytest.mark.parametrize("status", ["silent", "failed", "overran", "broke"])
def test_what_was_printed_stays_and_the_next_run_can_be_made(status, offered):
    offered(EndedRun(status))
    at = opened(real_scene="bench", real_figure="two_arms")
    at.button(key="live_start").click().run()
    assert not at.exception
    assert len(at.error) == 1
    assert "\n".join(LINES) in [code.value for code in at.code]
    assert at.button(key="live_start").label == "Run it here on the CPU"
