"""CONTRIBUTING's worked example, followed: its two blocks, each in the file that it is for."""

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.catalog import link as find_link
from core.collectives import cost, programs
from core.comm_cost.bill import LAB_STEP_S, Step, bill
from core.course.quiz import paper
from core.scenario import Scenario
from core.specs import LinkSpec
from runtime import content
from runtime.prose import Prose, said
from scripts.bill import main as print_bill
from scripts.collective import main as print_collective
from tests.conftest import placed
from ui.comm_cost.charts import bill_bars
from ui.comm_cost.rows import bill_row
from ui.theme import LIGHT, Look

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```python (\S+)\n(.*?)```", GUIDE, re.DOTALL))
SCENE = dict(re.findall(r"```(?:python|markdown-scene) ((?:ui|content|pages)/\S+)\n(.*?)```", GUIDE, re.DOTALL))
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DECISIONS = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
FOLDER = dict(re.findall(r"```markdown (\S+)\n(.*?)```", GUIDE, re.DOTALL))
LINK = LinkSpec("own", "own", 1e-6, 1e9)


def definition(path: str, name: str) -> str:
    """The source of a class, a function or a method; empty where a file has none of that name."""
    source = (ROOT / path).read_text("utf-8")
    node: ast.AST | None = ast.parse(source)
    for part in name.split("."):
        node = next((one for one in getattr(node, "body", ()) if getattr(one, "name", "") == part), None)
    return ast.get_source_segment(source, node) if node else ""


def resolved(name: str) -> bool:
    """Whether a name in dots is a module, or something that a module has."""
    module, _, inside = name.rpartition(".")
    return (ROOT / (name.replace(".", "/") + ".py")).exists() or hasattr(importlib.import_module(module), inside)


def added(module, file):
    """What a block of the guide defines, in the module it is for."""
    names = dict(vars(module))
    exec(BLOCKS[file], names)
    return names["chain_broadcast"]


def test_a_collective_takes_two_blocks_that_agree(monkeypatch, capsys):
    """Four ranks: three rounds, and the whole payload through a port in each; in the tables, the command has it."""
    assert sum(file.startswith("core/") for file in BLOCKS) == 2
    closed_form = added(cost, "core/collectives/cost.py")(8 * 100, 4, LINK)
    program = added(programs, "core/collectives/programs.py")(4)
    run = programs.run(program, [np.full((1, 100), float(rank)) for rank in range(4)])
    assert (run.steps, run.traffic_bytes) == (closed_form.steps, closed_form.traffic_bytes) == (3, 2400)
    assert all(np.array_equal(buffer, np.zeros((1, 100))) for buffer in run.buffers)
    name = ("broadcast", "chain")
    monkeypatch.setattr(cost, "ALGORITHMS", {name: added(cost, "core/collectives/cost.py")})
    sizes = ["--ranks", "4", "--bytes", "800", "--latency-us", "1", "--bandwidth-gb-s", "1", "--json"]
    assert '("broadcast", "chain")' in GUIDE
    assert print_collective(["--op", name[0], "--algorithm", name[1], *sizes]) == 0
    assert json.loads(capsys.readouterr().out)["traffic_bytes"] == 2400


def test_a_language_takes_one_folder(tmp_path, monkeypatch):
    """The two files of the guide beside English: its plurals, its marks, and English for what it has not."""
    shutil.copytree(content.CONTENT / "en", tmp_path / "content" / "en")
    for name, text in FOLDER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    content.forget()
    monkeypatch.setattr(content, "CONTENT", tmp_path / "content")
    try:
        assert content.languages() == ("en", "fr")
        with content.speaking("fr"):
            assert said("players", "play") == "Lecture"
            assert said("players", "schedule.position", done=3, all=1.5) == "3 sur 1,5 pas"
            assert said("players", "pause") == content.blocks("players", "en")["pause"]
        for name in FOLDER:
            stem = Path(name).stem
            assert set(content.blocks(stem, "fr")) <= set(content.blocks(stem, "en"))
    finally:
        content.forget()


def with_the_scene(name: str, text: str) -> str:
    """A file of the scene's, as the guide says to change it."""
    block = SCENE[name]
    match name.split("/")[0], Path(name).suffix:
        case "content", _:
            tabs, said = block.split("\n\n", 1)
            return re.sub(r"## tab\.\*\n(.+\n)+", lambda _: tabs + "\n", text) + "\n" + said
        case "pages", _:
            return text[: text.index("scenes.play(")] + block
        case _ if block.startswith("Entry("):
            return re.sub(re.escape(block.split(", ")[0]) + ".*,", lambda _: block.strip() + ",", text)
    imports, _, drawn = block.partition("\n\n\n")
    return text.replace("\nfrom ", f"\n{imports}\nfrom ", 1) + "\n\n" + drawn


