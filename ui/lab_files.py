"""The files by which a visitor's own browser judges a lab: the editor, Pyodide and the labs' tests.

An operator builds them once and names the folder; without one no lab is judged in the pages of this server. An
address holds the folder's version, so a browser may keep what it has fetched.
"""

import asyncio
import gzip
import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from runtime.files import ROOT

SETTING = "SHARDLAB_LAB_FILES"
PLACE = "/lab_files/"
FILES = {
    "editor.js": "text/javascript",
    "lab_worker.js": "text/javascript",
    "unpack.js": "text/javascript",
    "judge.pack": "application/octet-stream",
    "pyodide/pyodide.js": "text/javascript",
    "pyodide/pyodide.asm.js": "text/javascript",
    "pyodide/pyodide.asm.wasm": "application/wasm",
    "pyodide/python_stdlib.zip": "application/zip",
    "pyodide/pyodide-lock.json": "application/json",
}
"""What is handed out, and what a browser is told that it is."""
PACKED = ("application/zip", "application/octet-stream")
"""Kinds that would be no smaller as gzip."""
FOR_GOOD = "public, max-age=31536000, immutable"


def code_hash() -> str:
    """Return a hash of the Python that judges: a folder that was built of another would judge by that."""
    whole = hashlib.sha256()
    for path in sorted(path for name in ("core", "labs", "runtime") for path in (ROOT / name).rglob("*.py")):
        whole.update(str(path.relative_to(ROOT)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:16]


def named(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the folder that the operator named, if any."""
    return Path(environ[SETTING]) if environ.get(SETTING) else None


@lru_cache(maxsize=4)
def version_of(folder: Path | None) -> str:
    """Return the version of a folder that can be handed out; nothing of another, and of none."""
    if folder is None or fault_of(folder):
        return ""
    return str(json.loads((folder / "parts.json").read_text(encoding="utf-8"))["version"])


def fault_of(folder: Path) -> str:
    """Return why a folder cannot be handed out; nothing where it can."""
    missing = [name for name in (*FILES, "parts.json") if not (folder / name).is_file()]
    if missing:
        return f"lacks {', '.join(missing)}"
    built = json.loads((folder / "parts.json").read_text(encoding="utf-8")).get("code")
    return "" if built == code_hash() else "was built of other code than this server's: build it anew"


def address() -> str:
    """Return where a page finds the files, with a slash at its end; nothing where there are none."""
    version = version_of(named())
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{f'/{base}' if base else ''}{PLACE}{version}/" if version else ""


class LabFiles:
    """Middleware that hands the files out, to whoever asks for the version that is here."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        at = address()
        if scope["type"] != "http" or PLACE not in scope["path"]:
            await self.app(scope, receive, send)
            return
        folder, name = named(), scope["path"].removeprefix(at)
        if not at or folder is None or name not in FILES or scope["method"] not in ("GET", "HEAD"):
            await Response(status_code=404)(scope, receive, send)
            return
        headers = {"Cache-Control": FOR_GOOD, "X-Content-Type-Options": "nosniff"}
        answer: Response = FileResponse(folder / name, headers=headers, media_type=FILES[name])
        if FILES[name] not in PACKED:
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in Headers(scope=scope).get("accept-encoding", ""):
                packed = await asyncio.to_thread(_as_gzip, folder / name)
                answer = Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=FILES[name])
        await answer(scope, receive, send)


@lru_cache(maxsize=len(FILES))
def _as_gzip(path: Path) -> bytes:
    """A file as gzip: made when it is first asked for, and kept, some four megabytes in all."""
    return gzip.compress(path.read_bytes(), 6)
