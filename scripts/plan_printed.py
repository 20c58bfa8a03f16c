"""What `shardlab plan` prints for people: the answer and its command, every plan, and what was assumed."""

from core.errors import Remark, once
from core.placement.assumed import assumed
from core.placement.engine_words import unsaid
from core.placement.pairing import of_machine
from core.placement.plan import Plan, Question
from core.placement.planner import Placement
from core.placement.preflight_checks import Engine
from core.placement.serve_flags import refusals, remarks, serve_command
from core.placement.sizing import Sizing, sizing_remark
from core.placement.topology import Topology
from core.placement.trace import answer, grounds
from core.units import GIB, plain, seconds, significant
from runtime.prose import worded
from scripts.terminal import print_aligned

MOST = 5
"""Ways of each kind that are said."""


def print_placement(placement: Placement, engine: Engine, seen: Topology | None, command: bool = True) -> None:
    """The answer with its command, then every plan, then what the answer rests on."""
    question, chosen = placement.question, placement.taken
    print("\n".join(worded(reason) for reason in answer(placement)))
    if chosen is not None:
        stopped = against(question, chosen, engine)
        started = serve_command(question, chosen, engine) if command and not stopped else ""
        print("\n".join(["", *([started] if started else []), *stopped]).rstrip())
        print("".join(f"{worded(note)}\n" for note in noted(question, chosen, seen)))
    else:
        print()
    _print_plans(placement)
    print("\nAssumed")
    print("\n".join(f"  {worded(one)}" for one in once((*assumed(question), *grounds(placement)))))


def against(question: Question, plan: Plan, engine: Engine) -> list[str]:
    """What keeps an engine from a plan: what it cannot be told, then what it would say itself."""
    quoted = [f"{engine} would refuse it: {one.text}" for one in refusals(question, plan, engine)]
    return [*(worded(one) for one in unsaid(question, plan, engine)), *quoted]


def noted(question: Question, plan: Plan, seen: Topology | None) -> list[Remark]:
    """What a command alone does not say; first what the machine's own text does, where one was given."""
    return [*(of_machine(seen, plan, question.cluster) if seen else ()), *remarks(question, plan)]


def _print_plans(placement: Placement) -> None:
    heads = ["plan", "fits", "weights/rank", "KV tokens", "TTFT", "between tokens", "tokens/s", "$/M tokens", "why"]
    if target(placement) is not None:
        heads.insert(7, "in target")
    print_aligned([heads, *(_row(placement, index) for index in range(len(placement.plans)))])


def print_sizes(sizing: Sizing) -> None:
    print("\n" + worded(sizing_remark(sizing)))
    heads = ("engines", "GPUs", "requests/s kept", "")
    whole = [(one.name, one.gpus, one.kept_per_s, f"reads {one.chunk_tokens} a step") for one in sizing.together]
    apart = [(one.name, one.gpus, one.kept_per_s, f"{seconds(one.transfer_s)} between") for one in sizing.apart]
    rows = [(name, str(gpus), plain(kept), told) for name, gpus, kept, told in (*whole[:MOST], *apart[:MOST])]
    print_aligned([heads, *rows])


def target(placement: Placement) -> float | None:
    """The time between tokens that plans are ranked within at any concurrency; None where a rate was asked."""
    return None if placement.at_rate else placement.question.demand.slo_itl_s


def _row(placement: Placement, index: int) -> tuple[str, ...]:
    plan, timing = placement.plans[index], placement.plans[index].timing
    cost = plan.usd_per_million_tokens(placement.question.demand.usd_per_gpu_hour)
    weights, limit = plan.weights_bytes, target(placement)
    return (
        ("> " if index == placement.recommended else "  ") + plan.layout.name,
        "yes" if plan.fits else "no",
        f"{plain(weights / GIB)} GiB" if weights else "",
        str(plan.kv_tokens) if plan.splits else "",
        seconds(timing.ttft_s) if timing else "",
        seconds(timing.itl_s) if timing else "",
        significant(timing.sustained_tokens_per_s) if timing else "",
        *(() if limit is None else (significant(placement.capacity(index, limit)) if timing else "",)),
        "" if cost is None else f"{cost:.2f}",
        worded(plan.reason),
    )
