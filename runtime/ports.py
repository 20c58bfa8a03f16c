"""The address at which the ranks of several hosts meet: whether it is one, and free."""

import errno
import socket

from core.errors import ShardlabError


class RunRefusedError(ShardlabError):
    """A run that this machine cannot make."""


def require_free_port(rendezvous: str) -> None:
    """Raise RunRefusedError when the address is none, or something of this machine listens at it already."""
    host, _, port = rendezvous.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise RunRefusedError(f"rendezvous={rendezvous} is not an address and a port; write it as 10.0.0.1:29500")
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, int(port)))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise RunRefusedError(f"port {port} is taken on this machine; choose another") from error
            raise RunRefusedError(f"{rendezvous} cannot be listened at: {error.strerror}") from error
