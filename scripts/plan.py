"""Place a model on a cluster: `python -m scripts.plan --model llama-3-70b --gpu h100-sxm --gpus-per-node 8`.

A model that is not in the catalog comes from its config.json (`--config`), a machine from what `nvidia-smi topo -m`
printed (`--topo`); `-` reads standard input.
"""

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, replace

from core.placement.assumed import assumed, assumptions
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.manifests import compose, kubernetes
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.preflight_checks import ENGINES, Engine
from core.placement.serve_flags import refusals, remarks, serve_command
from core.placement.sizing import Sizing, sized, sizing_remark
from core.placement.trace import decisions, losers, usable_source
from core.placement.under_load import place_under_load
from core.strategy.refit import Refit, refit, said_of
from core.units import GIB, plain, seconds, significant
from runtime.prose import worded
from scripts.asking import USUAL, add_own_machine, add_question, in_s, question
from scripts.terminal import NOTHING_FITS, Computed, Parser, command, finite, picked, print_aligned, read_text, run

MOST = 5
"""Ways of each kind that are said."""
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
    asked = replace(question(options, _demand(options)), engine=options.engine, compiled=options.compiled)
    log, table, bench = (
        read_text(name) if name else "" for name in (options.startup_log, options.nccl, options.bench)
    )
    refitted = refit(asked, log, table, bench) if log or table or bench else None
    placement = refitted.after if refitted else place_under_load(asked)
    missed = placement.question.demand.requests_per_s is not None and not placement.met
    sizes = sized(placement.question) if options.size or missed else None

    def show() -> None:
        if refitted is not None:
            print("\n".join(["Your machine", *(f"  {worded(one)}" for one in said_of(refitted)), ""]))
        _print(placement, options.engine, options.manifest)
        if sizes is not None:
            _print_sizes(sizes)

    more = {} if sizes is None else {"sizes": _sizes(sizes)}
    return {**_as_json(placement), **more, **({} if refitted is None else {"refit": _refit(refitted)})}, show


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


def _as_json(placement: Placement) -> Mapping[str, object]:
    question, chosen = placement.question, _chosen(placement)
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
        "command": None if chosen is None or refusals(question, chosen) else serve_command(question, chosen),
        "remarks": [] if chosen is None else [worded(note) for note in remarks(question, chosen)],
        "assumed": [worded(one) for one in assumed(question)],
        "assumptions": assumptions(question),
        "engines": {} if chosen is None else {engine: _started(question, chosen, engine) for engine in ENGINES},
    }


def _started(question: Question, plan: Plan, engine: Engine) -> Mapping[str, object]:
    """An engine's command and manifests, or what stands against it."""
    refused = refusals(question, plan, engine)
    return {
        "command": None if refused else serve_command(question, plan, engine),
        "compose": None if refused else compose(question, plan, engine),
        "kubernetes": None if refused else kubernetes(question, plan, engine),
        "refused": [{"text": one.text, **picked(one.refusal, "read_in", "source")} for one in refused],
    }


def _most(placement: Placement, index: int) -> float | None:
    """The most tokens a second of a plan at any concurrency within the target; None where none is set."""
    target = _target(placement)
    return None if target is None or not placement.plans[index].fits else placement.capacity(index, target)


def _chosen(placement: Placement) -> Plan | None:
    return None if placement.recommended is None else placement.plans[placement.recommended]


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


def _print_sizes(sizing: Sizing) -> None:
    print("\n" + worded(sizing_remark(sizing)))
    heads = ("engines", "GPUs", "requests/s kept", "")
    whole = [(one.name, one.gpus, one.kept_per_s, f"reads {one.chunk_tokens} a step") for one in sizing.together]
    apart = [(one.name, one.gpus, one.kept_per_s, f"{seconds(one.transfer_s)} between") for one in sizing.apart]
    rows = [(name, str(gpus), plain(kept), told) for name, gpus, kept, told in (*whole[:MOST], *apart[:MOST])]
    print_aligned([heads, *rows])


def as_sizes(layout: Layout) -> dict[str, object]:
    """A layout's sizes for JSON."""
    return picked(layout, **SIZES)


def _print(placement: Placement, engine: Engine, manifest: str | None) -> None:
    print("Assumed")
    print("\n".join(f"  {worded(one)}" for one in assumed(placement.question)))
    print()
    print("\n".join(worded(reason) for reason in decisions(placement)))
    print()
    heads = ["plan", "fits", "weights/rank", "KV tokens", "TTFT", "between tokens", "tokens/s", "$/M tokens", "why"]
    if _target(placement) is not None:
        heads.insert(7, "in target")
    print_aligned([heads, *(_row(placement, index) for index in range(len(placement.plans)))])
    chosen = _chosen(placement)
    if chosen is not None:
        refused = refusals(placement.question, chosen, engine)
        lines = [f"{engine} would refuse it: {one.text}" for one in refused]
        print("\n" + ("\n".join(lines) or _written(placement.question, chosen, engine, manifest)))
        for note in remarks(placement.question, chosen):
            print(worded(note))


def _written(question: Question, plan: Plan, engine: Engine, manifest: str | None) -> str:
    """The command, or the manifest that was asked for."""
    if manifest == "kubernetes":
        return kubernetes(question, plan, engine)
    text = compose(question, plan, engine) if manifest == "compose" else None
    return text or serve_command(question, plan, engine)


def _target(placement: Placement) -> float | None:
    """The time between tokens that plans are ranked within at any concurrency; None where a rate was asked."""
    return None if placement.at_rate else placement.question.demand.slo_itl_s


def _row(placement: Placement, index: int) -> tuple[str, ...]:
    plan, timing = placement.plans[index], placement.plans[index].timing
    cost = plan.usd_per_million_tokens(placement.question.demand.usd_per_gpu_hour)
    weights, target = plan.weights_bytes, _target(placement)
    return (
        ("> " if index == placement.recommended else "  ") + plan.layout.name,
        "yes" if plan.fits else "no",
        f"{plain(weights / GIB)} GiB" if weights else "",
        str(plan.kv_tokens) if plan.splits else "",
        seconds(timing.ttft_s) if timing else "",
        seconds(timing.itl_s) if timing else "",
        significant(timing.sustained_tokens_per_s) if timing else "",
        *(() if target is None else (significant(placement.capacity(index, target)) if timing else "",)),
        "" if cost is None else f"{cost:.2f}",
        worded(plan.reason),
    )


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
    parser.add_argument("--manifest", choices=("compose", "kubernetes"), help="printed instead of the command")
    parser.add_argument("--usd-per-gpu-hour", type=finite)
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: 0 if told["met"] else NOTHING_FITS)

if __name__ == "__main__":
    run(main)
