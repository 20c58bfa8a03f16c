"""A row whose figure is off by a unit is refused, by its file, its row, its field and the rule.

The bounds are wider than anything sold: a millisecond in the place of a microsecond falls out of them, as do GB/s
in the place of TB/s. A figure that is merely wrong does not: data sheets hold those (test_data_sheets.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from core.catalog import GPUS, LINKS, MODELS
from core.catalog.lookup import by_key
from core.errors import OutOfRangeError
from core.specs import GpuSpec, LinkSpec, ModelSpec

TABLES = {
    "core/catalog/links.py": LINKS,
    "core/catalog/gpus.py": GPUS,
    "core/catalog/models_*.py": MODELS,
}
BOUNDS = {
    LinkSpec: {
        "latency_s": (1e-7, 5e-4),
        "bandwidth_bytes_per_s": (1e7, 1e13),
        "base_s": (0, 1e-4),
        "measured_bytes_per_s": (1e7, 1e13),
        "switched_bytes_per_s": (1e9, 1e12),
        "in_switch_bytes_per_s": (1e10, 1e13),
        "lanes": (0, 72),
    },
    GpuSpec: {
        "bf16_flops": (1e13, 1e17),
        "fp8_flops": (2e13, 1e17),
        "fp4_flops": (4e13, 1e18),
        "memory_bytes_per_s": (1e11, 1e14),
        "memory_bytes": (4e9, 2e12),
        "usable_memory_bytes": (4e9, 2e12),
        "capability": (50, 200),
        "gpus_per_node": (1, 16),
        "nvlink_domain": (2, 1024),
        "vllm_batched_tokens": (1024, 65536),
        "vllm_sequences": (64, 4096),
    },
    ModelSpec: {
        "hidden_size": (256, 65536),
        "num_hidden_layers": (4, 512),
        "num_attention_heads": (4, 512),
        "num_key_value_heads": (1, 512),
        "head_dim": (32, 1024),
        "intermediate_size": (128, 262144),
        "vocab_size": (1000, 2_000_000),
        "max_position_embeddings": (512, 1e8),
    },
}


def out_of_range(table: str, rows: Mapping[str, object]) -> Iterator[str]:
    for key, row in rows.items():
        for name, (low, high) in BOUNDS[type(row)].items():
            value = getattr(row, name)
            if value is not None and not low <= value <= high:
                yield f"{table}: row {key}: {name}={value:g} is not from {low:g} to {high:g}, in SI units"


@pytest.mark.parametrize("table", TABLES)
def test_every_figure_of_every_row_is_of_its_unit(table):
    assert list(out_of_range(table, TABLES[table])) == []


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (replace(LINKS["nvlink-4"], latency_s=1.2), "latency_s=1.2 is not from 1e-07 to 0.0005"),
        (replace(LINKS["nvlink-4"], latency_s=1.2e-3), "latency_s=0.0012 is not"),
        (replace(LINKS["ib-ndr"], bandwidth_bytes_per_s=50.0), "bandwidth_bytes_per_s=50 is not"),
        (replace(GPUS["h100-sxm"], memory_bytes_per_s=4e9), "memory_bytes_per_s=4e+09 is not from 1e+11"),
        (replace(GPUS["h100-sxm"], bf16_flops=989.0), "bf16_flops=989 is not"),
        (replace(GPUS["h100-sxm"], memory_bytes=80), "memory_bytes=80 is not"),
        (replace(MODELS["llama-3-8b"], num_hidden_layers=4096), "num_hidden_layers=4096 is not"),
    ],
)
def test_a_figure_of_another_unit_is_refused_by_file_row_field_and_rule(row, told):
    (line,) = out_of_range("a table", {row.key: row})
    assert line.startswith(f"a table: row {row.key}: {told}")
    assert line.endswith(", in SI units")


def test_a_key_of_two_rows_is_refused_by_its_table_and_both_rows():
    """As a mapping, the first of them would be gone without a word."""
    one, other = LINKS["nvlink-4"], replace(LINKS["nvlink-5"], key="nvlink-4")
    told = "core/catalog/links.py: key=nvlink-4 is of two rows, 'NVLink 4 .*' and 'NVLink 5.*'; a key is of one row"
    with pytest.raises(OutOfRangeError, match=told):
        by_key((one, other), "core/catalog/links.py")


@pytest.mark.parametrize("table", TABLES)
def test_a_name_is_of_one_row_alone(table):
    owners: dict[str, set[str]] = {}
    for key, row in TABLES[table].items():
        for name in (key, *row.aliases):
            owners.setdefault(name.lower(), set()).add(key)
    shared = {name: sorted(keys) for name, keys in owners.items() if len(keys) > 1}
    assert shared == {}, f"{table}: each of these names is of several rows"
