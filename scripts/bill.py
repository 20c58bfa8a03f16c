"""The communication bill of one step: `python -m scripts.bill --model llama-3-8b --tp 2 --link nvlink-lab`."""

import sys
from collections.abc import Mapping, Sequence

from core.catalog import link, model
from core.comm_cost import LAB_STEP_S, StepBill, step_bill
from core.errors import require_positive
from core.units import binary_bytes, percent, seconds
from scripts.terminal import Parser, answer, finite, print_aligned


def main(arguments: Sequence[str] | None = None) -> int:
    """Price one step of a model on a link."""
    parser = _parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        require_positive(step_ms=options.step_ms)
        bill = step_bill(
            model(options.model), options.tp, options.tokens, link(options.link), options.step_ms / 1e3
        )
        if not options.json:
            _print_bill(bill)
        return _as_json(bill)

    return answer(parser, compute, options.json, table=False)


def _as_json(bill: StepBill) -> Mapping[str, object]:
    return {
        "payload_bytes": bill.payload_bytes,
        "all_reduces": bill.all_reduces,
        "latency_s": bill.latency_s,
        "bandwidth_s": bill.bandwidth_s,
        "base_s": bill.base_s,
        "comm_s": bill.comm_s,
        "comm_fraction": bill.comm_fraction,
        "extra_collectives": [
            {"op": extra.op, "payload_bytes": extra.payload_bytes, "time_s": extra.time_s} for extra in bill.extras
        ],
    }


def _print_bill(bill: StepBill) -> None:
    rows = [
        ("payload", binary_bytes(bill.payload_bytes), f"{bill.all_reduces} all-reduces over {bill.tp_size} ranks"),
        ("launch", seconds(bill.base_s), ""),
        ("latency", seconds(bill.latency_s), ""),
        ("bandwidth", seconds(bill.bandwidth_s), ""),
        (
            "communication",
            seconds(bill.comm_s),
            f"{percent(bill.comm_fraction)} of the step with it: {bill.verdict}",
        ),
        ("compute", seconds(bill.step_s), "not divided by the ranks"),
    ]
    extras = [(f"beside it, {extra.layer}", seconds(extra.time_s), extra.op) for extra in bill.extras]
    print_aligned(rows + extras)


def _parser() -> Parser:
    parser = Parser(prog="scripts.bill", description="What one step of a model pays to its link.")
    parser.add_argument("--model", required=True, help="a catalog key or a Hugging Face repository")
    parser.add_argument("--tp", required=True, type=int)
    parser.add_argument("--link", required=True, help="a catalog key, e.g. nvlink-lab")
    parser.add_argument("--tokens", type=int, default=1, help="tokens in the step; 1 is decode at batch 1")
    parser.add_argument("--step-ms", type=finite, default=LAB_STEP_S * 1e3, help="compute of the step, in ms")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
