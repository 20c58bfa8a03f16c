"""Lab 04's file in a process of its own: what it gave, where it stops, and what ends it."""

import pytest

from core.pipeline_bubble.submission import RUN, TASKS, judge, run_of
from runtime.learner_code import LAB as LAB_01
from runtime.learner_code import SCHEDULE_LAB as LAB
from runtime.learner_code import learner_file
from runtime.learner_code import schedule_submissions as submissions

OWN = {"SHARDLAB_LIVE_RUNS": "1"}
HEAD = "from fractions import Fraction\nfrom core.pipeline_bubble.bubble import *\n"
HEAD += "from core.pipeline_bubble.schedules.actions import *\n"


def written(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + code, encoding="utf-8")
    return path


def test_the_reference_is_right_in_every_task_and_its_run_is_run_of():
    found = submissions(LAB / "solution.py", 4, 6)
    assert [given.task for given in found] == [*TASKS, RUN]
    assert all(judge(given, 4, 6).right for given in found[:-1])
    assert len(run_of(found, 4, 6)) == 24


def test_an_untouched_starter_names_its_tasks_and_gives_no_picture():
    found = submissions(LAB / "starter.py", 4, 6)
    for number, given in enumerate(found[:-1], start=1):
        assert f"lab-04, task {number}" in str(given.error.message)
        assert given.error.line > 0
    assert run_of(found, 4, 6) is None


@pytest.mark.slow
def test_an_endless_loop_is_ended_and_what_came_before_it_kept(tmp_path):
    code = "def counted_bubble(spans, stages):\n    import time\n    time.sleep(60)\n"
    found = {given.task: given for given in submissions(written(tmp_path, code), 4, 6, wall_s=4)}
    assert judge(found["run_on_ticks"], 4, 6).right
    assert "more than 4 s" in str(found["counted_bubble"].error.message)
    assert run_of(found.values(), 4, 6)


def test_a_flood_of_actions_is_refused_and_the_rest_goes_on(tmp_path):
    code = "def fill_drain(stages, microbatches):\n    return [Action(0, 'F', 0)] * 10**6\n"
    found = {given.task: given for given in submissions(written(tmp_path, code), 4, 6)}
    assert "at most 4096" in str(found["fill_drain"].error.message)
    assert judge(found["bubble_fraction"], 4, 6).right


def test_a_file_in_another_labs_folder_is_that_labs():
    theirs = {**OWN, "LAB_IMPL": str(LAB_01 / "starter.py")}
    assert learner_file(theirs, LAB) is None
    assert learner_file(theirs) == LAB_01 / "starter.py"
    assert learner_file({**OWN, "LAB_IMPL": "starter"}, LAB) == LAB / "starter.py"


def test_nobodys_schedule_runs_in_a_public_deployment():
    assert learner_file({"LAB_IMPL": "starter"}, LAB) is None
