"""Plans under one stream of requests: `python -m scripts.race --model llama-3-8b --gpu a100 --load rush`."""

from argparse import Namespace

from core.placement.demand import Demand
from core.placement.planner import place
from core.placement.trace import nothing_fits
from core.specs import GPUS_PER_NODE
from core.strategy.entrants import entrants
from core.strategy.race import LOADS, REQUESTS, Lane, race
from core.units import percent, plain, seconds
from runtime.prose import worded
from scripts.asking import add_question, question, tested
from scripts.terminal import NOTHING_FITS, Computed, Parser, command, picked, print_aligned, run


def _answer(options: Namespace) -> Computed:
    asked = question(options, Demand())
    entered = entrants(asked)
    rate = LOADS[options.load] * max((one.capacity_per_s for one in entered), default=0.0)
    chunk = asked.cluster.gpu.vllm_batched_tokens
    ran = race(entered, rate, chunk, options.seed, options.requests) if entered else None
    lanes = ran.lanes if ran else ()
    winner = ran.lanes[ran.winner].entrant.kind if ran else None
    beside = tested(asked.cluster.gpu, asked.model)
    refused = [] if ran else [worded(one) for one in nothing_fits(place(asked))]

    def show() -> None:
        if refused:
            print("\n".join(refused))
            return
        heads = ("plan", "layout", "an answer", "first token", "next token", "most waiting", "fullest cache")
        print(f"{plain(rate)} requests a second")
        print_aligned([heads, *map(_cells, lanes)])
        print("\n".join([f"first: {winner}", *beside]))

    lanes_said = [_figures(lane) for lane in lanes]
    figures = {"requests_per_s": rate, "winner": winner, "refused": refused, "lanes": lanes_said, "tested": beside}
    return figures, show


def _cells(lane: Lane) -> tuple[str, ...]:
    entrant = lane.entrant
    split = f", {entrant.readers} read and {entrant.writers} write" if entrant.readers else ""
    times = (lane.answer_s, lane.ttft_s, lane.itl_s)
    return (
        entrant.kind,
        f"{entrant.layout.name}{split}",
        *(seconds(time_s) for time_s in times),
        str(lane.most_waiting),
        percent(lane.most_fill, 0),
    )


def _figures(lane: Lane) -> dict[str, object]:
    """A lane as JSON has it."""
    return {
        "layout": lane.entrant.layout.name,
        **picked(lane.entrant, "kind", "engines", "readers", "capacity_per_s", "transfer_s"),
        **picked(lane, "answer_s", "most_waiting", "most_fill", "ttft_s", "itl_s"),
    }


def make_parser() -> Parser:
    parser = Parser(prog="race", description="One stream of requests through several plans.")
    add_question(parser)
    parser.set_defaults(gpus_per_node=GPUS_PER_NODE)
    parser.add_argument("--load", choices=tuple(LOADS), default="rush", help="of what the best plan can complete")
    parser.common("--requests", default=REQUESTS)
    parser.common("--seed")
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: NOTHING_FITS if told["winner"] is None else 0)

if __name__ == "__main__":
    run(main)
