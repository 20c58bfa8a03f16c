"""A run's lines as a table: what was printed, what it means, what was predicted and logged, and the verdict.

HTML as text, every value escaped; its colours are the shell's custom properties.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path

from ui.two_way_tp.rows import SIGNS, AnswerRow, LogRow

_CSS = Path(__file__).with_suffix(".css")
_HEAD = ("", "What the program printed, rank 0", "What it means", "predicted", "logged", "verdict")


def log_table(
    rows: Sequence[LogRow],
    meanings: Mapping[str, str],
    caption: str,
    present: bool = False,
    printed: str = _HEAD[1],
) -> str:
    """The table. `meanings` holds a sentence a topic; `caption` is only read out; `printed` heads the lines."""
    body = "".join(_row(row, meanings[row.topic]) for row in rows)
    head = (_HEAD[0], printed, *_HEAD[2:])
    return _table("log-table projected" if present else "log-table", head, body, caption)


def _table(kind: str, names: Sequence[str], body: str, caption: str) -> str:
    head = "".join(f'<th scope="col"{_right(name)}>{name}</th>' for name in names)
    label = f'aria-label="{escape(caption)}"'
    return f'{_style()}<table class="{kind}" {label}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


@cache
def _style() -> str:
    return f"<style>{_CSS.read_text(encoding='utf-8')}</style>"


def _right(name: str) -> str:
    return ' style="text-align: right"' if name in ("predicted", "logged") else ""


def _row(row: LogRow, meaning: str) -> str:
    line = f"{escape(row.before)}<b>{escape(row.field)}</b>{escape(row.after)}"
    formula = f'<span class="formula">{escape(row.formula)}</span>' if row.formula else ""
    verdict = f"{SIGNS[row.verdict]} {row.verdict} <small>{escape(row.residual)}</small>"
    return (
        f'<tr><td class="number">{row.number}</td><td class="line">{line}</td>'
        f'<td class="meaning">{escape(meaning)}{formula}</td>'
        f'<td class="amount" data-label="predicted">{escape(row.predicted)}</td>'
        f'<td class="amount" data-label="logged">{escape(row.logged)}</td>'
        f'<td class="verdict {row.verdict}">{verdict}</td></tr>'
    )


def answer_table(rows: Sequence[AnswerRow], caption: str) -> str:
    """What was asked, what two ranks answer, and what they answer when done wrong."""
    names = ("given", "two ranks", "two ranks, done wrong", "")
    return _table("log-table answers", names, "".join(map(_answer, rows)), caption)


def _answer(row: AnswerRow) -> str:
    verdict, word = ("ok", "the same") if row.same else ("off", "another")
    return (
        f"<tr><td>{escape(row.given)}</td><td>{escape(row.right)}</td><td>{escape(row.wrong)}</td>"
        f'<td class="verdict {verdict}">{SIGNS[verdict]} {word}</td></tr>'
    )
