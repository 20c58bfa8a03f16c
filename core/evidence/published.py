"""Published tables in their own words, read as times: what a row says was run, and how long it took.

Reading a row settles which of four quantities it states, turns rates into seconds, and names the reason wherever
it is not one that a step model can be held against. What ships with the project was read once
(`python -m scripts.accuracy TABLE --keep FILE`) and is kept as core.evidence.measurements has it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from core.catalog import LINKS, link
from core.errors import ShardlabError
from core.evidence.measurements import (
    SERVERS,
    Arrival,
    Engine,
    Measurement,
    PublishedTable,
    Quantity,
    SkippedRow,
)
from core.evidence.published_names import published_dtype, published_gpu, published_model
from core.evidence.published_terms import fits
from core.specs import GPUS_PER_NODE, LinkSpec
from core.steps.model import CROSSING_S, TensorGroup
from core.text.numbers import number, whole_number

DEFAULT_UTILISATION = 0.9
SHORT_CONTEXT = 100
"""Tokens behind a prompt where a decode rate names no output: half of the 200 that gpt-fast generates."""


@dataclass(frozen=True)
class PublishedRow:
    """One line of a table of measurements, in its own words."""

    source: str
    model: str
    dtype: str
    gpu: str
    tp: str
    pp: str
    batch: str
    in_len: str
    out_len: str
    metric: str
    value: str
    note: str = ""

    @property
    def run(self) -> tuple[str, ...]:
        """What tells this run from another of its source, whatever was measured of it."""
        shared = (getattr(self, name) for name in _OF_THE_RUN)
        return (*shared, self.note.split(";")[0], "megatron" if "(megatron)" in self.metric.lower() else "")


PRINTED_COLUMNS = tuple(field.name for field in fields(PublishedRow))
_OF_THE_RUN = ("source", "model", "dtype", "gpu", "tp", "pp", "batch", "in_len", "out_len")


def read_published(rows: Iterable[PublishedRow]) -> PublishedTable:
    """Every row, as a measurement or with the reason why not; each run is judged by one row of a kind.

    A rate beside a time of the same run is the same clock read twice, and is left out.
    """
    rows = list(rows)
    timed = {row.run for row in rows if _is_time(row.metric)}
    measurements: list[Measurement] = []
    skipped: list[SkippedRow] = []
    out_of_memory: list[Measurement] = []
    for row in rows:
        try:
            metric = row.metric.lower()
            if "tokens/s" in metric and "decode" not in metric and row.run in timed:
                raise ShardlabError("apart.rate")
            measurement = _measurement(row)
            _refuse_if_set_aside(measurement)
        except (ShardlabError, ValueError) as error:
            skipped.append(SkippedRow(row.source, row.metric, str(error)))
            continue
        (out_of_memory if measurement.measured_s == 0 else measurements).append(measurement)
    return PublishedTable(tuple(measurements), tuple(skipped), tuple(out_of_memory))


def _is_time(metric: str) -> bool:
    return bool(re.search(r"latency|itl|tpot|ttft|first token|ms/token", metric.lower()))


def _measurement(row: PublishedRow) -> Measurement:
    """One row, read. A run that ended out of memory has no time, and keeps 0.

    Raises ShardlabError or ValueError with the reason why it cannot be.
    """
    gpu, usual = published_gpu(row.gpu)
    ranks = _whole(row.tp, "tp") * _expert_ranks(row.note)
    dtype = published_dtype(row.dtype, row.source)
    batch = None if row.batch == "max" else _whole(row.batch, "batch")
    prompt_tokens = _whole(row.in_len, "in_len")
    output_tokens = _whole(row.out_len, "out_len") if row.out_len else 2 * SHORT_CONTEXT
    quantity = _quantity(row.metric, batch)
    _refuse_if_not_one_prompt(row, quantity, batch)
    _refuse_if_guessed(row)
    return Measurement(
        source=row.source,
        engine=_engine(row),
        model=published_model(row.model),
        gpu=gpu,
        group=_group(ranks, usual, row),
        pp_size=_whole(row.pp, "pp"),
        dtype=dtype,
        kv_dtype=_kv_dtype(row, dtype),
        batch=batch,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        quantity=quantity,
        arrival=_arrival(row, quantity),
        utilisation=_utilisation(row.note),
        measured_s=0.0 if row.value.strip().upper() == "OOM" else _seconds(row, batch, output_tokens),
        printed=f"{row.value} {row.metric}",
    )


def _engine(row: PublishedRow) -> Engine:
    """FasterTransformer's guide prints Megatron's own times beside its own: those of a training code."""
    if "(megatron)" in row.metric.lower():
        return "megatron"
    described = f"{row.source} {row.note}".lower()
    named: tuple[Engine, ...] = ("vllm", "sglang", "gpt-fast")
    return next((engine for engine in named if engine in described), "")


def _quantity(metric: str, batch: int | None) -> Quantity:
    """Which of the four a metric is.

    Raises ShardlabError for percentiles, and for figures derived from another.
    """
    words = metric.lower()
    if re.search(r"\bp\d\d|percentile|bandwidth|mfu|cached", words):
        raise ShardlabError("apart.derived")
    if batch is None:
        return "saturated"
    if re.search(r"itl|tpot|ms/token|decode|inter-token|/user", words):
        return "decode"
    if re.search(r"ttft|first token", words):
        return "first_token"
    if "latency" in words or "tokens/s" in words:
        return "run"
    raise ShardlabError("apart.unread_metric", metric=metric[:60])


def _refuse_if_not_one_prompt(row: PublishedRow, quantity: Quantity, batch: int | None) -> None:
    """Raise for a time to first token in which other prompts' waiting, or a cache, has its part.

    vLLM keeps prefixes by default, and one source's runs repeat their prompts: its one prompt of 1,024 tokens comes
    back in 36 ms, where the GPU's full 312 TFLOPS would need 43.
    """
    if quantity != "first_token":
        return
    if batch is not None and batch > 1:
        raise ShardlabError("apart.queued")
    if "batch = number of prompts sent at once" in row.note:
        raise ShardlabError("apart.cached")


def _refuse_if_guessed(row: PublishedRow) -> None:
    """Raise where a step may give more than one token: a draft guessed, and the model looked it over."""
    if re.search(r"speculat|draft|medusa|eagle|lookahead|\bmtp\b", f"{row.metric} {row.note}".lower()):
        raise ShardlabError("apart.guessed")


def _refuse_if_set_aside(measurement: Measurement) -> None:
    """Raise for a token's time at SGLang of more sequences than memory holds.

    It admits them, sets some aside again, and their waiting counts. Gemma 4 31B on an MI300X, 4,096 at once: by
    Little's law, 1,044 tokens/s of 1.52 s each are 1,590 sequences, where memory holds some 100.
    """
    if measurement.engine == "sglang" and measurement.quantity == "decode" and not fits(measurement):
        raise ShardlabError("apart.set_aside")


def _seconds(row: PublishedRow, batch: int | None, output_tokens: int) -> float:
    """A value as a time of its quantity.

    Raises ShardlabError for a value that is no number above 0, or a rate without what it is of.
    """
    value, metric = number(row.value, 0), row.metric.lower()
    if not value:
        raise ShardlabError("apart.no_number", value=row.value[:20])
    if _is_time(row.metric):
        return value * (1e-3 if re.search(r"\bms\b", metric) else 1.0)
    if "requests/s" in metric or "req/s" in metric:
        value *= output_tokens
    if re.search(r"(/|per )gpu", metric):
        value *= _whole(row.tp, "tp") * _whole(row.pp, "pp")
    if batch is None or "/user" in metric:
        return 1 / value
    if "decode" in metric:
        return batch / value
    both = "input" in metric and "output" in metric
    return batch * (output_tokens + (_whole(row.in_len, "in_len") if both else 0)) / value


def _arrival(row: PublishedRow, quantity: Quantity) -> Arrival:
    """How requests came: times per token are taken on a server, times of a run on a batch that never changes."""
    if "sent at once" in row.note:
        return "burst"
    return "closed" if quantity == "decode" and _is_time(row.metric) else "static"


def _group(ranks: int, usual: LinkSpec, row: PublishedRow) -> TensorGroup:
    """The ranks of a row. Past eight they cross nodes, over the network its source names.

    Raises ShardlabError for ranks over nodes whose network is not named.
    """
    described = f"{row.gpu} {row.note}".lower()
    if 1 < ranks <= GPUS_PER_NODE and re.search(
        r"\b(two|2|diff|different|separate|several) (nodes|machines)", described
    ):
        raise ShardlabError("apart.no_network")
    if ranks <= GPUS_PER_NODE:
        inside = link("pcie-4-no-p2p") if _IN_PODS in row.source else usual
        return TensorGroup(ranks, inside, GPUS_PER_NODE)
    told = (row for row in LINKS.values() if row.published_as and re.search(row.published_as, described))
    network = next(told, None)
    if network is None:
        raise ShardlabError("apart.no_network")
    crossing_s = CROSSING_S if _engine(row) in SERVERS else 0.0
    return TensorGroup(ranks, usual, GPUS_PER_NODE, network, crossing_s)


_IN_PODS = "dennislee22/vLLM-benchmarking"
"""A source whose ranks are each in a pod of their own: in one node, but no peer reaches another's memory."""


