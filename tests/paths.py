"""Paths that the app has and has not, and the ways in which somebody may write them."""

import random
from urllib.parse import quote, unquote

CLOSED = (
    *("_stcore/metrics", "_stcore/agent/mcp", "_stcore/agent/interact", "_stcore/agent/openapi.json"),
    *("_stcore/script-health-check", "_stcore/bidi-components/a/b", "component/a/b", "app/static/a", "auth/login"),
    *("oauth2callback", "requirements.txt", "static/../../../runtime/rooms.py", ".git/config", "_stcore/stream2"),
)
FILES = ["_stcore/upload_file/5f1c-a/9d2e", "media/0f3a9b.csv"]


def written(rng: random.Random, path: str) -> str:
    """A path in another way: its letters encoded once or more, dots, slashes and letters that some take away."""
    text = "".join(
        "".join(f"%{byte:02x}" for byte in letter.encode()) if rng.random() < 0.2 else letter for letter in path
    )
    ways = (
        lambda: text,
        lambda: quote(text),
        lambda: text.replace("/", rng.choice(("//", "/./", "/a/../", "%2f", "\\", "%5c", ";/", "/%2e/", "%252f"))),
        lambda: (
            rng.choice(("/", "//", "./", "../", "comm_cost/", "comm_cost/../", "static/js/../../", "%2e%2e/"))
            + text
        ),
        lambda: (
            text + rng.choice(("/", "/.", "%00", "?a", "#", "%0a", " ", ".", "/..", ";a=b", "%20", "/../health"))
        ),
        lambda: text.replace("_", rng.choice(("%5F", "%255f", "＿"))),
        lambda: text.upper(),
    )
    return f"/{rng.choice(ways)()}"


def normal(path: str) -> str:
    """A path as the most obliging reader would have it."""
    for _ in range(4):
        path = unquote(path)
    parts: list[str] = []
    for part in path.replace("\\", "/").split("/"):
        name = part.partition(";")[0].strip("\x00 \n").lower()
        if name == "..":
            parts[-1:] = []
        elif name not in ("", "."):
            parts.append(name)
    return "/".join(parts)
