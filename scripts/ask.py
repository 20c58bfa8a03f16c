"""Ask as you would in a forum: `shardlab ask "why is TP=4 slower than TP=2 for CodeLlama 13B on 4 A100?"`.

It says which question it understood and on what machine, then the sum that decides it, and where to try it. Without
a question it lists those that it knows.
"""

import shlex
from argparse import Namespace
from functools import partial
from urllib.parse import urlencode

from core.ask.answers import ANSWERS, Answered, Link, answered
from core.ask.reading import read_question
from runtime.prose import said, worded
from scripts.terminal import OFF, Computed, Parser, command, run


def _answer(options: Namespace) -> Computed:
    if not options.question:
        return {"kinds": {key: _title(key) for key in ANSWERS}}, _print_kinds
    text = " ".join(options.question)
    found = answered(read_question(text, options.model, options.gpu, options.gpus), options.kind or "")
    figures = {
        "kind": found.kind or None,
        "title": _title(found.kind) if found.kind else None,
        "understood": found.understood,
        "answer": [worded(line).rstrip() for line in found.lines],
        "links": [_address(link) for link in found.links],
        "command": shlex.join(["shardlab", *found.command]) if found.command else None,
        "others": list(found.others),
    }
    return figures, partial(_print, found)


def _title(kind: str) -> str:
    return said("ask", f"kind.{kind}")


def _address(link: Link) -> str:
    """A page's address without its host."""
    return f"/{link.stem}?{urlencode(link.query)}"


def _print(found: Answered) -> None:
    if found.understood is None:
        print(said("ask", "not_understood"), end="\n\n")
        _print_kinds()
        return
    print(said("ask", "understood", title=_title(found.kind)))
    print(f"  {worded(found.understood).rstrip()}\n")
    print("\n".join(worded(line).rstrip() for line in found.lines))
    print()
    if found.command:
        print(said("ask", "command", command=shlex.join(["shardlab", *found.command])))
    for link in found.links:
        print(said("ask", "link", address=_address(link)))
    if found.others:
        print(said("ask", "others", kinds="; ".join(f"{key}: {_title(key)}" for key in found.others)))


def _print_kinds() -> None:
    width = max(map(len, ANSWERS))
    print("\n".join(f"{key.ljust(width)}  {_title(key)}" for key in ANSWERS))


def make_parser() -> Parser:
    parser = Parser(prog="ask", description="A question as it is asked, answered by the sum that decides it.")
    parser.add_argument("question", nargs="*", help="in words; without one, those that are known")
    parser.common("--model", "--gpu")
    parser.add_argument("--gpus", type=int, help="how many there are, in all")
    parser.add_argument(
        "--kind", choices=tuple(ANSWERS), help="which question it is, where its words do not say so"
    )
    parser.common("--json")
    return parser


main = command(make_parser, _answer, lambda told: 0 if told.get("kind") or "kinds" in told else OFF)

if __name__ == "__main__":
    run(main)
