"""The communication bill of one step: `python -m scripts.bill --model llama-3-8b --tp 2 --link nvlink-lab`.

More questions on the same step, each answered under a key of its own: `--overlap 0.5`, `--advice`,
`--network ib-ndr --gpus-per-node 8`, for a mixture `--expert-parallel`, and `--as-measured` for the step divided by
its ranks, on the link as it was measured, by the kernel an engine picks. The step is lab 03's: of the model on a
GPU, `--gpu` or the first of the catalog that the link joins.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from core.catalog import GPUS, gpu, link, model
from core.catalog.links import timed_row
from core.catalog.measured_link import extrapolation
from core.collectives.across import HELD
from core.comm_cost.bill import Bill, PricedCollective, Step, bill, comm_fraction, priced_ends
from core.comm_cost.expert_parallel import expert_parallel_bill
from core.comm_cost.kernels import picked_bill
from core.comm_cost.measured import measured_bill
from core.comm_cost.node_boundary import node_bill
from core.comm_cost.remedies import exposed_s, what_to_buy
from core.errors import OutOfRangeError, require_positive
from core.scenario import Scenario
from core.sharding_math.tp_sizes import check_tp_size
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.steps.batch_sweep import batched_decode_step_s
from core.steps.model import prefill_step_s
from core.units import binary_bytes, percent, seconds
from runtime.measurements import measured_all_reduces
from runtime.prose import worded
from scripts.terminal import Answer, Computed, Parser, command, finite, picked, print_aligned, run


def _answer(options: Namespace) -> Computed:
    require_positive(tokens=options.tokens, **({} if options.step_ms is None else {"step_ms": options.step_ms}))
    row, across = model(options.model), link(options.link)
    require_positive(tp_size=options.tp)
    if broken := check_tp_size(row, options.tp, experts_whole=options.expert_parallel).broken:
        raise OutOfRangeError("tp_size", options.tp, "does_not_split", model=row.key, broken="; ".join(broken))
    on = _gpu(options, across)
    step = _step(options, row, on)
    priced, beside, more = bill(step, across), priced_ends(step, across), _more(options, step, across)
    more = {**({"gpu": on.key} if options.step_ms is None else {}), **more}
    return {**_as_json(priced, beside), **more}, partial(_print_bill, priced, beside, more)


def _gpu(options: Namespace, over: LinkSpec) -> GpuSpec:
    """The GPU that was named, or the first that the link joins; the labs' A100 for any other link."""
    joined = (row.key for row in GPUS.values() if row.link_key == over.key)
    return gpu(options.gpu or next(joined, Scenario().gpu))


def _step(options: Namespace, row: ModelSpec, on: GpuSpec) -> Step:
    """The step as lab 03 has it: so many sequences decode, or each has a prompt of so many tokens read."""
    sequences = options.tokens
    if options.prompt is None:
        tokens, compute_s = sequences, batched_decode_step_s(row, on, sequences, options.dtype)
    else:
        tokens = sequences * options.prompt
        compute_s = prefill_step_s(row, on, options.prompt, sequences, options.dtype)
    if options.step_ms is not None:
        compute_s = options.step_ms / 1e3
    return Step(row, options.tp, tokens, compute_s, sequences=sequences)


def _as_json(priced: Bill, beside: Sequence[PricedCollective]) -> Answer:
    return {
        **picked(priced.step, "payload_bytes", "all_reduces", "compute_s"),
        **picked(priced.cost, "latency_s"),
        **picked(priced, "bandwidth_s", base_s="cost.base_s", comm_s="comm_s", comm_fraction="comm_fraction"),
        "extra_collectives": [picked(extra, "op", "payload_bytes", "time_s") for extra in beside],
    }


