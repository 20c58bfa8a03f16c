"""Start here: what its figures draw and its prose names of the labs' own model, GPU and links."""

from collections.abc import Mapping

from core.collectives.cost import as_measured, ring_all_reduce
from core.comm_cost.bill import weight_streaming_s
from core.course.labs_own import (
    ASKED_RANKS,
    FEWEST_GPUS,
    GPU,
    GPUS_SHOWN,
    LABS_OWN,
    LARGE,
    LINKS,
    MODEL,
    PAYLOAD_BYTES,
    PROMPT,
    RANKS,
    TOKEN,
)
from core.course.start_here import message, ridge_tokens, ring_chunks_sent
from core.models.parameters import multiplied_parameters
from core.models.weights import held_weight_bytes, read_weight_bytes
from core.steps.view import View
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import bandwidth, decimal_bytes, local, seconds
from runtime.rows import Row
from ui.start_here.pictures import Boxes, Drain, Pass


@kept
def fields() -> Mapping[str, object]:
    """Core's rows by name; the prose names their fields and units."""
    (inside, near), (between, far) = ((name, message(PAYLOAD_BYTES, link)) for name, link in LINKS.items())
    large_bytes, held_read_s = held_weight_bytes(LARGE), weight_streaming_s(MODEL, GPU)
    sent = ring_chunks_sent(ASKED_RANKS)
    return {
        "model": MODEL,
        "gpu": GPU,
        "large": LARGE,
        "large_bytes": large_bytes,
        "large_read_s": read_weight_bytes(LARGE) / FEWEST_GPUS / GPU.memory_bytes_per_s,
        "left_over_bytes": GPU.usable_memory_bytes - large_bytes / FEWEST_GPUS,
        "fewest_gpus": FEWEST_GPUS,
        "parameters": multiplied_parameters(MODEL),
        "read_bytes": read_weight_bytes(MODEL),
        "held_bytes": held_weight_bytes(MODEL),
        "held_read_s": held_read_s,
        "held_ms": round(1e3 * held_read_s),
        "operations": 2 * multiplied_parameters(MODEL) / 1e9,
        "token": TOKEN,
        "prompt": PROMPT,
        "prompt_tokens": LABS_OWN.prompt_tokens,
        "prompt_steps": round(PROMPT.bound_s / TOKEN.bound_s),
        "ridge": round(ridge_tokens(GPU)),
        "payload_bytes": PAYLOAD_BYTES,
        "inside": inside,
        "between": between,
        "near": near,
        "far": far,
        "inside_link": LINKS[inside],
        "between_link": LINKS[between],
        "measured_link": as_measured(View(LABS_OWN).network),
        "times_slower": far.total_s / near.total_s,
        "ranks": RANKS,
        "rounds": ring_chunks_sent(RANKS),
        "sum": RANKS * (RANKS + 1) // 2,
        "asked_ranks": ASKED_RANKS,
        "sent": sent,
        "half": sent // 2,
        "traffic_payloads": ring_all_reduce(1.0, ASKED_RANKS, LINKS[inside]).traffic_bytes,
    }


def drain() -> Drain:
    """Return the picture of one token: the weights that leave the memory."""
    held = said("start_here", "says.drained", held=read_weight_bytes(MODEL), rate=GPU.memory_bytes_per_s)
    return Drain(held, said("start_here", "says.all_read"))


def one_pass() -> Pass:
    """Return the picture of a prompt: the weights, and the tokens that go through them."""
    return Pass(500, 5, said("start_here", "says.weights_once"), said("start_here", "says.tokens_one_pass"))


def boxes() -> Boxes:
    """Return the picture of the large model over its GPUs."""
    held, room = held_weight_bytes(LARGE), GPU.usable_memory_bytes
    whole = said("start_here", "says.whole", held=held, name=LARGE.key)
    return Boxes(20, held / room, whole, said("start_here", "says.boxes", room=room))


def share_terms() -> tuple[tuple[str, str] | str, ...]:
    """The decode step as it is written by hand."""
    return (
        (named("start_here", "weights"), said("start_here", "says.memory_bandwidth")),
        (decimal_bytes(read_weight_bytes(MODEL), 4), bandwidth(GPU.memory_bytes_per_s, 4)),
        seconds(TOKEN.memory_s),
    )


def ridge_terms() -> tuple[tuple[str, str] | str, ...]:
    """The ridge as it is written by hand."""
    return (
        ("F · b", "2 · BW"),
        (local(f"{GPU.bf16_flops / 1e12:g} T · 2"), local(f"2 · {GPU.memory_bytes_per_s / 1e12:g} T")),
        said("start_here", "says.tokens", ridge_tokens=local(f"{ridge_tokens(GPU):.0f}")),
    )


def messages() -> list[Row]:
    """One row of activations over each link."""
    sent = ((name, message(PAYLOAD_BYTES, link)) for name, link in LINKS.items())
    return [Row(name=name, latency_s=one.latency_s, total_s=one.total_s) for name, one in sent]


def token_needs() -> list[Row]:
    """The two times of one token."""
    return [
        Row(name=said("start_here", "says.read_every_matrix"), time_s=TOKEN.memory_s),
        Row(name=said("start_here", "says.multiply_every_weight"), time_s=TOKEN.arithmetic_s),
    ]


def marked_tokens() -> dict[str, float]:
    """Numbers of tokens worth pointing at: decode, where the two times are equal, and the labs' prompt."""
    at = {"decode": 1.0, "equal": ridge_tokens(GPU), "prefill": LABS_OWN.prompt_tokens}
    return {named("start_here", name): tokens for name, tokens in at.items()}


def shares() -> list[Row]:
    """The large model spread evenly over 1, 2, 4 and 8 GPUs, communication left out."""
    token_s, held = read_weight_bytes(LARGE) / GPU.memory_bytes_per_s, held_weight_bytes(LARGE)
    return [
        Row(gpus=gpus, weight_bytes=held / gpus, read_s=token_s / gpus, fits=gpus >= FEWEST_GPUS)
        for gpus in GPUS_SHOWN
    ]
