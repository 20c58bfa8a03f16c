"""Start here: the numbers its prose is filled with, all of the labs' own model, GPU and links."""

from collections.abc import Mapping

from core.collectives.cost import ring_all_reduce
from core.comm_cost.bill import weight_streaming_s
from core.course.start_here import message, ridge_tokens, ring_chunks_sent
from core.models.parameters import multiplied_parameters
from core.models.weights import held_weight_bytes, read_weight_bytes
from core.units import bandwidth, binary_bytes, decimal_bytes, grouped, percent, plain, seconds, significant
from ui.start_here.rows import (
    LABS_OWN,
    LARGE,
    NODE_GPUS,
    RANKS,
    fewest_gpus,
    gpu,
    links,
    model,
    one_token,
    payload_bytes,
    prompt,
    short_name,
)

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def fields() -> Mapping[str, str]:
    """Every number of the page's prose, from core, with its unit."""
    return {**_link_fields(), **_ring_fields(), **_pass_fields(), **_fit_fields()}


def _link_fields() -> dict[str, str]:
    inside, between = links()
    near, far = message(payload_bytes(), inside), message(payload_bytes(), between)
    return {
        "payload": binary_bytes(payload_bytes()),
        "hidden": str(model().hidden_size),
        "nodes_gpus": _WORDS[NODE_GPUS],
        "inside": short_name(inside),
        "between": short_name(between),
        "inside_latency": seconds(inside.latency_s, 1),
        "inside_bandwidth": bandwidth(inside.bandwidth_bytes_per_s),
        "between_latency": seconds(between.latency_s, 2),
        "between_bandwidth": bandwidth(between.bandwidth_bytes_per_s),
        "between_crossing": seconds(far.bandwidth_s),
        "inside_share": percent(near.latency_fraction, 0),
        "between_share": percent(far.latency_fraction, 0),
        "times_slower": plain(far.total_s / near.total_s, 2),
    }


def _ring_fields() -> dict[str, str]:
    sent = ring_chunks_sent(RANKS)
    whole = RANKS * (RANKS + 1) // 2
    traffic = ring_all_reduce(1.0, RANKS, links()[0]).traffic_bytes
    return {
        "ranks_word": _WORDS[RANKS],
        "others_word": _WORDS[RANKS - 1],
        "sent_word": _WORDS[sent],
        "sum": str(whole),
        "traffic_payloads": plain(traffic),
    }


def _pass_fields() -> dict[str, str]:
    token, whole, every_s = one_token(), prompt(), weight_streaming_s(model(), gpu())
    return {
        "model": model().key,
        "gpu": gpu().name,
        "parameters": grouped(multiplied_parameters(model())),
        "weights": decimal_bytes(read_weight_bytes(model()), 4),
        "held": decimal_bytes(held_weight_bytes(model()), 4),
        "held_read": seconds(every_s),
        "held_rounded": f"{every_s * 1e3:.0f} ms",
        "memory_speed": bandwidth(gpu().memory_bytes_per_s, 4),
        "flops": f"{plain(gpu().bf16_flops / 1e12)} TFLOP/s",
        "token_read": seconds(token.memory_s),
        "token_multiply": seconds(token.arithmetic_s),
        "token_used": percent(token.arithmetic_fraction),
        "operations": f"{significant(2 * multiplied_parameters(model()) / 1e9)} billion",
        "ridge": str(round(ridge_tokens(gpu()))),
        "prompt": grouped(LABS_OWN.prompt_tokens),
        "prompt_multiply": seconds(whole.arithmetic_s),
        "prompt_steps": str(round(whole.bound_s / token.bound_s)),
    }


def _fit_fields() -> dict[str, str]:
    large, fewest = held_weight_bytes(LARGE), fewest_gpus()
    whole_s = large / gpu().memory_bytes_per_s
    return {
        "large": LARGE.key,
        "large_weights": decimal_bytes(large),
        "capacity": decimal_bytes(gpu().usable_memory_bytes),
        "fewest_word": _WORDS[fewest],
        "large_read": seconds(whole_s / fewest),
        "left_over": decimal_bytes(gpu().usable_memory_bytes - large / fewest),
    }


def share_terms() -> tuple[tuple[str, str] | str, ...]:
    """The decode step as it is written by hand."""
    return (
        ("weights", "memory bandwidth"),
        (decimal_bytes(read_weight_bytes(model()), 4), bandwidth(gpu().memory_bytes_per_s, 4)),
        seconds(one_token().memory_s),
    )


def ridge_terms() -> tuple[tuple[str, str] | str, ...]:
    """The ridge as it is written by hand."""
    flops, speed = gpu().bf16_flops, gpu().memory_bytes_per_s
    return (
        ("F · b", "2 · BW"),
        (f"{flops / 1e12:g} T · 2", f"2 · {speed / 1e12:g} T"),
        f"{ridge_tokens(gpu()):.0f} tokens",
    )
