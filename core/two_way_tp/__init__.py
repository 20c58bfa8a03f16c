"""Lab 02: what a real run of MiniGPT on two ranks must print, by labs 01 and 03, beside what it did print."""

from core.two_way_tp.interconnect import fitted_link, step_comm_s
from core.two_way_tp.predictions import (
    GPTS,
    MINI_GPT,
    SHAPE_FIELDS,
    WIDTHS,
    RankWeights,
    all_reduce_bytes_per_token,
    all_reduce_payload_bytes,
    all_reduces_per_token,
    gpt,
    padded_vocab_size,
    token_time_s,
    weights_per_rank,
)
from core.two_way_tp.reconcile import Reading, TokenParts, reconcile, slowdown, token_parts
from core.two_way_tp.replicas import Duel, duels
from core.two_way_tp.result import Manifest, PerToken, RunResult, read_result
from core.two_way_tp.run_log import Broken, LogLine, RankStep, RunLog, RunLogError, Slowed, Step, read_log
from core.two_way_tp.scaling import Crossover, ScalingRun, crossover, curve, read_scaling

__all__ = [
    "GPTS",
    "MINI_GPT",
    "SHAPE_FIELDS",
    "WIDTHS",
    "Broken",
    "Crossover",
    "Duel",
    "LogLine",
    "Manifest",
    "PerToken",
    "RankStep",
    "RankWeights",
    "Reading",
    "RunLog",
    "RunLogError",
    "RunResult",
    "ScalingRun",
    "Slowed",
    "Step",
    "TokenParts",
    "all_reduce_bytes_per_token",
    "all_reduce_payload_bytes",
    "all_reduces_per_token",
    "crossover",
    "curve",
    "duels",
    "fitted_link",
    "gpt",
    "padded_vocab_size",
    "read_log",
    "read_result",
    "read_scaling",
    "reconcile",
    "slowdown",
    "step_comm_s",
    "token_parts",
    "token_time_s",
    "weights_per_rank",
]
