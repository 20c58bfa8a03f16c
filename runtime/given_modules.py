"""What a lab's starter may import, as modules of their own that hold nothing else: no reference, no tests.

A definition is kept with all that it names, in its own module and in those it imports from, and a package hands on
what it imports; the rest is left out.
"""

import ast
import threading
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from runtime.files import ROOT, put_text

Name = tuple[str, str]
"""A module and one of its names; "*" for all of them."""

_one_parses = threading.Lock()
"""CPython 3.11 counts the depth of the tree that it builds for the whole process: two threads' counts would mix.
Source: python/cpython issue #106905.
"""


def write_given(starter: Path, folder: Path, also: Iterable[Name] = ()) -> None:
    """Write the modules of ours that a starter imports from, each with what it imports, into a folder."""
    wanted: dict[str, set[str]] = defaultdict(set)
    queue = [*_imports(_tree(starter)), *also]
    while queue:
        module, name = queue.pop()
        if name in wanted[module]:
            continue
        wanted[module].add(name)
        tree = _tree(_path(module))
        queue += [(module, other) for other in _named_by(tree, name)]
        queue += [imported for imported in _imports(tree) if _is_named(tree, name, imported[1])]
    if "core.english" in wanted:  # an error says itself in its words
        put_text(folder, "content/en/errors.md", (ROOT / "content/en/errors.md").read_text(encoding="utf-8"))
    for module, names in wanted.items():
        _write(folder, module, ast.unparse(_only(_tree(_path(module)), names)))


def _path(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _tree(path: Path) -> ast.Module:
    """A file's tree, parsed once for every submission. Whoever reads it leaves it as it is."""
    with _one_parses:
        return _parsed(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _imports(tree: ast.Module) -> list[Name]:
    """Every name that is imported from a module of ours."""
    return [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and _path(node.module).is_file()
        for alias in node.names
    ]


def _defined(node: ast.stmt) -> set[str]:
    """What a statement of a module gives a name to."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {leaf.id for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)}
    return set()


def _uses(node: ast.AST) -> set[str]:
    return {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}


def _named_by(tree: ast.Module, name: str) -> set[str]:
    """What the definition of a name names of its own module's."""
    everything = set().union(*(_defined(node) for node in tree.body))
    return {other for node in tree.body if name in _defined(node) for other in _uses(node) & everything} - {name}


def _is_named(tree: ast.Module, name: str, imported: str) -> bool:
    """Whether a name is the imported one, or its definition uses that."""
    return name == imported or any(name in _defined(node) and imported in _uses(node) for node in tree.body)


def _only(tree: ast.Module, names: set[str]) -> ast.Module:
    """The module with the definitions of these names and the imports that they use."""
    kept = [node for node in tree.body if _defined(node) & names]
    used = names.union(*map(_uses, kept))
    head: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            aliases = [a for a in node.names if (a.asname or a.name).partition(".")[0] in used]
            if aliases:
                head.append(ast.Import(aliases) if isinstance(node, ast.Import)
                            else ast.ImportFrom(node.module, aliases, node.level))  # fmt: skip
    return ast.fix_missing_locations(ast.Module(head + kept, []))


def _write(folder: Path, module: str, text: str) -> None:
    put_text(folder, _path(module).relative_to(ROOT).as_posix(), text + "\n")
