"""The app stands on what its libraries document: no private name of theirs is read or replaced."""

import ast
from pathlib import Path

from tests.each import each

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("ui", "pages", "runtime", "deploy", "cloud")
FILES = [ROOT / "streamlit_app.py", *(path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))]
LIBRARIES = ("streamlit", "uvicorn", "starlette", "websockets", "altair")
DOCUMENTED = {
    "streamlit",
    "streamlit.delta_generator",  # the type of what a container returns
    "streamlit.errors",
    "streamlit.navigation.page",  # the type of what `st.Page` returns
    "starlette.datastructures",
    "starlette.middleware",
    "starlette.requests",
    "starlette.responses",
    "starlette.types",
}
"""What these libraries' documentation names, of what is imported here."""


STANDARD = {"_replace", "_asdict", "_fields", "_exit"}
"""What the standard library documents, for all its underscore."""


def library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def faults(source: str) -> list[str]:
    """Every private name of a library that a file imports, reads or replaces."""
    tree, theirs, found = ast.parse(source), set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if library(one.name):
                    theirs.add((one.asname or one.name).partition(".")[0])
                    found += [one.name] if one.name not in DOCUMENTED else []
        elif isinstance(node, ast.ImportFrom) and node.module and library(node.module):
            theirs |= {one.asname or one.name for one in node.names}
            found += [node.module] if node.module not in DOCUMENTED else []
            found += [one.name for one in node.names if one.name.startswith("_")]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        root = node.value
        while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
            root = root.func if isinstance(root, ast.Call) else root.value
        is_private = node.attr.startswith("_") and not node.attr.startswith("__") and node.attr not in STANDARD
        named = root.id if isinstance(root, ast.Name) else ""
        replaced = named in theirs and isinstance(node.ctx, ast.Store)
        if replaced or (is_private and named not in ("self", "cls", "other")):
            found.append(ast.unparse(node))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        replaces = isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr")
        if replaces and isinstance(call.args[0], ast.Name) and call.args[0].id in theirs:
            found.append(ast.unparse(call))
    return found


@each("path", FILES)
def test_no_private_name_of_a_library_is_read_or_replaced(path):
    assert not faults(path.read_text(encoding="utf-8"))


@each(
    "source",
    [
        "from streamlit.runtime import Runtime",
        "import streamlit as st\nst._main",
        "import streamlit as st\nst.container = None",
        "from uvicorn import Server\nServer.run = None",
        "import streamlit as st\nsetattr(st, 'html', None)",
        "import streamlit as st\nst.container()._cursor",
        "from streamlit.proto.BackMsg_pb2 import BackMsg",
    ],
)
def test_each_way_to_reach_for_a_private_name_is_found(source):
    assert faults(source)
