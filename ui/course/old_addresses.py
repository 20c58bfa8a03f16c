"""Addresses as they were spelt before options had keys: a link that somebody kept opens the same view."""

from collections.abc import Mapping
from types import MappingProxyType

_LAB = {
    "Question": "question",
    "See it": "see",
    "Count it": "count",
    "Break it": "break_it",
    "Bench": "bench",
    "Build it": "build",
    "In real engines": "engines",
    "Limits": "limits",
}

KEYS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "start_scene": {
            "One token": "decode",
            "A prompt": "prefill",
            "Fit and speed": "bottlenecks",
            "Rank and link": "rank",
            "Three collectives": "collectives",
            "Glossary": "glossary",
        },
        "shard_scene": _LAB,
        "bill_scene": _LAB,
        "pipe_scene": {**_LAB, "Serve": "serve"},
        "real_scene": _LAB,
        "place_scene": {
            "Plan": "plan",
            "Compare": "compare",
            "Worked cases": "cases",
            "Under load": "load",
            "Held to measurements": "accuracy",
            "Limits": "limits",
        },
        "log_scene": {
            "Read": "read",
            "What it catches": "exercises",
            "The arithmetic": "formulas",
            "Limits": "limits",
        },
        "strategy_scene": {
            "Memory": "memory",
            "The picker": "picker",
            "One block": "block",
            "Collectives": "collectives",
            "Prefill apart": "serving",
            "Limits": "limits",
        },
        "clinic_scene": {
            "Cases": "cases",
            "One slow rank": "straggler",
            "Custom all-reduce": "all_reduce",
            "Hangs at init": "hangs",
            "Limits": "limits",
        },
        "read_scene": {
            "Megatron-LM": "megatron",
            "PyTorch FSDP": "fsdp",
            "vLLM": "vllm",
            "How it was checked": "limits",
        },
        "quiz_scene": {"Questions": "ask", "Your score": "score", "Limits": "limits"},
        "find_scene": {"Find it": "find", "Keys": "keys"},
    }
)
"""What an option used to be called in the address, by the name of its part there."""


def key_of(name: str, value: str) -> str:
    """An option's key, where the address has its old name."""
    return KEYS.get(name, {}).get(value, value)
