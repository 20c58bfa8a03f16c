"""Whatever a browser sends in place of what our pages send is answered or refused, for what a right message costs.

As tests/core/test_paste_fuzz.py has it for texts: seeded, counted, each input's time held to that of a right one.
"""

import json
import random
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from shutil import which
from typing import Any

import numpy as np
import pytest

from core.catalog import GPUS, MODELS
from core.course.puzzles.bank import PUZZLES
from core.course.puzzles.board import walk
from core.errors import ShardlabError
from core.placement.asked import Machine, question_of
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.manifests import compose, kubernetes
from core.placement.plan import Plan, Question, judge
from core.placement.preflight_checks import ENGINES
from core.placement.serve_flags import serve_command
from core.strategy.race import LOADS
from core.strategy.race import asked as race_asked
from runtime.room_ring import MOST_PRESENT, RoomRing
from runtime.rooms import MOST_QUESTIONS, MOST_ROOMS, MOST_VOTERS, Rooms, code_of, pass_of
from runtime.rooms import Question as Asked
from tests.core.test_paste_fuzz import LEAST_S, NUMBERS, PIECES, TIMES
from tests.runtime.test_rooms import Clock
from ui.beside import AT_ONCE_GPUS
from ui.cluster import phone
from ui.placement import rows_race
from ui.players import puzzle_player
from ui.wall import wall_of

COUNTS = {"press": 3_000, "wall": 3_000, "room": 3_000, "puzzle": 1_500, "manifest": 200, "race": 150}
TEXTS = (*NUMBERS, *PIECES, "CDFGHJ", "key", "true", "a" * 5_000, "<script>", "../../etc/passwd", "$(id)", "🙂")
WHOLE = (0, 1, -1, 2, 63, 64, 65, 2**31, 2**63, 10**400)
ODD = (*WHOLE, 0.5, 1e308, -1e308, float("inf"), float("nan"), True, None)


def anything(rng: random.Random, depth: int = 3) -> Any:
    """A value of any type of JSON's, and of what Python's reader takes besides."""
    kind = rng.randrange(8 if depth else 4)
    if kind < 2:
        return rng.choice(ODD)
    if kind < 4:
        return rng.choice(TEXTS)
    if kind < 6:
        return [anything(rng, depth - 1) for _ in range(rng.randrange(4))]
    names = ("run", "round", "low", "zoom", "wall", "sent", *TEXTS[:4])
    return {rng.choice(names): anything(rng, depth - 1) for _ in range(rng.randrange(4))}


def spoiled(rng: random.Random, right: dict[str, Any]) -> Any:
    """A right message with one of its parts gone or of another kind, or something else altogether."""
    if rng.random() < 0.3:
        return anything(rng)
    name = rng.choice(list(right))
    return (
        {**right, name: anything(rng, 1)} if rng.random() < 0.8 else {k: v for k, v in right.items() if k != name}
    )


@dataclass(frozen=True)
class Source:
    """A kind of message: a right one, one made up by a seed, and what the server does with it.

    What is done raises AssertionError where the server would hold, or show, what it must not.
    """

    right: Any
    made: Callable[[random.Random], Any]
    done: Callable[[Any], None]


def pressed(told: object) -> None:
    """A phone's press in a ring of two phones and two simulated ranks: at most its own rank moves, by one."""
    clock = Clock()
    ring = RoomRing(clock, np.random.default_rng(0))
    ring.here("ada")
    ring.here("bob")
    assert ring.start(4, 1)
    before = ring.standing()
    phone.pass_told(ring, "ada", told)
    after = ring.standing()
    moved = [rank for rank in range(4) if before.ranks[rank] != after.ranks[rank]]
    assert moved == ([] if told != {"run": 1, "round": 0} else moved)
    assert set(moved) <= {0, 1}


def held(told: object) -> None:
    wall = wall_of(told)
    assert isinstance(wall["low"], bool)
    assert 0.5 <= wall["zoom"] <= 4


