"""How another device reaches this server: by the address a visit came to, or by this machine's own."""

import socket
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

_SOMEWHERE = ("192.0.2.1", "192.168.137.2", "10.42.0.2", "192.168.2.2")
"""Asked for the way to a host, a machine names its own address: to one of no network (RFC 5737), and to a phone in
the hotspot that Windows, NetworkManager or macOS opens, where there may be no way to anywhere else."""
_EVERYWHERE = ("0.0.0.0", "::")
"""What a server listens to, and no address: in a browser it is the browser's own machine."""
_IN_A_CONTAINER = (Path("/.dockerenv"), Path("/run/.containerenv"))
"""What is there in a container, whose own address nobody outside of its machine has."""


def roots_for_others(url: str, listens_to: str | None) -> list[str]:
    """The app's root as other devices may type it, the likeliest first; none where none of them can come.

    A visit came by `url`. Where that is this machine by a name which every machine calls itself by, its addresses
    in its networks stand for it, unless the server listens to this machine alone.
    """
    parts = urlsplit(url)
    if not parts.hostname:
        return [""]
    root = parts._replace(path=parts.path.rpartition("/")[0] + "/", query="", fragment="")
    if not is_here_alone(parts.hostname):
        return [root.geturl()]
    deaf = is_here_alone(listens_to or "") and listens_to not in _EVERYWHERE
    if deaf or any(path.exists() for path in _IN_A_CONTAINER):
        return []
    return [_at(root, address) for address in addresses()]


def is_here_alone(host: str) -> bool:
    """Whether a host means the machine that says it, whichever that is."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback or host in _EVERYWHERE
    return False


def addresses() -> list[str]:
    """This machine's addresses in its networks, by which others there reach it; nothing is sent to find them."""
    found = []
    for host in _SOMEWHERE:
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
            way.connect((host, 9))
            found.append(str(way.getsockname()[0]))
    return [
        one for one in dict.fromkeys(found) if not (ip_address(one).is_loopback or ip_address(one).is_link_local)
    ]


def _at(root: SplitResult, address: str) -> str:
    return root._replace(netloc=f"{address}:{root.port}" if root.port else address).geturl()
