"""The way into a room, or to its notes, for another device: an address to type, and a code to point a phone at."""

from collections.abc import Mapping
from urllib.parse import urlencode, urljoin, urlsplit

import streamlit as st

from runtime import reach
from ui.figures.qr import LONGEST, Modules, qr_code
from ui.prose import escape

SHOWN = 3
"""How many addresses of a machine that has several are told."""


def addresses(query: Mapping[str, str]) -> list[str]:
    """This app's address with a query, as other devices reach it, the likeliest first; none where they cannot."""
    url, asked = st.context.url or "", urlencode(query)
    stranger = st.context.ip_address is not None or "X-Forwarded-For" in st.context.headers
    if is_local() and stranger:
        return []  # who comes from elsewhere and says localhost is told nothing of this machine's networks
    return [f"{root}?{asked}" for root in reach.roots_for_others(url, st.get_option("server.address"))[:SHOWN]]


def here(query: Mapping[str, str]) -> str:
    """This app's address with a query, as this visit reaches it."""
    return f"{urljoin(st.context.url or '', '.')}?{urlencode(query)}"


def is_local() -> bool:
    """Whether this visit came by an address that means whichever machine says it."""
    return reach.is_here_alone(urlsplit(st.context.url or "").hostname or "")


def code_of(address: str) -> Modules | None:
    """The code of an address; none where it is too long for one."""
    return qr_code(address) if len(address.encode()) <= LONGEST else None


def typed(addresses: list[str]) -> str:
    """Addresses without the part that nobody types, in bold."""
    return " · ".join(f"**{escape(address.rpartition('//')[2])}**" for address in addresses)
