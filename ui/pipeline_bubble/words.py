"""Lab 04 in words: every number of the page's prose, from core."""

from collections.abc import Mapping

from core.pipeline_bubble.bubble import bubble_fraction, bubble_overhead, microbatches_for_budget
from core.pipeline_bubble.schedules.paths import waits
from core.units import percent, plain
from ui.pipeline_bubble.rows import Ask, broken, early_stage, stuck_run, wrong_run

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def in_words(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def fields(ask: Ask) -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit."""
    p, m = ask.stages, ask.microbatches
    bubble, overhead = bubble_fraction(p, m), bubble_overhead(p, m)
    return {
        "stages": str(p),
        "stages_word": in_words(p),
        "stages_word_capital": in_words(p).capitalize(),
        "microbatches": str(m),
        "last_stage": str(p - 1),
        "wait": _ticks(p - 1),
        "wait_number": in_words(p - 1),
        "ticks": str(m + p - 1),
        "triangle": str(p * (p - 1) // 2),
        "idle_cells": str(p * (p - 1)),
        "cells": str(p * (m + p - 1)),
        "bubble": percent(float(bubble)),
        "overhead": percent(float(overhead)),
        "busy": percent(float(1 - bubble)),
        **_broken_fields(ask),
        **_stuck_fields(ask),
        **_bench_fields(ask),
    }


def _ticks(count: int) -> str:
    return f"{in_words(count)} tick{'' if count == 1 else 's'}"


def _broken_fields(ask: Ask) -> dict[str, str]:
    found = broken(ask)
    wrong = wrong_run(ask)
    return {
        "broken_count": str(len(found)),
        "broken_first": found[0].message,
        "broken_ticks": str(max(span.end for span in wrong)),
        "early_stage": str(early_stage(ask.stages)),
    }


def _stuck_fields(ask: Ask) -> dict[str, str]:
    timeline = stuck_run(ask)
    found = waits(timeline)
    total = 2 * ask.stages * ask.microbatches
    return {
        "stuck_ran": str(len(timeline.actions)),
        "stuck_total": str(total),
        "stuck_last": f"{found[-1].action} waits for {found[-1].missing}" if found else "nothing waits",
        "stuck_first": f"{found[0].action} waits for {found[0].missing}" if found else "nothing waits",
    }


def _bench_fields(ask: Ask) -> dict[str, str]:
    p, m, budget, pin = ask.bench.stages, ask.bench.microbatches, ask.bench.budget, ask.pin or ask.bench
    bubble = bubble_fraction(p, m)
    at = microbatches_for_budget(p, budget)
    under = microbatches_for_budget(p, budget, under=True)
    return {
        "bench_stages": str(p),
        "bench_microbatches": str(m),
        "bench_bubble": percent(float(bubble)),
        "bench_fraction": f"{bubble.numerator}/{bubble.denominator}" if bubble else "0",
        "bench_overhead": percent(float(bubble_overhead(p, m))),
        "bench_ticks": str(m + p - 1),
        "bench_ideal": str(m),
        "budget": f"{plain(ask.bench.budget_percent)} %",
        "budget_at": str(at),
        "budget_under": str(under),
        "budget_at_bubble": percent(float(bubble_fraction(p, at))),
        "budget_under_bubble": percent(float(bubble_fraction(p, under))),
        "pin_stages": str(pin.stages),
        "pin_microbatches": str(pin.microbatches),
        "pin_bubble": percent(float(bubble_fraction(pin.stages, pin.microbatches))),
    }
