"""Mutants of core: one change of an operator, a comparison or a number at a time, and whether a test notices.

    python -m benchmarks.mutants --seed 20261122 --most 20

Works on the files of this checkout, one after another, and puts each back: run it in a copy. A mutant is tried on
the ten test files that are nearest to its function, so one that lives is a place to look, and no verdict: it may be
the same function still, or die by a test further off.
"""

import argparse
import ast
import os
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SWAPPED: dict[type, type] = {
    one: other
    for pair in (
        *((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or), (ast.Lt, ast.LtE)),
        *((ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    )
    for one, other in (pair, pair[::-1])
} | {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult}
MOST_S = 300
"""The tests nearest to a function take a minute; a changed one may loop for ever."""
FAR = {"browser", "distributed", "pages", "runtime"}


def places(function: ast.FunctionDef) -> list[ast.AST]:
    """Every operator, comparison and number of a function that can be changed."""
    return [node for node in ast.walk(function) if _change(node, really=False)]


def _change(node: ast.AST, really: bool = True) -> bool:
    match node:
        case ast.BinOp() | ast.BoolOp() if type(node.op) in SWAPPED:
            node.op = SWAPPED[type(node.op)]() if really else node.op
        case ast.Compare() if type(node.ops[0]) in SWAPPED:
            node.ops[0] = SWAPPED[type(node.ops[0])]() if really else node.ops[0]
        case ast.Constant() if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            node.value = node.value + 1 if really else node.value
        case _:
            return False
    return True


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """A module's own functions, without those inside of others."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def near(path: Path, name: str, tests: dict[Path, str]) -> list[str]:
    """The ten test files that speak most of a function, its module and its room."""
    inside = path.relative_to(ROOT)
    module, rooms = ".".join(inside.with_suffix("").parts), {path.parent.name, inside.parts[1]}

    def score(test: Path) -> int:
        named = min(3, len(re.findall(rf"\b{name}\b", tests[test])))
        return 3 * bool(rooms & set(test.parts)) + 3 * named + 4 * (f"from {module} import" in tests[test])

    return [str(test) for test in sorted(tests, key=score, reverse=True)[:10] if score(test)]


def main() -> None:
    """Try so many mutants, drawn by a seed, and print what became of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=20)
    options = parser.parse_args()
    found = [path for path in (ROOT / "tests").rglob("test_*.py") if not FAR & set(path.parts)]
    tests = {path: path.read_text("utf-8") for path in found}
    every = [
        (path, number, place)
        for path in sorted((ROOT / "core").rglob("*.py"))
        for number, function in enumerate(functions(ast.parse(path.read_text("utf-8"))))
        for place in range(len(places(function)))
    ]
    for path, number, place in random.Random(options.seed).sample(every, options.most):
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        function = functions(tree)[number]
        node = places(function)[place]
        before = ast.unparse(node)
        _change(node)
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        try:
            path.write_text(ast.unparse(tree), "utf-8")
            code = subprocess.run(
                [*command, *near(path, function.name, tests)],
                cwd=ROOT, capture_output=True, env={**os.environ, "CI": "true"}, timeout=MOST_S,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = None
        finally:
            path.write_text(source, "utf-8")
        became = {0: "lived", 1: "died", None: "never ended"}.get(code, "could not be tried")
        print(f"{became}  {path.relative_to(ROOT)} {function.name}: {before} -> {ast.unparse(node)}", flush=True)


if __name__ == "__main__":
    main()
