"""Rows as Arrow: what pyarrow itself reads of them, and makes of the same columns."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.figures.arrow import stream

NAMES = st.sampled_from(["time", "año", "_part", "x" * 40])
VALUES = st.sampled_from(
    [
        st.floats(allow_nan=False) | st.integers(-(2**53), 2**53) | st.none(),
        st.integers(-(2**63), 2**63 - 1) | st.none(),
        st.text() | st.none(),
        st.booleans() | st.none(),
        st.none(),
    ]
)


@st.composite
def tables(draw):
    """Rows whose columns are each of one kind; some rows lack some."""
    kinds = draw(st.dictionaries(NAMES, VALUES, min_size=1))
    row = st.fixed_dictionaries({}, optional=kinds)
    return draw(st.lists(row, max_size=30))


@given(tables())
def test_pyarrow_reads_what_it_would_have_made_of_these_columns(rows):
    names = list({name: None for row in rows for name in row})
    columns = [pa.array([row.get(name) for row in rows]) for name in names]
    read = pa.ipc.open_stream(stream(rows)).read_all()
    read.validate(full=True)
    assert read.equals(pa.Table.from_arrays(columns, names))


def test_a_number_that_is_none_stays_one_and_a_column_of_several_kinds_is_refused():
    read = pa.ipc.open_stream(stream([{"a": float("nan")}, {"a": float("-inf")}])).read_all()
    assert str(read["a"].to_pylist()) == "[nan, -inf]"
    for several in ([1, "one"], [True, 2.0, None], [b"bytes"]):
        with pytest.raises(TypeError):
            stream([{"a": value} for value in several])
