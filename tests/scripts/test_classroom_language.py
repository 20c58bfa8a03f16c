"""A class in Spanish: what students are handed and told, and what each pack carries for it."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core.course.grading.tasks import LABS
from scripts import classroom, grade
from scripts.classes.packages import task_command
from tests.lab_runs import ROOT
from tests.sandbox import CANNOT_CONFINE

LAB = LABS["lab-03"]
STARTER = (ROOT / "labs" / LAB.folder / "starter.py").read_text(encoding="utf-8")
confined = pytest.mark.skipif(CANNOT_CONFINE, reason="no sandbox can be had here")


@pytest.fixture
def folder(tmp_path):
    """A seed, a roster of two, and what they sent."""
    assert classroom.main(["seed", "--seed-file", str(tmp_path / "seed.txt")]) == 0
    (tmp_path / "roster.csv").write_text("student\nada\nbo\n")
    (tmp_path / "class" / "ada").mkdir(parents=True)
    (tmp_path / "class" / "ada" / "starter.py").write_text(STARTER, encoding="utf-8")
    (tmp_path / "class" / "ada" / "answers.txt").write_text("q1 = 1 KiB\n")
    return tmp_path


def asked(folder, what, *more):
    roster, seed = str(folder / "roster.csv"), str(folder / "seed.txt")
    return classroom.main([what, LAB.key, "--roster", roster, "--seed-file", seed, "--lang", "es", *more])


@confined
def test_a_class_is_graded_in_spanish_whatever_thread_grades_it(folder, capsys):
    """Grades are given in threads of their own, which begin in English."""
    out, feedback = str(folder / "grades.csv"), folder / "feedback"
    status = asked(
        folder, "grade", "--submissions", str(folder / "class"), "--out", out, "--feedback", str(feedback)
    )
    assert status == 0
    assert capsys.readouterr().err == "calificadas: 1; sin entrega: 1; sin calificar: 0\n"
    page = (feedback / "ada.md").read_text(encoding="utf-8")
    assert "- `comm_fraction`, de todo el tiempo de reloj: `NotImplementedError: lab-03, tarea 5: " in page
    assert "Escribiste `1 KiB`. Esta no es la respuesta." in page
    assert "No hay respuesta." in (folder / "grades.csv").read_text(encoding="utf-8")
    assert "no se envió nada" in (folder / "grades.csv").read_text(encoding="utf-8")


def test_what_is_missing_in_a_class_is_said_in_spanish(folder, capsys):
    assert asked(folder, "check", "--submissions", str(folder / "class")) == 1
    out = capsys.readouterr().out
    assert "ada      mira" in out
    assert "comm_fraction aún no está escrita" in out
    assert "q2 no tiene respuesta" in out
    assert "bo       mira   no se envió nada" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grade", "lab-03"], "grade necesita --roster, --submissions, --seed-file y --out"),
        (["key", "lab-03", "--out", "x"], "key necesita --roster y --seed-file"),
        (["handout"], "lab=ninguno es lo que se indicó; uno de lab-01, "),
        (
            ["qti", "lab-03", "--out", "x", "--seed-file", "nowhere"],
            "seed-file=nowhere no está; `classroom seed` crea",
        ),
    ],
)
def test_a_command_that_lacks_something_says_it_in_spanish(arguments, said, capsys):
    with pytest.raises(SystemExit):
        classroom.main([*arguments, "--lang", "es"])
    assert said in capsys.readouterr().err


@confined
def test_one_submission_is_graded_in_spanish(capsys):
    assert grade.main(["lab-03", "--practice", "--lang", "es"]) == 0
    out = capsys.readouterr().out
    assert (
        "     tarea 5  comm_fraction: 0 de 2\n       de todo el tiempo de reloj: NotImplementedError: lab-03" in out
    )
    assert out.endswith("0 de 40 puntos\n")


def test_a_notebook_checks_its_form_in_its_own_language(folder, capsys):
    assert classroom.main(["notebook", LAB.key, "--lang", "es", "--out", str(folder / "lab.ipynb")]) == 0
    cells = json.loads((folder / "lab.ipynb").read_text(encoding="utf-8"))["cells"]
    exec(cells[-1]["source"], {"ANSWERS": "q1 = 5 ms\nhello", "fit_link": json.loads})
    out = capsys.readouterr().out.splitlines()
    assert "comm_fraction no está definida: ejecuta la celda con tu código" in out
    assert "fit_link está" in out
    assert out[-2:] == ["q1 se lee como '5 ms'", "no se lee ninguna respuesta en 'hello'"]


def run_in(folder, command):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_template_repository_tells_failures_in_its_language(tmp_path):
    """It holds the words of its lab and no page's, and its own workflow names the language."""
    assert classroom.main(["github", LAB.key, "--lang", "es", "--out", str(tmp_path / "template")]) == 0
    folder = tmp_path / "template"
    command = task_command(LAB, 5).replace("LAB_IMPL=starter", "LAB_IMPL=starter LAB_LANG=es")
    assert command in (folder / ".github" / "workflows" / f"{LAB.key}.yml").read_text(encoding="utf-8")
    assert "NotImplementedError: lab-03, tarea 5: comm_fraction (línea " in run_in(folder, command).stdout
    assert sorted(path.name for path in (folder / "content" / "es").iterdir()) == [
        "errors.md", "labs.md", "language.md"
    ]  # fmt: skip
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("# Laboratorio 03")


def test_gradescopes_zip_grades_in_its_language(folder):
    """Its script names the language, and the words are in it: its own autograder says what it cannot grade."""
    assert asked(folder, "gradescope", "--out", str(folder / "lab.zip")) == 0
    with zipfile.ZipFile(folder / "lab.zip") as archive:
        archive.extractall(folder / "source")
    script = (folder / "source" / "run_autograder").read_text(encoding="utf-8")
    assert "--lang es" in script
    assert "Sin calificar: el autocalificador no arrancó. Esto no es un cero. Avisa a quien te enseña." in script
    place = folder / "autograder"
    (place / "submission").mkdir(parents=True)
    (place / "submission_metadata.json").write_text(json.dumps({"users": [{"name": "nobody"}]}))
    command = f"python -m scripts.classes.autograder lab-03 --autograder {place} --lang es"
    assert run_in(folder / "source", command).returncode == 0
    told = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))["output"]
    assert told == (
        "Sin calificar: student=nobody no es nadie en la lista de quien enseña\n"
        "Esto no es un cero. Avisa a quien te enseña."
    )
