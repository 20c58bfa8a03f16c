"""What a run on rented GPUs must put down: where it was made, what it cost, what came of it, and how sound it is.

Without a cloud account the same run is made on this machine, and its manifest says so: EDUCATIONAL_STUB.
"""

import re
from dataclasses import dataclass

from core.comm_cost.break_even import crossover_hidden_size
from core.errors import OutOfRangeError
from core.models.parameters import dtype_bytes, total_parameters
from core.specs import ModelSpec
from core.two_way_tp.result import RunResult
from core.units import percent, plain, significant

STUB, CLOUD = "EDUCATIONAL_STUB", "CLOUD"
TOO_SMALL_TO_GAIN = 1_000_000
"""Parameters below which a token is launches, not weights: two GPUs cannot divide it."""

_NVLINK_ACTIVE = re.compile(r"^\s*Link \d+: +[\d.]+ GB/s", re.MULTILINE)
_NVLINK_IN_MATRIX = re.compile(r"\bNV\d+\b")


@dataclass(frozen=True)
class Instance:
    """The rented machine. `usd_per_hour` is the whole instance's; `gpus` are named by its driver."""

    vendor: str
    instance_type: str
    instance_id: str
    usd_per_hour: float
    gpus: tuple[str, ...]
    nvlink_present: bool
    nvlink_told_by: str

    def __post_init__(self) -> None:
        if not 0 < self.usd_per_hour < float("inf"):
            raise OutOfRangeError("usd_per_hour", self.usd_per_hour, "vendors_page", least=0)


def nvlink_in(text: str) -> bool:
    """Whether `nvidia-smi nvlink --status` or `nvidia-smi topo -m` shows a link between GPUs."""
    return bool(_NVLINK_ACTIVE.search(text) or _NVLINK_IN_MATRIX.search(text))


def speed_up(result: RunResult) -> float:
    """How many times as fast a token is on all ranks: t(1) / t(N), of medians."""
    return result.single_per_token.median_s / result.per_token.median_s


def comm_fraction_of(result: RunResult) -> float:
    """The share of a token at TP=N that was spent in all-reduces."""
    return min(1.0, result.all_reduce_s_per_token / result.per_token.mean_s)


def crossover_of(result: RunResult, model: ModelSpec) -> int | None:
    """The hidden size above which TP would win on the machine of a run; None where its memory was not timed."""
    if not result.memory_bytes_per_s:
        return None
    all_reduce_s = result.all_reduce_s_per_token / result.all_reduces_per_token
    width = dtype_bytes(model.weight_dtype)
    return round(crossover_hidden_size(all_reduce_s, result.memory_bytes_per_s, result.world_size, width))


def baseline_doubt(result: RunResult, model: ModelSpec) -> str:
    """Why the TP=1 arm cannot have been a single device, in a sentence; empty where nothing speaks against it."""
    if total_parameters(model) > TOO_SMALL_TO_GAIN or speed_up(result) <= 1:
        return ""
    return (
        f"{model.name} came out {significant(speed_up(result))} times as fast at TP={result.world_size}: it has "
        "nothing to divide, so the TP=1 arm was not alone on one device. Look for other work on it, and run again"
    )


def lesson(result: RunResult, model: ModelSpec) -> str:
    """What the run says, in a sentence, whichever way it went."""
    gain, share = speed_up(result), percent(comm_fraction_of(result), 0)
    size, ranks = plain(total_parameters(model) / 1e6, 2), result.world_size
    if gain > 1:
        return f"{size} million parameters: TP={ranks} is {significant(gain)} times as fast, with {share} in sums."
    slower = significant(1 / gain)
    return f"{size} million parameters: TP={ranks} takes {slower} times as long, {share} of it in sums."
