"""An engine's arguments as its command or its log lists them: names and values, whatever a value is made of.

A value may be a word, a string, a list, a dict, another class's arguments: it ends where the list that holds it
goes on, not at the first word. What is within a value is that value's: a draft's `model` is not the engine's.
"""

import re
from collections.abc import Iterator

from core.text.lines import LONGEST_LINE

_LISTED = re.compile(
    r"(?:with config:|non-default args:?|server_args=|args:? Namespace|Namespace\()\s{0,3}"
    r"(?:ServerArgs)?[({]?\s{0,3}"
)
_MAKER = r"(?:LLM|AsyncLLM|Engine|EngineArgs|AsyncEngineArgs|Runtime)\("
_CALLED = re.compile(
    rf"(?:^|(?<=[\s=(.])){_MAKER}\s{{0,40}}(?=['\"][^'\"\s]{{1,300}}['\"]|[a-z_]{{2,40}}\s?=(?!=))"
)
_OPENED = re.compile(rf"^\s{{0,40}}(?:[\w.]{{1,60}}\s?=\s?)?(?:\w{{1,40}}\.){{0,3}}{_MAKER}")
_KEY = re.compile(r"['\"]?([A-Za-z_]\w{0,60})['\"]?\s{0,3}[=:](?!=)\s{0,3}")
_FLAG = re.compile(
    r"(?<![\w-])--([A-Za-z][\w.-]{0,60})"
    r"(?:(?:=|\s{1,3}(?!-))('[^']{0,2000}'|\"(?:[^\"\\]|\\.){0,2000}\"|[^\s'\"]{1,400}))?"
)
_FIRST = re.compile(r"['\"]([^'\"\s]{1,300})['\"]")
_MARK = re.compile(r"[,()\[\]{}'\"]")
_BRACKETS = re.compile(r"[(\[{]")
_KEPT = ("PosixPath(", "WindowsPath(")
_OFF = frozenset(
    {"", "None", "False", "false", "null", "0", "0.0", "auto", "{}", "[]", "()", "set()", "default", "no"}
)


def listed_from(text: str) -> int | None:
    """Where the list of arguments begins in a line; None where it has none."""
    match = _LISTED.search(text) or _CALLED.search(text)
    return match.end() if match else None


def is_call(text: str) -> bool:
    """Whether a line of a script makes an engine: `LLM(model=…)`, `sgl.Engine(model_path=…)`, `EngineArgs(…)`."""
    return "(" in text and _CALLED.search(text) is not None


def opens_call(text: str) -> bool:
    """Whether a line of a script begins such a call and does not end it."""
    return "(" in text and text.count("(") > text.count(")") and _OPENED.match(text) is not None


def called_with(text: str) -> str | None:
    """The model that such a call is given, by name or first of all; None where it is a variable."""
    start = listed_from(text)
    if start is None:
        return None
    if first := _FIRST.match(text[start : start + 400]):
        return first[1]
    given = dict(_listed(text, start))
    path = next((given[name] for name in ("model", "model_path", "model_tag") if name in given), "")
    return path.strip("'\"") if path[:1] in ("'", '"') else None


def arguments(text: str) -> dict[str, str]:
    """Every argument of a line by its name, with `_` for `-`; of a flag without a value, `True`.

    Those of a list are the list's own, not what is within their values.
    """
    start = listed_from(text)
    found = {name.replace("-", "_"): (value or "True").strip("'\"") for name, value in _FLAG.findall(text)}
    return found if start is None else {**found, **dict(_listed(text, start))}


def _listed(text: str, start: int) -> Iterator[tuple[str, str]]:
    at = start
    while at < len(text) and (match := _KEY.search(text, at)):
        end = _end(text, match.end())
        yield match[1], text[match.end() : end].strip()
        if text[end : end + 1] in (")", "]", "}"):  # the list's own end
            return
        at = end + 1


def _end(text: str, start: int) -> int:
    """Where a value ends: at the comma or the bracket that is not its own."""
    depth, quote, at = 0, "", start
    while match := _MARK.search(text, at):
        mark, at = match[0], match.end()
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        elif mark in "([{":
            depth += 1
        elif depth == 0:
            return match.start()
        elif mark != ",":
            depth -= 1
    return len(text)


def without_nested(text: str) -> str:
    """A line's arguments, with what is within their values left out."""
    start = listed_from(text)
    if start is None:
        return _FLAG.sub(lambda flag: "" if (flag[2] or "").lstrip("'\"\\")[:1] in ("{", "[") else flag[0], text)
    named = (f"{name}={_bare(value)}" for name, value in _listed(text, start))
    return f"{text[:start]}{', '.join(named)}"[:LONGEST_LINE]


def _bare(value: str) -> str:
    """A value without what is in its brackets; a path stays."""
    if value[:1] in "'\"" or value.startswith(_KEPT):
        return value
    return _BRACKETS.split(value, maxsplit=1)[0]


def is_on(value: str) -> bool:
    """Whether a value switches something on: any that is not empty, false, or left to the engine."""
    return value.strip("'\" ") not in _OFF
