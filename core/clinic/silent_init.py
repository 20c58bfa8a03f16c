"""NCCL hangs in the first all-reduce: the init is complete, both GPUs are busy, and nothing more is printed."""

from core.catalog import model
from core.clinic.case import Case, Figure, bars
from core.clinic.injected import nccl_start
from core.comm_cost.bill import Step

MODEL, RANKS, PROMPT_TOKENS = "llama-3-8b", 2, 2048
P2P_BYTES_PER_S = 25.3e9
NO_P2P_BYTES_PER_S = (2.2e9, 3.9e9)
"""Measured ring busbw over PCIe 4: four GPUs with peer-to-peer, and the range seen over two without."""


def silent_init() -> Case:
    """The case: the last lines before the silence, and what the way round it costs."""
    step = Step(model(MODEL), RANKS, PROMPT_TOKENS)
    sent_bytes = step.all_reduces * step.payload_bytes
    with_s, *without_s = (sent_bytes / speed for speed in (P2P_BYTES_PER_S, *NO_P2P_BYTES_PER_S))
    return Case(
        key="silent_init",
        truth="p2p_blocked",
        candidates=("rank_missing", "firewall", "version_mismatch", "p2p_blocked"),
        figures=(
            Figure("ranks", RANKS, "count"),
            Figure("payload", step.payload_bytes, "bytes"),
            Figure("prompt", PROMPT_TOKENS, "count"),
            Figure("all_reduces", step.all_reduces, "count"),
            Figure("with_p2p", with_s),
            Figure("without_least", without_s[1]),
            Figure("without_most", without_s[0]),
            Figure("speed_with", P2P_BYTES_PER_S, "bytes_per_s"),
            Figure("speed_without_least", NO_P2P_BYTES_PER_S[0], "bytes_per_s"),
            Figure("speed_without_most", NO_P2P_BYTES_PER_S[1], "bytes_per_s"),
        ),
        log=nccl_start("p2p_blocked", per_host=RANKS),
        model=bars(
            "s",
            {
                "p2p": {"bandwidth": with_s},
                "best": {"bandwidth": without_s[1]},
                "worst": {"bandwidth": without_s[0]},
            },
        ),
    )
