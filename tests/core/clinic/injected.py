"""A start of NCCL with one fault put into it: what every rank prints before the silence, in the order it prints it.

Ranks find each other, connect, choose a way to each neighbor, and only then move data; a fault stops the start
where it bites. Source of the lines: NVIDIA/nccl at v2.20.5-1, src/init.cc, bootstrap.cc, misc/socket.cc,
misc/shmutils.cc, transport/; of two versions, which that release does not compare, v2.23.4-1.
"""

from collections.abc import Iterator
from typing import NamedTuple

from core.clinic.hang import Cause
from core.errors import OutOfRangeError, require_positive

_VERSION, _COMPARING, _OTHER = "2.20.5+cuda12.4", "2.23.4+cuda12.6", "2.25.1+cuda12.8"
_CODES = {_COMPARING: 22304, _OTHER: 22501}
_PORT = 40231


class Rank(NamedTuple):
    """One process: its number, its host, its GPU there."""

    number: int
    host: int
    device: int


def nccl_start(fault: Cause, hosts: int = 1, per_host: int = 2) -> tuple[str, ...]:
    """The lines of all ranks of such a start. The last rank is the one that is missing, apart or too small.

    Raises OutOfRangeError for a fault that one host cannot have: there nothing is between its ranks but the host;
    and for one that a host with one rank cannot have, which shares nothing with a neighbor.
    """
    require_positive(hosts=hosts, per_host=per_host)
    if hosts == 1 and fault in ("wrong_interface", "firewall", "version_mismatch"):
        raise OutOfRangeError("hosts", hosts, f"must be 2 or more for {fault}")
    if per_host == 1 and fault in ("p2p_blocked", "shm_small"):
        raise OutOfRangeError("per_host", per_host, f"must be 2 or more for {fault}")
    ranks = [Rank(n, *divmod(n, per_host)) for n in range(hosts * per_host)]
    names = ["box"] if hosts == 1 else [f"box{host}" for host in range(hosts)]
    return tuple(
        f"{names[rank.host]}:{4711 + rank.device}:{4711 + rank.device} [{rank.device}] {line}" if rank else line
        for rank, line in _said(fault, ranks)
    )


def _said(fault: Cause, ranks: list[Rank]) -> Iterator[tuple[Rank | None, str]]:
    """Each rank's lines after its name, host and GPU; with None, what is printed bare."""
    last = ranks[-1]
    there = [rank for rank in ranks if not (fault == "rank_missing" and rank == last)]
    for rank in there:
        yield rank, f"NCCL INFO Bootstrap : Using {_interface(fault, rank.host)}<0>"
    if fault == "version_mismatch":
        for rank in there:
            yield rank, f"NCCL INFO NCCL version {_OTHER if rank == last else _COMPARING}"
    else:
        yield None, f"NCCL version {_VERSION}"
    for rank in there:
        yield rank, f"NCCL INFO {_communicator(rank, len(ranks))} - Init START"
    if fault == "rank_missing":
        return
    if fault in ("wrong_interface", "firewall"):
        address = _interface(fault, 0).partition(":")[2]
        unanswered = f"misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to {address}<{_PORT}> failed :"
        for rank in ranks:
            if rank.host and fault == "firewall":
                yield rank, f"{unanswered} No route to host"
            elif rank.host:
                yield rank, "NCCL INFO Call to connect returned Connection refused, retrying"
        return
    if fault == "version_mismatch":
        told = f"rank {last.number} version {_CODES[_OTHER]} rank 0 version {_CODES[_COMPARING]}"
        yield ranks[0], f"init.cc:775 NCCL WARN Mismatched NCCL version detected : {told}"
        return
    for rank, after in zip(ranks, (*ranks[1:], ranks[0]), strict=True):
        yield rank, f"NCCL INFO Channel 00/0 : {_at(rank)} -> {_at(after)} via {_way(fault, rank, after)}"
    if fault == "shm_small":
        yield last, "misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-4kQ2Vb to 9637888 bytes"
        return
    for rank in ranks:
        yield rank, "NCCL INFO Connected all rings"
    for rank in ranks:
        yield rank, f"NCCL INFO {_communicator(rank, len(ranks))} - Init COMPLETE"


def _interface(fault: Cause, host: int) -> str:
    return "docker0:172.17.0.1" if fault == "wrong_interface" else f"eth0:192.0.2.{7 + host}"


def _communicator(rank: Rank, size: int) -> str:
    device = f"cudaDev {rank.device} nvmlDev {rank.device} busId {rank.device}1000"
    return f"comm 0x55d0 rank {rank.number} nranks {size} {device} commId 0x4b3e"


def _at(rank: Rank) -> str:
    return f"{rank.number}[{rank.device}]"


def _way(fault: Cause, rank: Rank, after: Rank) -> str:
    if rank.host != after.host:
        return "NET/Socket/0"
    return "SHM/direct/direct" if fault == "shm_small" else "P2P/IPC"
