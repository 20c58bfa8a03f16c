"""The lines a run prints, read into typed rows. A line is a JSON object with an `event`; unknown events are kept
as text and mean nothing, so that an older page reads a newer program's log.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ShardlabError
from core.specs import ModelSpec
from core.two_way_tp.predictions import MINI_GPT, gpt

REQUIRED = ("world", "weights", "kv", "sweep", "collectives", "all_reduce", "all_gather", "token", "tokens")


class RunLogError(ShardlabError):
    """A log that is no run's, or that ends before the run did."""


@dataclass(frozen=True)
class LogLine:
    """A line of a run's log, as printed, and the event that it tells."""

    number: int
    text: str
    event: str


@dataclass(frozen=True)
class SweepPoint:
    """All-reduces of one size with nothing else to do."""

    payload_bytes: int
    median_s: float


@dataclass(frozen=True)
class Answer:
    """A sentence and what the model made of it."""

    given: str
    answer: str


@dataclass(frozen=True)
class RankStep:
    """One rank's decode step, in seconds since the first rank began it; `collectives_s` are (begin, end) pairs."""

    began_s: float
    ended_s: float
    collectives_s: tuple[tuple[float, float], ...]

    @property
    def working_s(self) -> float:
        """How long it worked, outside of collectives."""
        return self.ended_s - self.began_s - sum(end - begin for begin, end in self.collectives_s)


@dataclass(frozen=True)
class Step:
    """One decode step on every rank, and the token that came of it."""

    number: int
    token: str
    ranks: tuple[RankStep, ...]

    @property
    def whole_s(self) -> float:
        """From the first rank's beginning to the last one's end."""
        return max(one.ended_s for one in self.ranks)


@dataclass(frozen=True)
class Slowed:
    """A run in which one rank slept before every step: each rank's step, and the part of it inside all-reduces."""

    rank: int
    delay_s: float
    token_s: tuple[float, ...]
    all_reduce_s: tuple[float, ...]


@dataclass(frozen=True)
class Broken:
    """A wrong variant of the layers: what it answered, and how far its logits for the first token were off."""

    how: str
    identical: int
    of: int
    max_logit_difference: float
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Prefill:
    """A prompt that fills the model's positions, on one process and on all ranks: a sum carries all of its rows."""

    tokens: int
    payload_bytes: int
    single_s: float
    median_s: float


@dataclass(frozen=True)
class RunLog:
    """One run, as it told it. `ranks_per_gpu` is above 1 where ranks shared a GPU, 0 on a CPU."""

    lines: tuple[LogLine, ...]
    model: ModelSpec
    backend: str
    tp_size: int
    weights_bytes: tuple[int, ...]
    kv_bytes_per_token: tuple[int, ...]
    sweep: tuple[SweepPoint, ...]
    all_reduces_per_token: float
    all_reduce_bytes_per_token: int
    all_reduce_payload_bytes: int
    all_reduce_s: float
    all_gather_payload_bytes: int
    all_gather_s: float
    single_token_s: float
    token_s: float
    prompts: int
    identical: int
    answers: tuple[Answer, ...]
    steps: tuple[Step, ...]
    slowed: Slowed | None
    broken: tuple[Broken, ...]
    prefill: Prefill | None = None
    waited_s: tuple[float, ...] = ()
    ranks_per_gpu: int = 0

    @property
    def sweep_s(self) -> float:
        """The idle sweep's median at the payload of a decode step: its first size."""
        return self.sweep[0].median_s

    @property
    def sums_s(self) -> list[float]:
        """Every all-reduce of the traced sentence as rank 0 stood in it; a step's last collective gathers."""
        return [end - begin for step in self.steps for begin, end in step.ranks[0].collectives_s[:-1]]


