"""NCCL hangs in the first all-reduce: the init is complete, both GPUs are busy, and nothing more is printed."""

from collections.abc import Iterator

from core.catalog import model
from core.clinic.case import Case, Figure, bars
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
        log=tuple(_start()),
        model=bars(
            "s",
            {
                "p2p": {"bandwidth": with_s},
                "best": {"bandwidth": without_s[1]},
                "worst": {"bandwidth": without_s[0]},
            },
        ),
    )


def _start() -> Iterator[str]:
    """What the ranks of one host print before the silence, in the order they print it.

    Source: NVIDIA/nccl at v2.20.5-1, src/init.cc, bootstrap.cc, transport/.
    """
    ranks = [f"box:{4711 + rank}:{4711 + rank} [{rank}] NCCL INFO" for rank in range(RANKS)]
    devices = [f"cudaDev {rank} nvmlDev {rank} busId {rank}1000" for rank in range(RANKS)]
    own = [f"comm 0x55d0 rank {n} nranks {RANKS} {device} commId 0x4b3e" for n, device in enumerate(devices)]
    yield from (f"{rank} Bootstrap : Using eth0:192.0.2.7<0>" for rank in ranks)
    yield "NCCL version 2.20.5+cuda12.4"
    yield from (f"{rank} {comm} - Init START" for rank, comm in zip(ranks, own, strict=True))
    for number, rank in enumerate(ranks):
        after = (number + 1) % RANKS
        yield f"{rank} Channel 00/0 : {number}[{number}] -> {after}[{after}] via P2P/IPC"
    yield from (f"{rank} Connected all rings" for rank in ranks)
    yield from (f"{rank} {comm} - Init COMPLETE" for rank, comm in zip(ranks, own, strict=True))
