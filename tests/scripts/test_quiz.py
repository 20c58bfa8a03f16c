"""The quiz in a terminal: asked line by line, resumed by its sheet, and one JSON object."""

import io
import json

import pytest

from core.course.quiz import BANK, Sheet, paper
from scripts.quiz import main


def run(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_paper_has_every_question_and_no_answer_unless_asked_for(capsys):
    printed = run(capsys, "--seed", "7")
    assert [one["key"] for one in printed["questions"]] == list(BANK)
    assert all("{{" not in one["asks"] and "answer" not in one for one in printed["questions"])
    solved = run(capsys, "--seed", "7", "--solutions")
    assert [one["answer"] for one in solved["questions"]] == [one.key_answer for one in paper(7)]


def test_a_sheet_is_judged_with_feedback(capsys):
    (right,) = paper(7, ["ring_hops"])
    sheet = Sheet(7).with_answer("ring_hops", right.key_answer).with_answer("slow_rank", "1 ms")
    printed = run(capsys, "--sheet", sheet.text())
    assert printed["answers"]["ring_hops"]["right"]
    assert printed["answers"]["slow_rank"]["feedback"]
    assert printed["score"]["weak"] == [{"concept": "waiting", "page": "clinic", "scene": "straggler"}]


def test_questions_are_asked_until_the_input_ends(capsys, monkeypatch):
    first = paper(7, ["ring_hops", "bubble"])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"many\n{first[0].key_answer}\n\n"))
    assert main(["--seed", "7", "--only", "ring_hops", "bubble"]) == 0
    out = capsys.readouterr().out
    assert "again:" in out
    assert "right:" in out
    assert f"--sheet '7;ring_hops={first[0].key_answer}'" in out


def test_a_concept_can_be_asked_alone(capsys):
    printed = run(capsys, "--concept", "published slips")
    assert len(printed["questions"]) >= 6
    assert {one["concept"] for one in printed["questions"]} == {"published slips"}


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--only", "riddle"], ["--seed", "x"]])
def test_what_it_cannot_do_is_one_line_and_status_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