def test_a_scene_takes_four_files(tmp_path):
    """The four, changed in a copy of the app: the scene has its name, its words and its figure."""
    assert len(SCENE) == 4
    for part in ("core", "ui", "runtime", "content", "data", "pages", "labs", ".streamlit", "streamlit_app.py"):
        (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, tmp_path / part)
    for name in SCENE:
        (tmp_path / name).write_text(with_the_scene(name, (tmp_path / name).read_text("utf-8")), "utf-8")
    seen = """
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("streamlit_app.py", default_timeout=60)
at.switch_page("pages/10_quiz.py")
at.query_params["quiz_scene"] = "concepts"
at.run()
assert not at.exception and not at.error
scenes = at.segmented_control(key="scenes_quiz").options
print(scenes, [title.value for title in at.title], [text.value for text in at.markdown])
"""
    done = subprocess.run([sys.executable, "-c", seen], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "['Questions', 'Your score', 'Concepts', 'Limits'] ['What the questions are about']" in done.stdout
    assert f"A bar is as long as its concept has questions, of {len(paper(1))} in all." in done.stdout


def test_every_file_the_guide_names_is_there():
    named = re.findall(r"`((?:core|ui|docs|labs|tests|runtime|scripts)/[\w./-]+\.(?:py|md))`", GUIDE)
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("text", [ARCHITECTURE, DECISIONS], ids=["architecture", "decisions"])
def test_every_path_and_name_of_the_architecture_is_there(text):
    """Files and folders, what is defined in a file, and names in Python's dots."""
    named = re.findall(r"`((?:\w+/)+[\w.*-]*|\w+\.py)(?::([\w.]+))?`", text)
    missing = [path for path, name in named if not list(ROOT.glob(path)) or (name and not definition(path, name))]
    missing += [name for name in re.findall(r"`((?:core|runtime)(?:\.\w+)+)", text) if not resolved(name)]
    assert len(named) > 4
    assert missing == []


def test_from_the_readme_to_the_end_of_one_lab_is_fifteen_minutes():
    """230 words a minute, code and tables too: README, architecture, lab 03's own, each definition of the walk."""
    walk = set(re.findall(r"`((?:\w+/)+\w+\.py):([\w.]+)`", ARCHITECTURE))
    pages = ("README.md", "docs/architecture.md", "labs/lab-03-tp-comm-cost/README.md")
    texts = [(ROOT / page).read_text("utf-8") for page in pages] + [definition(path, name) for path, name in walk]
    assert len(walk) > 8
    assert sum(len(text.split()) for text in texts) <= 15 * 230


def test_eight_kib_go_from_the_slider_to_the_ink(capsys):
    """The architecture's walk of one number: address, step, bill, messages, prose, figure, terminal."""
    scenario, ignored = Scenario.from_query({"model": "llama-3-8b", "batch": "1", "tp": "2"})
    nvlink = find_link("nvlink-4")
    step = Step(scenario.model_spec, scenario.tp, scenario.batch, LAB_STEP_S)
    assert (step.payload_bytes, ignored) == (scenario.batch * 4096 * 2, [])
    priced, alone = bill(step, nvlink), cost.ring_all_reduce(8192, 2, nvlink)
    assert (priced.waiting_s, priced.bandwidth_s) == (64 * alone.waiting_s, 64 * alone.bandwidth_s)
    halves = [np.zeros((2, 4096 // 2), dtype=np.float16) for _ in range(2)]
    assert programs.run(programs.ring_all_reduce(2), halves).traffic_bytes == alone.traffic_bytes == 8192
    sentence = content.blocks("comm_cost", "en")["see.reading_decode"].split(". ")[0]
    assert Prose({"it": sentence}, {"step": step}).text("it").endswith("carries 8 KiB")
    row = bill_row(priced, nvlink.name, "")
    (drawn,) = [mark for mark in bill_bars([asdict(row)], Look(LIGHT), 10.0).rows if "waiting" in mark][:1]
    assert (row.latency_ms, drawn["waiting"]) == (1e3 * priced.waiting_s, row.waiting)
    assert print_bill(["--model", "llama-3-8b", "--tp", "2", "--link", "nvlink-4", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["payload_bytes"], printed["all_reduces"], printed["comm_s"]) == (8192, 64, priced.comm_s)


def test_the_readmes_test_command_is_what_ci_runs_first():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = re.search(r"pip install -r requirements-dev.txt && (pytest[^#\n]*?)\s*(?:#|\n)", readme)[1]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^pytest.*$", ci, re.MULTILINE)[0] == command


def test_a_file_of_tests_stays_whole_and_walks_of_pages_stand_apart():
    """What its tests share, as a page in the browser, is let go when a test of another file runs in between."""
    walks = [f"tests/browser/test_every_page.py::test_walk[{page}]" for page in range(4)]
    names = [*walks, *(f"tests/browser/test_lab04.py::test_{number}" for number in range(6))]
    files = [those for _, those in placed([SimpleNamespace(nodeid=name) for name in names])]
    assert [len(those) for those in files] == [1, 1, 1, 1, 6]
    assert [item.nodeid for those in files for item in those] == names
