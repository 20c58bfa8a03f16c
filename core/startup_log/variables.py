"""A command's shell variables, where the text that holds the command sets them too.

Set by `NAME=value`, exported or not, before the command on its own line, as `-e NAME=value` of a container, as
`ENV` or `ARG`, or as an item of a manifest's environment; used as `$NAME`, `${NAME}`, `${NAME:-else}` or a
manifest's `$(NAME)`. A later value replaces an earlier one; what nobody sets stays as it is written.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.startup_log.records import LogLine
from core.text.lines import LONGEST_LINE

_VALUE = r"(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s\"';&|#]{1,300})"
_SET = re.compile(rf"(?:^|(?<=\s))(?:-\s|-e\s)?([A-Za-z_]\w{{0,60}})=(?!=){_VALUE}")
_STATED = re.compile(rf"^(?:ENV|ARG)\s([A-Za-z_]\w{{0,60}})\s{_VALUE}|^(?:- )?([A-Z_][A-Z\d_]{{0,60}}):\s{_VALUE}$")
_NAMED = re.compile(r"^-\s{1,8}name:\s{1,8}['\"]?([A-Za-z_]\w{0,60})['\"]?$")
_VALUED = re.compile(rf"^value:\s{{1,8}}{_VALUE}$")
_USED = re.compile(
    r"\$(?:\{([A-Za-z_]\w{0,60})(?::?[-=]([^{}\n]{0,300}))?\}|\(([A-Za-z_]\w{0,60})\)|([A-Za-z_]\w{0,60}))"
)


def filled_in(lines: Iterable[LogLine]) -> Iterator[LogLine]:
    """Lines with the values of their variables."""
    known: dict[str, str] = {}
    named = ""
    for line in lines:
        text = _filled(line.text, known) if "$" in line.text else line.text
        if "=" in text or ":" in text or text.startswith(("ENV", "ARG")):
            pairs = [*_SET.findall(text), *((one or two, a or b) for one, a, two, b in _STATED.findall(text))]
            if named and (valued := _VALUED.match(text)):
                pairs.append((named, valued[1]))
            known |= {name: value.strip("'\"") for name, value in pairs}
            named = given[1] if (given := _NAMED.match(text)) else ""
        if "$" in text:  # set before the command, on its own line
            text = _filled(text, known)
        yield line if text == line.text else replace(line, text=text)


def _filled(text: str, known: dict[str, str]) -> str:
    """A text with what is known in place of what uses it."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[3] or match[4]
        return known.get(name) or (match[2] or "").strip("'\"") or match[0]

    return _USED.sub(value, text)[:LONGEST_LINE]
