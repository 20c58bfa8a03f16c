"""Which TP sizes a model allows: `python -m scripts.tp_sizes --model llama-3-8b`."""

from collections.abc import Mapping, Sequence

from core.catalog import model
from core.errors import OutOfRangeError
from core.sharding_math.tp_sizes import LARGEST_TP_SIZE, TpSize, tp_sizes
from scripts.terminal import Parser, answer, print_aligned, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge every TP size of a model, and name the equation that each refused one breaks."""
    parser = make_parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        if not 1 <= options.largest <= 1024:
            raise OutOfRangeError("largest", options.largest, "must be from 1 to 1024")
        if options.group is not None and options.group < 1:
            raise OutOfRangeError("group", options.group, "must be above 0")
        spec = model(options.model)
        sizes = tp_sizes(spec, options.largest, options.group)
        if not options.json:
            print_aligned([_row(size) for size in sizes if size.broken == () or options.all])
        return {"model": spec.key, "quantisation_group": options.group, "sizes": [_as_json(size) for size in sizes]}

    return answer(parser, options, compute, table=False)


def _as_json(size: TpSize) -> Mapping[str, object]:
    return {
        "tp_size": size.tp_size,
        "verdict": size.verdict,
        "kv_copies": size.kv_copies,
        "broken": list(size.broken),
    }


def _row(size: TpSize) -> tuple[str, str, str]:
    copies = f"{size.kv_copies} ranks hold each KV head" if size.kv_copies > 1 else ""
    return f"TP={size.tp_size}", size.verdict.replace("_", " "), "; ".join(size.broken) or copies


def make_parser() -> Parser:
    parser = Parser(prog="tp_sizes", description="Which tensor-parallel sizes a model allows.")
    parser.add_argument("--model", required=True, help="a catalog key or a Hugging Face repository")
    parser.add_argument("--largest", type=int, default=LARGEST_TP_SIZE)
    parser.add_argument("--group", type=int, help="inputs that share one quantisation scale, e.g. 128")
    parser.add_argument("--all", action="store_true", help="refused sizes too, in the table")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    run(main)
