"""What labs' tests and the judge say, in Spanish: each sentence has its words, and wrong answers are told."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.remarks import LONGEST, remark_of, say
from core.course.grading.report import Grade, as_gradescope, as_junit, as_text
from core.course.grading.tasks import LABS, Outcome, tally
from core.errors import as_row, raised, remark
from runtime import content, learner_grading
from runtime.grading import grade
from runtime.prose import sentence
from scripts.terminal import told
from tests.core.comm_cost import test_lab_mutants_comm_cost as comm_cost
from tests.core.pipeline_bubble import test_lab_mutants_pipeline_bubble as pipeline_bubble
from tests.core.sharding_math import test_lab_mutants_sharding_math as sharding_math
from tests.each import each
from tests.lab_runs import ROOT, run_lab, run_mutants
from tests.said import fields_of
from tests.sandbox import CANNOT_CONFINE

ENGLISH = re.compile(
    r"\b(?:the|is|are|was|were|must|not|of|and|with|have|has|which|each|that|for|of|due|task|line)\b"
)
"""Words that no sentence of Spanish has."""

OWN = re.compile(r"se esperaba: .*?(?:; se encontró|$)|array split .* division|'[^']*'")
"""What is code, or numpy's own words."""

SPEAKERS = (
    *("labs/**/*.py", "core/course/grading/answer.py", "core/course/grading/probe*.py"),
    *("runtime/grading.py", "runtime/conversation.py", "runtime/learner_code.py"),
)
"""The files that say something to a student."""

BLOCKS = {
    name.removeprefix("remark."): set(fields_of(text))
    for name, text in content.blocks("labs", content.ENGLISH).items()
}


def said() -> Iterator[tuple[str, str, set[str]]]:
    """Where a file says something, each block that it may be, and the values that are given; a star for `**`."""
    for path in sorted({path for rule in SPEAKERS for path in ROOT.glob(rule)}):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(call, "func", None), "id", "")
            if name in ("say", "fail", "fail_type", "remark") and call.args:
                given = {keyword.arg or "*" for keyword in call.keywords}
                given |= {"type", *(["*"] if name == "fail_type" else [])}
                for code in codes(call.args[0]):
                    if name != "remark" or code.startswith("labs."):
                        place = f"{path.relative_to(ROOT)}:{call.lineno}"
                        yield place, code.removeprefix("labs.").replace("{}", "*"), given


def codes(node: ast.expr) -> list[str]:
    """The texts that an argument may be, with a star for what is put in."""
    if isinstance(node, ast.IfExp):
        return [*codes(node.body), *codes(node.orelse)]
    if isinstance(node, ast.Subscript):
        return [code for one in getattr(node.value, "elts", ()) for code in codes(one)]
    if isinstance(node, ast.JoinedStr):
        return ["".join(part.value if isinstance(part, ast.Constant) else "*" for part in node.values)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def named(code: str) -> list[str]:
    """The blocks that a code may mean: several where something is put in."""
    return [block for block in BLOCKS if fnmatchcase(block, code)]


def test_all_that_is_said_has_its_words_and_their_values():
    wrong = {}
    for where, code, values in said():
        blocks = named(code)
        if not blocks or ("*" not in values and "*" not in code and BLOCKS[blocks[0]] - values):
            wrong[where] = code, [BLOCKS[one] - values for one in blocks]
    assert wrong == {}


def test_no_words_are_left_over():
    claimed = {block for _, code, _ in said() if code not in ("*", "claim.*") for block in named(code)}
    raised = {"judge.not_finite", "judge.too_long"}  # by the submission's process, which has no import of ours
    claims = {probe.claim.code.removeprefix("labs.") for lab in LABS.values() for probe in probes(lab, 1)}
    assert set(BLOCKS) - claimed - raised - claims == set()


@each(
    "row",
    [
        [],
        ["labs.judge.digits"],
        ["labs.judge.digits", {}],
        ["errors.rule.least", {"value": "x"}],
        ["../../README.x", {"a": 1}],
        ["errors.no_such", {"a": 1}],
        [["labs.judge.digits", {}], {}],
        ["errors.raised.at_line", {"error": ["errors.raised.at_line", {"error": []}], "at": {}}],
        {"value": 1},
        "x" * 9_000,
        None,
    ],
)
def test_a_row_that_no_program_of_ours_wrote_is_said_as_its_text(row):
    """A student's process may send what it likes: none of it ends the judge, or is read as a file's name."""
    with content.speaking("es"):
        assert len(sentence(remark_of(row))) <= LONGEST


def test_a_row_in_rows_is_cut():
    row = "deep"
    for _ in range(60):
        row = ["errors.raised.on_rank", {"error": row, "rank": 0}]
    assert len(str(remark_of(row))) <= LONGEST


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
            for one in (probe.claim, *probe.slips):
                with content.speaking("es"):
                    spanish = sentence(one)
                assert spanish != str(one)
                assert english(spanish) == []


WRONG = ({}, None, 7.5, "3/4", "no", True, [], [[1, 2], [3]], [1.5, 2.5], {"value": {}})
PARTS = ("ledger", "reduced", "shares", "raised", "gathered", "shown", "hops", "left", "held")


@each("lab", LABS.values())
def test_whatever_is_wrong_with_an_answer_is_told_in_spanish(lab):
    asked = probes(lab, 1)
    for probe in asked:
        answers = [
            *WRONG,
            *({"value": value} for value in WRONG),
            {"raised": as_row(remark("errors.raised.at_line", error=raised(ValueError("no")), at=3))},
        ]
        answers += [{**probe.expected, part: [[1, 2]]} for part in PARTS]
        for answer in answers:
            found = verdict(probe, answer)
            with content.speaking("es"):
                assert found is None or english(sentence(found)) == [], found


@given(st.text(max_size=400))
def test_any_text_that_is_raised_is_said(text):
    with content.speaking("es"):
        assert isinstance(sentence(remark_of(as_row(raised(ValueError(text))))), str)


def test_a_report_is_in_spanish_in_every_format():
    lab = LABS["lab-03"]
    with content.speaking("es"):
        rows = [(probe.task, Outcome(sentence(probe.claim), sentence(say("judge.no_answer"))))
                for probe in probes(lab, 1)]  # fmt: skip
        whole = Grade(lab, tally(lab, rows), confined=False)
        for report in (as_text, as_junit, as_gradescope):
            assert "Ningún sandbox confinó el código mientras se calificaba." in report(whole, told)
            assert "No hay respuesta." in report(whole, told)
        assert json.loads(as_gradescope(whole, told))["output"].startswith("lab-03-tp-comm-cost: 0 de 40 puntos.")
