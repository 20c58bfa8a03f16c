"""The keys that style sheets and scripts select are those that pages give, and are named in one place."""

import re
from pathlib import Path

from tests.each import each
from ui.places import PLACES

ROOT = Path(__file__).resolve().parents[2]
SHEETS = [path for path in (ROOT / "ui").rglob("*.*") if path.suffix in {".css", ".js"}]
PYTHON = [path.read_text(encoding="utf-8") for room in ("ui", "pages") for path in (ROOT / room).rglob("*.py")]


@each("sheet", SHEETS)
def test_every_key_a_sheet_or_script_selects_is_a_named_place(sheet):
    for key in re.findall(r"st-key-(\w+)", sheet.read_text(encoding="utf-8")):
        assert key in PLACES or any(key.startswith(name) for name in PLACES if name.endswith("_")), key


@each("name", PLACES)
def test_every_named_place_is_given_by_a_page_and_selected_by_a_sheet(name):
    """A key is a string of its own, or begins one; `_` at its end is followed by what tells one from another."""
    ending = "" if name.endswith("_") else '"'
    given = re.compile(rf'[( =]f?"{name}{ending}')
    assert any(given.search(text) for text in PYTHON), name
    selects = re.compile(rf"st-key-{name}" + ("" if name.endswith("_") else r"\b(?!_)"))
    assert any(selects.search(sheet.read_text(encoding="utf-8")) for sheet in SHEETS), name