def read_log(lines: Iterable[str]) -> RunLog:
    """A finished run's log.

    Raises RunLogError when a line is no JSON object, or when an event that every run prints is missing.
    """
    texts = [text.strip() for text in lines if text.strip()]
    rows = [_parse(number, text) for number, text in enumerate(texts, start=1)]
    missing = [name for name in REQUIRED if name not in {row["event"] for row in rows}]
    if missing:
        raise RunLogError("line_missing", missing=missing[0])
    try:
        return _run_log(texts, rows)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise RunLogError("log_lacks", error=error) from None


def _parse(number: int, text: str) -> Mapping[str, Any]:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("event"), str):
        raise RunLogError("no_event", line=number, text=text[:60])
    return row


def _run_log(texts: list[str], rows: list[Mapping[str, Any]]) -> RunLog:
    def every(event: str) -> list[Mapping[str, Any]]:
        return [row for row in rows if row["event"] == event]

    world, sums, gather, collectives, tokens = (
        every(name)[0] for name in ("world", "all_reduce", "all_gather", "collectives", "tokens")
    )
    lines = tuple(
        LogLine(number, text, row["event"])
        for number, (text, row) in enumerate(zip(texts, rows, strict=True), start=1)
    )
    medians = {row["tp_size"]: row["median_ms"] / 1e3 for row in every("token")}
    slowed, prefill, waited = every("slowed"), every("prefill"), every("waited")
    return RunLog(
        lines=lines,
        model=ModelSpec(**world["shape"]) if "shape" in world else gpt(world.get("model", MINI_GPT.key)),
        backend=str(world["backend"]),
        tp_size=int(world["tp_size"]),
        weights_bytes=tuple(row["bytes"] for row in every("weights")),
        kv_bytes_per_token=tuple(row["bytes_per_token"] for row in every("kv")),
        sweep=tuple(SweepPoint(row["payload_bytes"], row["median_us"] / 1e6) for row in every("sweep")),
        all_reduces_per_token=collectives["all_reduces_per_token"],
        all_reduce_bytes_per_token=collectives["bytes_per_token"],
        all_reduce_payload_bytes=sums["payload_bytes"],
        all_reduce_s=sums["median_us"] / 1e6,
        all_gather_payload_bytes=gather["payload_bytes"],
        all_gather_s=gather["median_us"] / 1e6,
        single_token_s=medians[1],
        token_s=medians[int(world["tp_size"])],
        prompts=tokens["prompts"],
        identical=tokens["identical"],
        answers=tuple(Answer(row["given"], row["answer"]) for row in every("prompt")),
        steps=tuple(_step(row) for row in every("step")),
        slowed=_slowed(slowed[0]) if slowed else None,
        broken=tuple(
            Broken(row["how"], row["identical"], row["of"], row["max_logit_difference"], tuple(row["answers"]))
            for row in every("broken")
        ),
        prefill=_prefill(prefill[0]) if prefill else None,
        waited_s=tuple(wait_ms / 1e3 for wait_ms in waited[0]["ms_per_token"]) if waited else (),
        ranks_per_gpu=int(world.get("ranks_per_gpu", 0)),
    )


def _step(row: Mapping[str, Any]) -> Step:
    ranks = tuple(
        RankStep(
            one["began_us"] / 1e6,
            one["ended_us"] / 1e6,
            tuple((begin / 1e6, end / 1e6) for begin, end in one["collectives_us"]),
        )
        for one in row["ranks"]
    )
    return Step(row["number"], row["token"], ranks)


def _slowed(row: Mapping[str, Any]) -> Slowed:
    token_s, all_reduce_s = (tuple(t / 1e3 for t in row[name]) for name in ("token_ms", "all_reduce_ms"))
    return Slowed(row["rank"], row["delay_ms"] / 1e3, token_s, all_reduce_s)


def _prefill(row: Mapping[str, Any]) -> Prefill:
    return Prefill(row["tokens"], row["payload_bytes"], row["single_ms"] / 1e3, row["median_ms"] / 1e3)
