"""Place a model on a cluster: `python -m scripts.plan --model llama-3-70b --gpu h100-sxm --gpus-per-node 8`.

A model that is not in the catalog comes from its config.json (`--config`), a machine from what `nvidia-smi topo -m`
printed (`--topo`); `-` reads standard input.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from core.catalog import gpu, link
from core.errors import OutOfRangeError
from core.models.checkpoint import named_checkpoint, own_width
from core.models.hf_config import model_from_config
from core.placement.assumed import assumed
from core.placement.cluster import ClusterSpec, own_gpu, seen_cluster, usual_cluster
from core.placement.demand import Demand
from core.placement.planner import Placement, Plan, Question
from core.placement.preflight import ENGINES, Engine, Refused, preflight
from core.placement.rank_memory import Budget, Overhead, measured_budget
from core.placement.serve_flags import as_emitted, remarks, serve_command
from core.placement.topology import read_topology
from core.placement.trace import decisions, losers, usable_source
from core.placement.under_load import place_under_load
from core.specs import DTYPE_BYTES, GpuSpec, ModelSpec
from core.units import GB, GIB, plain, seconds, significant
from runtime.prose import worded
from scripts.terminal import NOTHING_FITS, Parser, answer, finite, picked, print_aligned, read_text, run

OWN = "own"
WIDTHS = (*DTYPE_BYTES, "nvfp4")
ENGINES_WORDS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}
"""Widths as engines' own flags name them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge every TP × PP × replicas, and recommend one."""
    parser = make_parser()
    options = parser.parse_args(arguments)

    def compute() -> Mapping[str, object]:
        placement = place_under_load(_question(options))
        if not options.json:
            _print(placement, options.engine)
        return _as_json(placement)

    return answer(
        parser,
        options,
        compute,
        table=False,
        status=lambda said: NOTHING_FITS if said["recommended"] is None else 0,
    )


def _question(options: argparse.Namespace) -> Question:
    """What was asked, in core's nouns."""
    placed = _checkpoint(options)
    card = _card(options)
    demand = Demand(
        concurrency=options.concurrency,
        prompt_tokens=options.prompt,
        output_tokens=options.output,
        dtype=options.dtype or own_width(placed),
        kv_dtype=options.kv_dtype,
        slo_itl_s=_seconds(options.slo_itl_ms),
        slo_ttft_s=_seconds(options.slo_ttft_ms),
        requests_per_s=options.requests_per_s,
        percentile=options.percentile,
        usd_per_gpu_hour=options.usd_per_gpu_hour,
    )
    return Question(
        placed, _cluster(options, card), _budget(options, card), demand, expert_parallel=options.expert_parallel
    )


def _seconds(time_ms: float | None) -> float | None:
    return None if time_ms is None else time_ms / 1e3


def _card(options: argparse.Namespace) -> GpuSpec:
    """The GPU that was named, or one of one's own by its figures."""
    if options.gpu != OWN:
        return gpu(options.gpu)
    figures = (options.memory_gb, options.bandwidth_gb_s, options.tflops)
    if None in figures:
        raise OutOfRangeError("--gpu", OWN, "needs --memory-gb, --bandwidth-gb-s and --tflops")
    memory_gb, bandwidth_gb_s, tflops = figures
    return own_gpu(memory_gb * GB, bandwidth_gb_s * GB, tflops * 1e12)


def _checkpoint(options: argparse.Namespace) -> ModelSpec:
    """The checkpoint that was named; with a config its shape is that file's, and the name what is served."""
    if options.config is None:
        if options.model is None:
            raise OutOfRangeError("--model", None, "or --config says what to place")
        return named_checkpoint(options.model)
    text = read_text(options.config)
    beside = Path(options.config).with_name("hf_quant_config.json")
    if options.config != "-" and beside.is_file():
        text = f"{text}\n{read_text(str(beside))}"
    placed = model_from_config(text)
    folder = Path(options.config).resolve().parent
    served = options.model or ("" if options.config == "-" else str(folder))
    return replace(placed, aliases=(served,)) if served else placed


