"""Lab 04's words: every block with its fields filled, plurals in agreement, and each wrong run told apart."""

import re
from itertools import product

import pytest

from core.errors import ShardlabError
from core.pipeline_bubble import pairs
from core.pipeline_bubble.bubble import FillDrain
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import Bench, Cheat, Comparison, Serving, Stuck
from core.pipeline_bubble.schedules.actions import Action, Span
from core.pipeline_bubble.schedules.validity import Violation
from core.scenario import Scenario
from runtime import content
from ui.pipeline_bubble import words
from ui.prose import Prose

DISAGREES = re.compile(
    r"(?<![\d.,/=\u202f])(?<!− )1 (?:[a-z]+ )?(?:tick|GPU|microbatch|stage|sequence|token|action|hand-over)e?s\b"
    r"|(?<![−+] )(?<![\w.,/=\u202f])1[ \u00a0](?:of them )?(?:are|were|have|do)\b"
)
ROWS_OWN = re.compile(r"^(?:says|learner|compose|formula|broken)\.|bench\.pin$")
"""Blocks that are filled from a row of their own, where they are said."""


def said(stages, microbatches, in_flight):
    """Every block of the page at some sizes; only the bench has a pipe of one stage."""
    run, serve = FillDrain(max(2, stages), microbatches), Serving(max(2, stages), in_flight)
    cheat, stuck = Cheat(run, one_early=True), Stuck(run)
    compose = Compositions(Scenario(), run.stages, in_flight)
    bench = Bench(stages, microbatches)
    sides = [Comparison(stages=stages, microbatches=microbatches).side(key) for key in ("1f1b", "gpipe")]
    fields = {
        **words.fields(run, serve, cheat, stuck, compose, compose),
        **words.bench_fields(bench, None, serve),
        **dict(zip(("first", "second"), sides, strict=True)),
    }
    prose = Prose(content.load("pipeline_bubble"), fields)
    return {name: prose.plain(name) for name in prose.blocks if not ROWS_OWN.search(name)}


def test_counts_and_nouns_agree_at_every_size():
    for sizes in product((1, 2, 8), (1, 2, 16), (1, 2, 8)):
        for name, text in said(*sizes).items():
            assert not DISAGREES.search(text), (sizes, name, text)
            assert "{{" not in text


def test_the_pattern_finds_what_it_looks_for():
    assert DISAGREES.search("a run of 1 ticks")
    assert not DISAGREES.search("11 ticks, 1 tick, 0.1 ticks, p − 1 ticks")


def test_every_broken_rule_has_its_words():
    """Each names the action, and what it did not wait for."""
    late, other = Action(3, "F", 0), Action(2, "F", 0)
    for rule in ("times", "back", "stranger", "early", "missing", "overlap"):
        text = words.broken(Violation(rule, late, Span(late, 3, 2, 3), other, 3, (2,)))
        assert "3F0" in text
        assert ("2F0" in text) == (rule in ("early", "missing", "overlap"))


def test_a_deadlock_is_told_from_its_first_and_its_last_rank():
    stuck = Stuck(FillDrain(8, 16))
    assert words.waiting(stuck.waits[-1]) == "7F2 waits for 6F2"
    assert Stuck(FillDrain(8, 2)).waits == []


def test_a_model_that_no_pipe_divides_is_refused_in_its_own_words():
    with pytest.raises(ShardlabError, match="llama-3-8b"):
        list(Compositions(Scenario(), 11).layouts)


def test_a_schedule_that_holds_as_much_pays_nothing_for_its_order():
    """1F1B and ZBV each hold four microbatches on the fullest rank: no memory is called a price."""
    sides = [Comparison(stages=4, microbatches=8).side(key) for key in ("1f1b", "zbv")]
    first, second = (pairs.drawn(side, 2, with_path=False) for side in sides)
    assert first.most_held == second.most_held
    told = Prose(content.load("pipeline_bubble"), {"first": first, "second": second})
    assert "neither order costs memory" in told.text(words.held_block(first, second))


def test_the_bubble_is_said_to_depend_on_both_sizes():
    """More stages idle for a larger share, more microbatches for a smaller one."""
    assert FillDrain(4, 8).fraction < FillDrain(8, 8).fraction > FillDrain(8, 16).fraction
    assert "depends on both sizes" in content.load("pipeline_bubble")["count.grid"]
