"""Who votes: a browser, by a random name that the server has signed, so that its tabs have one vote."""

import hmac
import re
import secrets

import streamlit as st

COOKIE = "shardlab_phone"
LIFE_S = 12 * 3600
_NAME = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{32})", re.ASCII)
_OWN = secrets.token_hex(32)
"""Signs the names of a server that no other one stands beside."""


def name_of(cookie: str) -> str:
    """Return the name in a cookie; nothing where no server of ours has given it."""
    found = _NAME.fullmatch(cookie)
    return found[1] if found and hmac.compare_digest(found[2], _signed(found[1])) else ""


def new_cookie() -> str:
    """Return a header's value with a name that nobody has had. No script of a page can read it."""
    name = secrets.token_hex(8)
    return f"{COOKIE}={name}.{_signed(name)}; Path=/; Max-Age={LIFE_S}; HttpOnly; SameSite=Lax"


def _signed(name: str) -> str:
    secret = str(st.get_option("server.cookieSecret") or _OWN)
    return hmac.digest(secret.encode(), b"phone " + name.encode(), "sha256").hex()[:32]
