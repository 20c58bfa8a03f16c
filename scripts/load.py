"""A plan under load: `python -m scripts.load --model llama-3-8b --gpu a100 --tp 4 --replicas 2 --itl-p99-ms 50`.

With `--bench` a benchmark's results, as `vllm bench serve` prints or saves them, stand beside the same requests on
the plan; with `--trace` requests arrive at their own times, as long as they are. `-` reads standard input.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from math import isfinite

from core.errors import OutOfRangeError, ShardlabError, require_positive
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.measured_load import predict_bench, run_trace, trace_remark
from core.placement.plan import Plan, Question, judge
from core.placement.planner import Placement, place
from core.placement.trace import nothing_fits
from core.placement.under_load import engine_cost
from core.serving.arrivals import seeded
from core.serving.bench_reader import read_bench_results
from core.serving.curve import Promise, highest_kept, load_curve
from core.serving.load import steady_state
from core.serving.simulate import LoadResult
from core.serving.trace import read_trace
from core.specs import GPUS_PER_NODE
from core.units import plain, seconds
from runtime.prose import worded
from scripts.asking import add_question, in_s, question, tested
from scripts.terminal import (
    NOTHING_FITS,
    Computed,
    Parser,
    Shown,
    command,
    finite,
    picked,
    print_aligned,
    read_text,
    run,
)


def _answer(options: Namespace) -> Computed:
    asked, plan = named(options)
    refused = [] if plan.fits else [worded(one) for one in nothing_fits(Placement(asked, (plan,)))]
    if refused:
        return {"met": False, "refused": refused}, partial(print, "\n".join(refused))
    report = _trace if options.trace else _bench if options.bench else _ladder
    (told, show_told), beside = report(options, asked, plan), tested(asked.cluster.gpu, asked.model)

    def show() -> None:
        print(f"plan: {plan.layout.name}")
        show_told()
        print("\n".join(beside))

    return {"plan": plan.layout.name, **told, "tested": beside}, show


def named(options: Namespace) -> tuple[Question, Plan]:
    """The plan that was named, on one node or as many as its GPUs fill; else one GPU, or what `plan` takes.

    Raises OutOfRangeError for one that the model does not split into.
    """
    require_positive(gpus_per_node=options.gpus_per_node)
    sizes = options.tp, options.pp, options.replicas, options.dp, options.dcp
    layout = Layout(*(1 if size is None else size for size in sizes))
    options.nodes = max(options.nodes, -(-layout.gpus // options.gpus_per_node))
    asked = question(options, Demand())
    plan = judge(asked, layout)
    if not plan.splits:
        raise OutOfRangeError("plan", layout.name, "why", why=worded(plan.reason))
    if plan.fits or any(sizes):
        return asked, plan
    placement = place(asked)
    return asked, plan if placement.recommended is None else placement.plans[placement.recommended]


def _trace(options: Namespace, asked: Question, plan: Plan) -> Shown:
    """The requests of a file, at their own times and lengths."""
    trace = read_trace(read_text(options.trace))
    seen = run_trace(asked, plan, trace, options.chunk or asked.cluster.gpu.vllm_batched_tokens)
    promise = Promise(in_s(options.ttft_p99_ms), in_s(options.itl_p99_ms))

    def show() -> None:
        print(worded(trace_remark(trace, plan, seen)))
        _print_rates([seen], plan.layout.replicas, promise)

    figures = {
        "engines": plan.layout.replicas,
        "trace": picked(trace, "requests", "left_out", "unread", "mean_prompt", "mean_output", "rate_per_s"),
        "met": promise.kept(seen),
        "kept": promise.kept(seen),  # the name it had first: schema 1 keeps it
        **_figures(seen, plan.layout.replicas),
    }
    return figures, show


def _ladder(options: Namespace, asked: Question, plan: Plan) -> Shown:
    """Every rate of the ladder, and the highest that keeps the promises."""
    cost, engines = engine_cost(asked, plan), plan.layout.replicas
    chunk = asked.cluster.gpu.vllm_batched_tokens if options.chunk is None else options.chunk
    curve = load_curve(cost, options.requests, seeded(options.seed), chunk_tokens=chunk)
    promise = Promise(in_s(options.ttft_p99_ms), in_s(options.itl_p99_ms))
    kept = highest_kept(curve, promise)

    def show() -> None:
        _print_rates(curve, engines, promise)
        print(f"all that can be completed: {plain(engines * cost.capacity_per_s)} requests a second")
        print(f"promises kept up to: {'no rate' if kept is None else plain(engines * kept.arrivals_per_s)}")

    figures = {
        "engines": engines,
        "capacity_per_s": engines * cost.capacity_per_s,
        "most_running_per_engine": cost.most_running,
        "prefill_s": cost.prefill_s,
        "met": kept is not None,
        "kept_per_s": None if kept is None else engines * kept.arrivals_per_s,
        "rates": [
            {
                "requests_per_s": engines * run.arrivals_per_s,
                "kept": promise.kept(run),
                "steady_itl_s": None if (at := steady_state(cost, run.arrivals_per_s)) is None else at.itl_s,
                **_figures(run, engines),
            }
            for run in curve
        ],
    }
    return figures, show


def _print_rates(runs: Sequence[LoadResult], engines: int, promise: Promise) -> None:
    heads = ("requests/s", "first p50", "first p99", "next p50", "next p99", "tokens/s", "kept")
    print_aligned([heads, *(_rate_cells(run, engines, promise) for run in runs)])


def _rate_cells(run: LoadResult, engines: int, promise: Promise) -> tuple[str, ...]:
    times = (run.ttft_p50_s, run.ttft_p99_s, run.itl_p50_s, run.itl_p99_s)
    kept = "yes" if promise.kept(run) else "no"
    return (
        plain(engines * run.arrivals_per_s),
        *(seconds(time_s) for time_s in times),
        plain(engines * run.tokens_per_s),
        kept,
    )


def _bench(options: Namespace, asked: Question, plan: Plan) -> Shown:
    """Each result of a file beside the plan; where it cannot be sent again, why."""
    engines, rows, cells = plan.layout.replicas, [], []
    for result in read_bench_results(read_text(options.bench)):
        row: dict[str, object] = {"line": result.line, "measured": _finite(asdict(result))}
        try:
            prediction = predict_bench(asked, plan, result, seeded(options.seed))
        except ShardlabError as refusal:
            rows.append({**row, "refused": str(refusal)})
            continue
        sent, load = worded(prediction.sent), prediction.load
        rows.append({**row, "sent": sent, "predicted": _figures(load, engines)})
        times = (result.ttft.mean_s, load.ttft_mean_s, result.between_s, load.itl_mean_s)
        cells.append((str(result.line), sent, *("–" if time_s is None else seconds(time_s) for time_s in times)))
    heads = ("line", "sent", "first measured", "predicted", "next measured", "predicted")
    return {"results": rows}, partial(print_aligned, [heads, *cells])


def _figures(run: LoadResult, engines: int) -> dict[str, object]:
    """What a run of one engine showed; tokens are of all engines together."""
    names = ("ttft_mean_s", "ttft_p50_s", "ttft_p99_s", "itl_mean_s", "itl_p50_s", "itl_p99_s")
    more = ("mean_running", "mean_waiting", "busy_fraction", "requests", "cut")
    return _finite({**picked(run, *names, *more), "tokens_per_s": engines * run.tokens_per_s})


def _finite(figures: Mapping[str, object]) -> dict[str, object]:
    """The same for JSON, which knows no infinity: it is written as text."""
    return {
        name: str(value) if isinstance(value, float) and not isfinite(value) else value
        for name, value in figures.items()
    }


def make_parser() -> Parser:
    parser = Parser(prog="load", description="Percentiles of a plan under Poisson arrivals.")
    add_question(parser)
    parser.set_defaults(gpus_per_node=GPUS_PER_NODE)
    for name in ("tp", "pp", "replicas", "dp", "dcp"):
        parser.add_argument(f"--{name}", type=int, help="1; where none is named, a plan that fits")
    parser.add_argument("--ttft-p99-ms", type=finite, help="promised of the first token, for 99 of 100")
    parser.add_argument("--itl-p99-ms", type=finite, help="promised between two tokens, for 99 of 100")
    parser.add_argument("--chunk", type=int, help="prompt tokens a step reads besides; what vLLM takes on the GPU")
    parser.common("--requests", default=1000)
    parser.common("--seed")
    parser.add_argument("--trace", help="a CSV of arrival, prompt and output, or JSON lines; - too")
    parser.add_argument(
        "--bench",
        help="results of vllm bench serve, GenAI-Perf, AIPerf, EvalScope or trtllm-bench; - for standard input",
    )
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: 0 if told.get("met", True) else NOTHING_FITS)

if __name__ == "__main__":
    run(main)
