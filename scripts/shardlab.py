"""Every command behind one name: `shardlab plan --model llama-3-8b --gpu h100-sxm`, `shardlab completion bash`.

`shardlab plan` is `python -m scripts.plan`, with the same flags and the same answers; underscores are hyphens.
"""

import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from core.errors import nearest
from scripts.completion import SHELLS, completion
from scripts.terminal import Parser, run

COMMANDS: Mapping[str, str] = {
    "doctor": "read this machine, and plan for it",
    "plan": "place a model on a cluster",
    "ask": "a question answered as it is asked",
    "load": "a plan when requests arrive at random",
    "race": "plans under one stream of requests",
    "strategy": "which parallelism to train or to serve with",
    "read-log": "hold a startup log to its model's config",
    "fit-links": "a link out of what nccl-tests printed",
    "bill": "what one step pays to its link",
    "collective": "the cost of one collective",
    "schedule": "a pipeline schedule, timed",
    "tp-sizes": "which TP sizes a model allows",
    "accuracy": "predicted against published",
    "served": "served times against predictions",
    "foretell": "predictions made before a figure was seen",
    "clinic": "the classics of distributed serving",
    "quiz": "questions over the whole course",
    "grade": "grade a submission to a lab",
    "receipt": "whether a browser's receipt is of a file",
    "classroom": "a lab for a whole class",
    "budget": "what a cloud run may cost and did",
    "citations": "what is said of engines against their sources",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command with what stands behind its name."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = make_parser()
    options = parser.parse_args(given[:1])
    name, rest = options.name.replace("_", "-"), given[1:]
    if name == "completion":
        shells = Parser(prog="completion", description="What a shell completes; source it, or save it.")
        shells.add_argument("shell", choices=SHELLS)
        print(completion(shells.parse_args(rest).shell, COMMANDS, parsers()))
        return 0
    if name not in COMMANDS:
        Parser.as_json = "--json" in rest
        meant = nearest(name, COMMANDS)
        parser.error(
            f"no command named {name!r}; " + (f"did you mean {meant}?" if meant else "see shardlab --help")
        )
    status: int = import_module(module_of(name)).main(rest)
    return status


def program() -> None:
    run(main)


def module_of(name: str) -> str:
    return f"scripts.{name.replace('-', '_')}"


def parsers() -> Mapping[str, Parser]:
    return {name: import_module(module_of(name)).make_parser() for name in COMMANDS}


def make_parser() -> Parser:
    """What stands before a command's name."""
    lines = "\n".join(f"  {name:<14} {what}" for name, what in {**COMMANDS, "completion": "for a shell"}.items())
    statuses = "exit status: 0 answered, 1 something is off, 2 bad input, 3 nothing fits or meets the targets"
    parser = Parser(
        description="Inference parallelism from a terminal.",
        usage="shardlab COMMAND …",
        epilog=f"commands:\n{lines}\n\nshardlab COMMAND --help says what it takes.\n{statuses}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    parser.add_argument("name", metavar="COMMAND", help="one of those below")
    return parser


def _version() -> str:
    try:
        return f"shardlab {version('shardlab')}"
    except PackageNotFoundError:
        return "shardlab, not installed"


if __name__ == "__main__":
    run(main)
