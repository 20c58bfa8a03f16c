"""What labs' tests and the judge say, in Spanish: each sentence has its words, and wrong answers are told."""

import ast
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.report import Grade, as_gradescope, as_junit, as_text
from core.course.grading.tasks import LABS, Outcome, tally
from runtime import content, learner_grading
from runtime.grading import grade
from runtime.refusals import LABS as STEMS
from runtime.refusals import template_of, translated
from scripts.terminal import told
from tests.core.comm_cost import test_lab_mutants_comm_cost as comm_cost
from tests.core.pipeline_bubble import test_lab_mutants_pipeline_bubble as pipeline_bubble
from tests.core.sharding_math import test_lab_mutants_sharding_math as sharding_math
from tests.each import each
from tests.lab_runs import ROOT, run_lab, run_mutants
from tests.sandbox import CANNOT_CONFINE

ENGLISH = re.compile(
    r"\b(?:the|is|are|was|were|must|not|of|and|with|have|has|which|each|that|for|of|due|task|line)\b"
)
"""Words that no sentence of Spanish has."""

OWN = re.compile(r"se esperaba: .*?(?:; se encontró|$)|array split .* division|'[^']*'")
"""What is code, or numpy's own words."""

SPEAKERS = (
    *("labs/*.py", "labs/*/test_lab.py", "labs/*/checks.py"),
    *("core/course/grading/answer.py", "core/course/grading/probe.py", "core/course/grading/probes*.py"),
    *("runtime/grading.py", "runtime/conversation.py"),
)
"""The files that say something to a student."""

NO_SPEAKERS = {
    *("compile", "fullmatch", "search", "sub", "match", "add_argument", "common", "Parser", "parametrize"),
    *("ValueError", "StashKey", "importorskip", "LinkSpec", "UsageError"),
}
"""Calls whose texts nobody is told."""

FORMULAS = ("(p - 1)/m", "m + p - 1")


def written(path: Path) -> Iterator[str]:
    """Every piece of a sentence in a file: what docstrings, patterns, options and names are, is none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = {id(part) for node in ast.walk(tree) for part in no_sentences(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def no_sentences(node: ast.AST) -> list[ast.AST]:
    """A docstring, what `--help` prints, and the texts of patterns and of programs."""
    if isinstance(node, ast.Expr):
        return [node.value]
    name = getattr(getattr(node, "func", None), "attr", getattr(getattr(node, "func", None), "id", ""))
    return list(ast.walk(node)) if isinstance(node, ast.Call) and name in NO_SPEAKERS else []


def bare(text: str) -> str:
    """A text without its values, in small letters and single spaces."""
    for formula in FORMULAS:
        text = text.replace(formula, "0")
    text = content.FIELD.sub("0", text.replace("{}", "0"))
    return " ".join(re.sub(r"\S*\d\S*?(?=[,.;:]*(?:\s|$))", "…", text).lower().split())


def inner(piece: str) -> str:
    """A piece of a sentence without its first and last word, which a value may touch; empty of a short one."""
    words = bare(piece).split()[1:-1]
    return " ".join(words) if len(words) > 2 else ""


SAID = "\n".join(bare(text) for stem in STEMS for text in content.blocks(stem, content.ENGLISH).values())


@each("path", sorted({path.relative_to(ROOT).as_posix() for rule in SPEAKERS for path in ROOT.glob(rule)}))
def test_every_sentence_of_a_lab_and_of_its_judge_has_its_words(path):
    """A piece of a sentence stands in some block: what is new in the code, and in no language, is found here."""
    assert {piece: inner(piece) for piece in written(ROOT / path) if inner(piece) not in SAID} == {}


@each("name", [(stem, name) for stem in ("labs",) for name in content.blocks(stem, content.ENGLISH)])
def test_a_message_is_found_by_its_words_and_by_no_others(name):
    """Filled with words that no block has, each block is taken for itself."""
    stem, block = name
    text = content.blocks(stem, content.ENGLISH)[block]
    found = template_of(content.FIELD.sub(lambda field: f"<{field[1]}>", text), block.startswith("part."), stem)
    assert found is not None
    assert found[0] == block


def test_no_message_takes_long_to_be_found():
    """Six fields between commas, in a text of commas: told apart by patterns, it took minutes."""
    listed = ", ".join(["a"] * 2_000)
    began_s = time.process_time()
    for text in (f"x=y is none of {listed} or so", listed, "=" * 4_000, "a=b must be " * 400):
        translated(text, *STEMS)
    assert time.process_time() - began_s < 0.5


def test_a_number_of_any_length_in_a_message_is_said_as_it_stands():
    """Six thousand digits in groups: Python refuses to make a number of them."""
    long = "1" + ",111" * 2_000
    with content.speaking("es"):
        assert long in translated(f"The answer has a number of {long} digits.", *STEMS)


def english(text: str) -> list[str]:
    """The English words in what was told in Spanish."""
    return ENGLISH.findall(OWN.sub("", text))


MUTANTS = {
    "lab-01-tp-sharding-math": sharding_math,
    "lab-03-tp-comm-cost": comm_cost,
    "lab-04-pipeline-bubble": pipeline_bubble,
}


@pytest.mark.slow
@pytest.mark.parametrize("lab", MUTANTS)
def test_a_plausible_bug_is_told_in_spanish(lab, tmp_path, monkeypatch):
    """A third of the wrong answers that English tells of, by the test that is to kill each."""
    monkeypatch.setenv("LAB_LANG", "es")
    mutants = dict(list(MUTANTS[lab].MUTANTS.items())[::3])
    graded = run_mutants(lab, MUTANTS[lab].REFERENCE, mutants, tmp_path)
    said = {
        outcome.failure.splitlines()[0] for outcomes in graded.values() for outcome in outcomes if outcome.failure
    }
    assert len(said) > len(graded) // 2
    assert {line: words for line in said if (words := english(line))} == {}


ONE_OF_EACH = {
    "lab-01": (
        """
