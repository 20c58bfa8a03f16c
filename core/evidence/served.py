"""Times between tokens of served models, a row each: what was run, and how long a token took.

The rows are those that ai-dynamo/aiconfigurator ships of SemiAnalysisAI/InferenceX: a closed loop, in which as many
users as `batch` send their next request when the last is done. A table is kept under its own names
(data/served_times.csv) or read as it was printed; its predictions stand beside it, one a row.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

from core.catalog import gpu, link, model
from core.errors import ShardlabError, UnreadableTextError, require_positive
from core.evidence.measurements import Engine, Measurement
from core.steps.model import TensorGroup

PRINTED = ("system", "model", "backend", "dtype", "tp", "ep", "batch", "isl", "measured_s", "id")
"""Columns of a table as it was printed; its `id` says how many tokens were written, as 8192x1024."""

_LENGTHS = re.compile(r"(?<!\d)(\d{1,6})x(\d{1,6})(?!\d)", re.ASCII)
_RUN = re.compile(r"\A\d{4}_\d\d_\d\d(?=_)", re.ASCII)
_ENGINES: Mapping[str, Engine] = {"vllm": "vllm", "sglang": "sglang", "trtllm": "trtllm"}


@dataclass(frozen=True)
class ServedRow:
    """One time. `told_s` was predicted by the constants of the day, which nothing of the table was fitted to.

    `run` is what tells it from others of its table: the first part and the last of its own name.
    """

    gpu: str
    model: str
    engine: str
    dtype: str
    tp_size: int
    ep_size: int
    batch: int
    prompt_tokens: int
    output_tokens: int
    measured_s: float
    told_s: float
    run: str

    def __post_init__(self) -> None:
        require_positive(tp_size=self.tp_size, batch=self.batch, measured_s=self.measured_s)


KEPT = tuple(field.name for field in fields(ServedRow))


def read_served(rows: Iterable[Mapping[str, str]]) -> tuple[ServedRow, ...]:
    """A table, kept or as it was printed; nothing is told of one that was printed.

    Raises UnreadableTextError that names the first row that holds no time.
    """
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(_kept(row) if "told_s" in row else _printed(row))
        except (ShardlabError, ValueError, KeyError) as error:
            raise UnreadableTextError("no_served_time", row=number, error=error) from error
    return tuple(found)


def _kept(row: Mapping[str, str]) -> ServedRow:
    return ServedRow(**{field.name: _TYPES[field.name](row[field.name]) for field in fields(ServedRow)})


_TYPES: Mapping[str, type] = {
    **dict.fromkeys(("gpu", "model", "engine", "dtype", "run"), str),
    **dict.fromkeys(("tp_size", "ep_size", "batch", "prompt_tokens", "output_tokens"), int),
    **dict.fromkeys(("measured_s", "told_s"), float),
}


def _printed(row: Mapping[str, str]) -> ServedRow:
    found, name = _LENGTHS.search(row["id"]), row["id"]
    day = _RUN.search(name)
    return ServedRow(
        gpu=gpu(row["system"].replace("_", "-")).key,
        model=model(row["model"]).key,
        engine=_ENGINES.get(row["backend"], ""),
        dtype=row["dtype"],
        tp_size=int(row["tp"]),
        ep_size=int(row["ep"]),
        batch=int(row["batch"]),
        prompt_tokens=int(row["isl"]),
        output_tokens=int(found[2]) if found else 1024,
        measured_s=float(row["measured_s"]),
        told_s=0.0,
        run=f"{day[0].replace('_', '-') if day else ''}/{name.rsplit('_', 1)[-1]}",
    )


def cache_dtype(row: ServedRow) -> str:
    """The width of keys and values in InferenceX's runs: 8 bits, but where vLLM was started without a word of it.

    Source: SemiAnalysisAI/InferenceX benchmarks/: `--kv-cache-dtype fp8_e4m3` of every SGLang script read,
    `kv_cache_config: dtype: fp8` of TensorRT-LLM's, `kv-cache-dtype: fp8` of vLLM's for Llama and gpt-oss on B200.
    """
    asked = row.engine != "vllm" or (row.gpu.startswith("b") and row.model.startswith(("llama", "gpt-oss")))
    return "fp8" if asked else "bf16"


def served_measurement(row: ServedRow) -> Measurement:
    """What was run, as a step model is held against it: a closed loop. A model through an engine is a source."""
    gpu_spec = gpu(row.gpu)
    return Measurement(
        source=f"InferenceX, {row.model} through {row.engine}", engine=_ENGINES.get(row.engine, ""),
        model=model(row.model), gpu=gpu_spec, group=TensorGroup(row.tp_size, link(gpu_spec.link_key)), pp_size=1,
        dtype=row.dtype, kv_dtype=cache_dtype(row),
        batch=row.batch, prompt_tokens=row.prompt_tokens, output_tokens=row.output_tokens, quantity="decode",
        arrival="closed", utilisation=0.9, measured_s=row.measured_s,
    )  # fmt: skip


def told_digest(rows: Sequence[ServedRow]) -> str:
    """What the ledger keeps of a table: of every row, its run and what was told of it."""
    lines = ("\t".join(str(value) for value in astuple(row)) for row in rows)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
