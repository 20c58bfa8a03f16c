"""Answers under the judge's own program and verdicts, each in a fork: as it is graded, but for what confines it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from core.course.grading.probe import verdict
from core.course.grading.probes import probes
from core.course.grading.tasks import Lab
from tests.lab_runs import ROOT

ASKED = """
import json, os, sys
from pathlib import Path
import numpy
from distributed.graded_process import _call, _load, _raised

for file, answers, requests in json.loads(sys.stdin.read()):
    child = os.fork()
    if not child:
        module, loaded = _load(file)
        given = []
        for function, inputs in requests:
            try:
                given.append(_call(module, file, function, inputs))
            except BaseException as error:
                given.append({"raised": _raised(error, file)})
        Path(answers).write_text(json.dumps(given, default=str))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(file)
"""


def judged(lab: Lab, files: Mapping[str, Path], folder: Path, seeds=(1, 2, 3)) -> dict[str, dict[int, str]]:
    """What is wrong with each task of each answer, by any of some seeds: one sentence, empty where nothing is."""
    asked = [probe for seed in seeds for probe in probes(lab, seed)]
    requests = [(probe.function, dict(probe.given)) for probe in asked]
    answers = {name: folder / f"answers_{number}.json" for number, name in enumerate(files)}
    work = [(str(path), str(answers[name]), requests) for name, path in files.items()]
    subprocess.run(
        [sys.executable, "-c", ASKED],
        input=json.dumps(work).encode(),
        cwd=ROOT,
        env=dict(os.environ),
        check=True,
        timeout=600,
    )
    return {name: _by_task(lab, asked, json.loads(path.read_text())) for name, path in answers.items()}


def _by_task(lab, asked, answers):
    wrong = {task.number: "" for task in lab.tasks}
    for probe, answer in zip(asked, answers, strict=True):
        wrong[probe.task] = wrong[probe.task] or verdict(probe, answer)
    return wrong
