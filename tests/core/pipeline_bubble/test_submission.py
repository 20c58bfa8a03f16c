"""A learner's lab 04 results, judged: by the reference, by slips of known kinds, by what no code should give."""

import json
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.pipeline_bubble import bubble as pipeline_bubble
from core.pipeline_bubble.schedules.actions import Action, Span
from core.pipeline_bubble.schedules.validity import violations
from core.pipeline_bubble.submission import RUN, TASKS, Submission, judge, plain, result_of, run_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=6),
    max_leaves=20,
)


def lab(**changed):
    """The reference with some functions replaced."""
    return SimpleNamespace(**{name: getattr(pipeline_bubble, name) for name in TASKS} | changed)


def tried(module, stages=3, microbatches=4):
    return {task: Submission(task, result_of(task, module, stages, microbatches)) for task in (*TASKS, RUN)}


@pytest.mark.parametrize(("stages", "microbatches"), [(1, 1), (2, 8), (4, 1), (8, 63)])
def test_the_reference_is_right_in_every_task_and_travels_as_json(stages, microbatches):
    for one in tried(pipeline_bubble, stages, microbatches).values():
        again = Submission(one.task, json.loads(json.dumps(one.gave)))
        assert judge(again, stages, microbatches).right


def test_stages_may_be_listed_in_any_order():
    def by_microbatch(p, m):
        return [Action(stage, "F", k) for k in range(m) for stage in range(p)]

    assert judge(tried(lab(fill_drain=by_microbatch))["fill_drain"], 3, 4).right


@pytest.mark.parametrize(
    ("task", "slip", "gave", "due"),
    [
        ("bubble_fraction", lambda p, m: Fraction(p, m + p), "3/7", "1/3"),
        ("bubble_fraction", lambda p, m: (p - 1) / (m + p - 1), "0.3333333333333333", "1/3"),
        ("bubble_overhead", lambda p, m: Fraction(p - 1, m + p - 1), "1/3", "1/2"),
        ("microbatches_for_budget", lambda p, b, under=False: 18, 18, 19),
        ("is_valid", lambda spans, p, m: True, True, False),
        (
            "fill_drain",
            lambda p, m: [Action(s, "F", k) for s in range(p) for k in (1, 0, 2, 3)],
            [0, "F", 1],
            [0, "F", 0],
        ),
        ("fill_drain", lambda p, m: [], 0, 12),
        ("counted_bubble", lambda spans, p: None, "None", "1/3"),
    ],
)
def test_a_slip_is_told_with_what_was_due(task, slip, gave, due):
    judged = judge(tried(lab(**{task: slip}))[task], 3, 4)
    assert (judged.right, judged.gave, judged.due) == (False, gave, due)


def test_a_run_of_their_own_is_drawn_and_its_broken_rules_found():
    """Every stage at once: stages 1 and 2 run four microbatches each before their inputs."""

    def at_once(actions, stages):
        return [Span(a, a.stage, a.microbatch, a.microbatch + 1) for a in actions]

    run = run_of(tried(lab(run_on_ticks=at_once)).values(), 3, 4)
    assert len(list(violations(run, 3, 4))) == 8


def test_an_order_without_a_clock_is_drawn_on_ours():
    only = {"fill_drain": tried(pipeline_bubble)["fill_drain"]}
    assert run_of(only.values(), 3, 4) == pipeline_bubble.run_on_ticks(pipeline_bubble.fill_drain(3, 4), 3)


@given(ANYTHING, st.sampled_from([*TASKS[:-1], RUN]))
def test_whatever_comes_is_judged_and_drawn_only_where_it_has_a_place(gave, task):
    given = Submission(task, gave)
    if task != RUN:
        judged = judge(given, 3, 4)
        assert judged.right == (judged.due is None)
    for span in run_of([given], 3, 4) or ():
        assert 0 <= span.rank < 3
        assert 0 <= span.start < span.end


@pytest.mark.parametrize("microbatch", [-1, 4, True, 1.0, "1", None])
def test_no_microbatch_but_a_whole_one_of_the_batch_has_a_place(microbatch):
    def run(last):
        return run_of([Submission(RUN, [[0, "F", 0, 0, 0, 1], [0, "F", last, 0, 1, 2]])], 3, 4)

    assert len(run(1)) == 2
    assert not run(microbatch)


def test_a_list_too_long_to_read_is_refused():
    with pytest.raises(ValueError, match="at most 4096"):
        plain([0] * 5000)