ROOMS, RINGS = Rooms(Clock()), RoomRing(Clock())
KEYS = ("key", "", "\ud800", *(f"key {number}" for number in range(2 * MOST_ROOMS)))


def acts(rng: random.Random) -> list[tuple[str, tuple[Any, ...]]]:
    """What somebody does to the rooms of a server, eight times over."""
    key, text, number = (lambda: rng.choice(KEYS)), (lambda: rng.choice(TEXTS)), (lambda: rng.choice(ODD[:-2]))

    def asked() -> Asked:
        return Asked(text(), text(), number())

    ways = (
        lambda: ("ask", (key(), asked(), tuple((text(), text()) for _ in range(rng.randrange(3))))),
        lambda: ("vote", (code_of(key()), asked(), text(), number())),
        lambda: ("vote", (text(), asked(), f"voter {rng.randrange(9_999)}", number())),
        lambda: ("ask_again", (key(),)),
        lambda: ("take_votes", (key(), rng.random() < 0.8)),
        lambda: ("show", (key(), text())),
        lambda: ("rename", (code_of(key()), f"voter {rng.randrange(9_999)}", text())),
        lambda: ("shown", (code_of(key()), rng.choice([text(), pass_of(key())]))),
        lambda: ("tallies", (text(),)),
        lambda: ("presides", (text(),)),
        lambda: ("start", (number(), number(), rng.choice([None, -1, number()]))),
        lambda: ("here", (f"phone {rng.randrange(9_999)}",)),
        lambda: ("send", (text(), number(), number())),
        lambda: ("leave", (text(),)),
    )
    return [rng.choice(ways)() for _ in range(8)]


def acted(told: list[tuple[str, tuple[Any, ...]]]) -> None:
    for name, given in told:
        of_ring = name in ("start", "here", "send", "leave")
        getattr(RINGS if of_ring else ROOMS, name)(*given)
    rooms = ROOMS._rooms.values()
    assert len(rooms) <= MOST_ROOMS
    assert all(len(room.votes) <= MOST_QUESTIONS for room in rooms)
    assert all(len(vote) <= MOST_VOTERS for room in rooms for votes in room.votes.values() for vote in votes)
    assert len(RINGS._seen_s) <= MOST_PRESENT


def chosen(rng: random.Random) -> tuple[int, list[Any]]:
    place = rng.randrange(len(PUZZLES))
    options = [option for step in PUZZLES[place].steps for option in step.options]
    return place, [rng.choice([*options, "", None, "whole"]) for _ in range(rng.randrange(len(options) + 1))]


def walked(told: tuple[int, list[Any]]) -> None:
    place, choices = told
    steps = list(walk(PUZZLES[place], tuple(choices)))
    assert len(steps) <= len(PUZZLES[place].steps) + 1
    assert all((step.after is None) == (step.refusal is not None) for step in steps)


def placed(name: str, nodes: int, layout: Layout) -> tuple[Question, Plan]:
    question = question_of(MODELS[name], Machine(GPUS["h100-sxm"], 8, nodes), Demand())
    return question, judge(question, layout)


PLACED = (placed("llama-3-8b", 1, Layout(2, 1, 4)), placed("llama-3-70b", 2, Layout(8, 2)))


def written(name: str) -> None:
    """All that is written of a plan, for every engine; what it must look like is test_manifests' to say."""
    for engine in ENGINES:
        for question, plan in PLACED:
            named = replace(question, model=replace(question.model, aliases=(name,)))
            serve_command(named, plan, engine)
            compose(named, plan, engine)
            kubernetes(named, plan, engine)


def raced(told: tuple[Machine, Demand, str]) -> None:
    """A race of as many GPUs as are asked within the server itself, at lengths and targets at either end."""
    machine, demand, load = told
    asked = race_asked(question_of(MODELS["llama-3-8b"], machine, demand), load)
    assert len(asked.entered) < 2 or asked.winner is not None
    assert all(rows_race.entrant_cells(asked.entered))


