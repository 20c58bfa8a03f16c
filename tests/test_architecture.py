"""The rooms of the house and who may enter them, read from the imports themselves."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from core import units
from runtime import quantities
from tests.each import each
from ui.course.pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
STDLIB = set(sys.stdlib_module_names)
OURS = {"core", "ui", "pages", "runtime", "distributed", "scripts", "static_site", "labs", "tests", "benchmarks"}

WORDS = {
    "runtime.catalog_words",
    "runtime.content",
    "runtime.kept",
    "runtime.mermaid",
    "runtime.prose",
    "runtime.quantities",
    "runtime.rows",
}
"""What says a label, a sentence or a number in the language of the visit."""

FIGURE = {"pandas", "pyarrow", "numpy", "core", "runtime.one_process", "ui.theme", "ui.figures", *WORDS}

MAY_IMPORT = {
    "core": {"numpy", "core"},
    "ui/theme.py": set(),
    "ui/figures": FIGURE,
    "ui/players": {"streamlit", "ui.players", *WORDS},
    "ui/*/charts*.py": FIGURE,
    "ui/*/drawing*.py": FIGURE,
    "ui/*/pictures*.py": FIGURE,
    "ui/*/rows*.py": {"core", *WORDS},
    "ui/*/words*.py": {"numpy", "core", "ui.prose", *WORDS},
    "ui": {"streamlit", "pandas", "core", "ui", "runtime"},
    "pages": {"streamlit", "core", "ui", "runtime"},
    "streamlit_app.py": {"streamlit", "ui", "runtime"},
    "runtime": {"numpy", "safetensors", "core", "runtime"},
    "distributed": {"torch", "numpy", "safetensors", "core", "runtime", "distributed"},
    "scripts": {"core", "runtime", "scripts"},
    "static_site": {"core", "runtime", "static_site", "ui", "streamlit"},
}
"""Beside the standard library; the most specific rule a file falls under decides.

What a figure draws and what prose says is tested without an app: a file of a subject that is named for one of them
may import the like of itself in any subject, and no streamlit.
"""

ALIKE = {
    "ui/*/charts*.py": r"ui\.\w+(\.charts.*)?$",
    "ui/*/drawing*.py": r"ui\.\w+(\.drawing.*)?$",
    "ui/*/pictures*.py": r"ui\.\w+(\.pictures.*)?$",
    "ui/*/rows*.py": r"ui\.\w+(\.rows.*)?$",
    "ui/*/words*.py": r"ui\.\w+(\.(rows|words).*)?$",
}
"""Which modules of a subject such a file may import; the package alone gives nothing away.

So a figure is handed rows and knows of no row's making, rows know nothing of prose, and prose may read rows.
"""

EXCEPTIONS = {
    "scripts/screenshots.py": {"playwright", "ui.course.pages"},
    "scripts/static_site.py": {"static_site"},
    # in the tab, where the worker's module and these two stand side by side
    "static_site/browser/boot.py": {"anyio", "one_thread", "tab"},
    "static_site/browser/lab_judge.py": {"pytest"},
    "scripts/slides.py": {"playwright", "ui.course.pages", "ui.paths"},
    "ui/server.py": {"starlette"},  # whose middleware `st.App` takes
    "ui/lab_files.py": {"starlette"},
    "ui/open_paths.py": {"starlette"},
    "ui/uploads.py": {"starlette"},
    "ui/wanted_messages.py": {"starlette"},
}
"""One file each, named with what it may import besides."""

ORDER = (
    *(
        "units",
        "english",
        "errors",
        "text",
        "specs",
        "ledger",
        "catalog",
        "scenario",
        "models",
    ),
    *("collectives", "links"),
    *("sharding_math", "comm_cost", "steps", "pipeline_bubble", "serving", "evidence", "placement"),
    *("two_way_tp", "startup_log", "strategy", "clinic", "ask", "course"),
)
"""Inside core, a room never imports one to the right of it."""


def sources(rule: str) -> list[Path]:
    """The Python files a rule speaks of."""
    return sorted(found for path in ROOT.glob(rule) for found in ([path] if path.is_file() else path.rglob("*.py")))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> frozenset[str]:
    """Every module a file imports, dotted, wherever in the file it does so."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return frozenset(name for name in found if name.split(".")[0] not in STDLIB | {"_typeshed"})


def room(path: Path) -> str:
    """The most specific rule a file falls under."""
    relative = path.relative_to(ROOT)
    under = [rule for rule in MAY_IMPORT if any(part.match(rule) for part in (relative, *relative.parents[:-1]))]
    return max(under, key=lambda rule: (rule.count("/"), len(rule)))


def allowed(module: str, permits: set[str]) -> bool:
    """Whether a module, or the package it lies in, is permitted; `ui` permits `ui.theme`, not the other way."""
    return any(module == permit or module.startswith(f"{permit}.") for permit in permits)


