"""The one object a run writes, read into a typed row."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.two_way_tp.run_log import RunLogError


@dataclass(frozen=True)
class PerToken:
    """A decode step's time over all timed steps."""

    min_s: float
    mean_s: float
    median_s: float
    p95_s: float


@dataclass(frozen=True)
class RankBytes:
    """What a rank holds once it has answered."""

    weights_bytes: int
    kv_bytes: int


@dataclass(frozen=True)
class Manifest:
    """How a run was made, and on what.

    A `load_average` above `cores`: others were at work. A `priority` other than normal: they stood back. Runs made
    before a `seed` was put down have none.
    """

    command: str
    date: str
    weights: str
    seed: int | None
    threads_per_rank: int
    priority: str
    load_average: float | None
    cpu: str
    cores: int
    gpus: tuple[str, ...]
    python: str
    torch: str
    system: str


@dataclass(frozen=True)
class RunResult:
    """One comparison of TP=1 and TP=N.

    Not every run has timed the single process on all cores' threads, or how fast it streams weights from memory;
    only one with a GPU a rank has replayed its steps as CUDA graphs.
    """

    world_size: int
    backend: str
    tokens_equal: bool
    max_logit_difference: float
    all_reduces_per_token: float
    per_token: PerToken
    single_per_token: PerToken
    all_reduce_s_per_token: float
    ranks: tuple[RankBytes, ...]
    manifest: Manifest
    all_threads_per_token: PerToken | None = None
    memory_bytes_per_s: float | None = None
    graph_per_token: PerToken | None = None
    single_graph_per_token: PerToken | None = None


def read_result(text: str) -> RunResult:
    """A run's result.

    Raises RunLogError when the text is not what `distributed.run_tp` writes.
    """
    try:
        return _result(json.loads(text))
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise RunLogError("no_run_tp", error=error) from None


def _result(row: Mapping[str, Any]) -> RunResult:
    return RunResult(
        world_size=row["world_size"],
        backend=row["backend"],
        tokens_equal=row["tokens_equal"],
        max_logit_difference=row["max_logit_difference"],
        all_reduces_per_token=row["all_reduces_per_token"],
        per_token=read_per_token(row["per_token_s"]),
        single_per_token=read_per_token(row["single_per_token_s"]),
        all_reduce_s_per_token=row["all_reduce_s_per_token"],
        ranks=tuple(RankBytes(one["weights_bytes"], one["kv_bytes"]) for one in row["ranks"]),
        manifest=read_manifest(row["manifest"]),
        all_threads_per_token=_optional(row, "all_threads_per_token_s"),
        memory_bytes_per_s=row.get("memory_bytes_per_s"),
        graph_per_token=_optional(row, "graph_per_token_s"),
        single_graph_per_token=_optional(row, "single_graph_per_token_s"),
    )


def _optional(row: Mapping[str, Any], name: str) -> PerToken | None:
    return read_per_token(row[name]) if row.get(name) else None


def read_per_token(row: Mapping[str, float]) -> PerToken:
    """What a run says that one thing took, over all times that it was done. Raises KeyError for something else."""
    return PerToken(row["min"], row["mean"], row["median"], row["p95"])


def read_manifest(row: Mapping[str, Any]) -> Manifest:
    """A manifest out of its JSON object. Raises KeyError or TypeError where it is something else."""
    hardware, versions = row["hardware"], row["versions"]
    return Manifest(
        command=row["command"],
        date=row["date"],
        weights=row.get("weights") or row["checkpoint_sha256"],
        seed=row.get("seed"),
        threads_per_rank=row["threads_per_rank"],
        priority=row.get("priority", "normal"),
        load_average=row["load_average"],
        cpu=hardware["cpu"],
        cores=hardware["cores"],
        gpus=tuple(hardware["gpus"]),
        python=versions["python"],
        torch=versions["torch"],
        system=versions["system"],
    )
