"""One line of the swamp: what is stripped from it, and the layouts of a row.

A row is found by its middle: two whole numbers and a type word. What stands before it (MPI tags, Slurm labels,
time stamps, quote marks, '#', a column someone added) does not matter, and neither does a missing header. What
follows is split at blanks and held against `LAYOUTS`, so that no line takes longer than it is long.
"""

import re
from itertools import takewhile
from typing import NamedTuple

from core.links.nccl_tests.records import Half
from core.text.lines import without_colours, without_tags
from core.text.numbers import figure, whole

TYPE_BYTES = {
    "bfloat16": 2, "double": 8, "float": 4, "half": 2, "uint64": 8, "uint32": 4, "uint8": 1, "int64": 8, "int32": 4,
    "int8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "f8e4m3": 1, "f8e5m2": 1, "char": 1, "int": 4,
}  # fmt: skip
"""Bytes an element of each type that the tests name."""

_INFO_START = r"\S{0,120}:\d{1,9}:\d{1,9} \[\d{1,9}\] (?:[\w./-]{1,80}:\d{1,6} )?NCCL "
_GLUED = rf"(?=\W|$|{_INFO_START})"
_TYPES = "|".join(TYPE_BYTES)
_REDOPS = "sum|prod|max|min|avg|none|mulsum|premulsum|all"
_TAG = re.compile(r"\[(?:[^\s\[\]]{1,120}@)?\d{1,9},(\d{1,9})\]<std\w{1,9}>:?")
_PROCESS = re.compile(r"(?<!\S)\[\d{1,6}\](?!\s{0,4}NCCL)|(?<=\d)\[\d{1,6}\](?=\s)")
"""A tag that some launchers write before every piece of a line; NCCL's own messages have one too."""
_PLAIN = re.compile(r"[^:&<\[|\t\xa0\"'`;,]*")
"""A line that has nothing to take off."""
_SLURM = re.compile(r"^\s{0,40}(\d{1,9}):(?=\s)")
_CSV = re.compile(rf"""["']?,\s{{0,20}}["']?(?:{_TYPES})\b""")
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3}){1,6}(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MESSAGE = re.compile(_INFO_START)
_TOLD = re.compile(r" NCCL (?:INFO|ATTN|DIAG) ")
_GLUED_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,15})?(?:e[+-]\d{1,3})?(?=[A-Za-z_])|N/A(?=\w)")
_DIGIT = re.compile(r"[\d ]")
_MARKUP = str.maketrans(dict.fromkeys("|\t\xa0\"'`;", " "))
_SEPARATORS = frozenset("|\t\xa0\"'`;,")
_TYPE_STEMS = ("float", "half", "double", "int", "fp8", "f8e", "char")
_SHORTEST_HEAD = 7
_ROW_WIDTH = 90
"""Characters of a full row, at the least."""