def test_what_prose_is_filled_with_stands_in_a_subjects_words():
    """`fields` and its like, by which a page's prose gets its numbers: in `words*` and nowhere else."""
    elsewhere = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in ROOT.glob("ui/*/*.py")
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef) and re.fullmatch(r"([a-z]\w*_)?fields", node.name)
        if not path.name.startswith("words")
    }
    assert not elsewhere
    assert not list(ROOT.glob("ui/*/fields*.py"))
    typed = {
        f"{path.relative_to(ROOT)}: {node.value}"
        for path in ROOT.glob("ui/*/words*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and re.fullmatch(r"[\d.,]+ ?([kKMGT]i?B(/s)?|[mµ]?s|%)", str(node.value))
    }
    assert not typed, "a quantity is core's, and prose gives it its unit"


def test_the_architecture_page_has_this_order_and_these_imports():
    """docs/architecture.md: the rooms of core line by line, and what each room of its table may import."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = re.search(r"```\n(units .*?)```", text, re.DOTALL)[1]
    assert tuple(name for line in block.splitlines() for name in re.split(r"\s{2,}", line)[0].split()) == ORDER
    outside = {"numpy", "pandas", "pyarrow", "safetensors", "streamlit", "torch"}
    for rooms, imports in re.findall(r"^\| (.*?`.*?) \| (.*?) \|", text, re.MULTILINE):
        for told in re.findall(r"`([\w/*]+)`", rooms):
            rule = f"ui/*/{told}.py" if told.endswith("*") else told
            assert MAY_IMPORT[rule] & outside == set(re.findall(r"\w+", imports)) & outside, told


@pytest.mark.parametrize("rule", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(rule):
    for path in sources(rule):
        if room(path) != rule:
            continue
        permits = MAY_IMPORT[rule] | EXCEPTIONS.get(path.relative_to(ROOT).as_posix(), set())
        strangers = {
            name
            for name in imported(path)
            # `from ui import theme` names the package `ui` too: the package alone gives nothing away
            if not allowed(name, permits)
            and not any(permit.startswith(f"{name}.") for permit in permits)
            and not (rule in ALIKE and re.match(ALIKE[rule], name))
        }
        assert not strangers, f"{path.relative_to(ROOT)} imports {sorted(strangers)}"


def test_core_reads_no_file_and_no_clock():
    """Pure: no I/O, no time, no environment, no randomness of its own, no threads or processes.

    `core/english.py` alone opens files, those with the words of errors, so that core says them without a page.
    """
    forbidden = {"os", "io", "time", "datetime", "pathlib", "random", "subprocess", "threading", "socket", "sys"}
    for path in sources("core"):
        tree = tree_of(path)
        modules = {
            name.split(".")[0]
            for node in ast.walk(tree)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        calls = {
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        strangers = modules & (forbidden - {"pathlib"} if path.name == "english.py" else forbidden)
        assert not strangers, f"{path.relative_to(ROOT)} imports {strangers}"
        assert not calls & {"open", "print", "input", "exec", "eval"}, path.relative_to(ROOT)


def graph_of(house: str) -> dict[str, set[str]]:
    """Which module imports which, by file."""
    modules = {path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path for path in sources(house)}
    graph = {}
    for name, path in modules.items():
        targets = {target for target in imported(path) if target in modules and target != name}
        graph[name.removesuffix(".__init__")] = {target.removesuffix(".__init__") for target in targets}
    return graph


def test_a_page_writes_its_numbers_in_the_language_of_the_visit():
    """What core writes for a terminal has a decimal point; runtime.quantities puts the visit's marks in."""
    writes = {f"core.units.{name}" for name in quantities.__dict__ if hasattr(units, name)}
    assert "core.units.percent" in writes
    for path in (*sources("ui"), *sources("pages")):
        assert not imported(path) & writes, f"{path.relative_to(ROOT)}: from runtime.quantities instead"


def in_or_behind_a_cycle(graph: dict[str, set[str]]) -> list[str]:
    """What is left of a graph when whatever imports nothing that is left is taken away, again and again."""
    done = set()
    while ready := {name for name, targets in graph.items() if name not in done and targets <= done}:
        done |= ready
    return sorted(set(graph) - done)


def test_core_has_no_cycle():
    assert in_or_behind_a_cycle(graph_of("core")) == []


def test_no_arrow_between_the_rooms_of_ui_runs_back_up():
    rooms: dict[str, set[str]] = {}
    for name, targets in graph_of("ui").items():
        mine, *others = (".".join(module.split(".")[:2]) for module in (name, *targets))
        rooms.setdefault(mine, set()).update(set(others) - {mine})
    assert in_or_behind_a_cycle(rooms) == []


def test_a_file_is_read_in_one_go():
    """The longest has 300 lines, a page 120."""
    ours = [
        path for house in ("core", "ui", "runtime", "distributed", "scripts", "labs") for path in sources(house)
    ]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (*ours, *sources("pages"))}
    assert not {
        path.name: lines for path, lines in lengths.items() if lines > (120 if path.match("pages/*") else 300)
    }


def test_a_docstring_says_more_than_its_name():
    terse = [
        f"{path.relative_to(ROOT)}: {said}"
        for house in ("core", "ui", "runtime", "distributed", "scripts", "pages")
        for path in sources(house)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (said := ast.get_docstring(node))
        if len(said.split()) < 5
    ]
    assert not terse


def test_core_imports_point_one_way():
    rank = {name: place for place, name in enumerate(ORDER)}
    for name, targets in graph_of("core").items():
        for target in targets - {"core"}:
            mine, theirs = (rank[module.split(".")[1]] for module in (name, target))
            assert theirs <= mine, f"{name} imports {target}"


@each("page", PAGES[1:])
def test_one_stem_names_every_file_of_a_lab(page):
    """Knowing the stem is knowing every file."""
    stem = page.stem
    assert (ROOT / page.path).is_file()
    assert (ROOT / f"content/en/{stem}.md").is_file()
    assert list(ROOT.glob(f"core/{stem}/*.py")) or list(ROOT.glob(f"core/course/{stem}*"))
    assert list(ROOT.glob(f"ui/{stem}/*.py"))
    assert list(ROOT.glob(f"tests/core/{stem}/test_*.py")) or list(ROOT.glob(f"tests/core/course/test_{stem}.py"))


def test_the_server_process_never_imports_torch():
    """The app is imported whole, every module of it, and torch is not among what came along."""
    program = (
        "import sys, pkgutil, importlib, ui, runtime, core\n"
        "for package in (ui, runtime, core):\n"
        "    for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(module.name)\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=120)
