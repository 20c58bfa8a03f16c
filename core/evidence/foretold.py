"""Predictions that were made before a figure was seen: a ledger that is only ever appended to.

A line is a prediction, or the figure that was seen for one. Every line carries a digest of the one before it, so a
line that was changed, moved or taken out breaks all that follow.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.catalog import gpu, link, model
from core.errors import OutOfRangeError, UnknownNameError, UnreadableTextError, require_positive
from core.evidence.accuracy import accuracy_of
from core.evidence.calibration import calibration_of, prompt_efficiency
from core.evidence.measurements import Arrival, Engine, Measurement, Quantity
from core.evidence.published_terms import prediction
from core.steps.model import TensorGroup

MOST_LINES = 10_000
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", re.ASCII)
"""A time that compares as its text does."""


@dataclass(frozen=True)
class Foretold:
    """A time told before it was seen: of what, by which constants, on which day; and what was seen, once it was."""

    key: str
    made: str
    model: str
    gpu: str
    tp_size: int
    dtype: str
    batch: int
    prompt_tokens: int
    output_tokens: int
    quantity: Quantity
    reached_fraction: float
    layer_floor_s: float
    predicted_s: float
    tested_rows: int
    seen: str = ""
    measured_s: float | None = None
    source: str = ""
    arrival: Arrival = "static"
    engine: Engine = ""

    @property
    def ratio(self) -> float | None:
        """predicted / seen; None before."""
        return None if self.measured_s is None else self.predicted_s / self.measured_s


@dataclass(frozen=True)
class ForetoldTable:
    """A table of times told at once: its file, how many, by which commit's constants, and a digest of them all.

    One line for a table: a line for each of its rows would be eight times the table itself. `source` is where its
    times had been published by then, unread: nothing was fitted to any of them.
    """

    key: str
    made: str
    commit: str
    file: str
    rows: int
    digest: str
    source: str


def foretell(
    key: str,
    made: str,
    *,
    model_key: str,
    gpu_key: str,
    tp_size: int = 1,
    dtype: str = "bf16",
    batch: int = 1,
    prompt_tokens: int = 1024,
    output_tokens: int = 256,
    quantity: Quantity = "decode",
    arrival: Arrival = "static",
    engine: Engine = "",
) -> Foretold:
    """A prediction as of now, by the constants that ship: of a batch that begins together, or of a server."""
    row, gpu_spec = model(model_key), gpu(gpu_key)
    require_positive(tp_size=tp_size, batch=batch, prompt_tokens=prompt_tokens, output_tokens=output_tokens)
    tested = accuracy_of(gpu_spec, row, quantity)
    untold = Foretold(
        key, made, row.key, gpu_spec.key, tp_size, dtype, batch, prompt_tokens, output_tokens, quantity,
        1.0, 0.0, 0.0, tested.n if tested else 0, arrival=arrival, engine=engine,
    )  # fmt: skip
    return retold(untold)


def foretold_measurement(one: Foretold) -> Measurement:
    """What a prediction is of, with what was seen of it; without that, 1 s."""
    gpu_spec = gpu(one.gpu)
    return Measurement(
        source=one.source, engine=one.engine, model=model(one.model), gpu=gpu_spec,
        group=TensorGroup(one.tp_size, link(gpu_spec.link_key)), pp_size=1, dtype=one.dtype, kv_dtype="bf16",
        batch=one.batch, prompt_tokens=one.prompt_tokens, output_tokens=one.output_tokens,
        quantity=one.quantity, arrival=one.arrival, utilisation=0.9, measured_s=one.measured_s or 1.0,
    )  # fmt: skip


def retold(one: Foretold) -> Foretold:
    """The same prediction by the constants that ship today."""
    said = foretold_measurement(one)
    steps = calibration_of(said.gpu, said.model, said.engine).efficiency
    constants = prompt_efficiency(said.gpu, said.model) if one.quantity == "first_token" else steps
    return replace(
        one,
        reached_fraction=constants.reached_fraction,
        layer_floor_s=constants.layer_floor_s,
        predicted_s=prediction(said).predicted_s(constants),
    )


def predicted_line(before: str, one: Foretold) -> str:
    """The line of a prediction, behind the line before it."""
    kept = {name: value for name, value in asdict(one).items() if name not in ("seen", "measured_s", "source")}
    return _line(before, {"event": "predicted", **kept})


def seen_line(before: str, key: str, seen: str, measured_s: float, source: str) -> str:
    """The line of a figure that was seen."""
    require_positive(measured_s=measured_s)
    line = {"event": "seen", "key": key, "seen": seen, "measured_s": measured_s, "source": source[:300]}
    return _line(before, line)


def table_line(before: str, table: ForetoldTable) -> str:
    """The line of a table that was told at once."""
    return _line(before, {"event": "table", **asdict(table)})


def read_tables(lines: Sequence[str]) -> tuple[ForetoldTable, ...]:
    """Every table that was told at once. Raises as `read_foretold` does."""
    entries = [dict(entry) for entry in _entries(lines) if entry["event"] == "table"]
    for entry in entries:
        del entry["event"]
    return tuple(ForetoldTable(**entry) for entry in entries)


def read_foretold(lines: Sequence[str]) -> tuple[Foretold, ...]:
    """Every prediction, with what was seen of it.

    Raises UnreadableTextError for a line that is none or does not follow the one before it, UnknownNameError for a
    figure of no prediction, OutOfRangeError for one that was seen twice or before it was told.
    """
    told: dict[str, Foretold] = {}
    for number, entry in enumerate(_entries(lines), start=1):
        event, key = entry.pop("event"), str(entry.get("key"))
        if event == "predicted" and key not in told:
            told[key] = Foretold(**entry)
        elif event == "seen":
            told[key] = _seen(told, key, entry)
        elif event != "table":
            raise UnreadableTextError("prediction_nothing_new", line=number)
    return tuple(told.values())


def _entries(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Each line's entry, without the digest of the line before it, which must be right."""
    before = ""
    for number, line in enumerate(lines[:MOST_LINES], start=1):
        entry = {"event": None, **_entry(number, line)}
        if entry.pop("after", None) != digest(before):
            raise UnreadableTextError("prediction_out_of_order", line=number)
        yield entry
        before = line


def _seen(told: Mapping[str, Foretold], key: str, entry: Mapping[str, object]) -> Foretold:
    if key not in told:
        raise UnknownNameError("prediction", key, told)
    one, seen = told[key], str(entry["seen"])
    if one.seen:
        raise OutOfRangeError("key", key, "seen_already")
    if not (_UTC.fullmatch(seen) and _UTC.fullmatch(one.made)):
        raise OutOfRangeError("seen", seen[:40], "such_as", example="2026-11-22T10:00:00+00:00")
    if seen < one.made:
        raise OutOfRangeError("seen", seen, "before_made", made=one.made)
    return replace(one, **entry)  # type: ignore[arg-type]


def _entry(number: int, line: str) -> dict[str, object]:
    try:
        entry: object = json.loads(line)
    except ValueError as error:
        raise UnreadableTextError("prediction_no_json", line=number) from error
    if not isinstance(entry, dict):
        raise UnreadableTextError("prediction_no_entry", line=number)
    return entry


def _line(before: str, entry: Mapping[str, object]) -> str:
    return json.dumps({**entry, "after": digest(before)}, ensure_ascii=False)


def digest(line: str) -> str:
    """What the next line carries of a line."""
    return hashlib.sha256(line.encode()).hexdigest()[:16]
