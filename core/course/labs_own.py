"""The labs' own model, GPU and links, of which *Start here* tells, whatever the scenario is."""

from core.catalog import model as find_model
from core.collectives.clock import AllReduce, Course
from core.collectives.cost import one_shot_all_reduce
from core.comm_cost.bill import allreduce_payload_bytes
from core.course.start_here import (
    Pass,
    forward_pass,
    gpus_to_hold,
    message,
    ridge_tokens,
    ring_chunks_sent,
)
from core.scenario import Scenario

LABS_OWN = Scenario()
MODEL, GPU = LABS_OWN.model_spec, LABS_OWN.gpu_spec
LINKS = {"NVLink": LABS_OWN.link_spec, "10 GbE": LABS_OWN.network_spec}
"""The labs' two links by their short names: inside a node, and between nodes."""

PAYLOAD_BYTES = round(allreduce_payload_bytes(1, MODEL.hidden_size))
"""One token's row of activations: what the labs send."""

RANKS, ASKED_RANKS = 4, 8
"""Ranks of the ring that runs, few enough to follow, and of the one that is asked for."""

NODE_GPUS = 2
LARGE = find_model("llama-3-70b")
GPUS_SHOWN = (1, 2, 4, 8)
FEWEST_GPUS = gpus_to_hold(LARGE, GPU)
TOKEN, PROMPT = (forward_pass(MODEL, GPU, tokens) for tokens in (1, LABS_OWN.prompt_tokens))


def passes() -> list[Pass]:
    """Passes over 1 to 4096 tokens."""
    return [forward_pass(MODEL, GPU, 2.0 ** (step / 4)) for step in range(49)]


def ring_run() -> Course:
    """The ring of `RANKS` ranks over the labs' NVLink."""
    return AllReduce(RANKS, PAYLOAD_BYTES, LABS_OWN.link_spec).course("ring")


def ring_sums(ring: Course) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """`[k][rank][chunk]`: the sum that a rank holds of a chunk after k rounds; rank r begins with r + 1 in each."""
    return tuple(
        tuple(tuple(str(sum(part) + len(part)) for part in chunks) for chunks in state) for state in ring.held
    )


def slips(scene: str) -> dict[str, float]:
    """The wrong answers to a scene's question that are known, on its axis, by their names in room.md."""
    if scene == "decode":
        widths = {"one_byte": "fp8", "four_bytes": "fp32"}
        return {name: 1e3 * forward_pass(MODEL, GPU, 1, dtype).memory_s for name, dtype in widths.items()}
    if scene == "prefill":
        right = ridge_tokens(GPU)
        return {"one_operation": 2 * right, "one_byte": right / 2}
    if scene == "bottlenecks":
        return {"one_byte": gpus_to_hold(LARGE, GPU, "fp8"), "four_bytes": gpus_to_hold(LARGE, GPU, "fp32")}
    if scene == "rank":
        far = message(PAYLOAD_BYTES, LINKS["10 GbE"])
        return {"crossing": 100 * (1 - far.latency_s / far.total_s)}
    half = ring_chunks_sent(ASKED_RANKS) // 2
    everything = ASKED_RANKS * one_shot_all_reduce(1, ASKED_RANKS, LINKS["NVLink"]).traffic_bytes
    return {"one_half": half, "everything": everything}
