"""The rooms of the house and who may enter them, read from the imports themselves."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from ui.course import PAGES

ROOT = Path(__file__).resolve().parents[1]
STDLIB = set(sys.stdlib_module_names)
OURS = {"core", "ui", "pages", "runtime", "distributed", "scripts", "labs", "tests", "benchmarks"}

MAY_IMPORT = {
    "core": {"numpy", "core"},
    "ui/theme.py": set(),
    "ui/frames.py": {"pandas", "core"},
    "ui/charts": {"altair", "pandas", "core", "ui.theme", "ui.frames", "ui.charts"},
    "ui/rows": {"core", "ui.rows"},
    "ui/facts": {"numpy", "core", "ui.rows", "ui.facts", "ui.prose"},
    "ui/drawings": {"core", "ui.theme", "ui.drawings"},
    "ui/components": {"streamlit", "ui.components"},
    "ui": {"streamlit", "pandas", "core", "ui", "runtime"},
    "pages": {"streamlit", "core", "ui", "runtime"},
    "streamlit_app.py": {"streamlit", "ui"},
    "runtime": {"numpy", "safetensors", "core", "runtime"},
    "distributed": {"torch", "numpy", "safetensors", "core", "runtime", "distributed"},
    "scripts": {"core", "runtime", "scripts"},
}
"""Beside the standard library; the most specific room a file lies in decides."""

EXCEPTIONS = {"scripts/screenshots.py": {"playwright", "ui.course"}}
"""One file each, named with what it may import besides."""

ORDER = ("units", "errors", "specs", "catalog", "ledger")
"""Inside core, what lies to the left never imports what lies to the right."""


def sources(folder: str) -> list[Path]:
    """The Python files of a room."""
    path = ROOT / folder
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Every module a file imports, dotted, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return {name for name in found if name.split(".")[0] not in STDLIB | {"_typeshed"}}


def room(path: Path) -> str:
    """The most specific rule a file falls under."""
    relative = path.relative_to(ROOT).as_posix()
    return max((rule for rule in MAY_IMPORT if relative == rule or relative.startswith(f"{rule}/")), key=len)


def allowed(module: str, permits: set[str]) -> bool:
    """Whether a module, or the package it lies in, is permitted; `ui` permits `ui.theme`, not the other way."""
    return any(module == permit or module.startswith(f"{permit}.") for permit in permits)


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
            if not allowed(name, permits) and not any(permit.startswith(f"{name}.") for permit in permits)
        }
        assert not strangers, f"{path.relative_to(ROOT)} imports {sorted(strangers)}"


def test_core_reads_no_file_and_no_clock():
    """Pure: no I/O, no time, no environment, no randomness of its own, no threads or processes."""
    forbidden = {"os", "io", "time", "datetime", "pathlib", "random", "subprocess", "threading", "socket", "sys"}
    for path in sources("core"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
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
        assert not modules & forbidden, f"{path.relative_to(ROOT)} imports {modules & forbidden}"
        assert not calls & {"open", "print", "input", "exec", "eval"}, path.relative_to(ROOT)


def core_graph() -> dict[str, set[str]]:
    """Which core module imports which, by file."""
    modules = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path for path in sources("core")
    }
    graph = {}
    for name, path in modules.items():
        targets = {target for target in imported(path) if target in modules and target != name}
        graph[name.removesuffix(".__init__")] = {target.removesuffix(".__init__") for target in targets}
    return graph


def test_core_has_no_cycle():
    graph, done = core_graph(), set()
    while ready := {name for name, targets in graph.items() if name not in done and targets <= done}:
        done |= ready
    assert set(graph) == done, f"in or behind a cycle: {sorted(set(graph) - done)}"


def test_core_imports_point_one_way():
    """units, errors, then specs, then the catalog, then the ledger."""
    rank = {f"core.{name}": place for place, name in enumerate(ORDER)}

    def place(module: str) -> int | None:
        return next((rank[known] for known in rank if module == known or module.startswith(f"{known}.")), None)

    for name, targets in core_graph().items():
        for target in targets:
            mine, theirs = place(name), place(target)
            assert mine is None or (theirs is not None and theirs <= mine), f"{name} imports {target}"


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_one_stem_names_every_file_of_a_lab(page):
    """Knowing the stem is knowing every file."""
    stem = page.stem
    assert (ROOT / page.path).is_file()
    assert (ROOT / f"content/en/{stem}.md").is_file()
    assert list(ROOT.glob(f"core/{stem}.py")) + list(ROOT.glob(f"core/{stem}/__init__.py"))
    assert (ROOT / f"ui/facts/{stem}.py").is_file()
    assert list(ROOT.glob(f"tests/core/test_{stem}*.py"))


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
