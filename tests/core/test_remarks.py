"""What core has to say: every code has its words, and every word its value."""

import ast
from pathlib import Path

from runtime import content
from tests.said import fields_of

CORE = Path(__file__).resolve().parents[2] / "core"


def codes() -> dict[str, set[str]]:
    """Every code that core passes to `remark`, and the names it passes with it."""
    uses: dict[str, set[str]] = {}
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "remark"
                and node.args
            ):
                values = {keyword.arg or "" for keyword in node.keywords}
                for one in ast.walk(node.args[0]):
                    if isinstance(one, ast.Constant) and isinstance(one.value, str) and "." in one.value:
                        uses.setdefault(one.value, values)
    return uses


def test_every_code_of_core_is_worded_and_every_word_has_its_value():
    for code, values in codes().items():
        stem, _, name = code.partition(".")
        blocks = content.load(stem)
        if name.endswith("_"):  # the code goes on with a value
            assert any(block.startswith(f"remark.{name}") for block in blocks), code
            continue
        if name and "" not in values:  # `**values` may hold any
            assert fields_of(blocks[f"remark.{name}"]) <= values, code
