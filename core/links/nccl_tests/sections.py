"""From lines to sections: which rows, device list, heading and footer belong to one run.

What different processes print is kept apart by its label, so that a message between the pieces of a row breaks
nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from core.links.nccl_tests.lines import (
    BOTH_HALVES,
    FIRST_HALF,
    REDOP,
    SECOND_HALF,
    TYPE_BYTES,
    VALUES,
    before_message,
    clean,
    figures_of,
    halves,
    has_iterations,
    heads_in,
    is_chatter,
    is_placeholder,
    numbers_alone,
    shape_of,
    without_iterations,
)
from core.links.nccl_tests.records import Dropped, PrintedRow
from core.links.nccl_tests.remarks import GLOO, INTERESTING, take_remark
from core.links.nccl_tests.streams import Pending, Section, Stream

_NOTE = re.compile(r"## [a-z]+: ")
"""A line in which whoever kept a paste says what it is: no part of what was printed."""


_NUMBER = re.compile(r"\s*(\d{1,9}):")


@dataclass(frozen=True)
class Sections:
    """Every section of a text, and whether it holds a table of gloo's own benchmark."""

    sections: tuple[Section, ...]
    gloo: bool


def sections_of(text: str) -> Sections:
    """The sections of a text, in the order in which each process printed them.

    A line without a label belongs to the process that printed the last heading or row.
    """
    streams: dict[str, Stream] = {}
    gloo, current = False, ""
    for number, raw in _lines(text):
        line, label = clean(raw)
        heads = heads_in(line)
        stream = _stream_of(streams, label or current, bool(heads))
        if heads or "busbw" in line:
            current = label or current
        if heads:
            _take_rows(stream, number, line, heads)
        elif stream.pending is not None and (rest := _rest_of(stream.pending, line)) is not None:
            _continue_row(stream, *rest)
        elif not is_chatter(line) and INTERESTING.search(line):
            gloo = gloo or GLOO.search(line) is not None
            if _NOTE.match(raw) is None:
                take_remark(stream, number, line)
    printed = list({id(stream): stream for stream in streams.values()}.values())
    for stream in printed:
        stream.settle(ends=True)
    return Sections(tuple(section for stream in printed for section in stream.sections), gloo)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line with its number, parted where a line end was written out, as inside a JSON string."""
    for number, line in enumerate(_unnumbered(text.splitlines()), start=1):
        for part in line.split("\\n"):
            yield number, part


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without the numbers that `grep -n` puts before them: the labels of processes repeat, these do not."""
    found = [_NUMBER.match(line) for line in lines]
    numbers = [int(match.group(1)) for match in found if match is not None]
    if len(numbers) < 3 or any(later <= earlier for earlier, later in pairwise(numbers)):
        return lines
    return [line if match is None else line[match.end() :] for line, match in zip(lines, found, strict=True)]


def _stream_of(streams: dict[str, Stream], label: str, has_row: bool) -> Stream:
    """What the labelled process printed so far. A label that first stands on a row may follow a bare heading."""
    if label in streams:
        return streams[label]
    bare = streams.get("")
    awaited = bare is not None and has_row and bare.section.expects_rows
    streams[label] = bare if bare is not None and awaited else Stream()
    return streams[label]


def _take_rows(stream: Stream, number: int, line: str, heads: list[re.Match[str]]) -> None:
    """The rows of one line: one, or several where line breaks were lost."""
    if stream.section.closed:
        stream.fresh()
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        stream.settle()
        rest = line[head.end() : following.start() if following else None]
        redop = REDOP.match(rest)
        if redop is not None:
            rest = rest[redop.end() :]
        if stream.section.has_iterations or has_iterations(rest):
            rest = without_iterations(rest)
        size, count, type_name = head.groups()
        key = (int(size), int(count), TYPE_BYTES[type_name], redop.group(1) if redop else None)
        match = _matched(VALUES, stream.section, rest)
        if match is not None and match.group(6) is not None:
            stream.section.rows.append(_row(stream.section, number, key, match))
        else:
            _take_part(stream, number, key, rest)
            if stream.pending is not None:
                stream.pending.before = shape_of(line[: head.start()].rstrip())


def _matched(form: re.Pattern[str], section: Section, text: str) -> re.Match[str] | None:
    """A row's figures in a form; none where its two halves leave no room for the error column that is headed."""
    match = form.match(text)
    return None if match and match.group(5) is None and match.group(6) and section.has_errors else match


def _take_part(stream: Stream, number: int, key: tuple[int, int, int, str | None], rest: str) -> None:
    """A row without its second half: as it is, as far as a message broke in, or as far as it was cut."""
    if is_placeholder(rest):
        stream.section.dropped.append(Dropped(number, "a placeholder stands where its figures should"))
        return
    text = before_message(rest)
    section = stream.section
    match = _matched(VALUES, section, text) or _matched(BOTH_HALVES, section, text) or FIRST_HALF.match(text)
    second = SECOND_HALF.match(text)
    if second is not None:
        _, in_place, _ = halves(second)
        stream.section.rows.append(PrintedRow(number, *key, None, None, in_place))
        return
    if match is not None:
        stream.section.rows.append(_row(stream.section, number, key, match))
    if match is None or match.re is not BOTH_HALVES:
        place = len(stream.section.rows) - 1 if match is not None else None
        stream.pending = Pending(number, key, figures_of(text), place)


def _rest_of(pending: Pending, line: str) -> tuple[str, str] | None:
    """A line without what stands before each line of its log, and the figures that it is; None if it is not."""
    if (
        pending.before
        and len(line) > len(pending.before)
        and shape_of(line[: len(pending.before)]) == pending.before
    ):
        line = line[len(pending.before) :]
    figures = numbers_alone(line)
    return None if figures is None else (line, figures)


def _continue_row(stream: Stream, line: str, figures: str) -> None:
    """Figures alone on a line: the rest of a row that a message or a narrow window had cut, or nobody's.

    A line that begins at its margin may go on in the middle of a figure.
    """
    pending = stream.pending
    assert pending is not None
    redop = REDOP.match(line)
    if redop is not None:
        pending.head = (*pending.head[:3], redop.group(1))
    joined = [f"{pending.text} {figures}"] + ([] if line[:1].isspace() else [f"{pending.text}{figures}"])
    matches = ((text, _matched(VALUES, stream.section, text)) for text in joined)
    found = next(((text, match) for text, match in matches if match is not None), None)
    if found is None:
        if pending.place is None and FIRST_HALF.match(joined[0]) is None and len(joined[0].split()) < 10:
            pending.text = joined[0]
        return
    pending.text, match = found
    row = _row(stream.section, pending.line, pending.head, match)
    if pending.place is None:
        pending.place = len(stream.section.rows)
        stream.section.rows.append(row)
    else:
        stream.section.rows[pending.place] = row
    if row.in_place is not None:
        stream.pending = None


def _row(section: Section, number: int, key: tuple[int, int, int, str | None], match: re.Match[str]) -> PrintedRow:
    root, first, second = halves(match)
    if second is None and section.in_place_only:
        return PrintedRow(number, *key, root, None, first)
    return PrintedRow(number, *key, root, first, second)
