"""This machine, read and planned for: `shardlab doctor`; or another, `shardlab doctor smi.txt topo.txt vllm.log`.

Reads what is there: `nvidia-smi` and its `topo -m`, `rocm-smi`, `amd-smi`, and any files given: what these tools
printed, an engine's startup log, an nccl-tests table; `-` is standard input. Nothing is installed, nothing is sent.
Files that name GPUs stand for a machine of their own, and then no tool is asked. It says what it read, what it
plans for it, and which figures are the machine's own and which are assumed.

Exit status 0 where something is planned, 1 where a log ends in a crash or is off, or a network corrupts data, and 3
where no plan fits or no GPU is seen.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.catalog import gpu, link
from core.errors import Remark, remark
from core.models.checkpoint import named_checkpoint
from core.placement.devices import read_devices
from core.placement.plan import Plan
from core.placement.serve_flags import refusals, serve_command
from core.strategy.doctor import Diagnosis, Wanted, examine
from core.strategy.machine_read import Source
from core.strategy.refit import Refit, said_of
from core.units import GIB, percent, plain, seconds
from runtime.machine_tools import Printed, ask_tools
from runtime.prose import worded
from scripts.asking import USUAL
from scripts.plan import as_sizes
from scripts.terminal import (
    NOTHING_FITS,
    OFF,
    Computed,
    Parser,
    command,
    picked,
    print_aligned,
    read_text,
    run,
)

_SIGNS = {"yours": "yours", "assumed": "assumed"}


def _answer(options: Namespace) -> Computed:
    files = [Source(path, read_text(path)) for path in options.files]
    named = any(read_devices(source.text).gpus for source in files)
    asked: Sequence[Printed] = () if named or options.files_only else ask_tools()
    sources = [*(Source(one.command, one.text) for one in asked), *files]
    found = examine(sources, _wanted(options))
    tools = [*(_of_tool(one) for one in asked if one.ended or one.cut)]
    if not named and not asked and not options.files_only:
        tools.append(remark("doctor.no_tools"))
    return _as_json(found, tools), partial(_print, found, tools)


def _of_tool(printed: Printed) -> Remark:
    return remark("doctor.hung" if printed.ended else "doctor.cut_short", command=printed.command)


def _wanted(options: Namespace) -> Wanted:
    demand = replace(
        USUAL,
        prompt_tokens=options.prompt,
        output_tokens=options.output,
        concurrency=options.concurrency,
    )
    return Wanted(
        named_checkpoint(options.model) if options.model else None,
        gpu(options.gpu) if options.gpu else None,
        options.nodes,
        link(options.network) if options.network else None,
        demand,
    )


def _as_json(found: Diagnosis, tools: Sequence[Remark]) -> Mapping[str, object]:
    report = found.report
    return {
        "read": [{"source": one.source, "kinds": list(one.kinds), "said": list(one.said)} for one in found.heard],
        "gpu": found.gpu.key if found.gpu else None,
        "gpus": found.gpus,
        "devices": [
            picked(one, "index", "name", "memory_bytes", "used_bytes", "mig") for one in found.devices.gpus
        ],
        **picked(found.devices, "driver", "runtime"),
        "figures": [picked(one, "name", "said", "origin", "source") for one in found.figures],
        "plans": [_plan(one) for one in found.plans],
        "reasons": list(found.reasons),
        "notes": [*tools, *found.remarks],
        "off": report.count("off") if report else 0,
        "crash": report.crash if report else None,
        "corrupts": any(own.table.corrupts for own in found.tables),
    }


def _plan(one: Refit) -> Mapping[str, object]:
    question, chosen = one.after.question, one.after.taken
    return {
        "model": question.model.key,
        "fits": chosen is not None,
        **(as_sizes(chosen.layout) if chosen else {}),
        **(picked(chosen, "kv_tokens", "max_concurrency") if chosen else {}),
        "itl_s": chosen.timing.itl_s if chosen and chosen.timing else None,
        "command": _command(one, chosen),
        "said": [*one.taken, *one.refused],
    }


def _command(one: Refit, chosen: Plan | None) -> str | None:
    question = one.after.question
    return None if chosen is None or refusals(question, chosen) else serve_command(question, chosen)


def _print(found: Diagnosis, tools: Sequence[Remark]) -> None:
    if found.heard:
        print("Read")
    for one in found.heard:
        for said in one.said:
            print(f"  {one.source}: {worded(said)}")
    for note in (*tools, *found.remarks, *found.reasons):
        print(f"- {worded(note)}")
    for table in found.tables:
        for warning in (one for one in table.warnings if one.code.startswith("links.corrupts")):
            print(f"- {worded(warning)}")
    if found.report is not None:
        for note in found.report.remarks:
            print(f"- {worded(note)}")
    if found.plans:
        _print_plans(found.plans)
    if found.figures:
        print("\nFigures")
        print_aligned([(f"  {_SIGNS[one.origin]}", worded(one.said), one.source) for one in found.figures])


def _print_plans(plans: Sequence[Refit]) -> None:
    print("\nPlan")
    heads = ("  model", "plan", "weights/rank", "KV tokens", "at once", "between tokens", "error, 8 in 10")
    print_aligned([heads, *(_row(one) for one in plans)])
    if len(plans) == 1:
        (one,) = plans
        for note in said_of(one)[:-1]:
            print(f"  {worded(note)}")
        if started := _command(one, one.after.taken):
            print(f"\n{started}")


def _row(one: Refit) -> tuple[str, ...]:
    question, chosen = one.after.question, one.after.taken
    if chosen is None or chosen.timing is None:
        return (f"  {question.model.name}", "does not fit", "", "", "", "", "")
    band, weights = question.band, chosen.weights_bytes
    return (
        f"  {question.model.name}",
        chosen.layout.name,
        f"{plain(weights / GIB)} GiB" if weights else "",
        str(chosen.kv_tokens),
        str(chosen.max_concurrency),
        seconds(chosen.timing.itl_s),
        f"{percent(band.low - 1, 0)} to +{percent(band.high - 1, 0)}",
    )


def _status(told: Mapping[str, object]) -> int:
    plans = told["plans"]
    if told["off"] or told["crash"] or told["corrupts"]:
        return OFF
    assert isinstance(plans, list)
    return 0 if any(plan["fits"] for plan in plans) else NOTHING_FITS


def make_parser() -> Parser:
    parser = Parser(prog="doctor", description="Read this machine, or files of another, and plan for it.")
    parser.add_argument("files", nargs="*", help="tools' output, an engine's log, an nccl-tests table; - for stdin")
    parser.add_argument("--files-only", action="store_true", help="ask no tool of this machine")
    parser.common("--model")
    parser.common("--gpu")
    parser.common("--nodes")
    parser.common("--network")
    parser.common("--prompt", default=USUAL.prompt_tokens)
    parser.common("--output", default=USUAL.output_tokens)
    parser.add_argument("--concurrency", type=int, default=USUAL.concurrency, help="sequences at once, in all")
    parser.common("--json")
    return parser


main = command(make_parser, _answer, _status)

if __name__ == "__main__":
    run(main)
