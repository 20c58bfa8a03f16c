"""Lab 04 in words: the rows that its prose names, and which of two sentences holds."""

from collections.abc import Mapping

from core.pipeline_bubble.bubble import FillDrain
from core.pipeline_bubble.compositions import Compositions
from core.pipeline_bubble.experiments import (
    LOAD,
    SEQUENCES,
    TOKENS_EACH,
    Bench,
    Cheat,
    Prompt,
    Serving,
    Stuck,
    low_traffic,
)
from core.pipeline_bubble.pairs import Drawn
from core.pipeline_bubble.schedules.paths import Wait
from core.pipeline_bubble.schedules.validity import Violation
from runtime.kept import kept
from runtime.prose import said
from ui.pipeline_bubble.rows import STEM


@kept
def fields(
    run: FillDrain, flow: Serving, cheat: Cheat, stuck: Stuck, compose: Compositions, wide: Compositions
) -> Mapping[str, object]:
    """What every scene but the bench names. `wide` has as many GPUs as the page's pipe has stages."""
    return {
        "run": run,
        "flow": flow,
        "cheat": cheat,
        "first_broken": broken(cheat.broken[0]) if cheat.broken else "",
        "stuck": stuck,
        "stuck_last": waiting(stuck.waits[-1]) if stuck.waits else "",
        "stuck_first": waiting(stuck.waits[0]) if stuck.waits else "",
        "compose": compose,
        "wide": wide,
    }


@kept
def bench_fields(bench: Bench, pin: Bench | None, serve: Serving) -> Mapping[str, object]:
    """What the bench names of one run, and of a pipe that serves."""
    return {
        "bench": bench,
        "pin": pin or bench,
        "serve": serve,
        "prompt": Prompt(serve.stages),
        "load": LOAD,
        "requests": SEQUENCES,
        "tokens_each": TOKENS_EACH,
        "one": low_traffic(1),
        "piped": low_traffic(serve.stages),
    }


def broken(violation: Violation) -> str:
    return said(STEM, f"broken.{violation.rule}", violation)


def waiting(wait: Wait) -> str:
    """What a rank that is stuck waits for."""
    return said(STEM, "broken.waits", wait)


def held_block(first: Drawn, second: Drawn) -> str:
    """Which sentence holds of what two schedules hold."""
    if first.most_held == second.most_held:
        return "bench.held_same"
    return "bench.held_more" if second.most_held > first.most_held else "bench.held_less"