def _more(options: Namespace, step: Step, over: LinkSpec) -> Answer:
    """What was asked beside the bill, under one key each, and what must be said unasked."""
    priced, asked = bill(step, over), dict[str, object](timed=_timed(step, over))
    if (warning := extrapolation(over, step.tp_size)) is not None:
        asked["warning"] = worded(warning)
    if options.overlap is not None:
        asked["exposed_s"] = exposed_s(priced.comm_s, step.rank_compute_s, options.overlap)
    if options.advice:
        advice = what_to_buy(step, over)
        saved = {f"{purchase.key}_saves_s": purchase.saved_s for purchase in advice.purchases}
        asked["advice"] = {"better": advice.better, **saved, "equal_payload_bytes": advice.equal_payload_bytes}
    if options.network is not None:
        nodes = node_bill(step, options.gpus_per_node, over, link(options.network))
        asked["across_nodes"] = {
            "nodes": nodes.nodes,
            "inside_s": nodes.inside.comm_s,
            "network_s": nodes.network.comm_s,
            "comm_s": (comm_s := nodes.inside.comm_s + nodes.network.comm_s),
            "comm_fraction": comm_fraction(comm_s, step.rank_compute_s),
            "flat_ring_s": nodes.flat.comm_s,
            "published_tables": HELD.n,
            "median_error": HELD.median_error,
            "p90_error": HELD.p90_error,
        }
    if options.as_measured:
        measured = picked_bill(replace(step, divided=True), timed_row(over, _gpu(options, over)))
        asked["as_measured"] = {
            **picked(measured, "kernel", rank_compute_s="bill.step.rank_compute_s"),
            **picked(measured.bill, "comm_s", step_s="total_s", speedup="speedup"),
        }
    if options.expert_parallel:
        # the same ranks used for experts, each sent a token once for all its experts there
        experts = expert_parallel_bill(step.model, step.tokens, step.tp_size, over, deduplicated=True)
        asked["expert_parallel"] = {
            **picked(experts, "layers", "copies", dispatch_bytes="dispatch.traffic_bytes"),
            **picked(experts, "comm_s", "tensor_parallel_s", "traffic_ratio"),
        }
    return asked


def _timed(step: Step, over: LinkSpec) -> Answer | str:
    """One all-reduce beside what NCCL took for it on machines with such a link, or that nobody timed it."""
    points = [one for one in measured_all_reduces() if over.key in (one.link, link(one.link).napkin_key)]
    seen = dict[str, object]()
    for series in dict.fromkeys(one.series for one in points if "NCCL" in one.software):
        with suppress(OutOfRangeError):
            seen[f"{series}_s"] = measured_bill(points, series, step).comm_s / step.all_reduces
    return {"one_s": bill(step, over).comm_s / step.all_reduces, **seen} if seen else "never tested here"


def _print_bill(priced: Bill, beside: Sequence[PricedCollective], more: Answer) -> None:
    step = priced.step
    rows = [
        ("payload", binary_bytes(step.payload_bytes), f"{step.all_reduces} all-reduces over {step.tp_size} ranks"),
        ("launch", seconds(priced.cost.base_s), ""),
        ("latency", seconds(priced.cost.latency_s), ""),
        ("bandwidth", seconds(priced.bandwidth_s), ""),
        (
            "communication",
            seconds(priced.comm_s),
            f"{percent(priced.comm_fraction)} of the step with it: {priced.verdict}",
        ),
        ("compute", seconds(step.compute_s), "not divided by the ranks"),
        (
            "these are",
            "rough",
            "the labs' formula over this link; --as-measured has the modeled sum of a served step",
        ),
    ]
    extras = [(f"beside it, {extra.layer}", seconds(extra.time_s), extra.op) for extra in beside]
    print_aligned(rows + extras + [line for name, value in more.items() for line in _lines(name, value)])


def _lines(name: str, value: object) -> list[tuple[str, str, str]]:
    """One line for a number, one for each entry of an answer."""
    if isinstance(value, Mapping):
        return [(f"{name}, {key}", _text(key, entry), "") for key, entry in value.items()]
    return [(name, _text(name, value), "")]


def _text(name: str, value: object) -> str:
    if isinstance(value, float) and name.endswith("_s"):
        return seconds(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def make_parser() -> Parser:
    parser = Parser(prog="bill", description="What one step of a model pays to its link.")
    parser.common("--model", required=True)
    parser.common("--tp", required=True)
    parser.common("--link", required=True, help="a catalog key, e.g. nvlink-lab, or own_… of a fitted table")
    parser.common("--gpu", help="whose step it is; the first of the catalog that the link joins, else an A100")
    parser.add_argument("--dtype", default=Scenario().weight_dtype, help="weights of the step")
    parser.add_argument("--tokens", type=int, default=1, help="sequences in the step; 1 is decode at batch 1")
    parser.common("--prompt", help="a prefill instead: tokens of each sequence's prompt")
    parser.add_argument("--step-ms", type=finite, help="compute of the step on one GPU, in ms, whatever the GPU")
    parser.add_argument("--overlap", type=finite, help="share of the communication hidden behind compute, 0..1")
    parser.add_argument("--advice", action="store_true", help="halve the latency or double the bandwidth?")
    parser.common("--network", help="link between nodes, a catalog key; for TP over more than one")
    parser.common("--gpus-per-node", default=8, help="with --network")
    parser.add_argument("--as-measured", action="store_true", help="the speed-up over one GPU, the step divided")
    parser.add_argument("--expert-parallel", action="store_true", help="of a mixture: the all-to-alls instead")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
