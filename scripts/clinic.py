"""The clinic in a terminal: `python -m scripts.clinic slow_rank`, or without a case the list of them.

Beside the cases: `--slow PERCENT` for the three ways to wait for one slow rank, `--custom-all-reduce RELEASE` with
`--ranks`, `--nodes`, `--pcie`, `--no-p2p` and `--capability` for vLLM's rules, and `--hang FILE` for a start that
hangs, its logs read from a file or from `-`.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from core.clinic import CASES, Case, examine
from core.clinic.case import Picture
from core.clinic.hang import judge_causes, next_test
from core.clinic.hang_log import read_hang
from core.clinic.three_waits import Knob, responses
from core.collectives.custom_all_reduce import Machine, decide, kernel
from core.errors import UnreadableTextError
from core.scenario import Scenario
from core.units import KIB, percent
from runtime import content
from runtime.measurements import measured_all_reduces
from scripts.terminal import Parser, answer, print_aligned, run, words

LIMIT_BYTES = 1_000_000

Answer = Mapping[str, object]


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer what was asked: a case, the rules, a hang, or the list of cases."""
    parser = make_parser()
    options = parser.parse_args(arguments)

    def compute() -> Answer:
        if options.custom_all_reduce is not None:
            return _rules(options)
        if options.hang is not None:
            return _hang(options)
        if options.slow is not None:
            return _slow(options)
        if options.case is None:
            return _list(options)
        return _case(options)

    return answer(parser, options, compute, table=False)


def _list(options: argparse.Namespace) -> Answer:
    titles = {key: words("clinic", f"{key}.title", {}) for key in CASES}
    if not options.json:
        print_aligned(list(titles.items()))
    return {"cases": titles}


def _case(options: argparse.Namespace) -> Answer:
    case = examine(options.case, measured_all_reduces())
    if not options.json:
        _print_case(case)
    return {
        "case": case.key,
        "title": _words(case, "title"),
        "figures": {figure.name: {"value": figure.value, "unit": figure.unit} for figure in case.figures},
        "log": list(case.log),
        "diagnoses": [
            {
                "key": candidate,
                "says": _words(case, f"say_{candidate}"),
                "right": candidate == case.truth,
                "why": _words(case, f"why_{candidate}"),
            }
            for candidate in case.candidates
        ],
        "symptom": _picture(case, case.symptom),
        "model": _picture(case, case.model),
        "fix": _picture(case, case.fix),
    }


def _picture(case: Case, coded: Picture | None) -> Answer | None:
    """A figure's data, with what kind of figure it is."""
    if coded is None:
        return None
    blocks = content.load("clinic")

    def name_of(code: str) -> str:
        names = (f"{kind}_{code}" for kind in ("bar", "axis"))
        return next((_words(case, name) for name in names if f"{case.key}.{name}" in blocks), code)

    return {"kind": type(coded).__name__.lower(), **asdict(coded.renamed(name_of))}


def _words(case: Case, block: str) -> str:
    """A block of the case's prose, its fields filled."""
    return words("clinic", f"{case.key}.{block}", case.fields())


def _print_case(case: Case) -> None:
    print(_words(case, "title"), _words(case, "story"), sep="\n\n", end="\n\n")
    for line in case.log:
        print(f"  {line}")
    print_aligned([(figure.name, figure.text) for figure in case.figures])
    for candidate in case.candidates:
        sign = "+" if candidate == case.truth else "-"
        print(f"\n{sign} {_words(case, f'say_{candidate}')}\n  {_words(case, f'why_{candidate}')}")
    print(f"\n{_words(case, 'model')}\n\n{_words(case, 'fix')}")


def _rules(options: argparse.Namespace) -> Answer:
    machine = Machine(
        options.custom_all_reduce,
        options.ranks,
        options.nodes,
        full_nvlink=not options.pcie,
        p2p=not options.no_p2p,
        compute_capability=options.capability,
    )
    decision = decide(machine)
    stopped = decision.stopped_by
    result = {
        "release": machine.release,
        "ranks": machine.world_size,
        "enabled": decision.enabled,
        "stopped_by": stopped.key if stopped else None,
        "since": stopped.since if stopped else None,
        "logged": decision.logged,
        "max_bytes": decision.max_bytes if decision.enabled else 0,
        "payload_bytes": options.payload,
        "carried_by": kernel(machine, options.payload),
    }
    if not options.json:
        print_aligned([(name, str(value)) for name, value in result.items()])
    return result


def _slow(options: argparse.Namespace) -> Answer:
    """By how much each kind of work is longer, as shares."""
    knob = Knob(Scenario(model=options.model, tp=options.tp, pp=options.pp, slow_percent=options.slow))
    longer = {row.kind: row.longer_percent / 100 for row in responses(knob, options.slow)}
    if not options.json:
        print_aligned([(kind, f"{percent(share)} longer") for kind, share in longer.items()])
    return {"model": knob.scenario.model, "ranks": knob.ranks, "stages": knob.stages, "longer_fraction": longer}


def _hang(options: argparse.Namespace) -> Answer:
    log = read_hang(_read(options.hang))
    findings = judge_causes(log)
    test = next_test(findings)
    asks, command = (words("clinic", f"{kind}.{test.key}", {}) if test else "" for kind in ("test", "try"))
    if not options.json:
        print_aligned([(finding.cause, finding.standing, finding.reason) for finding in findings])
        print(f"\nnext: {asks} {command}" if test else "\nnothing left to tell apart")
    return {
        "world_size": log.world_size,
        "ranks": sorted(log.ranks),
        "hosts": log.hosts,
        "versions": list(log.versions),
        "interfaces": list(log.interfaces),
        "causes": [asdict(finding) for finding in findings],
        "next_test": {"key": test.key, "asks": asks, "command": command} if test else None,
    }


def _read(name: str) -> str:
    """A file's text, or standard input's, bounded. Raises UnreadableTextError where there is none to be had."""
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as source:
            return source.read(LIMIT_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise UnreadableTextError(f"{name}: {error.strerror}") from error


def make_parser() -> Parser:
    parser = Parser(prog="clinic", description="The classics of distributed serving, case by case.")
    parser.add_argument("case", nargs="?", help=f"one of {', '.join(CASES)}; without it, their list")
    parser.add_argument(
        "--slow", type=int, metavar="PERCENT", help="one rank slower by this: TP, a ring, a pipeline"
    )
    parser.add_argument("--model", default=Scenario().model, help="with --slow")
    parser.add_argument("--tp", type=int, default=Scenario().tp)
    parser.add_argument("--pp", type=int, default=Scenario().pp)
    parser.add_argument("--custom-all-reduce", metavar="RELEASE", help="whether a vLLM release uses its own kernel")
    parser.add_argument("--ranks", type=int, default=8, help="with --custom-all-reduce")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--pcie", action="store_true", help="the GPUs have no NVLink between every two")
    parser.add_argument("--no-p2p", action="store_true", help="peer-to-peer copies do not arrive")
    parser.add_argument("--capability", default="9.0", help="compute capability, for the caps")
    parser.add_argument("--payload", type=int, default=8 * KIB, help="bytes of one all-reduce")
    parser.add_argument("--hang", metavar="FILE", help="logs of a start that hangs, or - for standard input")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    run(main)
