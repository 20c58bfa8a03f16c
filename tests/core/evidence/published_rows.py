"""Rows of a table of measurements, for tests: the figures are published ones, each named where it is used."""

from dataclasses import replace

from core.evidence.published import PublishedRow

GPT_FAST = PublishedRow(
    source="gpt-fast README",
    model="Llama-2-7B",
    dtype="bf16",
    gpu="A100-80GB",
    tp="1",
    pp="1",
    batch="1",
    in_len="5",
    out_len="",
    metric="decode tokens/s",
    value="104.9",
)
"""Source: github.com/meta-pytorch/gpt-fast, README."""

QWQ = replace(
    GPT_FAST,
    source="vllm-project/vllm issue #16300",
    model="QwQ-32B",
    tp="2",
    batch="16",
    in_len="1",
    out_len="200",
    metric="latency s",
    value="6.07",
)
"""Source: github.com/vllm-project/vllm/issues/16300."""

SATURATED = replace(
    GPT_FAST,
    source="TensorRT-LLM perf-overview.md",
    model="Llama-3.1-8B",
    dtype="fp8",
    gpu="L40S",
    batch="max",
    in_len="128",
    out_len="2048",
    metric="output tokens/s, whole deployment",
    value="5101.7",
    note="saturated",
)
"""Source: NVIDIA/TensorRT-LLM docs/source/performance/perf-overview.md."""
