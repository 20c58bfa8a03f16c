"""Place a model on a cluster: `python -m scripts.plan --model llama-3-70b --gpu h100-sxm --gpus-per-node 8`.

A model that is not in the catalog comes from its config.json (`--config`), a machine from what `nvidia-smi topo -m`
printed (`--topo`); `-` reads standard input.
"""

import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import asdict, replace

from core.errors import OutOfRangeError
from core.placement.assumed import assumed, assumptions
from core.placement.demand import Demand
from core.placement.engine_words import unsaid
from core.placement.layout import Layout
from core.placement.manifests import compose, kubernetes
from core.placement.pairing import engine_gpus
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.preflight_checks import ENGINES, Engine
from core.placement.serve_flags import refusals, remarks, serve_command
from core.placement.sizing import Sizing, sized
from core.placement.topology import Topology
from core.placement.trace import decisions, losers, usable_source
from core.placement.under_load import place_under_load
from core.strategy.refit import Refit, refit, said_of
from core.units import GIB
from runtime.prose import worded
from scripts.asking import USUAL, add_own_machine, add_question, in_s, machine, question
from scripts.plan_printed import MOST, against, noted, print_placement, print_sizes, target
from scripts.terminal import NOTHING_FITS, Computed, Parser, command, finite, picked, read_text, run

SIZES = {
    "tp": "tp_size",
    "pp": "pp_size",
    "replicas": "replicas",
    "dp": "dp_size",
    "ep": "ep_size",
    "dcp": "dcp_size",
    "gpus": "gpus",
}


def _answer(options: Namespace) -> Computed:
    gpus = machine(options)
    asked = replace(question(options, _demand(options), gpus), engine=options.engine, compiled=options.compiled)
    seen = gpus.seen
    log, table, bench = (
        read_text(name) if name else "" for name in (options.startup_log, options.nccl, options.bench)
    )
    refitted = refit(asked, log, table, bench) if log or table or bench else None
    placement = refitted.after if refitted else place_under_load(asked)
    missed = placement.question.demand.requests_per_s is not None and not placement.met
    sizes = sized(placement.question) if options.size or missed else None

    def show() -> None:
        """A manifest alone goes to standard output, so that it can be piped; then the rest is beside it."""
        with redirect_stdout(sys.stderr) if options.manifest else nullcontext():
            print_placement(placement, options.engine, seen, command=options.manifest is None)
            if refitted is not None:
                print("\n".join(["", "Your machine", *(f"  {worded(one)}" for one in said_of(refitted))]))
            if sizes is not None:
                print_sizes(sizes)
        if options.manifest:
            print(_manifest(placement, options.engine, options.manifest, seen), end="")

    more = {} if sizes is None else {"sizes": _sizes(sizes)}
    return {**_as_json(placement, seen), **more, **({} if refitted is None else {"refit": _refit(refitted)})}, show


def _demand(options: Namespace) -> Demand:
    """What a plan is asked beside the lengths."""
    return Demand(
        concurrency=options.concurrency,
        slo_itl_s=in_s(options.slo_itl_ms),
        slo_ttft_s=in_s(options.slo_ttft_ms),
        requests_per_s=options.requests_per_s,
        percentile=options.percentile,
        usd_per_gpu_hour=options.usd_per_gpu_hour,
    )


def _as_json(placement: Placement, seen: Topology | None) -> Mapping[str, object]:
    question, chosen = placement.question, placement.taken
    return {
        "min_tp_for_fit": placement.min_tp,
        "plans": [
            {**_plan_as_json(question, plan), "tokens_per_s_within_target": _most(placement, index)}
            for index, plan in enumerate(placement.plans)
        ],
        **picked(placement, "recommended", "met"),
        "trace": [worded(reason) for reason in (*decisions(placement), *losers(placement))],
        "usable_bytes": question.budget.usable_bytes,
        "usable_source": worded(usable_source(question)),
        "granted_bytes_per_rank": question.budget.granted_bytes,
        "front": [asdict(point) for point in placement.front],
        "command": None
        if chosen is None or against(question, chosen, question.engine)
        else serve_command(question, chosen, question.engine),
        "remarks": [] if chosen is None else [worded(note) for note in noted(question, chosen, seen)],
        "assumed": [worded(one) for one in assumed(question)],
        "assumptions": assumptions(question),
        "engines": {}
        if chosen is None
        else {engine: _started(question, chosen, engine, seen) for engine in ENGINES},
    }


def _started(question: Question, plan: Plan, engine: Engine, seen: Topology | None) -> Mapping[str, object]:
    """An engine's command and manifests, or what stands against it."""
    stopped = against(question, plan, engine)
    devices = engine_gpus(seen, plan.layout) if seen else ()
    return {
        "command": None if stopped else serve_command(question, plan, engine),
        "compose": None if stopped else compose(question, plan, engine, devices),
        "kubernetes": None if stopped else kubernetes(question, plan, engine),
        "remarks": [worded(note) for note in remarks(question, plan, engine)],
        "refused": [
            {"text": one.text, **picked(one.refusal, "read_in", "source")}
            for one in refusals(question, plan, engine)
        ],
        "unsaid": [worded(one) for one in unsaid(question, plan, engine)],
    }


