"""A run's lines as a table: what was printed, what it means, what was predicted and logged, and the verdict.

HTML as text, every value escaped; its colours are the shell's custom properties.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

from runtime.prose import named, said
from runtime.rows import Row

SIGNS = {"ok": "✓", "off": "✕", "unexplained": "?"}
_CSS = Path(__file__).with_suffix(".css")
PREDICTED, LOGGED = "predicted", "logged"


def log_table(
    rows: Sequence[Row],
    meanings: Mapping[str, str],
    caption: str,
    present: bool = False,
    printed: str = "",
) -> str:
    """The table, of rows with the line's number, what stands `before`, in and after its `field`, and both numbers.

    `meanings` holds a sentence a topic; `caption` is only read out; `printed` heads the lines.
    """
    body = "".join(_row(row, meanings[row.topic]) for row in rows)
    means, verdict = said("startup_log", "says.what_it_means"), said("startup_log", "says.verdict")
    printed = printed or said("startup_log", "says.what_program_printed")
    head = ("", printed, means, _name(PREDICTED), _name(LOGGED), verdict)
    return _table("log-table projected" if present else "log-table", head, body, caption)


def _table(kind: str, names: Sequence[str], body: str, caption: str) -> str:
    head = "".join(f'<th scope="col"{_right(name)}>{name}</th>' if name else "<td></td>" for name in names)
    label = f'aria-label="{escape(caption)}"'
    return f'{_style()}<table class="{kind}" {label}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


@cache
def _style() -> str:
    return f"<style>{_CSS.read_text(encoding='utf-8')}</style>"


def _name(code: str) -> str:
    return named("startup_log", code)


def _right(name: str) -> str:
    return ' style="text-align: right"' if name in map(_name, (PREDICTED, LOGGED)) else ""


def _row(row: Row, meaning: str) -> str:
    line = f"{escape(row.before)}<b>{escape(row.field)}</b>{escape(row.after)}"
    formula = f'<span class="formula">{escape(row.formula)}</span>' if row.formula else ""
    verdict = f"{SIGNS[row.verdict]} {escape(_name(row.verdict))} <small>{escape(row.residual)}</small>"
    return (
        f'<tr><td class="number">{row.number}</td><td class="line">{line}</td>'
        f'<td class="meaning">{escape(meaning)}{formula}</td>'
        f'<td class="amount">{escape(row.predicted)}</td>'
        f'<td class="amount">{escape(row.logged)}</td>'
        f'<td class="verdict {row.verdict}">{verdict}</td></tr>'
    )


def answer_table(rows: Sequence[Row], caption: str) -> str:
    """What was asked, what two ranks answer, and what they answer when done wrong."""
    names = (*(said("startup_log", f"says.{name}") for name in ("given", "two_ranks", "two_ranks_wrong")), "")
    return _table("log-table answers", names, "".join(map(_answer, rows)), caption)


def _answer(row: Row) -> str:
    verdict, same = ("ok", "the_same") if row.same else ("off", "not_the_same")
    word = said("startup_log", f"says.{same}")
    return (
        f"<tr><td>{escape(row.given)}</td><td>{escape(row.right)}</td><td>{escape(row.wrong)}</td>"
        f'<td class="verdict {verdict}">{SIGNS[verdict]} {escape(word)}</td></tr>'
    )
