"""One line of the swamp: what is stripped from it, and the grammar of a row.

A row is found by its middle: two whole numbers and a type word. What stands before it (MPI tags, Slurm labels,
time stamps, quote marks, '#', a column someone added) does not matter, and neither does a missing header.
"""

import re

from core.links.nccl_tests.records import Half

TYPE_BYTES = {
    "bfloat16": 2,
    "double": 8,
    "float": 4,
    "half": 2,
    "uint64": 8,
    "uint32": 4,
    "uint8": 1,
    "int64": 8,
    "int32": 4,
    "int8": 1,
    "fp8_e4m3": 1,
    "fp8_e5m2": 1,
    "f8e4m3": 1,
    "f8e5m2": 1,
    "char": 1,
    "int": 4,
}
"""Bytes an element of each type that the tests name."""

_INFO_START = r"\S{0,120}:\d{1,9}:\d{1,9} \[\d{1,9}\] NCCL "
_GLUED = rf"(?=\W|$|{_INFO_START})"
_TYPES = "|".join(TYPE_BYTES)
_TAG = re.compile(r"\[(?:[^\s\[\]]{1,120}@)?\d+,(\d+)\]<std\w+>:?")
_SLURM = re.compile(r"^\s*(\d+):(?=\s)")
_HTML = re.compile(r"</?(?:br|p|div|span|pre|code|li|t[rdh]|b|i|font)\b[^<>]{0,200}>", re.IGNORECASE)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CSV = re.compile(rf"""["']?,\s*["']?(?:{_TYPES})\b""")
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MESSAGE = re.compile(_INFO_START)
_GLUED_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?=[A-Za-z_])|N/A(?=\w)")

_TYPE_STEMS = ("float", "half", "double", "int", "fp8", "f8e", "char")
_ROW_WIDTH = 90
"""Characters of a full row, at the least."""

HEAD = re.compile(rf"(?<![\w.])(\d{{1,18}})\s+(\d{{1,18}})\s+({_TYPES}){_GLUED}")
REDOP = re.compile(rf"\s*(sum|prod|max|min|avg|none|mulsum|premulsum|all){_GLUED}")
_TIME = r"(\d\.\d{1,5}e\+\d\d|\d{1,15}(?:\.\d{1,15})?)(?:us)?"
_BANDWIDTH = r"(\d{1,15}\.\d{1,15}|\d{6}|-?nan|inf)(?:GB/s)?"
_WRONG = r"(N/A|n/a|-?nan|\d+(?:\.\d+)?e[+-]?\d+\*?|\d+\*?)"
_ROOT = r"\s*(?:(-?\d{1,9})\s+)?"
_NO_HALF = r"(?:(?:N/A|n/a|-+)\s+){3,4}"
_TIMED = rf"{_TIME}\s+{_BANDWIDTH}\s+{_BANDWIDTH}"
_ERRORS = rf"(?:\s+{_WRONG}(?=\s|$))?"
_HALF = _TIMED + _ERRORS
_OTHER_HALF = rf"\s+(?!0\s){_TIMED}(?(5){_ERRORS})"
"""The half after another: it has an error column only where that one has, whose 0 is no time of this one."""

VALUES = re.compile(rf"{_ROOT}{_HALF}(?:{_OTHER_HALF})?\s*$")
BOTH_HALVES = re.compile(rf"{_ROOT}{_HALF}{_OTHER_HALF}(?=\s|$)")
SECOND_HALF = re.compile(rf"{_ROOT}{_NO_HALF}{_HALF}\s*$")
FIRST_HALF = re.compile(rf"{_ROOT}{_HALF}(?=\s|$)")
_SPREAD = r"((?:\s+\d{1,15}(?:\.\d{1,15})?(?:e\+\d\d)?){4})(?=\s|$)"
_ITERATIONS = re.compile(rf"((?:^|\s){_TIMED}\s+{_WRONG}){_SPREAD}")
_PLACEHOLDER = re.compile(r"(?<![\w/])[Xx?]{2,}[.Xx?]*(?!\w)")
_NUMBERS_ALONE = re.compile(
    r"[\s#>]*(?:(?:sum|prod|max|min|avg|none)\s+)?((?:/?A\s+)?(?:(?:N/A|-?[\d.]+(?:e[+-]?\d+)?)(?:\s+|$))+)"
)
_FIGURES = re.compile(r"\s*(?:(?:N/A|n/a|-?nan|inf|-?\d[\d.]*(?:e[+-]?\d+)?\*?)(?:us|GB/s)?(?:\s+|$))*(?:N/?$)?")
_DIGIT = re.compile(r"[\d ]")
_MARKUP = str.maketrans(dict.fromkeys("|\t\xa0\"'`;", " "))
_SEPARATORS = frozenset("|\t\xa0\"'`;,")


