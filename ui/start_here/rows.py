"""Start here: what it shows of the labs' own model, GPU and links, whatever the scenario is."""

from core.course.labs_own import FEWEST_GPUS, GPU, GPUS_SHOWN, LABS_OWN, LARGE, LINKS, PAYLOAD_BYTES, TOKEN
from core.course.start_here import message, ridge_tokens
from core.models.weights import held_weight_bytes, read_weight_bytes
from runtime.prose import named, said
from runtime.rows import Row


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
