"""The cost of one collective: `python -m scripts.collective --op all_reduce --algorithm ring --ranks 8 …`."""

from argparse import Namespace

from core.collectives.cost import collective_cost
from core.specs import LinkSpec
from scripts.terminal import Computed, Parser, command, finite, picked, run, whole


def _answer(options: Namespace) -> Computed:
    link = LinkSpec(
        key="terminal",
        name="as given",
        latency_s=options.latency_us / 1e6,
        bandwidth_bytes_per_s=options.bandwidth_gb_s * 1e9,
        base_s=options.base_us / 1e6,
    )
    cost = collective_cost(options.op, options.algorithm, options.bytes, options.ranks, link)
    return {
        "steps": cost.steps,
        "traffic_bytes": whole(cost.traffic_bytes),
        **picked(cost, "latency_s", "bandwidth_s", "base_s", "total_s"),
    }


def make_parser() -> Parser:
    parser = Parser(prog="collective", description="Steps, bytes and seconds of one collective.")
    parser.add_argument("--op", required=True, help="all_reduce, reduce_scatter, all_gather, all_to_all")
    parser.add_argument("--algorithm", required=True, help="ring, one_shot, …; for all_to_all direct, pairwise")
    parser.add_argument("--ranks", required=True, type=int)
    parser.add_argument(
        "--bytes", required=True, type=int, help="full payload; for all_to_all one rank's send buffer"
    )
    parser.add_argument("--latency-us", required=True, type=finite, help="a hop")
    parser.add_argument("--bandwidth-gb-s", required=True, type=finite, help="one direction, 10^9 bytes a second")
    parser.add_argument("--base-us", type=finite, default=0.0, help="launch cost, once")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
