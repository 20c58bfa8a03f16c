"""Hold a learner's receipt to the file it was handed in with: `python -m scripts.receipt receipt.txt starter.py`.

A browser gives the receipt when a lab's tests have passed there. It is no grade, as anybody can write one: that is
what `shardlab grade` is for. The exit status is 0 where the receipt is of this file and of a whole lab, else 1.
"""

from argparse import Namespace

from core.course.receipt import read_receipt
from scripts.terminal import OFF, Answer, Computed, Parser, command, print_aligned, read_text, run


def _answer(asked: Namespace) -> Computed:
    receipt = read_receipt(read_text(asked.receipt))
    answer = {
        "lab": receipt.lab,
        "passed": receipt.passed,
        "tasks": receipt.tasks,
        "whole": receipt.is_whole,
        "belongs": receipt.is_of(read_text(asked.file)),
    }
    rows = [
        ("lab", receipt.lab),
        ("passed", f"{len(receipt.passed)} of {receipt.tasks} tasks"),
        ("file", "the receipt is of this file" if answer["belongs"] else "the receipt is of another file"),
    ]
    return answer, lambda: print_aligned(rows)


def _status(answer: Answer) -> int:
    return 0 if answer["belongs"] and answer["whole"] else OFF


def make_parser() -> Parser:
    parser = Parser(prog="receipt", description="Does a receipt belong to a file?")
    parser.add_argument("receipt", help="the file with the receipt's line, or - for standard input")
    parser.add_argument("file", help="the learner's starter.py")
    parser.common("--json")
    return parser


main = command(make_parser, _answer, _status)

if __name__ == "__main__":
    run(main)