HEAD = re.compile(rf"(?<![\w.])(\d{{1,18}})\s{{1,80}}(\d{{1,18}})\s{{1,80}}({_TYPES}){_GLUED}")
CUT_HEAD = re.compile(r"\s{0,80}\d{1,18}(?:\s{1,80}\d{1,18}){0,2}(?:\s{1,80}[a-z]\w{0,8})?\s{0,80}", re.ASCII)
"""A line that ends before, or in, the name of its row's type: a row that was cut near its beginning."""
REDOP = re.compile(rf"\s{{0,80}}({_REDOPS}){_GLUED}")
_TIME = r"(?:\d\.\d{1,5}e\+\d\d|\d{1,15}(?:\.\d{1,15})?)(?:us)?"
_BANDWIDTH = r"(?:\d{1,15}\.\d{1,15}|\d{6}|-?nan|inf)(?:GB/s)?"
_WRONG = r"(?:N/A|n/a|-?nan|-?inf|\d{1,18}(?:\.\d{1,18})?e[+-]?\d{1,3}\*?|\d{1,18}\*?)"
_COLUMNS = {
    name: re.compile(pattern)
    for name, pattern in {
        "root": r"-?\d{1,9}", "time": _TIME, "bandwidth": _BANDWIDTH, "wrong": _WRONG, "none": r"N/A|n/a|-+",
        # 0 is no time of an in-place half, but the error count of the half before it
        "in-place time": rf"(?!0$){_TIME}",
    }.items()
}  # fmt: skip
_SPREAD = r"((?:\s{1,80}\d{1,15}(?:\.\d{1,15})?(?:e\+\d\d)?){4})(?=\s|$)"
_ITERATIONS = re.compile(
    rf"((?:^|\s){_TIME}\s{{1,80}}{_BANDWIDTH}\s{{1,80}}{_BANDWIDTH}\s{{1,80}}{_WRONG}){_SPREAD}"
)
_NUMBER = re.compile(r"N/A|-?[\d.]+(?:e[+-]?\d+)?")
_FIGURE = re.compile(r"(?:N/A|n/a|-?nan|-?inf|-?\d[\d.]*(?:e[+-]?\d+)?\*?)(?:us|GB/s)?")

Layout = tuple[str, ...]
_HALF: Layout = ("time", "bandwidth", "bandwidth")
_OTHER: Layout = ("in-place time", "bandwidth", "bandwidth")

LAYOUTS: tuple[Layout, ...] = tuple(
    (*root, *_HALF, *wrong, *other)
    for root in (("root",), ())
    for wrong in (("wrong",), ())
    # the half after another has an error column only where that one has
    for other in ((*_OTHER, *wrong), _OTHER, ())
)
"""What may stand behind type and redop, the likelier first: each version of the tests printed one of these."""

IN_PLACE_ALONE: tuple[Layout, ...] = tuple(
    (*root, *missing, *_HALF, *wrong)
    for root in (("root",), ())
    for missing in (4 * ("none",), 3 * ("none",))
    for wrong in (("wrong",), ())
)
"""Where the out-of-place half was not run."""


class Figures(NamedTuple):
    """A row's figures in a layout, the words that are left over, and whether an error column is among them."""

    root: int | None
    first: Half
    second: Half | None
    rest: tuple[str, ...]
    has_wrong: bool


def figures_in(
    text: str, whole: bool = True, both: bool = False, layouts: tuple[Layout, ...] = LAYOUTS
) -> Figures | None:
    """The figures that a text is, or where not `whole` begins with, in the first layout that fits.

    `both`: with two halves.
    """
    words = text.split(None, 14)
    for layout in layouts:
        fits = len(words) == len(layout) if whole else len(words) >= len(layout)
        if (
            fits
            and (not both or "in-place time" in layout)
            and all(_COLUMNS[column].fullmatch(word) for column, word in zip(layout, words, strict=False))
        ):
            return _figures(layout, words)
    return None


def first_half_in(text: str) -> Figures | None:
    """The half that a text begins with, whatever follows it."""
    return figures_in(text, whole=False, layouts=tuple(one for one in LAYOUTS if "in-place time" not in one))


def _figures(layout: Layout, words: list[str]) -> Figures:
    start = layout.index("time")
    has_wrong = layout[start + 3 : start + 4] == ("wrong",)
    first = _half(words[start : start + 3], words[start + 3] if has_wrong else None)
    second = None
    if "in-place time" in layout:
        at = layout.index("in-place time")
        second = _half(words[at : at + 3], words[at + 3] if len(layout) > at + 3 else None)
    root = whole(words[0]) if layout[0] == "root" else None
    return Figures(root, first, second, tuple(words[len(layout) :]), has_wrong)


def _half(words: list[str], wrong: str | None) -> Half:
    time, algbw, busbw = (word.removesuffix("us").removesuffix("GB/s") for word in words)
    return Half(figure(time), figure(algbw), figure(busbw), wrong, (time, algbw, busbw))