def racing(rng: random.Random) -> tuple[Machine, Demand, str]:
    lengths = (1, 2, 17, 4_096, 131_072, 1_048_576)
    targets = (None, 1e-9, 0.02, 1e5)
    demand = Demand(
        concurrency=rng.choice((1, 7, 65_536)),
        prompt_tokens=rng.choice(lengths),
        output_tokens=rng.choice(lengths[:-1]),
        slo_itl_s=rng.choice(targets),
        slo_ttft_s=rng.choice(targets),
        prefix_fraction=rng.choice((0.0, 0.5, 0.99)),
        draft_tokens=rng.choice((0, 16)),
        acceptance=rng.choice((0.0, 0.7, 1.0)),
    )
    node = rng.randrange(1, 17)
    gpu = GPUS[rng.choice(list(GPUS))]
    return Machine(gpu, node, rng.randrange(1, AT_ONCE_GPUS // node + 1)), demand, rng.choice(list(LOADS))


SOURCES = {
    "press": Source({"run": 1, "round": 0}, partial(spoiled, right={"run": 1, "round": 0}), pressed),
    "wall": Source({"low": True, "zoom": 1.5}, partial(spoiled, right={"low": True, "zoom": 1.5}), held),
    "room": Source(acts(random.Random(0)), acts, acted),
    "puzzle": Source((6, list(PUZZLES[6].answer)), chosen, walked),
    "race": Source((Machine(GPUS["h100-sxm"], 8, 2), Demand(), "rush"), racing, raced),
    "manifest": Source("org/model", lambda rng: "".join(rng.choices(TEXTS, k=rng.randrange(1, 4))), written),
}


def seconds(source: Source, told: Any) -> float:
    """This thread's own time over a message."""
    began_s = time.thread_time()
    source.done(told)
    return time.thread_time() - began_s


@pytest.mark.slow
def test_no_message_makes_the_server_stumble():
    rng, found, dear = random.Random(23), {}, []
    usual_s = {name: max(seconds(source, source.right) for _ in range(3)) for name, source in SOURCES.items()}
    for name in (name for name, count in COUNTS.items() for _ in range(count)):
        source = SOURCES[name]
        told = source.made(rng)
        try:
            if seconds(source, told) > TIMES * usual_s[name] + LEAST_S:
                dear.append((name, told))
        except ShardlabError:
            continue
        except Exception as error:
            found.setdefault((name, repr(error)[:200]), repr(told)[:300])
    most_s = {name: TIMES * usual + LEAST_S for name, usual in usual_s.items()}
    slow = [one for one in dear if min(seconds(SOURCES[one[0]], one[1]) for _ in range(5)) > most_s[one[0]]]
    print(f"{sum(COUNTS.values())} messages, {len(dear)} tried again for their time")
    assert not found
    assert not slow


@pytest.mark.skipif(which("node") is None, reason="node is not installed")
def test_no_address_opens_a_puzzle_that_is_none(tmp_path):
    """The board reads its own part of the address, in the browser: 5,000 made up by a seed, and each opens one."""
    rng = random.Random(12)
    pieces = (*"0123456789", ".", ".", "-", "+", "e", "E", " ", "x", *TEXTS, "Infinity", "NaN", "15e-1")
    texts = ["".join(rng.choices(pieces, k=rng.randrange(12))) for _ in range(5_000)]
    script, _, _ = (puzzle_player.HERE / "puzzle.js").read_text(encoding="utf-8").partition("export default")
    (tmp_path / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    asking = f"""
        import {{ readFileSync }} from 'node:fs';
        const texts = JSON.parse(readFileSync('texts.json'));
        console.log(JSON.stringify(texts.map((text) => heldBy(text, {len(PUZZLES)}))));
    """
    (tmp_path / "asked.mjs").write_text(script + asking, encoding="utf-8")
    done = subprocess.run(["node", "asked.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    for text, one in zip(texts, json.loads(done.stdout), strict=True):
        assert one["index"] in range(len(PUZZLES)), text
        assert len(one["solved"]) == len(PUZZLES)
        assert {*one["solved"]} <= {0, 1, 2}, text
        assert {*one["chosen"]} <= {*range(-1, 10)}, text
