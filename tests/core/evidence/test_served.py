"""Times of served models: told as a table before they were looked at, kept with it, read as they were printed."""

from dataclasses import replace

import pytest

from core.errors import UnreadableTextError
from core.evidence.foretold import ForetoldTable, read_foretold, read_tables, table_line
from core.evidence.served import read_served, served_measurement, told_digest
from runtime.foretold import tables
from runtime.served import shipped_served

PRINTED = {
    "system": "b300_sxm", "model": "minimax-m2", "backend": "vllm", "dtype": "fp8", "tp": "4", "ep": "1",
    "batch": "128", "isl": "8192", "measured_s": "0.0334", "id": "minimaxm2_5_b300_vllm_8192x1024_c128_cfg733",
}  # fmt: skip


def test_every_row_of_the_shipped_table_was_told_and_the_ledger_says_so():
    """A digest of the whole table stands in the ledger, whose lines carry each other's: none can be told again."""
    (table,) = tables()
    rows = shipped_served()
    assert (table.file, table.rows) == ("served_times.csv", len(rows))
    assert told_digest(rows) == table.digest
    assert all(row.told_s > 0 for row in rows)
    retold = (replace(rows[0], told_s=rows[0].measured_s), *rows[1:])
    assert told_digest(retold) != table.digest


def test_a_table_stands_in_the_ledger_beside_single_predictions():
    table = ForetoldTable("t", "2026-11-28T00:00:00+00:00", "0" * 40, "f.csv", 3, "d", "a page")
    lines = [table_line("", table)]
    assert read_foretold(lines) == ()
    assert read_tables(lines) == (table,)
    with pytest.raises(UnreadableTextError, match="does not follow"):
        read_tables([lines[0].replace('"rows": 3', '"rows": 4'), table_line(lines[0], table)])


def test_a_row_is_read_as_it_was_printed():
    (row,) = read_served([PRINTED])
    assert (row.gpu, row.tp_size, row.batch, row.prompt_tokens, row.output_tokens) == (
        "b300-sxm",
        4,
        128,
        8192,
        1024,
    )
    measurement = served_measurement(row)
    assert (measurement.engine, measurement.arrival, measurement.measured_s) == ("vllm", "closed", 0.0334)


@pytest.mark.parametrize("wrong", [{"system": "b999"}, {"tp": "x"}, {"measured_s": "0"}, {"model": "gpt-9"}])
def test_a_row_that_holds_no_time_is_named(wrong):
    with pytest.raises(UnreadableTextError, match="row 2"):
        read_served([PRINTED, {**PRINTED, **wrong}])
