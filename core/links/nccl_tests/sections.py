"""From lines to sections: which rows, device list, heading and footer belong to one run.

What different processes print is kept apart by its label, so that a message between the pieces of a row breaks
nothing.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from core.errors import remark
from core.links.nccl_tests.headings import GLOO, INTERESTING, take_remark
from core.links.nccl_tests.lines import (
    CUT_HEAD,
    IN_PLACE_ALONE,
    REDOP,
    TYPE_BYTES,
    Figures,
    before_message,
    clean,
    figures_in,
    figures_of,
    first_half_in,
    heads_in,
    is_chatter,
    is_placeholder,
    numbers_alone,
    shape_of,
    without_iterations,
)
from core.links.nccl_tests.records import PrintedRow
from core.links.nccl_tests.streams import Pending, Section, Stream
from core.text.lines import LONGEST_LINE
from core.text.numbers import whole

_NOTE = re.compile(r"## [a-z]{1,40}: ")
"""A line in which whoever kept a paste says what it is: no part of what was printed."""

LONGEST_MARK = 400
"""Characters of what a log puts before each line, at the most."""

_NUMBER = re.compile(r"\s{0,40}(\d{1,9}):")
_Head = tuple[int, int, int, str | None]


def sections_of(text: str) -> tuple[tuple[Section, ...], bool]:
    """The sections of a text, in the order in which each process printed them; and whether gloo printed a table.

    A line without a label belongs to the process that printed the last heading or row.
    """
    streams: dict[str, Stream] = {}
    gloo, current = False, ""
    for number, raw in _lines(text):
        if not raw or raw.isspace():
            continue
        line, label = clean(raw[:LONGEST_LINE])
        heads = heads_in(line)
        stream = _stream_of(streams, label or current, bool(heads))
        if heads or "busbw" in line:
            current = label or current
        if heads:
            _take_rows(stream, number, line, heads)
        elif stream.pending is not None and (rest := _rest_of(stream.pending, line)) is not None:
            _continue_row(stream, number, *rest)
        elif stream.section.takes_rows and CUT_HEAD.fullmatch(line):
            _drop_head(stream, number)
        elif not is_chatter(line) and INTERESTING.search(line):
            gloo = gloo or GLOO.search(line) is not None
            if _NOTE.match(raw) is None:
                take_remark(stream, number, line)
        if len(raw) > LONGEST_LINE:
            stream.section.dropped.append(remark("links.line_cut", number, longest=LONGEST_LINE))
    printed = list({id(stream): stream for stream in streams.values()}.values())
    for stream in printed:
        stream.settle(ends=True)
    return tuple(section for stream in printed for section in stream.sections), gloo


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line with its number, parted where a line end was written out, as inside a JSON string."""
    for number, line in enumerate(_unnumbered(text.splitlines()), start=1):
        if "\\" not in line:
            yield number, line
            continue
        for part in line.split("\\n"):
            yield number, part


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without the numbers that `grep -n` puts before them: the labels of processes repeat, these do not."""
    matches = [_NUMBER.match(line) for line in lines]
    numbers = [whole(match.group(1)) for match in matches if match is not None]
    if len(numbers) < 3 or any(later <= earlier for earlier, later in pairwise(numbers)):
        return lines
    return [line if match is None else line[match.end() :] for line, match in zip(lines, matches, strict=True)]


def _stream_of(streams: dict[str, Stream], label: str, has_row: bool) -> Stream:
    """What the labelled process printed so far. A label that first stands on a row may follow a bare heading."""
    if label not in streams:
        bare = streams.get("")
        streams[label] = bare if bare is not None and has_row and bare.section.expects_rows else Stream()
    return streams[label]


def _take_rows(stream: Stream, number: int, line: str, heads: list[re.Match[str]]) -> None:
    """The rows of one line: one, or several where line breaks were lost."""
    if stream.section.closed:
        stream.fresh()
    for head, next_head in zip(heads, [*heads[1:], None], strict=True):
        stream.settle()
        rest = line[head.end() : next_head.start() if next_head else None]
        redop = REDOP.match(rest)
        if redop is not None:
            rest = rest[redop.end() :]
        rest = without_iterations(rest, "i_min" in stream.section.header)
        size, count, type_name = head.groups()
        key = (whole(size), whole(count), TYPE_BYTES[type_name], redop.group(1) if redop else None)
        figures = _figures_in(stream.section, rest)
        if figures is not None and figures.second is not None:
            stream.section.rows.append(_row(stream.section, number, key, figures))
        else:
            _take_part(stream, number, key, rest)
            if stream.pending is not None:
                before = line[: head.start()].rstrip()
                stream.pending.before = shape_of(before) if len(before) <= LONGEST_MARK else ""


def _figures_in(section: Section, text: str, whole: bool = True) -> Figures | None:
    """A row's figures; none where its two halves leave no room for the error column that is headed."""
    figures = figures_in(text, whole, both=not whole)
    clash = figures is not None and not figures.has_wrong and figures.second is not None and section.has_errors
    return None if clash else figures


