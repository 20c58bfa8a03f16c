"""Ten puzzles: each is solved by search, its stated answer is among the best, and every best answer is accepted."""

from itertools import pairwise, product

import pytest

from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import COLLECTIVES, CUTS, Place, Puzzle, Step, move, score, solve, walk

BY_KEY = {puzzle.key: puzzle for puzzle in PUZZLES}
ACCEPTED = {"finished": 2, "layer": 2, "token": 2}
"""Where more than one answer is best: how many. Each of them is accepted; every other puzzle has one."""


def choices_of(puzzle: Puzzle) -> list[Step]:
    """The steps that ask for a choice, in order."""
    return [step for step in puzzle.steps if step.options]


def every_score(puzzle: Puzzle):
    """All answers there are, tried one by one: a second way to the least."""
    for choices in product(*(step.options for step in choices_of(puzzle))):
        found = score(puzzle, choices)
        if found is not None:
            yield (found.traffic_bytes, found.hops), choices


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.key)
def test_the_stated_answer_is_the_least_and_the_search_finds_all_that_are(puzzle):
    solved = solve(puzzle)
    tried = sorted(every_score(puzzle))
    least = tried[0][0]
    assert (solved.best.traffic_bytes, solved.best.hops) == least
    assert set(solved.answers) == {choices for found, choices in tried if found == least}
    assert puzzle.answer in solved.answers
    assert len(solved.answers) == ACCEPTED.get(puzzle.key, 1)


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.key)
def test_the_fewest_bytes_need_no_more_hops_than_any_other_answer(puzzle):
    """So that two scores never contradict each other about which answer is best."""
    solved = solve(puzzle)
    assert solved.best.hops == min(hops for (_, hops), _ in every_score(puzzle))


def test_there_are_ten_and_each_has_a_wrong_way_and_a_dear_one():
    assert len(PUZZLES) == len(BY_KEY) == 10
    for puzzle in PUZZLES:
        scores = {found for found, _ in every_score(puzzle)}
        ways = 1
        for step in choices_of(puzzle):
            ways *= len(step.options)
        assert len(list(every_score(puzzle))) < ways, puzzle.key
        assert puzzle.key in ("layer",) or len(scores) > 1, puzzle.key


def test_they_rise():
    """The first is two choices, none asks for more than eight, and the ranks never become fewer."""
    asked = [len(choices_of(puzzle)) for puzzle in PUZZLES]
    assert (asked[0], max(asked)) == (2, 8)
    assert all(before.ranks <= after.ranks for before, after in pairwise(PUZZLES))


def test_a_pair_needs_one_all_reduce():
    """Eight tokens of 1024 values, 16 KiB, over two ranks: 16 KiB, two hops. A gather between sends 32 KiB more."""
    pair = BY_KEY["pair"]
    best, dear = (
        score(pair, ("outputs", "nothing", "inputs", "all_reduce")),
        score(pair, ("outputs", "all_gather", "inputs", "all_reduce")),
    )
    assert best is not None
    assert dear is not None
    assert (best.traffic_bytes, best.hops) == (16384, 2)
    assert dear.traffic_bytes == best.traffic_bytes + 65536 / 2


def test_a_layer_needs_two():
    layer = score(BY_KEY["layer"], BY_KEY["layer"].answer)
    assert layer is not None
    assert (layer.traffic_bytes, layer.hops) == (2 * 24576, 2 * 6)


def test_an_activation_on_partial_sums_is_refused():
    pair = BY_KEY["pair"]
    *_, last = walk(pair, ("inputs", "nothing", "inputs", "all_reduce"))
    assert last.refusal == "sum_first"


def test_a_wrong_end_is_refused_as_the_goal():
    *_, last = walk(BY_KEY["columns"], ("outputs", "nothing"))
    assert last.refusal == "goal"


def test_every_step_answers_every_place_and_choice():
    """No place that a visitor can reach is without a move: it leads on or says why not."""
    helds = ("whole", "features", "tokens", "parts", "experts")
    for puzzle in PUZZLES:
        for step in puzzle.steps:
            for held, choice in product(helds, step.options or (None,)):
                found = move(puzzle, step, Place(held, puzzle.width), choice)
                assert (found.after is None) == (found.refusal is not None)
    assert set(CUTS) & set(COLLECTIVES) == set()
