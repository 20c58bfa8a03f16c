"""The strategy page: the numbers its prose is filled with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.models.parameters import kv_bytes_per_token
from core.scenario import Scenario
from core.specs import LinkSpec
from core.steps.model import MFU
from core.strategy.block import Block
from core.strategy.disaggregation import Handoff
from core.strategy.flips import Flip
from core.strategy.picker import Answer
from core.strategy.training import ACCUMULATED, RESERVED_BYTES, WITHIN_ERROR
from core.units import GB, binary_bytes, decimal_bytes, grouped, percent, plain, seconds
from ui.strategy.rows import (
    ACROSS,
    PAPER_PARAMETERS,
    PAPER_RANKS,
    Held,
    compared,
    memory_ends,
    paper_gb,
    saved_and_paid,
    sums,
)
from ui.strategy.rows_scenes import Timed

_COUNTS = ("None", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class Shown:
    """What the open scene knows; the others' are None."""

    scenario: Scenario
    held: Held | None = None
    given: Answer | None = None
    flips: Sequence[Flip] = ()
    block: Block | None = None
    timed: Sequence[Timed] = ()
    over: LinkSpec | None = None
    handoffs: tuple[Handoff, Handoff] | None = None


def fields(shown: Shown) -> Mapping[str, str]:
    """Every number of the open scene's prose, from core, with its unit."""
    parts = [_everywhere(shown.scenario)]
    parts += [_memory(shown.held)] if shown.held is not None else []
    parts += [_picker(shown.given, shown.flips)] if shown.given is not None else []
    parts += [{"talked": binary_bytes(sum(t.payload_bytes for t in shown.block.talks))}] if shown.block else []
    parts += [_room(shown.timed, shown.over)] if shown.over is not None else []
    parts += [_serving(shown.scenario, *shown.handoffs)] if shown.handoffs is not None else []
    return {name: value for part in parts for name, value in part.items()}


def _everywhere(scenario: Scenario) -> dict[str, str]:
    return {
        "model": scenario.model_spec.key,
        "gpu": scenario.gpu_spec.name,
        "link": scenario.link_spec.name.split(",")[0],
        "network": scenario.network_spec.name.split(",")[0],
        "reserved": decimal_bytes(RESERVED_BYTES),
        "mfu": percent(MFU, 0),
        "tie": percent(WITHIN_ERROR, 0),
    }


def _memory(held: Held) -> dict[str, str]:
    ends, rows = memory_ends(held), saved_and_paid(held)
    dearest = max(sums(held), key=lambda one: one.right_gb)
    across = [row for row in rows if row.strategy == dearest.strategy and row.what == ACROSS]
    fitting = sum(not end.short for end in ends)
    return {
        "paper_parameters": plain(PAPER_PARAMETERS / 1e9),
        "paper_ranks": str(PAPER_RANKS),
        "paper_ddp": _gigabytes(0),
        "paper_one": _gigabytes(1),
        "paper_two": _gigabytes(2),
        "paper_three": _gigabytes(3),
        "ranks": "one GPU" if held.ranks == 1 else f"{held.ranks} GPUs",
        "fitting": "All" if fitting == len(compared(held)) else _COUNTS[fitting],
        "capacity": decimal_bytes(held.capacity_bytes),
        "ddp_total": ends[0].in_words,
        "dear": dearest.strategy,
        "dear_bytes": dearest.paid,
        "dear_across": decimal_bytes(GB * sum(row.end_gb - row.start_gb for row in across)),
    }


def _gigabytes(zero: int) -> str:
    return f"{paper_gb(zero):.1f}".removesuffix(".0") + " GB"


def _picker(given: Answer, flips: Sequence[Flip]) -> dict[str, str]:
    found = {"name": given.name, "why": _why(given), "accumulated": str(ACCUMULATED)}
    if flips:
        nearest = flips[0]
        found |= {
            "flip_knob": nearest.changed.knob,
            "flip_before": nearest.changed.before,
            "flip_after": nearest.changed.after,
            "flip_name": nearest.other.name,
        }
    return found


def _why(given: Answer) -> str:
    """The line of the trace that takes, or that says why nothing can be taken; without the words of the heading."""
    marks = ("Take ", "Nothing fits", "No plan")
    line = next((line for line in given.trace if line.startswith(marks)), given.trace[-1])
    _, mark, rest = line.partition(": ") if line.startswith("Take ") else ("", "", line)
    return (rest if mark else line)[:1].upper() + (rest if mark else line)[1:]


def _room(timed: Sequence[Timed], over: LinkSpec | None) -> dict[str, str]:
    first = min(timed, key=lambda one: one.end_s)
    ranks = first.played.program.ranks
    return {
        "ranks_word": f"{_COUNTS[ranks]} ranks",
        "over": over.name.split(",")[0] if over is not None else "",
        "payload": binary_bytes(first.payload_bytes),
        "fastest": first.played.algorithm,
        "fastest_time": first.total,
    }


def _serving(scenario: Scenario, inside: Handoff, across: Handoff) -> dict[str, str]:
    request = across.request
    return {
        "prompt": grouped(request.prompt_tokens),
        "output": grouped(request.output_tokens),
        "others": str(request.sequences - 1),
        "kv": binary_bytes(across.kv_bytes),
        "kv_token": binary_bytes(kv_bytes_per_token(scenario.model_spec, request.kv_dtype)),
        "inside": seconds(inside.transfer_s),
        "across": seconds(across.transfer_s),
        "exposed": seconds(across.exposed_s),
        "prefill": seconds(across.prefill_s),
        "stall": seconds(across.stall_s),
        "saved": seconds(across.saved_s),
        "per_token": seconds(across.stall_per_token_s),
        "share": percent(across.prefill_share, 0),
    }
