"""A lecture hall: learners on real websockets, each moving a control every five seconds; and a bare page.

    python -m benchmarks.bench_hall --learners 50 100 150 200 --seconds 180
    python -m benchmarks.bench_hall --learners 150 --servers 1 2   # one alone, then two behind deploy/local.py
    python -m benchmarks.bench_hall --learners 150 --url http://HOST:PORT

A learner opens a scene of a lab (all of them in turn) and then sets the batch size, which changes every figure of
the scenario. An answer takes from the message that changes the control to the last change of the page; one that
brings none, as in a scene without numbers, has no time. The server's word that the script has ended comes later,
and is waited for. The learners share the cores with the servers, and their own CPU is printed; of several servers,
what part of theirs each process took. `lost` counts visits that broke off or found no control, answers that did not
come and answers with an error in them.
"""

import argparse
import asyncio
import os
import random
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from benchmarks.served import start_server, start_servers, stop_server
from ui.course.pages import LABS

ROOT = Path(__file__).resolve().parents[1]
EVERY_S, PATIENCE_S, AIM_S = 5.0, 30.0, 1.0
BATCHES = range(1, 65)
BARE = """
import altair as alt
import pandas as pd
import streamlit as st

batch = st.slider("batch", 1, 8192, 1, key="batch")
table = pd.DataFrame({"x": range(8), "y": [batch * x for x in range(8)]})
st.altair_chart(alt.Chart(table).mark_bar().encode(x="x:O", y="y:Q"))
"""
VIEWS = [(page.stem, urlencode({f"{page.prefix}_scene": name})) for page in LABS for name in page.scenes]


class LostError(Exception):
    """A visit that broke off, or an answer that is none."""


@dataclass
class Hall:
    """What the learners of one hall saw: seconds to the first page, and of every answer, NaN where it has none."""

    opened_s: list[float] = field(default_factory=list)
    answered_s: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass
class Learner:
    """One visit: its connection, its page and the control it moves."""

    socket: ClientConnection
    page: str
    query: str
    script_hash: str = ""
    control: str = ""
    slides: bool = False
    panel: str = ""

    async def open_panel(self) -> None:
        """Open the scenario's panel, where there is one, in which the control stands. Raises LostError."""
        if self.panel:
            await self.ask(None, self.panel)
        if not self.control:
            raise LostError(f"{self.page}?{self.query}: no control to move")

    async def ask(self, batch: int | None, pressed: str = "") -> float:
        """Run the page, with another batch if one is given, or a button. Returns seconds; raises LostError."""
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_script_hash = self.query, self.script_hash
        if not self.script_hash:
            rerun.page_name = self.page
        if pressed:
            rerun.widget_states.widgets.add(id=pressed, trigger_value=True)
        if batch is not None:
            state = rerun.widget_states.widgets.add(id=self.control)
            if self.slides:
                state.double_array_value.data.append(batch)
            else:
                state.int_value = batch
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        changed, is_over = float("nan"), False
        async with asyncio.timeout(PATIENCE_S):
            while not is_over:
                come = ForwardMsg.FromString(await self.socket.recv())
                is_over = self._is_over(come)
                changed = time.perf_counter() if come.HasField("delta") else changed
        return changed - began

    def _is_over(self, message: ForwardMsg) -> bool:
        """Note what a message says; whether it is the last one of an answer. Raises LostError."""
        kind = message.WhichOneof("type")
        if kind == "new_session" and not self.script_hash:
            self.script_hash = message.new_session.page_script_hash
        elif kind == "navigation":
            self.script_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.WhichOneof("type") == "exception":
                raise LostError(f"{self.page}?{self.query}: {element.exception.message}")
            if element.button.id.endswith("-scenario"):
                self.panel = element.button.id
            for kind in ("slider", "number_input"):
                identity = getattr(element, kind).id
                if identity.endswith("-batch"):
                    self.control, self.slides = identity, kind == "slider"
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            if message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                raise LostError(f"{self.page}?{self.query}: the script ended with {message.script_finished}")
            return True
        return False


async def attend(
    url: str, view: tuple[str, str], starts_s: float, until: float, draw: random.Random, hall: Hall
) -> None:
    """One learner: open a page after `starts_s`, then move the control every five seconds."""
    await asyncio.sleep(starts_s)
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    try:
        began = time.perf_counter()
        async with connect(address, origin=url, subprotocols=["streamlit", "none"], max_size=None) as websocket:
            learner = Learner(websocket, *view)
            await learner.ask(None)
            hall.opened_s.append(time.perf_counter() - began)
            await learner.open_panel()
            await asyncio.sleep(draw.uniform(0, EVERY_S))
            while (now := time.perf_counter()) < until:
                hall.answered_s.append(await learner.ask(draw.choice(BATCHES)))
                await asyncio.sleep(max(0.0, now + EVERY_S - time.perf_counter()))
    except (LostError, OSError, TimeoutError, WebSocketException) as error:
        hall.lost.append(str(error) or type(error).__name__)