def _cluster(options: argparse.Namespace, card: GpuSpec) -> ClusterSpec:
    """The GPUs on the wires that were named, else on their usual ones."""
    seen = None if options.topo is None else read_topology(read_text(options.topo))
    gpus_per_node = seen.gpus if seen and options.gpus_per_node is None else options.gpus_per_node
    if gpus_per_node is None:
        raise OutOfRangeError("--gpus-per-node", None, "is needed, or --topo that shows them")
    cluster = usual_cluster(card, gpus_per_node, options.nodes)
    if seen is not None:
        cluster = seen_cluster(cluster, seen, gpus_per_node)
    named = {
        "link": link(options.link) if options.link else None,
        "network": link(options.network) if options.network else None,
        "nvlink_domain": options.nvlink_domain,
        "nics_per_node": options.nics_per_node,
    }
    return replace(cluster, **{name: value for name, value in named.items() if value is not None})


def _budget(options: argparse.Namespace, card: GpuSpec) -> Budget:
    """Measured memory and usual overhead, unless they were given."""
    overhead = Overhead.of(options.overhead_gb * GB)
    if options.memory_gb is None:
        return measured_budget(card, options.utilisation, overhead)
    return Budget(options.memory_gb * GB, options.utilisation, overhead, "as given")


def _as_json(placement: Placement) -> Mapping[str, object]:
    question, chosen = placement.question, _chosen(placement)
    return {
        "min_tp_for_fit": placement.min_tp,
        "plans": [_plan_as_json(question, plan) for plan in placement.plans],
        "recommended": placement.recommended,
        "trace": [worded(reason) for reason in (*decisions(placement), *losers(placement))],
        "usable_bytes": question.budget.usable_bytes,
        "usable_source": worded(usable_source(question)),
        "granted_bytes_per_rank": question.budget.granted_bytes,
        "front": [asdict(point) for point in placement.front],
        "command": None if chosen is None else serve_command(question, chosen),
        "remarks": [] if chosen is None else [worded(note) for note in remarks(question, chosen)],
        "assumed": [worded(one) for one in assumed(question)],
        "engines": {} if chosen is None else {engine: _started(question, chosen, engine) for engine in ENGINES},
    }


def _refused(question: Question, plan: Plan, engine: Engine) -> Sequence[Refused]:
    """What an engine would say against a plan's command."""
    return preflight(question.model, plan.layout, as_emitted(question), engine)


def _started(question: Question, plan: Plan, engine: Engine) -> Mapping[str, object]:
    """An engine's command, or what stands against it."""
    refused = _refused(question, plan, engine)
    return {
        "command": None if refused else serve_command(question, plan, engine),
        "refused": [{"text": one.text, **picked(one.refusal, "read_in", "source")} for one in refused],
    }


def _chosen(placement: Placement) -> Plan | None:
    return None if placement.recommended is None else placement.plans[placement.recommended]


def _plan_as_json(question: Question, plan: Plan) -> Mapping[str, object]:
    timing, weights = plan.timing, plan.weights_bytes
    sizes = {
        "tp": "tp_size",
        "pp": "pp_size",
        "replicas": "replicas",
        "dp": "dp_size",
        "ep": "ep_size",
        "gpus": "gpus",
    }
    rates = ("ttft_s", "itl_s", "tokens_per_s", "sustained_tokens_per_s")
    bill = ("what", "wire", "messages", "latency_s", "bandwidth_s")
    overheads = ("peak_activation_bytes", "non_torch_bytes", "cuda_graphs_bytes")
    return {
        **picked(plan.layout, **sizes),
        "fits": plan.fits,
        "reason": worded(plan.reason),
        "weights_gib_per_rank": None if weights is None else weights / GIB,
        **picked(plan, "kv_tokens", "max_concurrency"),
        **(picked(timing, *rates) if timing else dict.fromkeys(rates)),
        "sustained_tokens_per_s_per_gpu": plan.tokens_per_s_per_gpu,
        "usd_per_million_tokens": plan.usd_per_million_tokens(question.demand.usd_per_gpu_hour),
        "bill": [picked(link, *bill) for link in (timing.bill if timing else ())],
        "ranks": [
            {
                **picked(rank, "stage", "layers", "ranks", weights_bytes="weights.total_bytes"),
                **picked(rank.overhead, *overheads),
                "kv_bytes": rank.kv_bytes,
            }
            for rank in plan.ranks
        ],
    }


