"""What the clinic and the log reader ask is as much as core has to tell."""

from dataclasses import fields

from core.clinic.hang import TESTS
from runtime.captures import recorded_faults
from ui.clinic.hangs import HangsQuestion
from ui.startup_log.bench import EXERCISES, Question


def test_every_recorded_fault_has_a_diagnosis_and_every_test_an_outcome():
    faults = {f"fault_{number}" for number in range(1, len(recorded_faults()) + 1)}
    tests = {f"test_{test.key}" for test in TESTS}
    assert {one.name for one in fields(HangsQuestion)} == {"whose", "log", *faults, *tests}


def test_every_exercise_has_an_answer():
    answers = {f"{key}_{part}" for key in EXERCISES for part in ("said", "shown")}
    assert {one.name for one in fields(Question)} == {"model", "tp", "pp", "case", *answers}