def row_parallel(x, W, num_ranks, ledger=None, bias=None):
    pairs = zip(np.split(x, num_ranks, 1), np.split(W, num_ranks, 1))
    return all_reduce([a @ b.T + (0 if bias is None else bias) for a, b in pairs], ledger)
""",
        "test_row_parallel_adds_the_bias_once",
        "A cada entrada le sobra 1 · bias: cada uno de los 2 rangos lo sumó antes de la suma, y corresponde una"
        " sola vez, después de ella.",
    ),
    "lab-03": (
        """
def comm_fraction(comm_s, step_s):
    return comm_s / step_s if step_s else 1.0
""",
        "test_the_fraction_is_of_the_whole_wall_clock",
        "1 s de comunicación junto a 3 s de cálculo: se devolvió 0,333333, y corresponde 0,25. Eso es comunicación"
        " entre cálculo: la parte es sobre la suma de los dos.",
    ),
    "lab-04": (
        """
def bubble_fraction(stages, microbatches):
    return Fraction(stages, microbatches + stages)
""",
        "test_counted_and_formula_are_the_same_fraction",
        "p=1, m=1: se devolvió 1/2, y corresponde 0. Espera una etapa de más: la primera nunca espera.",
    ),
}


def attempt(lab: str, folder: Path) -> Path:
    starter = ROOT / "labs" / LABS[lab].folder / "starter.py"
    (folder / "mine.py").write_text(starter.read_text(encoding="utf-8") + ONE_OF_EACH[lab][0], encoding="utf-8")
    return folder / "mine.py"


@pytest.mark.parametrize("lab", ONE_OF_EACH)
def test_a_slip_is_told_by_the_labs_tests_in_the_language_that_is_named(lab, tmp_path, monkeypatch):
    monkeypatch.setenv("LAB_LANG", "es")
    _, test, said = ONE_OF_EACH[lab]
    outcomes = run_lab(LABS[lab].folder, str(attempt(lab, tmp_path)), tmp_path / "report.xml", "-k", test)
    assert next(outcome.failure.splitlines()[0] for outcome in outcomes if outcome.failure) == said


def test_the_panel_of_the_app_tells_a_learners_slip_in_its_own_language(tmp_path):
    """Lab 01's tests run in a process of their own, which is told what the page speaks."""
    with content.speaking("es"):
        grades = {grade.task: grade.first_failure for grade in learner_grading.grade(attempt("lab-01", tmp_path))}
    assert grades[2] == ONE_OF_EACH["lab-01"][2]
    assert grades[3].startswith("NotImplementedError: lab-01, tarea 3: mlp_tp (línea ")


