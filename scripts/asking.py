"""What the planner's commands ask alike: flags, and the question that they come to."""

import argparse
from dataclasses import replace
from pathlib import Path

from core.catalog import gpu, link
from core.errors import OutOfRangeError, UnknownNameError, remark
from core.models.checkpoint import named_checkpoint
from core.models.hf_config import model_from_config
from core.placement.asked import UTILISATION, Machine, question_of, usual_cache, usual_width
from core.placement.assumed import held_to
from core.placement.cluster import custom_gpu
from core.placement.demand import Demand
from core.placement.plan import Question
from core.placement.rank_memory import Overhead
from core.placement.topology import read_topology
from core.specs import DTYPE_BYTES, GPUS_PER_NODE, GpuSpec, ModelSpec
from core.units import GB
from runtime.prose import worded
from scripts.terminal import Parser, finite, read_text

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
USUAL = Demand()


def tested(gpu_spec: GpuSpec, model: ModelSpec) -> list[str]:
    """What stands beside every predicted time: how far such times were off, or that none was ever tested."""
    return [worded(one) for one in held_to(gpu_spec, model)]


def add_question(parser: Parser) -> None:
    """The flags of a question: the model, the machine, what is asked of them."""
    parser.common("--model", help="catalog key, Hugging Face repository or path")
    parser.add_argument("--config", help="a config.json; - for standard input; --model is then its name")
    parser.common("--gpu", required=True, help=f"a catalog key, or {OWN} with its three figures")
    parser.add_argument("--bandwidth-gb-s", type=finite, help="memory bandwidth of your own GPU")
    parser.add_argument("--tflops", type=finite, help="dense bf16 TFLOP/s of your own GPU")
    parser.common("--gpus-per-node", help=f"{GPUS_PER_NODE}, or as --topo shows them")
    parser.common("--nodes")
    parser.add_argument(
        "--topo",
        help="what nvidia-smi topo -m, rocm-smi --showtopo or amd-smi topology printed; - for standard input",
    )
    parser.common("--link")
    parser.common("--network", help="link between nodes, a catalog key; the labs' 10 GbE until it is named")
    parser.add_argument("--nvlink-domain", type=int, help="GPUs that share NVLink; a node's, 72 for GB200")
    parser.add_argument("--nics-per-node", type=int)
    add_widths(parser)
    parser.common("--prompt", default=USUAL.prompt_tokens)
    parser.common("--output", default=USUAL.output_tokens)
    parser.add_argument("--prefix-hit", type=finite, default=0.0, help="share of a prompt found in the cache, 0..1")
    parser.add_argument("--draft-tokens", type=int, default=0, help="guessed ahead by a layer of the model's own")
    parser.add_argument("--acceptance", type=finite, default=USUAL.acceptance, help="chance that a guess is right")
    parser.add_argument("--memory-gb", type=finite, help="usable memory of a GPU, 10^9 bytes; the measured one")
    parser.add_argument("--utilisation", "--utilization", type=finite, default=UTILISATION)
    parser.add_argument("--overhead-gb", type=finite, help=f"{Overhead().total_bytes / GB} unless a log says it")
    parser.add_argument("--expert-parallel", action="store_true", help="a mixture's experts distributed as well")
    parser.add_argument("--context-parallel", action="store_true", help="the cache shared out as well")


def add_own_machine(parser: Parser) -> None:
    """The three texts of one's own machine."""
    parser.add_argument("--startup-log", help="the plan made again by what your engine printed at its start")
    parser.add_argument("--nccl", help="the same by your nccl-tests table")
    parser.add_argument(
        "--bench",
        help="the same by what vllm bench serve, GenAI-Perf, AIPerf, EvalScope or trtllm-bench showed on the plan",
    )


def add_widths(parser: Parser) -> None:
    parser.add_argument("--dtype", type=width, help="weights; int4-g32 for a group; the checkpoint's own")
    parser.add_argument("--kv-dtype", type=kept_width, help="keys and values; as the checkpoint asks")


