"""A lab's tests and its judge agree on every task of many answers, right ones in many hands and wrong ones."""

import pytest

from core.course.grading.tasks import LABS
from tests.both_ways import lab_01, lab_03, lab_04
from tests.both_ways.judged import judged
from tests.lab_runs import run_mutants

pytestmark = pytest.mark.slow

WRITTEN = {"lab-01": lab_01, "lab-03": lab_03, "lab-04": lab_04}


@pytest.mark.parametrize("key", WRITTEN)
def test_the_labs_tests_and_the_judge_agree_on_every_task(key, tmp_path):
    """Each answer says by hand which of its tasks are wrong; both find these, and no other."""
    lab, written = LABS[key], WRITTEN[key]
    codes = {name: (code, "") for name, (code, _) in written.ANSWERS.items()}
    tested = run_mutants(lab.folder, written.BEFORE, codes, tmp_path, whole=True)
    task_of = {test: task.number for task in lab.tasks for test in task.tests}
    files = {name: tmp_path / f"mutant_{number}.py" for number, name in enumerate(codes, 1)}
    told = judged(lab, files, tmp_path)
    wrong = []
    for name, (_, due) in written.ANSWERS.items():
        failures = {task_of[one.name]: one.failure for one in tested[name] if one.failure}
        marked = {task: why for task, why in told[name].items() if why}
        if not sorted(failures) == sorted(marked) == sorted(due):
            wrong.append((name, due, failures, marked))
    assert not wrong, "\n".join(map(str, wrong))


def test_there_are_fifty_answers_and_half_of_them_have_a_fault():
    answers = [due for written in WRITTEN.values() for _, due in written.ANSWERS.values()]
    assert len(answers) >= 50
    assert 0.3 < sum(bool(due) for due in answers) / len(answers) < 0.8