async def lecture(url: str, views: list[tuple[str, str]], learners: int, seconds: float) -> Hall:
    """All learners of a hall, who come within the first third of a minute and stay for `seconds` after that."""
    hall, arrive_s = Hall(), min(20.0, learners / 5)
    until = time.perf_counter() + arrive_s + seconds
    draw = random.Random(learners)
    visits = (
        attend(url, view, index * arrive_s / learners, until, random.Random(draw.random()), hall)
        for index, view in enumerate(islice(cycle(views), learners))
    )
    await asyncio.gather(*visits)
    return hall


def usage(process: int) -> tuple[dict[str, float], int]:
    """A process and its children: the CPU seconds of each, and the resident bytes of their largest server."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    cpu_s, resident = {}, 0
    for one in (str(process), *children):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        cpu_s[one] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        command = Path(f"/proc/{one}/cmdline").read_text()
        if "streamlit" in command or "serve.py" in command:
            resident = max(resident, int(fields[21]) * os.sysconf("SC_PAGE_SIZE"))
    return cpu_s, resident


def held(
    name: str, url: str, views: list[tuple[str, str]], learners: int, seconds: float, process: int | None
) -> bool:
    """Hold one lecture and print its row; whether every answer came and p95 kept the aim."""
    before = usage(process)[0] if process else {}
    own = resource.getrusage(resource.RUSAGE_SELF)
    hall = asyncio.run(lecture(url, views, learners, seconds))
    spent = resource.getrusage(resource.RUSAGE_SELF)
    answers = np.array(hall.answered_s or [np.nan])
    p50, p95 = np.nanquantile(answers, [0.5, 0.95])
    opened_s = np.quantile(hall.opened_s or [np.nan], 0.95)
    after, resident = usage(process) if process else ({}, np.nan)
    parts_s = sorted((after[one] - before.get(one, 0.0) for one in after), reverse=True)
    cpu_s = sum(parts_s) / max(1, len(answers)) if process else np.nan
    print(
        f"{name:10} {learners:8} {len(hall.answered_s):8} {1e3 * p50:8.0f} {1e3 * p95:8.0f}"
        f" {1e3 * opened_s:8.0f} {1e3 * cpu_s:8.1f}"
        f" {resident / 2**20:8.0f} {len(hall.lost):5}"
        f" {spent.ru_utime + spent.ru_stime - own.ru_utime - own.ru_stime:8.1f}",
        flush=True,
    )
    if len(parts_s) > 1:
        print(
            f"           of the CPU, a process: {', '.join(f'{part_s / sum(parts_s):.0%}' for part_s in parts_s)}"
        )
    for line in sorted(set(hall.lost))[:5]:
        print(f"           lost: {line}")
    return not hall.lost and bool(p95 <= AIM_S)


def main() -> int:
    """Print a row a hall; 1 where p95 is over a second or something was lost, the bare page apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", type=int, nargs="+", default=[150])
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--servers", type=int, nargs="+", default=[1], help="one hall for each number of them")
    parser.add_argument("--url", help="a deploy that runs already; its CPU and memory are not seen from here")
    parser.add_argument("--no-bare", action="store_true", help="leave out the bare page")
    asked = parser.parse_args()
    print(
        f"{'page':10} {'learners':>8} {'answers':>8} {'p50 ms':>8} {'p95 ms':>8} {'open ms':>8} {'CPU ms':>8}"
        f" {'MiB':>8} {'lost':>5} {'own s':>8}"
    )
    good = True
    for learners in asked.learners:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if not asked.no_bare:
                (folder / "bare.py").write_text(BARE)
                bare, url = start_server(folder / "log", script=folder / "bare.py")
                held("bare", url, [("", "")], learners, asked.seconds, bare.pid)
                stop_server(bare)
            if asked.url:
                good &= held("shardlab", asked.url, VIEWS, learners, asked.seconds, None)
                continue
            for count in asked.servers:
                server, url = start_servers(count, folder / "log")
                good &= held(f"servers: {count}", url, VIEWS, learners, asked.seconds, server.pid)
                stop_server(server)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
