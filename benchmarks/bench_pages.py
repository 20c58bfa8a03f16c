"""What a rerun of each page and scene costs: CPU, as a ratio to a bare page with one slider and one chart.

    python -m benchmarks.bench_pages [--only STEM] [--rounds 6] [--profile STEM.SCENE]

First: the batch becomes one that nobody has asked for. Model: the model becomes one that nobody has looked at in
this scene, at a prompt's length that nobody has asked for; half of them are mixtures, and all fit. Again: the batch
becomes one that somebody has seen.

The scenario's panel is closed, as it is for who follows a page; open, it is fifteen widgets more. All in one
process and one run, the bare page before and after the others: the script and its messages. Last, a
bare page with as many widgets as a scene shows, and as it shows and keeps.
"""

import argparse
import cProfile
import inspect
import pstats
import sys
import time
from collections.abc import Callable, Sequence
from itertools import count, cycle
from pathlib import Path
from statistics import mean, median
from textwrap import dedent, fill
from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest

from ui import shell
from ui.course.pages import LABS, OVERVIEW, PAGES, Entry

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (("first", 2.0), ("model", 2.0), ("again", 1.2))
"""What is measured, and how many times the bare page's CPU it may take."""
TURNS = 2
"""Of two looks at what was seen, for each first look: a ratio near 1 needs more of them to be told from 1.2."""
PARAGRAPHS, WIDGETS = 20, (20, 70)
"""Of Streamlit's own, what a scene shows, and what it shows and keeps: what they cost with nothing of ours."""

MOVED = ("llama-3-70b", "mixtral-8x7b", "qwen2.5-32b", "mixtral-8x22b", "qwen3-32b", "qwen3-30b-a3b")
_prompts = count(2049)
"""Lengths in tokens, each asked for once in a run of this command."""

_spent: list[float] = []
_profiles: list[cProfile.Profile] = []


def _watch(profiled: bool) -> None:
    """Let every run of a script note what it took of its own thread's CPU, messages written out."""
    run = ScriptRunner._run_script
    enqueue = ForwardMsgQueue.enqueue

    def timed(self: ScriptRunner, *args: Any, **named: Any) -> None:
        began = time.thread_time()
        profile = cProfile.Profile(time.thread_time) if profiled else None
        if profile:
            _profiles.append(profile)
            profile.enable()
        run(self, *args, **named)
        if profile:
            profile.disable()
        _spent.append(time.thread_time() - began)

    def written(self: ForwardMsgQueue, message: ForwardMsg) -> None:
        populate_hash_if_needed(message)
        message.SerializeToString()
        enqueue(self, message)

    prepare = PagesManager.__init__

    def declared(self: PagesManager, *args: Any, **named: Any) -> None:
        prepare(self, *args, **named)
        PagesManager.uses_pages_directory = False  # as a server knows once st.navigation has run in it

    scripts = ScriptCache()  # a server compiles a page once
    ScriptCache.get_bytecode = _once(ScriptCache.get_bytecode, scripts)  # type: ignore[method-assign]
    PagesManager.__init__ = declared  # type: ignore[method-assign]
    ScriptRunner._run_script = timed  # type: ignore[method-assign]
    ForwardMsgQueue.enqueue = written  # type: ignore[method-assign]


def _once(method: Callable[..., Any], owner: object) -> Callable[..., Any]:
    """A method that one object answers for all of its class."""
    return lambda _, *args: method(owner, *args)


def bare() -> None:
    """A page with nothing but a slider and a chart."""
    import altair as alt
    import pandas as pd
    import streamlit as st

    batch = st.slider("batch", 1, 8192, 1, key="batch")
    table = pd.DataFrame({"x": range(8), "y": [batch * x for x in range(8)]})
    st.altair_chart(alt.Chart(table).mark_bar().encode(x="x:O", y="y:Q"))


def bare_with(widgets: int) -> AppTest:
    """Such a page with so many widgets in the address besides, and as many paragraphs as a scene has."""
    said = inspect.getsource(bare).partition("\n")[2]
    asked = f"""
for number in range({widgets}):
    st.number_input(f"number {{number}}", 0, 9, key=f"number_{{number}}", bind="query-params")
for number in range({PARAGRAPHS}):
    st.markdown(f"Paragraph {{number}} of *{{batch}}*.")
"""
    return AppTest.from_string(dedent(said) + asked, default_timeout=60).run()


