"""Every page and scene once, and a visit to a server, with the versions that are installed: for a range's ends.

    python -m tests.every_scene          1 where a page meets a fault, or a server is not what the tests know

Needs the app's own packages alone, and no pytest.
"""

import sys
import urllib.error
import urllib.request
from importlib.metadata import version

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from websockets.sync.client import connect

from benchmarks.served import ROOT, served
from runtime.versions import ranges, unfit
from ui.course.pages import OVERVIEW, PAGES


def faults_of_pages() -> tuple[int, list[str]]:
    """How many scenes were drawn, and what was raised on the way."""
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=300)
    app.run()
    found, count = [f"{OVERVIEW.stem}: {fault.message}" for fault in app.exception], 1
    for page in PAGES:
        if page is not OVERVIEW:
            app.switch_page(f"pages/{page.file}.py")
        for scene in page.names if page is not OVERVIEW else ():
            app.query_params.clear()
            app.query_params[f"{page.prefix}_scene"] = scene
            app.run()
            count += 1
            found += [f"{page.stem} {scene}: {fault.message}" for fault in app.exception]
    return count, found


def faults_of_a_server() -> list[str]:
    """What a visit met; and whether the server drops and closes what it should."""
    found, stream = [], "/_stcore/stream"
    with served() as url, connect(f"ws{url[4:]}{stream}", subprotocols=["streamlit"], max_size=None) as socket:
        for page in PAGES:
            asked = BackMsg()
            asked.rerun_script.page_name = "" if page is OVERVIEW else page.stem
            socket.send(BackMsg(load_git_info=True).SerializeToString())
            socket.send(asked.SerializeToString())
            kind, count = "", 0
            while kind != "script_finished":
                message = ForwardMsg.FromString(socket.recv(120))
                kind, count = message.WhichOneof("type"), count + 1
                is_fault = message.delta.new_element.WhichOneof("type") == "exception" or kind == "git_info_changed"
                found += [f"{page.stem}: {message}"[:500]] if is_fault else []
            found += [f"{page.stem}: nothing was drawn"] if count < 10 else []
        try:
            urllib.request.urlopen(f"{url}/_stcore/%6detrics", timeout=60).close()
            found.append("the server's figures are open")
        except urllib.error.HTTPError as error:
            found += [] if error.code == 404 else [str(error)]
    return found


if __name__ == "__main__":
    print(*(f"{name} {version(name)}" for name in ranges()), *unfit(), sep=", ")
    scenes, faults = faults_of_pages()
    faults += faults_of_a_server()
    print(f"{scenes} scenes and a visit, {len(faults)} faults", *faults, sep="\n")
    sys.exit(bool(faults))
