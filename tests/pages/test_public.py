"""A server that nobody declared private: what it refuses, whatever a visitor sends. One real server, no browser."""

import base64
import hashlib
import http.client
import math
import random
import re
import secrets
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.served import ROOT, served
from benchmarks.visitor import Visitor
from ui.course.pages import OVERVIEW, PAGES

pytestmark = pytest.mark.slow
HOSTILE = {
    "X-Forwarded-For": "127.0.0.1",
    "X-Shardlab-Live-Runs": "1",
    "SHARDLAB_LIVE_RUNS": "1",
    "Forwarded": "for=127.0.0.1;host=localhost",
    "Cookie": "SHARDLAB_LIVE_RUNS=1",
}
RPC = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
RAISING = 'import streamlit as st\nst.file_uploader("f")\nraise RuntimeError("a secret of the server")\n'


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """A server as anybody starts it: nothing declared, and a learner's file at hand that it must not run."""
    file = tmp_path_factory.mktemp("learner") / "mine.py"
    file.write_text("raise SystemExit")
    with served(SHARDLAB_LIVE_RUNS="", LAB_IMPL=str(file)) as url:
        yield url


@pytest.fixture(scope="module")
def raising(tmp_path_factory):
    """A page with a fault of ours, under the app's own configuration."""
    script = tmp_path_factory.mktemp("raising") / "page.py"
    script.write_text(RAISING)
    with served(script=script) as url:
        yield url


def status(url: str, method: str = "GET", data: bytes | None = None, **headers: str) -> int:
    """What a request is answered with, also where the answer comes before all of it was sent."""
    where = urlsplit(url)
    with closing(http.client.HTTPConnection(where.netloc, timeout=30)) as connection:
        with suppress(BrokenPipeError):
            connection.request(method, where.path, data, {k.replace("_", "-"): v for k, v in headers.items()})
        return connection.getresponse().status


@pytest.mark.parametrize("headers", [{}, HOSTILE], ids=["plain", "hostile"])
def test_no_header_and_no_missing_variable_turns_runs_of_any_kind_on(public, headers):
    """The run of two ranks, the learner's own code and the paid run: each is asked for, none is there."""
    with Visitor(public, "two_way_tp?real_scene=bench&SHARDLAB_LIVE_RUNS=1", headers) as visitor:
        assert any("Live runs are off" in text for text in visitor.texts)
        assert "live_start" not in visitor.widgets
        assert not visitor.faults
    with Visitor(public, "sharding_math?shard_scene=build", headers) as visitor:
        assert not any("mine.py" in text for text in visitor.texts)
        assert not visitor.faults


@pytest.mark.parametrize("path", ["_stcore/agent/interact", "_stcore/agent/mcp", "comm_cost/_stcore/agent/mcp"])
def test_nobody_drives_the_app_by_machine(public, path):
    assert status(f"{public}/{path}", "POST", RPC, Content_Type="application/json") >= 400


def test_an_upload_wants_the_pages_own_token_and_is_bounded(raising):
    with Visitor(raising) as visitor:
        place = f"{raising}/_stcore/upload_file/{visitor.session}/{secrets.token_hex(8)}"
        assert len(visitor.session) > 8
        assert status(place, "PUT", b"a,b") == 403
        token = {"X_Xsrftoken": "1|a", "Cookie": "_streamlit_xsrf=1|b"}
        assert status(place, "PUT", b"a,b", **token) == 403
        with urllib.request.urlopen(f"{raising}/_stcore/health") as answer:
            own = re.search(r"_streamlit_xsrf=([^;]+)", answer.headers["Set-Cookie"])[1]
        right = {"X_Xsrftoken": own, "Cookie": f"_streamlit_xsrf={own}"}
        assert status(place, "PUT", b"0" * (2 * 2**20), **right) == 413


def test_a_fault_of_ours_shows_nothing_of_the_server(raising):
    with Visitor(raising) as visitor:
        (fault,) = visitor.faults
    assert "secret" not in fault
    assert "page.py" not in fault


