"""The reading rooms' numbers and tables: the releases that were read, and what was checked against which."""

from collections.abc import Mapping, Sequence

from core.course.citations import SOURCES, citations, source
from runtime.citations import Check, recorded
from ui.prose import Prose, escape

_MARKS = {"holds": "✓", "moved": "✕", "not asked": "·"}


def checks_table(prose: Prose) -> str:
    """The releases that were checked, each with its day and what came out of it, as Markdown."""
    return _table(
        prose.text("checks.head"),
        [
            (source(each.engine).name, each.release, each.checked, prose.text("checks.held", each),
             ", ".join(f"`{key}`" for key in each.moved) or "–")
            for each in recorded()
        ],
    )  # fmt: skip


def claims_tables(prose: Prose) -> Mapping[str, str]:
    """Every claim about each engine: where it was looked up, and in which releases it holds, as Markdown."""
    return {each.name: _claims(prose, each.engine) for each in SOURCES}


def _claims(prose: Prose, engine: str) -> str:
    checks = [each for each in recorded() if each.engine == engine]
    head = prose.text("claims.head") + "".join(f" {escape(each.release)} |" for each in checks)
    rows = [
        (prose.text(f"{engine}.{row.key}"), f"`{row.symbol or '*'}`", f"`{row.file}`", *_outcomes(row.key, checks))
        for row in citations(engine)
        if row.key.startswith("claim.")
    ]
    return _table(head, rows) if rows else ""


def _outcomes(key: str, checks: Sequence[Check]) -> list[str]:
    return [_MARKS.get(each.rows.get(key, ""), "·") for each in checks]


def _table(head: str, rows: Sequence[Sequence[str]]) -> str:
    rule = "|".join("---" for _ in range(head.count("|") - 1))
    return "\n".join([head, f"|{rule}|", *(f"| {' | '.join(cells)} |" for cells in rows)])
