"""Rows as an Arrow stream, the form in which Streamlit's charts take their data.

https://arrow.apache.org/docs/format/Columnar.html, *Serialization and Interprocess Communication*. The columns of a
chart are numbers, texts and yes or no, so this is all of Arrow that it needs: a server has pyarrow for tables, and
a browser's tab, where pyarrow is more than all else together, draws without it.
"""

from collections.abc import Sequence
from itertools import accumulate
from struct import pack, pack_into
from typing import Any, TypeAlias

from ui.figures.frames import Row

Slot: TypeAlias = "tuple[str, int] | Table | Structs | list[Table] | str | None"
"""A field of a table: a number with its format, or what is written beside it and pointed to."""

_CONTINUES = b"\xff\xff\xff\xff"
_END = _CONTINUES + bytes(4)
_V5 = ("h", 4)
_SCHEMA, _BATCH = ("B", 1), ("B", 3)
_KINDS: dict[str, tuple[int, "tuple[Slot, ...]"]] = {
    "null": (1, ()),
    "int64": (2, (("i", 64), ("?", True))),
    "double": (3, (("h", 2),)),
    "string": (5, ()),
    "bool": (6, ()),
}
"""Of each kind of column: its number among Arrow's types, and the fields of that type."""


class Table(tuple[Slot, ...]):
    """A table of FlatBuffers: its fields in the order of Arrow's schema, None where one is left out."""


class Structs(tuple[tuple[int, int], ...]):
    """A vector of pairs of long integers, which lie in it by value."""


def stream(rows: Sequence[Row], columns: Sequence[str] = ()) -> bytes:
    """Return the rows as an Arrow stream: its schema, one batch, its end. Raises TypeError for other columns.

    `columns` are there even where no row has them.
    """
    names: dict[str, Any] = dict.fromkeys(columns)
    for row in rows:
        names.update(row)
    fields, nodes, buffers, body = [], [], [], bytearray()
    for name in names:
        values = [row.get(name) for row in rows]
        kind = _kind(values)
        number, told = _KINDS[kind]
        fields.append(Table((name, ("?", True), ("B", number), Table(told), None, [])))
        nodes.append((len(values), values.count(None)))
        for data in _buffers(kind, values):
            buffers.append((len(body), len(data)))
            body += data + bytes(-len(data) % 8)
    schema = Table((None, fields))
    batch = Table((("q", len(rows) if names else 0), Structs(nodes), Structs(buffers)))
    return b"".join((_message(_SCHEMA, schema), _message(_BATCH, batch, bytes(body)), _END))


def _kind(values: Sequence[Any]) -> str:
    """What a column holds, all of one kind; whole numbers among others are such numbers too."""
    kinds = {type(value) for value in values} - {type(None)}
    for name, held in (
        ("null", set()),
        ("bool", {bool}),
        ("int64", {int}),
        ("double", {int, float}),
        ("string", {str}),
    ):
        if kinds <= held:
            return name
    raise TypeError(f"a column of {sorted(kind.__name__ for kind in kinds)}")


def _buffers(kind: str, values: Sequence[Any]) -> list[bytes]:
    """A column's buffers: which values there are, if not all; then the values."""
    if kind == "null":
        return []
    valid = _bits([value is not None for value in values]) if None in values else b""
    if kind == "bool":
        return [valid, _bits(values)]
    if kind == "string":
        texts = [(value or "").encode() for value in values]
        ends = list(accumulate(map(len, texts), initial=0))
        return [valid, pack(f"<{len(ends)}i", *ends), b"".join(texts)]
    return [valid, pack(f"<{len(values)}{'q' if kind == 'int64' else 'd'}", *(value or 0 for value in values))]


def _bits(values: Sequence[Any]) -> bytes:
    """One bit a value, the first the lowest of its byte."""
    whole = sum(1 << at for at, value in enumerate(values) if value)
    return whole.to_bytes((len(values) + 7) // 8, "little")


def _message(kind: Slot, header: Table, body: bytes = b"") -> bytes:
    """A message as the stream has it: the length of what is told, that, and the body."""
    told = bytearray(8)  # where the root lies; the rest comes after it
    pack_into("<I", told, 0, _write_table(told, Table((_V5, kind, header, ("q", len(body))))))
    told += bytes(-len(told) % 8)
    return b"".join((_CONTINUES, pack("<i", len(told)), told, body))


def _write_table(out: bytearray, table: Table) -> int:
    """Write where a table's fields lie, then the table, each field in eight bytes of its own; its place."""
    count = len(table)
    out += bytes(-(len(out) + 4 + 2 * count + 4) % 8)  # so that the fields begin at a multiple of eight
    layout = len(out)
    lies = [0 if slot is None else 4 + 8 * at for at, slot in enumerate(table)]
    out += pack(f"<{2 + count}H", 4 + 2 * count, 4 + 8 * count, *lies)
    place = len(out)
    out += pack("<i", place - layout) + bytes(8 * count)
    for at, slot in enumerate(table):
        here = place + 4 + 8 * at
        if isinstance(slot, tuple) and not isinstance(slot, Table | Structs):
            pack_into(f"<{slot[0]}", out, here, slot[1])
        elif slot is not None:
            pack_into("<I", out, here, _write(out, slot) - here)
    return place


def _write(out: bytearray, beside: "Table | Structs | list[Table] | str") -> int:
    """Write what a field points to; its place."""
    if isinstance(beside, Table):
        return _write_table(out, beside)
    out += bytes(-(len(out) + 4) % 8)
    place = len(out)
    if isinstance(beside, str):
        data = beside.encode()
        out += pack("<I", len(data)) + data + b"\0"
        return place
    out += pack("<I", len(beside))
    if isinstance(beside, Structs):
        for pair in beside:
            out += pack("<2q", *pair)
        return place
    first = len(out)
    out += bytes(4 * len(beside))
    for at, table in enumerate(beside):
        here = first + 4 * at
        pack_into("<I", out, here, _write_table(out, table) - here)
    return place