@pytest.mark.ranks
def test_a_slip_on_real_ranks_is_told_too(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("LAB_LANG", "es")
    (tmp_path / "mine.py").write_text(RANKS, encoding="utf-8")
    outcomes = run_lab(
        "lab-02-two-way-tp", str(tmp_path / "mine.py"), tmp_path / "report.xml", "-k", "row_parallel"
    )
    said = [outcome.failure.splitlines()[0] for outcome in outcomes if outcome.failure]
    assert said == [
        "A cada entrada le sobra 1 · bias: cada uno de los 2 rangos lo sumó antes de la suma, y corresponde una"
        " sola vez."
    ]


RANKS = """
import torch
import torch.nn.functional as F
from distributed.layers import RowParallelLinear as Right

class RowParallelLinear(Right):
    def forward(self, x):
        y = F.linear(x, self.weight)
        return self.group.all_reduce(y if self.bias is None else y + self.bias)
"""


@pytest.mark.parametrize("named", ["xx", "../en"])
def test_a_language_that_there_is_not_is_refused_at_once(named):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "labs/lab-04-pipeline-bubble"],
        cwd=ROOT,
        env={**os.environ, "LAB_LANG": named},
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"LAB_LANG={named}: there is no such language; one of: en, es" in done.stdout + done.stderr
    assert "passed" not in done.stdout


@pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")
@pytest.mark.parametrize("lab", ONE_OF_EACH)
def test_a_slip_is_told_by_the_judge_in_spanish(lab, tmp_path):
    with content.speaking("es"):
        results = grade(LABS[lab], attempt(lab, tmp_path), 7)
        report = as_text(Grade(LABS[lab], results), told)
    assert {line: words for line in report.splitlines() if (words := english(line))} == {}
    assert re.search(r"tarea 1  \w+: 0 de \d+", report)


@each("lab", LABS.values())
def test_every_claim_and_every_slip_of_the_judge_has_both_languages(lab):
    for seed in range(3):
        for probe in probes(lab, seed):
            slips = [f"{slip[:1].upper()}{slip[1:]}." for slip in probe.slips]
            with content.speaking("es"):
                for sentence in (probe.claim, *slips):
                    assert translated(sentence, *STEMS) != sentence
                    assert english(translated(sentence, *STEMS)) == []


WRONG = ({}, None, 7.5, "3/4", "no", True, [], [[1, 2], [3]], [1.5, 2.5], {"value": {}})
PARTS = ("ledger", "reduced", "shares", "raised", "gathered", "shown", "hops", "left", "held")


@each("lab", LABS.values())
def test_whatever_is_wrong_with_an_answer_is_told_in_spanish(lab):
    asked = probes(lab, 1)
    for probe in asked:
        answers = [*WRONG, *({"value": value} for value in WRONG), {"raised": "ValueError: no (line 3)"}]
        answers += [{**probe.expected, part: [[1, 2]]} for part in PARTS]
        for answer in answers:
            said = verdict(probe, answer)
            with content.speaking("es"):
                assert english(translated(said, *STEMS)) == [], said


@given(st.text(max_size=400), st.sampled_from(["", "On rank 0: ", "The inputs: a=1, ", "X: 1 was returned, and "]))
def test_any_text_in_any_place_of_a_message_is_said(text, before):
    """A student chooses most of a message: none ends the judge."""
    with content.speaking("es"):
        for message in (
            text,
            before * 40 + text,
            f"{text} (line 3 of {text})",
            f"2 was returned, and {text} is due.",
        ):
            assert isinstance(translated(message, *STEMS), str)


def test_a_report_is_in_spanish_in_every_format():
    lab = LABS["lab-03"]
    with content.speaking("es"):
        rows = [(probe.task, Outcome(translated(probe.claim, *STEMS), translated("There is no answer.", *STEMS)))
                for probe in probes(lab, 1)]  # fmt: skip
        whole = Grade(lab, tally(lab, rows), confined=False)
        for report in (as_text, as_junit, as_gradescope):
            assert "Ningún sandbox confinó el código mientras se calificaba." in report(whole, told)
            assert "No hay respuesta." in report(whole, told)
        assert json.loads(as_gradescope(whole, told))["output"].startswith("lab-03-tp-comm-cost: 0 de 40 puntos.")
