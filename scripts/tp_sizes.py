"""Which TP sizes a model allows: `python -m scripts.tp_sizes --model llama-3-8b`."""

from argparse import Namespace
from functools import partial

from core.catalog import model
from core.errors import OutOfRangeError
from core.sharding_math.tp_sizes import LARGEST_TP_SIZE, TpSize, tp_sizes
from scripts.terminal import Computed, Parser, command, picked, print_aligned, run

SAID = ("tp_size", "verdict", "kv_copies", "broken")


def _answer(options: Namespace) -> Computed:
    if not 1 <= options.largest <= 1024:
        raise OutOfRangeError("largest", options.largest, "from_to", least=1, most=1024)
    if options.group is not None and options.group < 1:
        raise OutOfRangeError("group", options.group, "above", least=0)
    spec = model(options.model)
    sizes = tp_sizes(spec, options.largest, options.group)
    shown = [_row(size) for size in sizes if size.broken == () or options.all]
    figures = {
        "model": spec.key,
        "quantisation_group": options.group,
        "sizes": [picked(size, *SAID) for size in sizes],
    }
    return figures, partial(print_aligned, shown)


def _row(size: TpSize) -> tuple[str, str, str]:
    copies = f"{size.kv_copies} ranks hold each KV head" if size.kv_copies > 1 else ""
    return f"TP={size.tp_size}", size.verdict.replace("_", " "), "; ".join(size.broken) or copies


def make_parser() -> Parser:
    parser = Parser(prog="tp_sizes", description="Which tensor-parallel sizes a model allows.")
    parser.common("--model", required=True)
    parser.add_argument("--largest", type=int, default=LARGEST_TP_SIZE)
    parser.add_argument("--group", type=int, help="inputs that share one quantisation scale, e.g. 128")
    parser.add_argument("--all", action="store_true", help="refused sizes too, in the table")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