def _kv_dtype(row: PublishedRow, dtype: str) -> str:
    """The width of keys and values: 16 bits, or fp8 where TensorRT-LLM quantised to floats, unless a note names it.

    Source: its quantisation for benchmarks sets an fp8 cache with fp8 and fp4 weights. Read in 16 bits, two rows of
    an L40S would be faster than its memory.
    """
    named = re.search(r"\b(fp8|int8|bf16|fp16) kv|\bkv[- ](?:cache[- ])?(fp8|int8|bf16|fp16)", row.note.lower())
    if named is not None:
        return str(named[1] or named[2])
    engine = re.search(r"tensorrt-llm|\bnim\b", f"{row.source} {row.note}".lower())
    return "fp8" if engine and dtype in ("fp8", "nvfp4") else "bf16"


def _expert_ranks(note: str) -> int:
    """How many ways a note says the experts are cut besides."""
    match = re.search(r"\bEP (\d{1,3})\b", note)
    return whole_number(match[1] if match else 1) or 1


def _utilisation(note: str) -> float:
    """The share of memory a server was allowed, where a note says so."""
    match = re.search(r"\butil (0\.\d{1,3})\b", note)
    return (number(match[1]) if match else None) or DEFAULT_UTILISATION


def _whole(text: str, name: str) -> int:
    """A whole number above 0.

    Raises ShardlabError for anything else.
    """
    value = whole_number(text, 1, 10**9)
    if value is None:
        raise ShardlabError("apart.unstated", name=name, text=text[:20] or "empty")
    return value
