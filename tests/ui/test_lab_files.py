"""The files that a visitor's browser judges a lab with: which folder is handed out, to whom, and as what."""

import asyncio
import gzip
import json

import pytest
from starlette.responses import PlainTextResponse

from ui import lab_files
from ui.lab_files import FILES, SETTING, LabFiles, address, code_hash, fault_of, version_of

VERSION = "0123456789abcdef"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A folder as the build leaves it, named to this server; each file holds its own name."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "parts.json").write_text(json.dumps({"version": VERSION, "code": code_hash()}))
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setenv(SETTING, str(tmp_path))
    version_of.cache_clear()
    yield tmp_path
    version_of.cache_clear()


def asked(path, method="GET", **headers):
    """The status, headers and body of one answer; what is none of these files the app itself answers."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        await asyncio.Event().wait()  # a browser that stays

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": pairs,
        "query_string": b"",
        "extensions": {},
    }
    asyncio.run(LabFiles(PlainTextResponse("the app"))(scope, receive, send))
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(message.get("body", b"") for message in sent[1:])


def test_each_file_is_handed_out_as_what_it_is_and_may_be_kept(built):
    for name, kind in FILES.items():
        status, headers, body = asked(f"{address()}{name}")
        assert (status, body) == (200, name.encode())
        assert headers["content-type"].partition(";")[0] == kind
        assert "immutable" in headers["cache-control"]


def test_machine_code_goes_as_gzip_to_a_browser_that_takes_it(built):
    _, headers, body = asked(f"{address()}pyodide/pyodide.asm.wasm", accept_encoding="gzip, br")
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(body) == b"pyodide/pyodide.asm.wasm"
    assert "content-encoding" not in asked(f"{address()}judge.pack", accept_encoding="gzip")[1]


@pytest.mark.parametrize("name", ["secret.txt", "parts.json", "", "../secret.txt", "pyodide/../secret.txt"])
def test_nothing_else_of_the_folder_is_handed_out(built, name):
    assert asked(f"{address()}{name}")[0] == 404


def test_another_version_and_what_writes_are_refused(built):
    assert asked(f"/lab_files/{VERSION[::-1]}/editor.js")[0] == 404
    assert asked(f"{address()}editor.js", method="POST")[0] == 404
    assert asked("/comm_cost")[2] == b"the app"


def test_a_folder_that_lacks_a_file_or_judges_by_other_code_is_not_offered(built):
    (built / "parts.json").write_text(json.dumps({"version": VERSION, "code": "0" * 16}))
    assert "anew" in fault_of(built)
    assert address() == ""
    (built / "judge.pack").unlink()
    assert "judge.pack" in fault_of(built)
    assert asked(f"/lab_files/{VERSION}/editor.js")[0] == 404


def test_below_a_path_the_files_are_below_it_too(built, monkeypatch):
    monkeypatch.setattr(lab_files.st, "get_option", {"server.baseUrlPath": "course"}.get)
    assert address() == f"/course/lab_files/{VERSION}/"
    assert asked(f"{address()}unpack.js")[0] == 200