def test_a_message_that_is_too_long_ends_one_visit_and_no_other(public):
    with Visitor(public) as other, Visitor(public, "startup_log") as hostile:
        with pytest.raises(Exception, match=r"1009|close|too big"):
            hostile.set("log_text", "a" * (26 * 2**20))
        assert other.go("comm_cost") > 0


def hostile_states(widget):
    """Values of every kind that the protocol knows, whatever the widget's own is."""
    deep = "[" * 50_000
    for kind, value in {
        "trigger_value": True,
        "bool_value": True,
        "double_value": math.nan,
        "int_value": 2**63 - 1,
        "string_value": "x" * 20_000,
        "json_value": deep,
        "json_trigger_value": '{"value": {"wall": [1e999, null, {}]}}',
        "bytes_value": b"\x80\x04.",
        "string_trigger_value": None,
        "double_array_value": [math.inf] * 5_000,
        "int_array_value": [-(2**63)] * 5_000,
        "string_array_value": ["", "\x00", "<script>"] * 1_000,
    }.items():
        state = WidgetState(id=widget)
        if kind == "string_trigger_value":
            state.string_trigger_value.data = "x"
        elif isinstance(value, list):
            getattr(state, kind).data.extend(value)
        else:
            setattr(state, kind, value)
        yield state


def test_a_widgets_value_of_any_kind_harms_nobody_else(public):
    """A value of some kind for every widget of every page, players too, and for ids that no page has."""
    rng, sent = random.Random(8), set()
    with Visitor(public, "pipeline_bubble") as other:
        for page in PAGES:
            stem = "" if page is OVERVIEW else page.stem
            with Visitor(public, stem) as visitor:
                ids = [*visitor.widgets.values(), "$$ID-0-none", "", "\x00"]
                visitor._states = {id_: rng.choice([*hostile_states(id_)]) for id_ in ids}
                sent |= {state.WhichOneof("value") for state in visitor._states.values()}
                visitor._run()
                assert not [fault for fault in visitor.faults if "Traceback" in fault or ".py" in fault], stem
        assert other.go("comm_cost") > 0
        assert other.faults == []
    assert len(sent) == len([*hostile_states("")])


def beside_the_app() -> set[str]:
    """What stands in the app's folder, but for what a linter or an installer may bring meanwhile."""
    return {path.name for path in ROOT.iterdir()} - {"node_modules", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


def test_what_no_page_asks_for_is_dropped(public):
    """Clearing everybody's caches, git's file names, writing beside the app: the answer is to the rerun alone."""
    folder = beside_the_app()
    with Visitor(public) as visitor:
        for kind in ("clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"):
            visitor.send(BackMsg(**{kind: True}))
        asked = BackMsg()
        asked.backend_operation_request.request_id = "1"
        asked.backend_operation_request.install_skills.SetInParent()
        visitor.send(asked)
        assert visitor.go("comm_cost") > 0
        assert visitor.kinds.isdisjoint({"git_info_changed", "backend_operation_response"})
    assert beside_the_app() == folder


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2frequirements.txt", "runtime/"]
)
@pytest.mark.parametrize("root", ["", "static/", "app/static/", "media/", "_stcore/bidi-components/", "component/"])
def test_no_path_leads_to_a_file_of_the_server(public, root, path):
    connection = http.client.HTTPConnection(public.removeprefix("http://"), timeout=30)
    connection.request("GET", f"/{root}{path}")
    said = connection.getresponse().read(20_000)
    assert b"root:x:" not in said
    assert b"streamlit==" not in said


def test_the_proxys_policy_knows_the_one_script_of_the_streamlit_that_is_installed():
    index = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    (script,) = re.findall(r"<script>(.*?)</script>", index, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (ROOT / "deploy" / "haproxy.cfg").read_text()
    assert f"'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-eval'" not in policy.replace("'wasm-unsafe-eval'", "")
