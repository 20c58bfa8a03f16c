"""A page of HTML from the Markdown that this project writes: headings, paragraphs, lists, tables, code, links.

All text is escaped, and a link is kept where it leads to the web or within the page; nothing of what a student
wrote becomes markup.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

STYLE = """@page { size: A4; margin: 18mm }
body { font: 11pt/1.45 Georgia, serif; max-width: 44em; margin: 2em auto; padding: 0 1em; color: #1b1b1b }
h1, h2, h3 { font-family: Helvetica, Arial, sans-serif; line-height: 1.2; break-after: avoid }
table { border-collapse: collapse; break-inside: avoid; margin: 0.8em 0 }
th, td { text-align: left; vertical-align: top; padding: 0.25em 0.8em 0.25em 0; border-bottom: 1px solid #bbb }
code, pre { font: 0.9em/1.4 Menlo, Consolas, monospace; overflow-wrap: anywhere }
pre { background: #f4f2ee; padding: 0.6em 0.8em; white-space: pre-wrap; break-inside: avoid }"""
_INLINE = re.compile(
    r"\*\*(.+?)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?!\w)"
    r"|\[([^\[\]]+)\]\(([^()\s\0]+)\)|\\([\\`*_{}\[\]()#+.!|<>-])"
)
_CODE = "\0"
"""Stands for a span of code while what is around it is read."""


def page(title: str, markdown: str, language: str = "en") -> str:
    """A whole page, which needs no other file, and prints on A4."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    opened = f'<!doctype html>\n<html lang="{escape(language)}"><head>{head}</head>\n<body>'
    return f"{opened}\n{body(markdown)}\n</body></html>\n"


def body(markdown: str) -> str:
    """The blocks of a Markdown text as HTML."""
    return "\n".join(_blocks(markdown.splitlines()))


def as_code(text: str) -> str:
    """Any text as a code span of Markdown, in one line; it cannot end it."""
    line = " ".join(text.split()) or " "
    ticks = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def as_cell(text: str) -> str:
    """A text for a cell of a table."""
    return text.replace("|", "\\|")


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        end = place + 1
        if not line.strip():
            pass
        elif re.match("```[^`]*$", line):
            while end < len(lines) and not lines[end].startswith("```"):
                end += 1
            yield f"<pre><code>{escape(chr(10).join(lines[place + 1 : end]))}</code></pre>"
            end += 1
        elif heading := re.match(r"(#{1,6}) +(.*)", line):
            yield f"<h{len(heading[1])}>{_inline(heading[2])}</h{len(heading[1])}>"
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield _table(lines[place:end])
        elif _item(line):
            while end < len(lines) and (_item(lines[end]) or lines[end].startswith("  ")):
                end += 1
            yield _list(lines[place:end])
        else:
            while end < len(lines) and lines[end].strip() and not re.match(r"```|#{1,6} |\||[-*] ", lines[end]):
                end += 1
            yield f"<p>{_inline(' '.join(map(str.strip, lines[place:end])))}</p>"
        place = end


def _item(line: str) -> re.Match[str] | None:
    return re.match(r"\A([-*]|\d+\.) +(.*)", line)


def _list(lines: Sequence[str]) -> str:
    items: list[str] = []
    for line in lines:
        if item := _item(line):
            items.append(item[2])
        else:
            items[-1] += " " + line.strip()
    kind = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{kind}>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + f"</{kind}>"


def _table(lines: Sequence[str]) -> str:
    rows = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines
    ]
    ruled = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
    head = "<tr>" + "".join(f"<th>{_inline(cell)}</th>" for cell in rows[0]) + "</tr>" if ruled else ""
    below = ("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows[2 * ruled :])
    return f"<table>{head}{''.join(below)}</table>"


def _inline(text: str) -> str:
    """A line's text, its code, bold, italic and links as HTML, and all else escaped; NUL as CommonMark has it."""
    around, spans = _spans(text.replace(_CODE, "\ufffd"))
    codes = iter(spans)
    return re.sub(_CODE, lambda _: f"<code>{escape(next(codes))}</code>", _styled(around))


def _spans(text: str) -> tuple[str, list[str]]:
    """The text with a mark for each span of code, and what the spans hold: a run of backticks ends at its equal."""
    ends: dict[int, list[int]] = {}
    for run in reversed([*re.finditer("`+", text)]):
        ends.setdefault(len(run[0]), []).append(run.start())
    parts, spans, at = [], [], 0
    for run in re.finditer(r"\\.|`+", text):
        ticks, same = len(run[0]), ends.get(len(run[0]), [])
        if run[0][0] != "`" or run.start() < at:
            continue
        while same and same[-1] < run.end():
            same.pop()
        if same:
            code = text[run.end() : same[-1]]
            spans.append(code[1:-1] if code[:1] == code[-1:] == " " and code.strip() else code)
            parts += [text[at : run.start()], _CODE]
            at = same[-1] + ticks
    return "".join([*parts, text[at:]]), spans


def _styled(text: str) -> str:
    parts, at = [], 0
    for found in _INLINE.finditer(text):
        parts.append(escape(text[at : found.start()]))
        parts.append(_marked(found))
        at = found.end()
    return "".join([*parts, escape(text[at:])])


def _marked(found: re.Match[str]) -> str:
    if found[1] is not None:
        return f"<strong>{_styled(found[1])}</strong>"
    if found[2] is not None:
        return f"<em>{_styled(found[2])}</em>"
    if found[3] is not None:
        kept = re.match(r"https?://|#", found[4])
        return f'<a href="{escape(found[4])}">{_styled(found[3])}</a>' if kept else _styled(found[3])
    return escape(found[5])
