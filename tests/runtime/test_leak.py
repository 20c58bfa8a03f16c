"""A server lets go of the visits that have gone; `python -m benchmarks.bench_leak` is the long run, in MB."""

import re
import time

import pytest

from benchmarks.bench_leak import LET_GO_S, OPTIONS, STEMS, visits
from benchmarks.served import served
from benchmarks.visitor import Visitor

LEFT = len(STEMS) // 2
"""Sessions that may be there afterwards: the one that asks, and the last few that a busy server has yet to drop."""
COUNTING = """
import gc
import streamlit as st
from streamlit.runtime.app_session import AppSession
from ui import shell
asked = "counted" in st.query_params
shell.run()
if asked:
    gc.collect()
    st.markdown(f"sessions: {sum(isinstance(one, AppSession) for one in gc.get_objects())}.")
"""


def counted(visitor):
    """How many sessions the server's memory holds, as its last run told this visitor."""
    (found,) = [told[1] for text in visitor.texts if (told := re.fullmatch(r"sessions: (\d+)\.", text))]
    return int(found)


@pytest.mark.slow
def test_a_server_lets_go_of_visits_that_have_gone(tmp_path):
    """Counted among the server's own objects: a cache or a list that kept a visit would keep its session."""
    script = tmp_path / "counting.py"
    script.write_text(COUNTING)
    with served(script=script, options=OPTIONS) as url:
        with Visitor(url), Visitor(url), Visitor(url, "?counted") as third:
            assert counted(third) >= 2  # the first one is there, frozen out of the collector's sight
        visits(url, len(STEMS))
        time.sleep(LET_GO_S)
        with Visitor(url, "?counted") as visitor:
            assert 1 <= counted(visitor) <= LEFT