def _print(placement: Placement, engine: Engine) -> None:
    print("Assumed")
    print("\n".join(f"  {worded(one)}" for one in assumed(placement.question)))
    print()
    print("\n".join(worded(reason) for reason in decisions(placement)))
    print()
    heads = ("plan", "fits", "weights/rank", "KV tokens", "TTFT", "between tokens", "tokens/s", "$/M tokens", "why")
    print_aligned([heads, *(_row(placement, index) for index in range(len(placement.plans)))])
    chosen = _chosen(placement)
    if chosen is not None:
        refused = _refused(placement.question, chosen, engine)
        said = [f"{engine} would refuse it: {one.text}" for one in refused]
        print("\n" + ("\n".join(said) or serve_command(placement.question, chosen, engine)))
        print("\n".join(worded(note) for note in remarks(placement.question, chosen)))


def _row(placement: Placement, index: int) -> tuple[str, ...]:
    plan, timing = placement.plans[index], placement.plans[index].timing
    cost = plan.usd_per_million_tokens(placement.question.demand.usd_per_gpu_hour)
    weights = plan.weights_bytes
    return (
        ("> " if index == placement.recommended else "  ") + plan.layout.name,
        "yes" if plan.fits else "no",
        f"{plain(weights / GIB)} GiB" if weights else "",
        str(plan.kv_tokens) if plan.splits else "",
        seconds(timing.ttft_s) if timing else "",
        seconds(timing.itl_s) if timing else "",
        significant(timing.sustained_tokens_per_s) if timing else "",
        "" if cost is None else f"{cost:.2f}",
        worded(plan.reason),
    )


def _width(text: str) -> str:
    """A weight dtype: one of the catalog's, or int4 with a group."""
    text = ENGINES_WORDS.get(text, text)
    width, dash, group = text.partition("-g")
    if width not in WIDTHS or (dash and (width != "int4" or not group.isdecimal())):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(WIDTHS)}, or int4-g32 for a group")
    return text


def _kept_width(text: str) -> str:
    """A cache dtype: a width without a group."""
    width = _width(text)
    if width not in DTYPE_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(DTYPE_BYTES)}")
    return width


def make_parser() -> Parser:
    """What it takes."""
    parser = Parser(prog="plan", description="Place a model on a cluster.")
    parser.add_argument("--model", help="catalog key, Hugging Face repository or path")
    parser.add_argument("--config", help="a config.json; - for standard input; --model is then its name")
    parser.add_argument("--gpu", required=True, help=f"a catalog key, or {OWN} with its three figures")
    parser.add_argument("--bandwidth-gb-s", type=finite, help="memory bandwidth of your own GPU")
    parser.add_argument("--tflops", type=finite, help="dense bf16 TFLOP/s of your own GPU")
    parser.add_argument("--gpus-per-node", type=int, help="may be left out with --topo")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument(
        "--topo", help="what nvidia-smi topo -m or rocm-smi --showtopo printed; - for standard input"
    )
    parser.add_argument("--link", help="wire inside a node; the GPU's usual one")
    parser.add_argument("--network", help="wire between nodes; the labs' 10 GbE until it is named")
    parser.add_argument("--nvlink-domain", type=int, help="GPUs that share NVLink; a node's, 72 for GB200")
    parser.add_argument("--nics-per-node", type=int)
    parser.add_argument("--dtype", type=_width, help="weights; int4-g32 for a group; the checkpoint's own")
    parser.add_argument("--kv-dtype", type=_kept_width, default="bf16")
    parser.add_argument("--prompt", type=int, default=2048)
    parser.add_argument("--output", type=int, default=256)
    parser.add_argument("--concurrency", type=int, default=1, help="sequences at once, over all replicas")
    parser.add_argument("--slo-itl-ms", type=finite, help="longest time between tokens")
    parser.add_argument("--slo-ttft-ms", type=finite, help="longest time to the first token")
    parser.add_argument("--requests-per-s", type=finite, help="judge the targets under requests at random")
    parser.add_argument("--percentile", type=int, choices=(50, 99), default=99, help="of requests, at a rate")
    parser.add_argument("--engine", choices=ENGINES, default="vllm", help="whose command is printed")
    parser.add_argument("--memory-gb", type=finite, help="usable memory of a GPU, 10^9 bytes; the measured one")
    parser.add_argument("--utilisation", "--utilization", type=finite, default=0.9)
    parser.add_argument("--overhead-gb", type=finite, default=Overhead().total_bytes / GB)
    parser.add_argument("--usd-per-gpu-hour", type=finite)
    parser.add_argument("--expert-parallel", action="store_true", help="a mixture's experts dealt out as well")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    run(main)