def _manifest(placement: Placement, engine: Engine, kind: str, seen: Topology | None) -> str:
    """The manifest that was asked for, of the plan taken.

    Raises OutOfRangeError where there is none.
    """
    question, plan = placement.question, placement.taken
    if plan is None:
        raise OutOfRangeError("--manifest", kind, "no_plan_written")
    if stopped := against(question, plan, engine):
        raise OutOfRangeError("--manifest", kind, "not_written", why=stopped[0])
    text = compose(question, plan, engine, engine_gpus(seen, plan.layout) if seen else ())
    if kind == "kubernetes":
        text = kubernetes(question, plan, engine)
    if text is None:
        raise OutOfRangeError("--manifest", kind, "one_node_only")
    return text


def _most(placement: Placement, index: int) -> float | None:
    """The most tokens a second of a plan at any concurrency within the target; None where none is set."""
    limit = target(placement)
    return None if limit is None or not placement.plans[index].fits else placement.capacity(index, limit)


def _plan_as_json(question: Question, plan: Plan) -> Mapping[str, object]:
    timing, weights = plan.timing, plan.weights_bytes
    rates = ("ttft_s", "itl_s", "tokens_per_s", "sustained_tokens_per_s")
    bill = {name: name for name in ("what", "wire", "messages", "latency_s", "bandwidth_s")} | {"wire": "link"}
    overheads = ("peak_activation_bytes", "non_torch_bytes", "cuda_graphs_bytes")
    return {
        **as_sizes(plan.layout),
        "fits": plan.fits,
        "reason": worded(plan.reason),
        "weights_gib_per_rank": None if weights is None else weights / GIB,
        **picked(plan, "kv_tokens", "max_concurrency"),
        **(picked(timing, *rates) if timing else dict.fromkeys(rates)),
        "sustained_tokens_per_s_per_gpu": plan.tokens_per_s_per_gpu,
        "usd_per_million_tokens": plan.usd_per_million_tokens(question.demand.usd_per_gpu_hour),
        "bill": [picked(paid, **bill) for paid in (timing.bill if timing else ())],
        "ranks": [
            {
                **picked(rank, "stage", "layers", "ranks", weights_bytes="weights.total_bytes"),
                **picked(rank.overhead, *overheads),
                "kv_bytes": rank.kv_bytes,
            }
            for rank in plan.ranks
        ],
    }


def _refit(refitted: Refit) -> Mapping[str, object]:
    """What was taken of one's own machine, and what the plan was before."""
    asked, before = refitted.after.question, refitted.before.recommended
    return {
        "said": said_of(refitted),
        "refused": refitted.refused,
        "recommended_before": None if before is None else as_sizes(refitted.before.plans[before].layout),
        "overhead": asked.budget.overhead,
        "link": picked(asked.cluster.link, "name", "latency_s", "bandwidth_bytes_per_s", "base_s"),
        "efficiency": asked.efficiency,
        "band": asked.band,
    }


def _sizes(sizing: Sizing) -> Mapping[str, object]:
    """The best ways of both kinds, each with what starts its engines."""
    names = ("name", "gpus", "kept_per_s")
    return {
        "together": [
            {**picked(one, *names, "chunk_tokens"), **as_sizes(one.layout)} for one in sizing.together[:MOST]
        ],
        "apart": [
            {
                **picked(one, *names, "transfer_s"),
                "prefill": as_sizes(one.prefill),
                "decode": as_sizes(one.decode),
            }
            for one in sizing.apart[:MOST]
        ],
    }


def as_sizes(layout: Layout) -> dict[str, object]:
    """A layout's sizes for JSON."""
    return picked(layout, **SIZES)


def make_parser() -> Parser:
    parser = Parser(prog="plan", description="Place a model on a cluster.")
    add_question(parser)
    parser.add_argument("--concurrency", type=int, default=USUAL.concurrency, help="sequences at once, in all")
    parser.add_argument("--slo-itl-ms", type=finite, help="longest time between tokens")
    parser.add_argument("--slo-ttft-ms", type=finite, help="longest time to the first token")
    parser.add_argument("--requests-per-s", type=finite, help="judge the targets under requests at random")
    parser.add_argument("--percentile", type=int, choices=(50, 99), default=99, help="of requests, at a rate")
    parser.add_argument(
        "--size",
        action="store_true",
        help="the fewest GPUs for --requests-per-s, or the most requests on these; prefill and decode apart too",
    )
    add_own_machine(parser)
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="vllm",
        help="whose command is printed, and whose words a refusal quotes",
    )
    parser.add_argument(
        "--compiled",
        action="store_true",
        help="times of a loop compiled whole, as gpt-fast's, in place of a server's",
    )
    parser.add_argument(
        "--manifest", choices=("compose", "kubernetes"), help="alone on standard output; the rest goes beside it"
    )
    parser.add_argument("--usd-per-gpu-hour", type=finite)
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: 0 if told["met"] else NOTHING_FITS)

if __name__ == "__main__":
    run(main)
