"""Published measurements as they are kept: one time a row, and all that it was measured of, under our own names.

A table of tables as they were printed is read once (core.evidence.published) and kept in this form
(data/published_times.csv). Every quantity is a time, so that less is faster throughout, and a roofline must lie at
or below it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from core.catalog import gpu, link, model
from core.catalog.lookup import by_key
from core.catalog.model_rows import opt, row
from core.errors import OutOfRangeError, ShardlabError, UnreadableTextError
from core.models.parameters import total_parameters
from core.specs import GPUS_PER_NODE, GpuSpec, ModelSpec
from core.steps.model import CROSSING_S, TensorGroup

Quantity = Literal["decode", "first_token", "run", "saturated"]
"""One decode step; one prompt to its first token; a whole static batch; one output token at the limit."""

Arrival = Literal["static", "burst", "closed"]
"""All at once and none after; all at once into a server; each user's next request when the last is done."""

Engine = Literal["", "vllm", "sglang", "trtllm", "megatron", "gpt-fast"]
"""Whose limits a server has; a training code that also generates; "" for any other."""

SERVERS = ("vllm", "sglang")

_GUIDE = "NVIDIA/FasterTransformer docs/gpt_guide.md, the heads, widths and layers over each table"

# fmt: off
ONLY_PUBLISHED: Mapping[str, ModelSpec] = by_key((
    # a GPT-3 as FasterTransformer's guide states it: OPT's parts, an MLP of four times its width
    opt("gpt-175b", "GPT 175B", 96, 12288, 96, 96, 49152, 51200, 2048, "", _GUIDE, learned_positions=2048),
    opt("gpt-89b", "GPT 89B", 48, 12288, 96, 96, 49152, 51200, 2048, "", _GUIDE, learned_positions=2048),
    opt("megatron-530b", "Megatron 530B", 105, 20480, 128, 128, 81920, 51200, 2048, "", _GUIDE,
        learned_positions=2048),
    row("falcon-180b", "Falcon 180B", 80, 14848, 232, 8, 59392, 65024, 2048, "",
        "tiiuae/falcon-180B config.json as remembered; its parallel block's one all-reduce is counted as two",
        mlp="plain", norm="layernorm"),
), "core/evidence/measurements.py")
# fmt: on
"""Shapes that stand in published tables alone, and so not in the catalog."""


@dataclass(frozen=True)
class Measurement:
    """A published time and what it was measured of. `batch` is None where a server was as full as it would go.

    `printed` is the figure in its source's own words. A run that ended out of memory has the time 0.
    """

    source: str
    engine: Engine
    model: ModelSpec
    gpu: GpuSpec
    group: TensorGroup
    pp_size: int
    dtype: str
    kv_dtype: str
    batch: int | None
    prompt_tokens: int
    output_tokens: int
    quantity: Quantity
    arrival: Arrival
    utilisation: float
    measured_s: float
    printed: str = ""

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """What tells one run from another: parameters, bandwidth, ranks, sequences, and tokens halfway through.

        A server that was full counts as 64 sequences.
        """
        context = self.prompt_tokens + self.output_tokens / 2
        parameters, bandwidth = total_parameters(self.model), self.gpu.memory_bytes_per_s
        return parameters, bandwidth, self.group.tp_size, self.batch or 64, context


@dataclass(frozen=True)
class SkippedRow:
    """A row that is held against nothing, and why."""

    source: str
    metric: str
    reason: str


@dataclass(frozen=True)
class PublishedTable:
    """A table read: what to predict, what was left out, and what is said not to have fitted into memory."""

    measurements: tuple[Measurement, ...]
    skipped: tuple[SkippedRow, ...] = ()
    out_of_memory: tuple[Measurement, ...] = ()


KeptRow = Mapping[str, str]
"""A measurement as a file's line keeps it: catalog keys and numbers, all as text, under `KEPT_COLUMNS`."""
KEPT_COLUMNS = (
    *("source", "engine", "model", "gpu", "tp_size", "pp_size", "link", "network", "dtype", "kv_dtype", "batch"),
    *("prompt_tokens", "output_tokens", "quantity", "arrival", "utilisation", "measured_s", "printed"),
)


def shape(key: str) -> ModelSpec:
    """The model under a key, of the catalog or of published tables alone.

    Raises UnknownNameError.
    """
    return ONLY_PUBLISHED[key] if key in ONLY_PUBLISHED else model(key)


def read_kept(rows: Iterable[KeptRow]) -> PublishedTable:
    """The measurements of a file of them.

    Raises UnreadableTextError that names the first line that holds none.
    """
    measured = []
    for number, kept in enumerate(rows, start=2):
        try:
            measured.append(_measurement(kept))
        except (ShardlabError, ValueError) as error:
            raise UnreadableTextError("no_measurement", line=number, error=error) from error
    return PublishedTable(
        tuple(one for one in measured if one.measured_s > 0),
        out_of_memory=tuple(one for one in measured if one.measured_s == 0),
    )


def _measurement(kept: KeptRow) -> Measurement:
    network = link(kept["network"]) if kept["network"] else None
    crossing_s = CROSSING_S if network and kept["engine"] in SERVERS else 0.0
    return Measurement(
        source=kept["source"],
        engine=_one_of(kept["engine"], "engine", get_args(Engine)),
        model=shape(kept["model"]),
        gpu=gpu(kept["gpu"]),
        group=TensorGroup(int(kept["tp_size"]), link(kept["link"]), GPUS_PER_NODE, network, crossing_s),
        pp_size=int(kept["pp_size"]),
        dtype=kept["dtype"],
        kv_dtype=kept["kv_dtype"],
        batch=int(kept["batch"]) if kept["batch"] else None,
        prompt_tokens=int(kept["prompt_tokens"]),
        output_tokens=int(kept["output_tokens"]),
        quantity=_one_of(kept["quantity"], "quantity", get_args(Quantity)),
        arrival=_one_of(kept["arrival"], "arrival", get_args(Arrival)),
        utilisation=float(kept["utilisation"]),
        measured_s=float(kept["measured_s"]),
        printed=kept["printed"],
    )


def keep(measurement: Measurement) -> KeptRow:
    """The line that `read_kept` reads back as this measurement."""
    network = measurement.group.network
    texts = {
        "model": measurement.model.key,
        "gpu": measurement.gpu.key,
        "tp_size": measurement.group.tp_size,
        "link": measurement.group.link.key,
        "network": network.key if network else "",
        "batch": "" if measurement.batch is None else measurement.batch,
        "measured_s": repr(measurement.measured_s),
    }
    return {name: str(texts.get(name, getattr(measurement, name, ""))) for name in KEPT_COLUMNS}


def _one_of(text: str, name: str, known: tuple[Any, ...]) -> Any:
    if text not in known:
        raise OutOfRangeError(name, text, "not_one_of", known=", ".join(known))
    return text
