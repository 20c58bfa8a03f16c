"""A finished chart and its data: a data set for each list of rows that layers draw.

A browser reads a data set anew, and works out what is drawn of it, only where its bytes are others.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ui.figures.arrow import stream
from ui.figures.axes import Spec
from ui.figures.frames import Row
from ui.figures.lifted import is_lifted, lifted

PART, FIRST = "_part", "rows"
"""The column that says whose part of the data a row is; the first layer's, before which stand a chart's numbers.

Data that no layer draws would not be there.
"""


@dataclass(frozen=True, eq=False)
class Figure:
    """A finished chart: Vega-Lite without its data, and the rows of all its layers, each with its part."""

    spec: Spec
    rows: tuple[dict[str, Any], ...]

    @cached_property
    def lifted(self) -> "Figure":
        """The chart with its own numbers among its rows."""
        if is_lifted(self.spec):
            return self
        spec, head = lifted(self.spec, PART)
        return Figure(spec, ({PART: head}, *self.rows))

    @property
    def parts(self) -> dict[str, list[Row]]:
        """The rows by their part, which a browser reads anew where they are others; empty ones, too."""
        lifted = self.lifted
        parts: dict[str, list[Row]] = {layer["data"]["name"]: [] for layer in lifted.spec["layer"]}
        for row in lifted.rows:
            if row[PART] in parts:
                parts[row[PART]].append({name: value for name, value in row.items() if name != PART})
            else:
                parts[FIRST].append(row)
        return parts

    def to_dict(self) -> Spec:
        """The chart with its data in it, as Vega-Lite takes it."""
        return {**self.lifted.spec, "datasets": self.parts}

    @cached_property
    def sent(self) -> Spec:
        """The chart as Streamlit takes it, its rows as Arrow."""
        return {
            **self.lifted.spec,
            "datasets": {name: stream(rows, () if rows else (PART,)) for name, rows in self.parts.items()},
        }
