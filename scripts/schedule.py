"""A pipeline schedule, timed: `python -m scripts.schedule 1f1b --stages 4 --microbatches 8 --json`.

`--stages` counts ranks, each holding `--chunks` stages; costs are a chunk's. Times are read as they are written and
kept exact; they are printed as numbers, and the bubble as a fraction too where every cost is whole.
"""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from fractions import Fraction

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Placement, Time, exact, whole
from core.pipeline_bubble.schedules.families import FAMILIES, family
from core.pipeline_bubble.schedules.report import RankReport, Report, report
from core.pipeline_bubble.schedules.serving import Pipe, decode, filling_microbatches, steady_decode
from core.pipeline_bubble.schedules.simulator import Costs, Timeline, simulate
from core.units import percent
from scripts.terminal import Parser, answer, print_aligned

DECODE = "decode"
MOST_FORWARDS = 2**20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one schedule and print what it cost."""
    parser = _parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        timeline, steady = _run(options)
        found = report(timeline)
        if not options.json:
            _print(found)
        return {**_as_json(found, _are_whole(options)), **steady}

    return answer(parser, compute, options.json, table=False)


def _run(options: Namespace) -> tuple[Timeline, Mapping[str, object]]:
    """The run, and for decode what it settles to."""
    rounds = options.tokens if options.name == DECODE else 1
    forwards = whole("stages", options.stages) * whole("chunks", options.chunks) * whole("tokens", rounds)
    forwards *= whole("microbatches", options.microbatches)
    if forwards > MOST_FORWARDS:
        raise OutOfRangeError("stages * chunks * microbatches", forwards, f"must be at most {MOST_FORWARDS}")
    if options.name == DECODE:
        return _decode(options)
    if _exact("return_delay", options.return_delay):
        raise OutOfRangeError("return_delay", options.return_delay, "is for decode: nothing else comes back")
    schedule = family(options.name)
    placement = schedule.placement(options.stages, options.chunks)
    actions = schedule.actions(options.stages, options.microbatches, options.chunks)
    return simulate(actions, placement, _costs(options, placement)), {}


def _decode(options: Namespace) -> tuple[Timeline, Mapping[str, object]]:
    placement = Placement(options.stages, options.chunks)
    costs = _costs(options, placement)
    times = costs.stage_times or (costs.forward,) * placement.stages
    way_back = _exact("return_delay", options.return_delay)
    pipe = Pipe(times, costs.link_delays, way_back, options.send, options.chunks)
    steady = steady_decode(pipe, options.microbatches)
    settled = {
        "cycle": _number(steady.cycle),
        "items_per_time": _number(steady.items_per_time),
        "utilisation": [_number(share) for share in steady.utilisation],
        "filling_microbatches": filling_microbatches(pipe),
    }
    return decode(pipe, options.microbatches, options.tokens), settled


def _costs(options: Namespace, placement: Placement) -> Costs:
    return Costs(
        forward=_exact("forward", options.forward),
        backward_input=_exact("backward_input", options.backward_input),
        backward_weight=_exact("backward_weight", options.backward_weight),
        stage_times=_stage_times(options, placement),
        link_delays=_link_delays(options, placement),
        send=options.send,
    )


def _stage_times(options: Namespace, placement: Placement) -> tuple[Time, ...]:
    """One time a stage, or one a rank for all of its chunks."""
    times = _list("stage_times", options.stage_times)
    if len(times) == placement.ranks:
        return tuple(times[placement.rank(stage)] for stage in range(placement.stages))
    return times


def _link_delays(options: Namespace, placement: Placement) -> tuple[Time, ...]:
    """One delay a boundary; on a V one a link between two ranks will do, for it is crossed both ways."""
    if _exact("link_delay", options.link_delay) and options.link_delays:
        raise OutOfRangeError("link_delay", options.link_delay, "and link_delays exclude each other")
    boundaries = placement.stages - 1
    if not options.link_delays:
        return (_exact("link_delay", options.link_delay),) * boundaries
    delays = _list("link_delays", options.link_delays)
    if placement.shape == "v" and len(delays) == placement.ranks - 1:
        return (*delays, 0, *reversed(delays))
    return delays


def _list(name: str, text: str) -> tuple[Time, ...]:
    return tuple(_exact(name, part.strip()) for part in text.split(",")) if text else ()


def _exact(name: str, text: str) -> Time:
    """A number as it is written; an int where it is one, for ints are faster."""
    value = exact(name, text)
    return value.numerator if value.denominator == 1 else value


def _are_whole(options: Namespace) -> bool:
    one = (
        options.forward,
        options.backward_input,
        options.backward_weight,
        options.link_delay,
        options.return_delay,
    )
    values = [_exact("cost", text) for text in one]
    values += [*_list("stage_times", options.stage_times), *_list("link_delays", options.link_delays)]
    return all(isinstance(value, int) for value in values)


def _as_json(found: Report, costs_are_whole: bool) -> dict[str, object]:
    printed: dict[str, object] = {
        "makespan": _number(found.makespan),
        "bubble_fraction": _number(found.bubble_fraction),
        "overhead": _number(found.overhead),
        "ranks": [_rank_as_json(rank) for rank in found.ranks],
    }
    if costs_are_whole:
        printed["bubble_fraction_exact"] = _as_fraction(found)
    return printed


def _rank_as_json(rank: RankReport) -> dict[str, object]:
    return {
        "idle": _number(rank.idle),
        "peak_activations": rank.peak_activations,
        "actions": [
            {"action": str(span.action), "start": _number(span.start), "end": _number(span.end)}
            for span in rank.spans
        ],
    }


def _as_fraction(found: Report) -> str:
    """Idle over makespan for a rank on average, `7/70`; over all ranks, or reduced, where those are not whole.

    Whole costs may give times that are not: a backward of 3 beside a forward of 2, on a stage of 1.
    """
    idle, ranks = sum((Fraction(rank.idle) for rank in found.ranks), Fraction(0)), len(found.ranks)
    for share, whole_time in ((idle / ranks, Fraction(found.makespan)), (idle, ranks * Fraction(found.makespan))):
        if share.denominator == whole_time.denominator == 1:
            return f"{share}/{whole_time}"
    return f"{found.bubble_fraction.numerator}/{found.bubble_fraction.denominator}"


def _number(value: Time) -> int | float:
    return int(value) if value == int(value) else float(value)


def _print(found: Report) -> None:
    bubble = f"{percent(float(found.bubble_fraction))} of the time, {percent(float(found.overhead))} over the work"
    print_aligned([("makespan", str(_number(found.makespan))), ("bubble", bubble)])
    rows = [
        (f"rank {place}", f"idle {_number(rank.idle)}", f"holds {rank.peak_activations}", _programme(rank))
        for place, rank in enumerate(found.ranks)
    ]
    print_aligned(rows)


def _programme(rank: RankReport, most: int = 24) -> str:
    names = [f"{span.action}@{_number(span.start)}" for span in rank.spans]
    return " ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _parser() -> Parser:
    parser = Parser(prog="scripts.schedule", description="Time a pipeline schedule and count its bubble.")
    parser.add_argument("name", choices=[*FAMILIES, DECODE], metavar="NAME", help=", ".join([*FAMILIES, DECODE]))
    parser.add_argument("--stages", type=int, required=True, help="ranks")
    parser.add_argument("--microbatches", type=int, required=True)
    parser.add_argument(
        "--chunks", type=int, default=1, help="stages that each rank holds; zbv and dualpipe_v have 2"
    )
    for name in ("forward", "backward-input", "backward-weight"):
        parser.add_argument(f"--{name}", default="1", help="time of it on one chunk")
    parser.add_argument("--stage-times", default="", help="T1,T2,...: each stage's own forward time")
    parser.add_argument("--link-delay", default="0", help="delay of every hop between two ranks")
    parser.add_argument("--link-delays", default="", help="L1,L2,...: each boundary's own")
    parser.add_argument("--send", choices=["latency", "serial", "blocking"], default="latency")
    parser.add_argument("--return-delay", default="0", help="decode: the way of a token back to the first stage")
    parser.add_argument("--tokens", type=int, default=4, help="decode: rounds that are run from an empty pipe")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
