"""What pages hand to workers: every task is found in their sources, and no task's module imports Streamlit."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for room in ("ui", "pages") for path in sorted((ROOT / room).rglob("*.py"))]
HANDED_BY = ("workers.run", "paste.read")


def modules(path: Path) -> Iterator[str]:
    """The modules of the functions that a source hands to a worker, itself or through a function of its own."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        (name.asname or name.name): (node.module, name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
    }
    called = {name for name, (module, one) in imported.items() if f"{module.rpartition('.')[2]}.{one}" in HANDED_BY}
    carriers, parameters = {*HANDED_BY, *called}, {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        given = {arg.arg for arg in function.args.args}
        if any(isinstance(task, ast.Name) and task.id in given for task in handed(function, carriers)):
            carriers.add(function.name)
    own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for task in handed(tree, carriers):
        if isinstance(task, ast.Attribute):
            yield ".".join(imported[ast.unparse(task.value)])
        elif isinstance(task, ast.Name) and task.id not in parameters:
            yield imported[task.id][0] if task.id in imported else own


def handed(tree: ast.AST, carriers: set[str]) -> list[ast.expr]:
    """The first argument of each call of a carrier."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
    return [call.args[0] for call in calls if ast.unparse(call.func) in carriers]


@pytest.mark.slow
def test_no_task_of_a_worker_takes_streamlit_along():
    """A worker that imported it would take a second, and 50 MB, before its first answer."""
    found = sorted({module for path in SOURCES for module in modules(path)})
    assert {
        "core.placement.topology",
        "core.links.fitted_tables",
        "core.startup_log.reader",
        "ui.placement.rows_load",
    } <= set(found)
    asked = f"import sys, importlib; [importlib.import_module(one) for one in {found}]; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"streamlit", "torch", "altair", "pandas"} & set(loaded.stdout.split())
