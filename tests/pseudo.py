"""A language made from English by a rule: whatever a page says in it that is still English is not in content/."""

import re
from pathlib import Path

from core.catalog import GPUS, LINKS, MODELS
from runtime import content
from ui.placement.accuracy import every_residual
from ui.placement.rows_accuracy import sources

NAME = "xx"
_ACCENTS = str.maketrans("aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ")
_KEPT = re.compile(
    r"```.*?```|`[^`\n]*`"  # code
    r"|\{\{[^{}]*\}\}|\{[a-z_]+\}"  # fields
    r"|\]\([^)]*\)|https?://\S+"  # where a link leads
    r"|\$[^$\n]+\$|<[^>\n]*>"  # formulas, markup
    r"|:(?:[a-z-]+(?=\[)|material/\w+:)"  # colours, icons
    r"|^[A-Za-z0-9_][\w.+-]*:(?=\s)",  # the key of a label
    re.DOTALL | re.MULTILINE,
)
_FORMS = re.compile(r"(?<=\|)(?P<forms>=?[^|{}]*,[^|{}]*)(?=\}\})")
"""The nouns of a count."""

_UNTRANSLATED = {"language"}
"""Marks and rules, which are no words."""


NAMES = sorted(
    {name for rows in (MODELS, GPUS, LINKS) for row in rows.values() for name in (row.key, row.name.split(",")[0])}
    | set(sources(every_residual())),
    key=len,
    reverse=True,
)
"""Rows of the catalog, without what qualifies them, and published sources, by their own names."""

_NAMED = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, NAMES))})(?!\w)")

SHORT = ("an", "as", "at", "by", "if", "in", "is", "it", "of", "on", "or", "to")
"""Words of a sentence that are as short as names in code."""


def accented(text: str, listed: bool = False) -> str:
    """A text with an accent on every vowel of its words; fields, code and links stay."""
    parts, last = [], 0
    for found in _KEPT.finditer(text):
        if found[0].endswith(":") and not listed and not found[0].startswith(":"):
            continue
        parts += [text[last : found.start()].translate(_ACCENTS)]
        parts += [_FORMS.sub(lambda noun: noun["forms"].translate(_ACCENTS), found[0])]
        last = found.end()
    return "".join([*parts, text[last:].translate(_ACCENTS)])


def write(root: Path) -> None:
    """The folder of the language, beside the others."""
    folder = root / NAME
    folder.mkdir()
    for path in (root / content.ENGLISH).glob("*.md"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "glossary":  # the last paragraph of a term names a page
            text = re.sub(r"^(?=[a-z_]+ [a-z_]+$)", "`", text, flags=re.MULTILINE)
            text = re.sub(r"^(`[a-z_]+ [a-z_]+)$", r"\1`", text, flags=re.MULTILINE)
        if path.stem not in _UNTRANSLATED:
            heads = re.split(r"^(## .*)$", text, flags=re.MULTILINE)
            bodies = [
                part if number % 2 else accented(part, heads[number - 1].endswith(".*") if number else False)
                for number, part in enumerate(heads)
            ]
            text = "".join(bodies)
        if path.stem == "glossary":
            text = re.sub(r"^`([a-z_]+ [a-z_]+)`$", r"\1", text, flags=re.MULTILINE)
        (folder / path.name).write_text(text, encoding="utf-8")


def plain_in(text: str, others: re.Pattern[str] | None = None) -> list[str]:
    """The words of a text that no accent was put on, names of the catalog, code, links and formulas apart.

    `others` are further names; the catalog's go first, for one of those may hold one of these.
    """
    text = re.sub("<wbr>|\u200b", "", text)  # where a long name may break
    code = r"<code>.*?</code>|```.*?```|`[^`\n]*`|https?://\S+|\]\([^)]*\)|<[^>]*>|:[a-z-]+\[|:material/\w+:"
    plain = re.sub(code, " ", text, flags=re.DOTALL)
    plain = re.sub(r"\$[^$\n]+\$", " ", plain)
    plain = _NAMED.sub(" ", plain)
    plain = others.sub(" ", plain) if others else plain
    found = re.findall(r"(?<![\w/.@=-])[A-Za-z]+(?:-[A-Za-z]+)*(?![\w/@=(-])", plain.replace("\\", ""))
    longer = (word for word in found if re.search(r"[a-z]{3}", word) and re.search(r"[aeiouy]", word))
    return [*longer, *(word for word in found if word in SHORT)]