def _take_part(stream: Stream, number: int, key: _Head, rest: str) -> None:
    """A row without its second half: as it is, as far as a message broke in, or as far as it was cut."""
    section = stream.section
    if is_placeholder(rest):
        section.dropped.append(remark("links.placeholder", number))
        return
    text = before_message(rest)
    if (second := figures_in(text, layouts=IN_PLACE_ALONE)) is not None:
        section.rows.append(PrintedRow(number, *key, None, None, second.first))
        return
    figures = _figures_in(section, text)
    whole = None if figures is not None else _figures_in(section, text, whole=False)
    figures = figures or whole or first_half_in(text)
    if figures is not None:
        section.rows.append(_row(section, number, key, figures))
    if whole is None:
        stream.pending = Pending(number, key, figures_of(text), len(section.rows) - 1 if figures else None)


def _rest_of(pending: Pending, line: str) -> tuple[str, str] | None:
    """A line without what stands before each line of its log, and the figures that it is; None if it is not."""
    before = len(pending.before)
    if before and len(line) > before and shape_of(line[:before]) == pending.before:
        line = line[before:]
    figures = numbers_alone(line)
    return None if figures is None else (line, figures)


def _drop_head(stream: Stream, number: int) -> None:
    """A row that was cut before its figures."""
    stream.settle()
    stream.section.dropped.append(remark("links.head_cut", number))


def _continue_row(stream: Stream, number: int, line: str, figures: str) -> None:
    """Figures alone on a line: the rest of a row that a message or a narrow window had cut, the next row itself cut
    before its figures, or nobody's.

    A line that begins at its margin may go on in the middle of a figure.
    """
    pending, section = stream.pending, stream.section
    assert pending is not None
    redop = REDOP.match(line)
    if redop is not None:
        pending.head = (*pending.head[:3], redop.group(1))
    joined = [f"{pending.text} {figures}"] + ([] if line[:1].isspace() else [f"{pending.text}{figures}"])
    matches = ((text, _figures_in(section, text)) for text in joined)
    text, match = next(((text, match) for text, match in matches if match is not None), ("", None))
    if match is None:
        if pending.at is None and first_half_in(joined[0]) is None and len(joined[0].split()) < 10:
            pending.text = joined[0]
        elif pending.at is not None and CUT_HEAD.fullmatch(line) and whole(line.split()[0]) > pending.head[0]:
            _drop_head(stream, number)
        return
    pending.text = text
    row = _row(section, pending.line, pending.head, match)
    if pending.at is None:
        pending.at = len(section.rows)
        section.rows.append(row)
    else:
        section.rows[pending.at] = row
    if row.in_place is not None:
        stream.pending = None


def _row(section: Section, number: int, key: _Head, figures: Figures) -> PrintedRow:
    root, first, second, *_ = figures
    if second is None and section.half_names == {"in-place"}:
        return PrintedRow(number, *key, root, None, first)
    return PrintedRow(number, *key, root, first, second)