def question(options: argparse.Namespace, demand: Demand, gpus: Machine | None = None) -> Question:
    """What was asked, in core's nouns; `demand` has what only this command asks."""
    placed, gpus = checkpoint(options), gpus or machine(options)
    options.kv_dtype = options.kv_dtype or usual_cache(placed, gpus.gpu)
    asked = replace(
        demand,
        prompt_tokens=options.prompt,
        output_tokens=options.output,
        dtype=options.dtype or usual_width(placed, gpus.gpu),
        kv_dtype=options.kv_dtype,
        prefix_fraction=options.prefix_hit,
        draft_tokens=options.draft_tokens,
        acceptance=options.acceptance,
    )
    return question_of(placed, gpus, asked, options.expert_parallel, options.context_parallel)


def machine(options: argparse.Namespace) -> Machine:
    """The GPUs, their links and their memory, as far as they were said."""
    if options.gpus_per_node is None and options.topo is None:
        options.gpus_per_node = _gpu(options).gpus_per_node
    if options.gpus_per_node is not None and options.gpus_per_node < 1:
        raise OutOfRangeError("gpus_per_node", options.gpus_per_node, "above", least=0)
    return Machine(
        _gpu(options),
        options.gpus_per_node,
        options.nodes,
        link(options.link) if options.link else None,
        link(options.network) if options.network else None,
        options.nvlink_domain,
        options.nics_per_node,
        None if options.topo is None else read_topology(read_text(options.topo)),
        None if options.memory_gb is None else options.memory_gb * GB,
        options.utilisation,
        Overhead() if options.overhead_gb is None else Overhead.of(options.overhead_gb * GB),
    )


def _gpu(options: argparse.Namespace) -> GpuSpec:
    """The GPU that was named, or one of one's own by its figures."""
    if options.gpu != OWN:
        return gpu(options.gpu)
    figures = (options.memory_gb, options.bandwidth_gb_s, options.tflops)
    if None in figures:
        raise OutOfRangeError("--gpu", OWN, "needs", options="--memory-gb, --bandwidth-gb-s and --tflops")
    memory_gb, bandwidth_gb_s, tflops = figures
    return custom_gpu(memory_gb * GB, bandwidth_gb_s * GB, tflops * 1e12)


def checkpoint(options: argparse.Namespace) -> ModelSpec:
    """The checkpoint that was named; with a config its shape is that file's, and the name what is served."""
    if options.config is None:
        if options.model is None:
            raise OutOfRangeError("--model", None, "or_config")
        try:
            return named_checkpoint(options.model)
        except UnknownNameError as error:
            error.remark = remark("errors.model_of_no_row", error=error.remark)
            raise
    text = read_text(options.config)
    beside = Path(options.config).with_name("hf_quant_config.json")
    if options.config != "-" and beside.is_file():
        text = f"{text}\n{read_text(str(beside))}"
    placed = model_from_config(text)
    file = Path(options.config).resolve()
    served = options.model or (str(file.parent) if file.name == "config.json" else "")
    return replace(placed, aliases=(served,)) if served else placed


def in_s(time_ms: float | None) -> float | None:
    """A time in seconds, where there is one."""
    return None if time_ms is None else time_ms / 1e3


def width(text: str) -> str:
    """A weight dtype: one of the catalog's, or int4 with a group."""
    text = ENGINES_WORDS.get(text, text)
    name, dash, group = text.partition("-g")
    if name not in WIDTHS or (dash and (name != "int4" or not group.isdecimal())):
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(WIDTHS)}, or int4-g32 for a group")
    return text


def kept_width(text: str) -> str:
    """A cache dtype: a width without a group."""
    name = width(text)
    if name not in DTYPE_BYTES:
        raise argparse.ArgumentTypeError(f"{text!r} is not one of {', '.join(DTYPE_BYTES)}")
    return name
