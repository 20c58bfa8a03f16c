"""The strategy page: core's rows under the names that its prose gives them, for the scene that is open."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.models.kv_cache import kv_bytes_per_token
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.model import MFU
from core.strategy.disaggregation import Handoff
from core.strategy.flips import Flip
from core.strategy.picker import Answer
from core.strategy.training.choice import ACCUMULATED, RESERVED_BYTES, WITHIN_ERROR
from core.strategy.training.side_by_side import PAPER_PARAMETERS, PAPER_RANKS, Held, paper_gb
from core.units import GB
from runtime.catalog_words import short_name, told
from runtime.kept import kept, kept_of
from runtime.prose import said, worded
from runtime.quantities import local
from runtime.rows import Row
from ui.prose import escape
from ui.strategy.pictures import Memory
from ui.strategy.rows import ACROSS, memory_ends, saved_and_paid, sums


def everywhere(scenario: Scenario) -> Mapping[str, object]:
    """What every scene may name."""
    return {
        "model": scenario.model_spec.key,
        "gpu": scenario.gpu_spec.name,
        "link": short_name(scenario.link_spec),
        "network": short_name(scenario.network_spec),
        "reserved": RESERVED_BYTES,
        "mfu": MFU,
        "tie": WITHIN_ERROR,
    }


def memory_box(scenario: Scenario) -> Memory:
    """Return the picture of the first question: the memory of one of the scenario's GPUs."""
    gpu = scenario.gpu_spec
    named = said("strategy", "says.box", gpu=gpu.name, room=gpu.usable_memory_bytes)
    return Memory(gpu.usable_memory_bytes / GB, named, said("strategy", "says.past_the_box"))


@kept
def memory_fields(held: Held) -> Mapping[str, object]:
    """What a rank holds under each strategy, and who sends most."""
    ends, rows = memory_ends(held), saved_and_paid(held)
    dearest = max(sums(held), key=lambda one: one.right_gb)
    across = [row for row in rows if row.strategy == dearest.strategy and row.what == ACROSS]
    fitting = sum(not end.short for end in ends)
    names = ("paper_ddp", "paper_one", "paper_two", "paper_three")
    return {
        "paper_parameters": PAPER_PARAMETERS / 1e9,
        "paper_ranks": PAPER_RANKS,
        **{name: local(f"{paper_gb(zero):.1f}".removesuffix(".0") + " GB") for zero, name in enumerate(names)},
        "ranks": said("strategy", "says.one_gpu" if held.ranks == 1 else "says.gpus", held),
        "fitting": said("strategy", "says.all" if fitting == len(ends) else f"number.{fitting}"),
        "capacity": held.capacity_bytes,
        "ddp_total": ends[0].in_words,
        "dear": dearest,
        "dear_across": GB * sum(row.end_gb - row.start_gb for row in across),
    }


def picker_fields(given: Answer, flips: Sequence[Flip]) -> Mapping[str, object]:
    why = worded(given.why)
    fields: dict[str, Any] = {
        "name": told(given.name),
        "why": why[:1].upper() + why[1:],
        "accumulated": ACCUMULATED,
    }
    if flips:
        nearest = flips[0].changed
        fields |= {
            "flip_knob": worded(nearest.input),
            "flip_before": worded(nearest.now),
            "flip_after": worded(nearest.instead),
            "flip_name": told(flips[0].other.name),
        }
    return fields


@kept_of
def steps(given: Answer) -> str:
    """How an answer was come to, as a list in Markdown."""
    return "\n".join(f"1. {escape(worded(reason))}" for reason in given.trace)


def room_fields(timed: Sequence[Row], over: LinkSpec) -> Mapping[str, object]:
    first = min(timed, key=lambda one: one.course.end_s)
    return {
        "first": first,
        "ranks_word": said(
            "strategy", "says.ranks_2", counts=said("strategy", f"number.{first.played.program.ranks}")
        ),
        "over": short_name(over),
    }


def serving_fields(scenario: Scenario, inside: Handoff, across: Handoff) -> Mapping[str, object]:
    request = across.request
    return {
        "request": request,
        "others": request.sequences - 1,
        "kv_token": kv_bytes_per_token(scenario.model_spec, request.kv_dtype),
        "inside": inside,
        "across": across,
    }
