"""The clinic in a terminal: `python -m scripts.clinic slow_rank`, or without a case the list of them.

Beside the cases: `--slow PERCENT` for the three ways to wait for one slow rank, `--custom-all-reduce RELEASE` with
`--ranks`, `--nodes`, `--pcie`, `--no-p2p` and `--capability` for vLLM's rules, and `--hang FILE` for a start that
hangs, its logs read from a file or from `-`.
"""

from argparse import Namespace
from dataclasses import asdict
from functools import partial

from core.clinic import CASES, Case, examine
from core.clinic.case import Picture
from core.clinic.hang import Finding, judge_causes, next_test, own_test
from core.clinic.hang_log import HangLog, read_hang
from core.clinic.three_waits import Knob, responses
from core.collectives.custom_all_reduce import Machine, decide
from core.collectives.who_sums import who_sums
from core.scenario import Scenario
from core.units import KIB, percent
from runtime import content
from scripts.terminal import Answer, Computed, Parser, command, picked, print_aligned, read_text, run, words


def _answer(options: Namespace) -> Computed:
    if options.custom_all_reduce is not None:
        return _rules(options)
    if options.hang is not None:
        return _hang(options)
    if options.slow is not None:
        return _slow(options)
    if options.case is None:
        return _list(options)
    return _case(options)


def _list(options: Namespace) -> Computed:
    titles = {key: words("clinic", f"{key}.title", {}) for key in CASES}
    return {"cases": titles}, partial(print_aligned, list(titles.items()))


def _case(options: Namespace) -> Computed:
    case = examine(options.case)
    figures = {
        "case": case.key,
        "title": _words(case, "title"),
        "figures": {figure.name: picked(figure, "value", "unit") for figure in case.figures},
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
    return figures, partial(_print_case, case)


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


def _rules(options: Namespace) -> Computed:
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
        "carried_by": (summed := who_sums(machine, options.payload)).kernel,
        "said_by": summed.said_by,
    }
    return result, partial(print_aligned, [(name, str(value)) for name, value in result.items()])


def _slow(options: Namespace) -> Computed:
    """By how much each kind of work is longer, as shares."""
    knob = Knob(Scenario(model=options.model, tp=options.tp, pp=options.pp, slow_percent=options.slow))
    longer = {row.kind: row.longer_percent / 100 for row in responses(knob, options.slow)}
    figures = {"model": knob.scenario.model, "ranks": knob.ranks, "stages": knob.stages, "longer_fraction": longer}
    return figures, partial(print_aligned, [(kind, f"{percent(share)} longer") for kind, share in longer.items()])


def _hang(options: Namespace) -> Computed:
    log = read_hang(read_text(options.hang))
    findings = judge_causes(log)
    test = next_test(findings)
    asks, command = (words("clinic", f"{kind}.{test.key}", {}) if test else "" for kind in ("test", "try"))
    told = [_told(finding, log) for finding in findings]

    def show() -> None:
        for finding, cause in zip(findings, told, strict=True):
            print(f"{finding.cause:<17} {finding.standing:<10} {finding.reason}")
            if finding.standing != "excluded":
                print(f"  {cause['says']}: {cause['why']}\n  cure: {cause['cure']}\n  test: {cause['try']}")
        print(f"\nnext: {asks} {command}" if test else "\nnothing left to tell apart")

    figures = {
        "world_size": log.world_size,
        "ranks": sorted(log.ranks),
        **picked(log, "hosts", "versions", "interfaces"),
        "causes": [{**asdict(finding), **cause} for finding, cause in zip(findings, told, strict=True)],
        "next_test": {"key": test.key, "asks": asks, "command": command} if test else None,
    }
    return figures, show


def _told(finding: Finding, log: HangLog) -> dict[str, str]:
    """A cause in words: what it is, why it stands where it does, what mends it, and the test that isolates it."""
    why = words("clinic", f"reason.{finding.reason}", {"log": log, "missing_ranks": str(len(log.missing))})
    own = own_test(finding.cause)
    return {
        "says": words("clinic", f"cause.{finding.cause}", {}),
        "why": why,
        "cure": words("clinic", f"cure.{finding.cause}", {}),
        "try": words("clinic", f"try.{own.key}", {}),
    }


def make_parser() -> Parser:
    parser = Parser(prog="clinic", description="The classics of distributed serving, case by case.")
    parser.add_argument("case", nargs="?", help=f"one of {', '.join(CASES)}; without it, their list")
    parser.add_argument(
        "--slow", type=int, metavar="PERCENT", help="one rank slower by this: TP, a ring, a pipeline"
    )
    parser.common("--model", default=Scenario().model, help="with --slow, a catalog key")
    parser.common("--tp", default=Scenario().tp)
    parser.add_argument("--pp", type=int, default=Scenario().pp)
    parser.add_argument("--custom-all-reduce", metavar="RELEASE", help="whether a vLLM release uses its own kernel")
    parser.add_argument("--ranks", type=int, default=8, help="with --custom-all-reduce")
    parser.common("--nodes")
    parser.add_argument("--pcie", action="store_true", help="the GPUs have no NVLink between every two")
    parser.add_argument("--no-p2p", action="store_true", help="peer-to-peer copies do not arrive")
    parser.add_argument("--capability", default="9.0", help="compute capability, for the caps")
    parser.add_argument("--payload", type=int, default=8 * KIB, help="bytes of one all-reduce")
    parser.add_argument("--hang", metavar="FILE", help="logs of a start that hangs, or - for standard input")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