def heads_in(line: str) -> list[re.Match[str]]:
    """Where rows begin in a line: seldom anywhere, mostly once, more often where line breaks were lost."""
    if "float" not in line and not any(word in line for word in _TYPE_STEMS):
        return []
    head = HEAD.search(line)
    if head is None:
        return []
    return [head] if len(line) < 2 * _ROW_WIDTH else list(HEAD.finditer(line))


def clean(line: str) -> tuple[str, str]:
    """A line without tags, colours and table markup, and the label of the process that printed it."""
    label = ""
    if "&" in line:
        line = line.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ")
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "]<" in line:
        tag = _TAG.search(line)
        label = tag.group(1) if tag else ""
        line = _TAG.sub(" ", line)
    elif (slurm := _SLURM.match(line)) is not None:
        label, line = slurm.group(1), line[slurm.end() :]
    if "<" in line:
        line = _HTML.sub(" ", line)
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


def without_iterations(text: str) -> str:
    """A row's figures without what -I adds to each half: the least, the largest, p99 and cv of its iterations."""
    return _ITERATIONS.sub(r"\1", text)


def has_iterations(text: str) -> bool:
    """Whether both halves of a row are followed by the spread of their iterations."""
    return len(text) > _ROW_WIDTH and len(_ITERATIONS.findall(text)) == 2


def figures_of(text: str) -> str:
    """The figures a text begins with, as far as nothing else stands between them."""
    match = _FIGURES.match(text)
    return match.group().rstrip() if match is not None else ""


def before_message(text: str) -> str:
    """What stands before a library's message. A figure may be glued to the host name that starts the message."""
    message = _MESSAGE.search(text)
    if message is None:
        return text
    glued = _GLUED_NUMBER.match(message.group())
    return text[: message.start()] + (glued.group() if glued else "")


def is_chatter(line: str) -> bool:
    """Whether a line is a library's message from its start and tells no ranks: most lines of a trace."""
    at = line.find(" NCCL INFO ")
    return at >= 0 and "nranks " not in line and len(line[:at].split()) <= 2


def halves(match: re.Match[str]) -> tuple[int | None, Half, Half | None]:
    """The root, the out-of-place half and the in-place half of a matched row."""
    groups = match.groups()
    second = _half(*groups[5:9]) if len(groups) > 5 and groups[5] is not None else None
    return int(groups[0]) if groups[0] is not None else None, _half(*groups[1:5]), second


def _half(time: str, algbw: str, busbw: str, wrong: str | None) -> Half:
    return Half(float(time), float(algbw), float(busbw), wrong, (time, algbw, busbw))


def numbers_alone(line: str) -> str | None:
    """The figures of a line that begins with figures and has nothing else but a message after them."""
    text = before_message(line)
    match = _NUMBERS_ALONE.match(text)
    return match.group(1) if match and match.end() == len(text) else None


def shape_of(text: str) -> str:
    """What a time stamp or a process number has in common from line to line: figures and blanks as 0.

    Empty where there is nothing else: a column of figures that someone added is no mark of a log.
    """
    shape = _DIGIT.sub("0", text)
    return shape if shape.strip("0") else ""


def is_unmeasured(text: str) -> bool:
    """Whether nothing but N/A stands there."""
    return set(text.split()) <= {"N/A", "n/a", "-"}


def is_placeholder(text: str) -> bool:
    """Whether figures are written as XXX or ???."""
    return _PLACEHOLDER.search(text) is not None
