"""The quiz in a terminal: `python -m scripts.quiz --seed 7`, one question after another; an empty line skips one.

At the end it prints the score by concept, and the sheet to go on from: `--sheet "7;bubble=30%25"`. With `--json`
the paper and what the sheet's answers come to are one object, and nothing is asked.
"""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from functools import partial

from core.course.quiz import BANK, Choice, Question, Sheet, judge, paper
from core.course.quiz.paper import ConceptScore
from core.units import percent
from scripts.terminal import Answer, Computed, Parser, command, picked, print_aligned, run, words


def _answer(options: Namespace) -> Computed:
    sheet = Sheet.from_text(options.sheet) if options.sheet else Sheet(options.seed)
    questions = _chosen(options, sheet)
    if not options.json:
        sheet = _ask(questions, sheet)
    return _as_json(questions, sheet, options.solutions), partial(_print_score, sheet)


def _chosen(options: Namespace, sheet: Sheet) -> tuple[Question, ...]:
    """The questions asked for, by key or by concept."""
    questions = paper(sheet.seed, options.only)
    return tuple(one for one in questions if not options.concept or one.concept == options.concept)


def _text(question: Question, block: str) -> str:
    return words("quiz", block, question.fields)


def _options(question: Question) -> Mapping[str, str]:
    """A choice's options by their letters; none for a number."""
    if not isinstance(question, Choice):
        return {}
    answers = (_text(question, f"{question.key}.say_{name}") for name in question.options)
    return dict(zip(question.letters, answers, strict=True))


def _ask(questions: Sequence[Question], sheet: Sheet) -> Sheet:
    """Each question that the sheet has no answer to, until the input ends."""
    for number, question in enumerate(questions, start=1):
        if question.key in sheet.answers:
            continue
        print(f"\n{number} of {len(questions)}, {question.concept}\n{_text(question, f'{question.key}.asks')}")
        for letter, option in _options(question).items():
            print(f"  {letter}  {option}")
        answer = _reply(question)
        if answer is None:
            break
        if answer:
            sheet = sheet.with_answer(question.key, answer)
    return sheet


def _reply(question: Question) -> str | None:
    """One readable answer with its feedback; "" for a skipped question, None at the end of the input."""
    while True:
        print("> ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return None
        answer = line.strip()
        if not answer:
            return ""
        judged = judge(question, answer)
        print(
            f"{'right' if judged.right else 'not so' if judged.read else 'again'}: {_text(question, judged.block)}"
        )
        if judged.read:
            return answer


def _print_score(sheet: Sheet) -> None:
    score = sheet.score()
    verdict = "passed" if score.passed else "not passed yet"
    print(f"\n{score.right} of {score.questions} right, {percent(score.fraction, 0)}: {verdict}")
    answered = [one for one in score.concepts if one.answered]
    if answered:
        print_aligned([(one.concept, f"{one.right}/{one.answered}", _where(one)) for one in answered])
    print(f"go on with: python -m scripts.quiz --sheet '{sheet.text()}'")


def _where(score: ConceptScore) -> str:
    """The scene to go back to, where too few were right."""
    return f"see {score.taught.stem}, {score.taught.scene}" if score.is_weak else ""


def _as_json(questions: Sequence[Question], sheet: Sheet, solutions: bool) -> Answer:
    judged, score = sheet.judged(), sheet.score()
    by_key = {question.key: question for question in paper(sheet.seed)}
    return {
        "seed": sheet.seed,
        "sheet": sheet.text(),
        "questions": [_question(question, solutions) for question in questions],
        "answers": {
            key: {"said": sheet.answers[key], "right": reply.right, "feedback": _text(by_key[key], reply.block)}
            for key, reply in judged.items()
        },
        "score": {
            **picked(score, "right", "answered", "questions", "fraction", "passed"),
            "concepts": {one.concept: picked(one, "right", "answered") for one in score.concepts},
            "weak": [picked(one, "concept", page="taught.stem", scene="taught.scene") for one in score.weak],
        },
    }


def _question(question: Question, solutions: bool) -> Answer:
    asked: dict[str, object] = {
        "key": question.key,
        "concept": question.concept,
        "asks": _text(question, f"{question.key}.asks"),
        "options": dict(_options(question)),
        "answer_in": None if isinstance(question, Choice) else question.dimension,
        "taught": picked(question.taught, page="stem", scene="scene"),
    }
    if solutions:
        asked["answer"] = question.key_answer
    return asked


def make_parser() -> Parser:
    parser = Parser(prog="quiz", description="Questions over the whole course, their numbers from a seed.")
    parser.common("--seed")
    parser.add_argument("--sheet", help="a seed and answers as printed before, to go on from")
    parser.add_argument("--only", nargs="*", default=(), metavar="KEY", help=f"some of the {len(BANK)} questions")
    parser.add_argument("--concept", help="the questions of one concept")
    parser.add_argument("--solutions", action="store_true", help="with --json: the answers as well")
    parser.common("--json")
    return parser


main = command(make_parser, _answer)

if __name__ == "__main__":
    run(main)