def visit(page: Entry, scene: str) -> AppTest:
    """The app with a scene open, its question answered. The overview has neither, and is `all` of itself."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=120)
    if page is not OVERVIEW:
        app.query_params[f"{page.prefix}_scene"] = scene
    if page in LABS:
        app.query_params[f"{page.prefix}_guess"] = "15"
        app.query_params[f"{page.prefix}_revealed"] = "true"
    app.run()  # declares the navigation, by which the page is known
    app.switch_page(page.path)
    return app.run()


def rerun_s(app: AppTest, **moved: int | str) -> float:
    """The CPU of one rerun with other values of the scenario."""
    del _spent[:]
    for field, value in moved.items():
        app.session_state[field] = value
    app.run()
    assert not app.exception, app.exception
    return sum(_spent)


def measured(app: AppTest, base: AppTest, rounds: int, models: Sequence[str]) -> tuple[float, float, float, float]:
    """A rerun of the bare page in seconds; times that, a first look at a batch, at a model, and another at a batch.

    Medians; 0 without models. One of the bare page stands before and one after what is held against them, a first
    look or two others: what else the machine does, and its clock, meet both.
    """
    turn = count(3)
    bare_s = [rerun_s(base, batch=next(turn))]

    def held(*looks: dict[str, int | str]) -> float:
        spent_s = [rerun_s(app, **moved) for moved in looks]
        bare_s.append(rerun_s(base, batch=next(turn)))
        return mean(spent_s) / mean(bare_s[-2:])

    batches = looked_at(rounds)
    first = [held(one) for one in batches]
    seen = cycle(batches)
    again = [held(next(seen), next(seen)) for _ in range(TURNS * rounds)]
    other = [held({"model": model, "prompt": next(_prompts)}) for model in models]
    return median(bare_s), median(first), median(other or [0.0]), median(again)


def looked_at(rounds: int) -> list[dict[str, int | str]]:
    """So many batches that a scene has not shown."""
    return [{"batch": batch} for batch in range(3, 3 + rounds)]


def profile(app: AppTest, rounds: int) -> None:
    """Print what first looks at a scene spend, and other looks at the same."""
    for name in ("first", "again"):
        del _profiles[:]
        for moved in looked_at(rounds):
            rerun_s(app, **moved)
        print(name)
        stats = pstats.Stats(_profiles[0])
        for one in _profiles[1:]:
            stats.add(one)
        stats.sort_stats("cumulative").print_stats(60)
        stats.sort_stats("tottime").print_stats(30)


def main() -> int:
    """Print the table; 1 where a page is slower than it may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="a page's stem")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--profile", help="a page's stem and a scene's name in code: what its reruns spend")
    asked = parser.parse_args()
    _watch(bool(asked.profile))
    shell.FIGURES_AFTER_S = 1e6  # now, not while the first scene is measured
    shell._import_figures()
    base = AppTest.from_function(bare, default_timeout=60).run()
    rows, slow = [], 0
    for page in PAGES:
        for scene in ("all",) if page is OVERVIEW else page.names:
            if asked.profile not in (None, f"{page.stem}.{scene}") or asked.only not in (None, page.stem):
                continue
            app = visit(page, scene)
            rerun_s(app, batch=2)
            if asked.profile:
                profile(app, asked.rounds)
                return 0
            bare_s, *ratios = measured(app, base, asked.rounds, MOVED)
            rows.append((f"{page.stem} {scene}", *ratios))
            slow += any(ratio > most for ratio, (_, most) in zip(ratios, COLUMNS, strict=True))
            print(f"{page.stem:16} {scene:12} {1e3 * bare_s:6.1f} ms {' '.join(f'{one:6.1f}' for one in ratios)}")
            sys.stdout.flush()
    for widgets in () if asked.only else WIDGETS:
        _, first, _, again = measured(bare_with(widgets), base, asked.rounds, ())
        print(f"{'bare page, with':16} {widgets:3} widgets {'':12} {first:6.1f} {'':6} {again:6.1f}")
    for column, (name, most) in enumerate(COLUMNS, 1):
        print(summary(name, [(row[0], row[column]) for row in rows], most))
    return int(slow > 0)


def summary(name: str, ratios: list[tuple[str, float]], most: float) -> str:
    """How many scenes are at most so dear, the median, and those that are dearer, the dearest first."""
    over = sorted((one for one in ratios if one[1] > most), key=lambda one: -one[1])
    kept = f"{len(ratios) - len(over)} of {len(ratios)} scenes at most {most} × the bare page"
    told = f"; over: {', '.join(f'{scene} {ratio:.1f}' for scene, ratio in over)}" if over else ""
    return fill(
        f"{name}: {kept}, median {median(ratio for _, ratio in ratios):.1f}{told}", 110, subsequent_indent="  "
    )


if __name__ == "__main__":
    sys.exit(main())
