"""What is to be run under torchrun, on how many ranks and hosts, the command for it, and where they meet."""

import errno
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from core.errors import ShardlabError


class RunRefusedError(ShardlabError):
    """A run that this machine cannot make."""


@dataclass(frozen=True)
class RunRequest:
    """A module to run under torchrun, and how long it may take. `ranks` are this host's.

    A process may have `memory_bytes` of its own, 0 for as much as there is.
    On several hosts `rendezvous` is the first one's address and port; only the first one's rank speaks.
    """

    module: str = "distributed.run_tp"
    options: tuple[str, ...] = ()
    ranks: int = 2
    wall_s: float = 180.0
    silence_s: float = 30.0
    grace_s: float = 2.0
    memory_bytes: int = 8 * 2**30
    nnodes: int = 1
    node_rank: int = 0
    rendezvous: str = ""

    @property
    def speaks(self) -> bool:
        """Whether rank 0 is here: its lines and its result come to this host."""
        return self.node_rank == 0

    def command(self, result: Path) -> list[str]:
        """The launcher and the module, which writes its JSON object to `result`."""
        torchrun = ["-m", "torch.distributed.run", *self._rendezvous(), f"--nproc-per-node={self.ranks}"]
        program = ["-m", self.module, "--json", str(result), *self.options]
        tied = ["-m", "runtime.processes", str(self.memory_bytes)]
        return [sys.executable, *tied, *torchrun, *program]

    def _rendezvous(self) -> list[str]:
        """Where the ranks find each other: on one host at a port that is free, on several where they were told."""
        if self.nnodes == 1:
            return ["--standalone"]
        host, _, port = self.rendezvous.rpartition(":")
        nodes = [f"--nnodes={self.nnodes}", f"--node-rank={self.node_rank}"]
        return [*nodes, f"--master-addr={host}", f"--master-port={port}"]


def require_free_port(rendezvous: str) -> None:
    """Raise RunRefusedError when the address to meet at is none, or something of this machine listens there."""
    host, _, port = rendezvous.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise RunRefusedError("run.no_address", address=rendezvous, example="10.0.0.1:29500")
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise RunRefusedError("run.port_taken", port=port) from error
            raise RunRefusedError("run.cannot_listen", address=rendezvous, error=error.strerror) from error
