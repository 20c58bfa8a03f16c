"""A pipeline schedule, timed: `python -m scripts.schedule 1f1b --stages 4 --microbatches 8 --json`.

`--stages` counts ranks, each holding `--chunks` stages; costs are a chunk's. Times are read as they are written and
kept exact; they are printed as numbers, and the bubble as a fraction too where every cost is whole.
"""

from argparse import Namespace
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from core.errors import OutOfRangeError
from core.pipeline_bubble.schedules.actions import Placement, Time, exact, whole
from core.pipeline_bubble.schedules.families import FAMILIES, family
from core.pipeline_bubble.schedules.report import RankReport, Report, report
from core.pipeline_bubble.schedules.serving import Pipe, decode, filling_microbatches, steady_decode
from core.pipeline_bubble.schedules.simulator import Costs, Timeline, simulate
from core.units import percent
from scripts.terminal import Computed, Parser, command, picked, print_aligned, run

DECODE = "decode"
MOST_FORWARDS = 2**20
COSTS = ("forward", "backward_input", "backward_weight", "link_delay", "return_delay")


def _answer(options: Namespace) -> Computed:
    timeline, steady = _run(options)
    cost = report(timeline)
    return {**_as_json(cost, _are_whole(options)), **steady}, partial(_print, cost)


def _run(options: Namespace) -> tuple[Timeline, Mapping[str, object]]:
    """The run, and for decode what it settles to."""
    decodes = options.name == DECODE
    sizes = (options.stages, options.chunks, options.tokens if decodes else 1, options.microbatches)
    forwards = 1
    for name, size in zip(("stages", "chunks", "tokens", "microbatches"), sizes, strict=True):
        forwards *= whole(name, size)
    if forwards > MOST_FORWARDS:
        raise OutOfRangeError("stages * chunks * microbatches", forwards, "at_most", most=MOST_FORWARDS)
    if decodes:
        return _decode(options)
    if _exact("return_delay", options.return_delay):
        raise OutOfRangeError("return_delay", options.return_delay, "decode_only")
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
    steady = _numbers(picked(steady_decode(pipe, options.microbatches), "cycle", "items_per_time", "utilisation"))
    settled = {**steady, "filling_microbatches": filling_microbatches(pipe)}
    return decode(pipe, options.microbatches, options.tokens), settled


def _costs(options: Namespace, placement: Placement) -> Costs:
    forward, backward_input, backward_weight = (_exact(name, getattr(options, name)) for name in COSTS[:3])
    times = _list("stage_times", options.stage_times)
    if len(times) == placement.ranks:  # one a rank, for all of its chunks
        times = tuple(times[placement.rank(stage)] for stage in range(placement.stages))
    return Costs(forward, backward_input, backward_weight, times, _link_delays(options, placement), options.send)


def _link_delays(options: Namespace, placement: Placement) -> tuple[Time, ...]:
    """One delay a boundary; on a V one a link between two ranks will do, for it is crossed both ways."""
    every = _exact("link_delay", options.link_delay)
    if not options.link_delays:
        return (every,) * (placement.stages - 1)
    if every:
        raise OutOfRangeError("link_delay", options.link_delay, "one_or_the_other", other="link_delays")
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
    values = [_exact("cost", getattr(options, name)) for name in COSTS]
    values += [*_list("stage_times", options.stage_times), *_list("link_delays", options.link_delays)]
    return all(isinstance(value, int) for value in values)


def _as_json(cost: Report, costs_are_whole: bool) -> dict[str, object]:
    printed = _numbers(picked(cost, "makespan", "bubble_fraction", "overhead"))
    printed["ranks"] = [
        {
            **_numbers(picked(rank, "idle", "peak_activations")),
            "actions": [
                {"action": str(span.action), **_numbers(picked(span, "start", "end"))} for span in rank.spans
            ],
        }
        for rank in cost.ranks
    ]
    if costs_are_whole:
        printed["bubble_fraction_exact"] = _as_fraction(cost)
    return printed


def _as_fraction(cost: Report) -> str:
    """Idle over makespan for a rank on average, `7/70`; over all ranks, or reduced, where those are not whole.

    Whole costs may give times that are not: a backward of 3 beside a forward of 2, on a stage of 1.
    """
    idle, ranks = sum((Fraction(rank.idle) for rank in cost.ranks), Fraction(0)), len(cost.ranks)
    for share, whole_time in ((idle / ranks, Fraction(cost.makespan)), (idle, ranks * Fraction(cost.makespan))):
        if share.denominator == whole_time.denominator == 1:
            return f"{share}/{whole_time}"
    return f"{cost.bubble_fraction.numerator}/{cost.bubble_fraction.denominator}"


def _numbers(row: Mapping[str, object]) -> dict[str, object]:
    """Exact times, alone or in a row, as JSON has numbers."""
    return {
        name: [*map(_number, value)] if isinstance(value, tuple) else _number(value) for name, value in row.items()
    }


def _number(value: object) -> int | float:
    assert isinstance(value, int | Fraction)
    return int(value) if value == int(value) else float(value)


def _print(cost: Report) -> None:
    bubble = f"{percent(float(cost.bubble_fraction))} of the time, {percent(float(cost.overhead))} over the work"
    print_aligned([("makespan", str(_number(cost.makespan))), ("bubble", bubble)])
    print_aligned(
        [
            (f"rank {rank}", f"idle {_number(its.idle)}", f"holds {its.peak_activations}", _programme(its))
            for rank, its in enumerate(cost.ranks)
        ]
    )


def _programme(rank: RankReport) -> str:
    names = [f"{span.action}@{_number(span.start)}" for span in rank.spans]
    return " ".join(names[:24]) + (f" and {len(names) - 24} more" if len(names) > 24 else "")


def make_parser() -> Parser:
    parser = Parser(prog="schedule", description="Time a pipeline schedule and count its bubble.")
    parser.add_argument("name", choices=[*FAMILIES, DECODE], metavar="NAME", help=", ".join([*FAMILIES, DECODE]))
    parser.add_argument("--stages", type=int, required=True, help="ranks")
    parser.add_argument("--microbatches", type=int, required=True)
    chunks = "stages that each rank holds; zbv and dualpipe_v have 2"
    parser.add_argument("--chunks", type=int, default=1, help=chunks)
    for name in ("forward", "backward-input", "backward-weight"):
        parser.add_argument(f"--{name}", default="1", help="time of it on one chunk")
    parser.add_argument("--stage-times", default="", help="T1,T2,...: each stage's own forward time")
    parser.add_argument("--link-delay", default="0", help="delay of every hop between two ranks")
    parser.add_argument("--link-delays", default="", help="L1,L2,...: each boundary's own")
    parser.add_argument("--send", choices=["latency", "serial", "blocking"], default="latency")
    parser.add_argument("--return-delay", default="0", help="decode: the way of a token back to the first stage")
    parser.add_argument("--tokens", type=int, default=4, help="decode: rounds that are run from an empty pipe")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
