"""Addresses as they were spelt before options had keys: a link that somebody kept opens the same view."""

from collections.abc import Mapping
from types import MappingProxyType

from runtime import content
from runtime.content import slug
from ui.course.pages import PAGES

_PAGES = {page.prefix: page for page in PAGES}
_LAB = {"See it": "see", "Count it": "count", "Build it": "build", "In real engines": "engines"}

KEYS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "start_scene": {
            "One token": "decode",
            "A prompt": "prefill",
            "Fit and speed": "bottlenecks",
            "Rank and link": "rank",
            "Three collectives": "collectives",
        },
        "shard_scene": _LAB,
        "bill_scene": _LAB,
        "pipe_scene": _LAB,
        "real_scene": _LAB,
        "place_scene": {"Worked cases": "cases", "Under load": "load", "Held to measurements": "accuracy"},
        "log_scene": {"What it catches": "exercises", "The arithmetic": "formulas"},
        "strategy_scene": {"The picker": "picker", "One block": "block", "Prefill apart": "serving"},
        "clinic_scene": {"One slow rank": "straggler", "Custom all-reduce": "all_reduce", "Hangs at init": "hangs"},
        "read_scene": {"Megatron-LM": "megatron", "PyTorch FSDP": "fsdp", "How it was checked": "limits"},
        "quiz_scene": {"Questions": "ask", "Your score": "score"},
        "find_scene": {"Find it": "find"},
        "log_case": {
            "Heads not sharded": "heads",
            "Another width": "dtype",
            "A second model": "second",
            "A heavier first GPU": "heavier",
            "Per rank, or in all": "per_rank",
        },
        "clinic_case": {
            "Eight GPUs, all of them busy, and slower since Monday": "slow_rank",
            "Twice the GPUs, and the p99 melted": "cross_node",
            "Four GPUs in a row, and no token comes sooner": "starved_pipeline",
            "Four more GPUs made it slower": "eight_ranks",
            "The cache holds fewer tokens than the card's memory allows": "kv_too_small",
            "The network is idle, so it cannot be the network": "idle_network",
            "Custom allreduce is disabled because": "kernel_off",
            "The log stops, and the fans start": "silent_init",
        },
        "log_heads_said": {"one, as on every TP=32": "a", "4, all of them": "b", "none, they are latent": "c"},
        "log_dtype_said": {
            "bf16, part of them on the host": "a",
            "fp8 in every matrix": "b",
            "fp8 in the layers, bf16 at both ends": "c",
        },
        "log_second_said": {
            "422 944 tokens would fit: some are lost to rounding": "a",
            "33 layers keep a cache, not 32": "b",
            "the cache is kept in another width": "c",
        },
        "log_heavier_said": {"0 GB": "a", "3 GB": "b", "21 GB": "c"},
        "log_per_rank_said": {"8.69 GiB: one GPU is unused": "a", "17.38 GiB": "b", "31.77 GiB": "c"},
    }
)
"""What an option used to be called in the address, by the name of its part there, where its key is another word."""


def key_of(name: str, value: str) -> str:
    """An option's key, where the address has its old name: that of the table, or the key in capitals and blanks.

    A number is no option's name: `-2` is not `2`.
    """
    page, key = _PAGES.get(name.partition("_")[0]), slug(value)
    scenes = page.names if page and name.endswith("_scene") else ()
    options = content.load(page.stem) if page and not key.isdecimal() else {}
    is_option = key in scenes or f"option.{key}" in options
    return KEYS.get(name, {}).get(value, key if is_option else value)