def heads_in(line: str) -> list[re.Match[str]]:
    """Where rows begin in a line: seldom anywhere, mostly once, more often where line breaks were lost."""
    if len(line) < _SHORTEST_HEAD or not any(stem in line for stem in _TYPE_STEMS):
        return []
    head = HEAD.search(line)
    if head is None:
        return []
    return [head] if len(line) < 2 * _ROW_WIDTH else list(HEAD.finditer(line))


def clean(line: str) -> tuple[str, str]:
    """A line without tags, colours and table markup, and the label of the process that printed it."""
    label = ""
    if _PLAIN.fullmatch(line):
        return line, label
    if "&" in line:
        line = without_tags(line, " ")
    line = without_colours(line)
    if "]<" in line:
        tag = _TAG.search(line)
        label = tag.group(1) if tag else ""
        line = _TAG.sub(" ", line)
    elif (slurm := _SLURM.match(line)) is not None:
        label, line = slurm.group(1), line[slurm.end() :]
    if "[" in line and HEAD.search(line) is not None:
        line = _PROCESS.sub(" ", line)
    line = without_tags(line, " ")
    return (_without_markup(line) if not _SEPARATORS.isdisjoint(line) else line), label


def _without_markup(line: str) -> str:
    """Cells of a CSV or a Markdown table as words; thousands joined; a decimal comma made a point."""
    if "," in line and any(word in line for word in TYPE_BYTES):
        if _CSV.search(line):
            line = line.replace(",", " ")
        else:
            line = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), line)
            line = _DECIMAL_COMMA.sub(".", line)
    return line.translate(_MARKUP)


def without_iterations(text: str, headed: bool) -> str:
    """A row's figures without what -I adds to each half: the least, the largest, p99 and cv of its iterations.

    Where no heading names them, both halves must have them.
    """
    if not headed and (len(text) <= _ROW_WIDTH or len(_ITERATIONS.findall(text)) != 2):
        return text
    return _ITERATIONS.sub(r"\1", text)


def figures_of(text: str) -> str:
    """The figures a text begins with, as far as nothing else stands between them; a cut N/A with them."""
    words = text.split()
    figures = list(takewhile(_FIGURE.fullmatch, words))
    return " ".join(words if words[len(figures) :] in (["N"], ["N/"]) else figures)


def before_message(text: str) -> str:
    """What stands before a library's message. A figure may be glued to the host name that starts the message."""
    message = _MESSAGE.search(text)
    if message is None:
        return text
    glued = _GLUED_NUMBER.match(message.group())
    return text[: message.start()] + (glued.group() if glued else "")


def is_chatter(line: str) -> bool:
    """Whether a line is a library's message from its start and tells no ranks: most lines of a trace."""
    told = _TOLD.search(line)
    return told is not None and "nranks " not in line and len(line[: told.start()].split()) <= 3


def numbers_alone(line: str) -> str | None:
    """The figures of a line that begins with figures and has nothing else but a message after them."""
    words = before_message(line).lstrip(" \t#>").split()
    if words and re.fullmatch("sum|prod|max|min|avg|none", words[0]):
        words = words[1:]
    figures = words[1:] if words and words[0] in ("A", "/A") else words
    return (
        " ".join(words)
        if figures and all(_NUMBER.fullmatch(word) and word.strip(".") for word in figures)
        else None
    )


def shape_of(text: str) -> str:
    """What a time stamp or a process number has in common from line to line: figures and blanks as 0.

    Empty where there is nothing else: a column of figures that someone added is no mark of a log.
    """
    shape = _DIGIT.sub("0", text)
    return shape if shape.strip("0") else ""


def is_placeholder(text: str) -> bool:
    """Whether figures are written as XXX or ???."""
    return any(len(word) > 1 and set(word) <= set("Xx?.") and set(word[:2]) <= set("Xx?") for word in text.split())
