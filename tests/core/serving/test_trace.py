"""A trace of requests: what is read of it, and an engine under it."""

import json
from contextlib import suppress
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import OutOfRangeError, UnreadableTextError
from core.placement.layout import Layout
from core.placement.measured_load import trace_remark
from core.serving.arrivals import Requests
from core.serving.load import EngineCost
from core.serving.simulate import simulate
from core.serving.trace import MOST_CHARACTERS, MOST_REQUESTS, Trace, read_trace
from tests.each import each

COST = EngineCost(1024, 64, 0.08, (1, 64, 256), (0.010, 0.016, 0.035), most_running=200)
AZURE = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:15:46.6805900,374,44\n"
    "2023-11-16 18:15:50.9951690,396,109\n"
    "2023-11-16 18:15:51.2225670,879,55\n"
)


def test_azures_dates_are_seconds_from_the_first():
    trace = read_trace(AZURE)
    assert trace.prompts == (374, 396, 879)
    assert trace.outputs == (44, 109, 55)
    assert trace.arrivals_s == pytest.approx((0.0, 4.314579, 4.541977))
    assert trace.rate_per_s == pytest.approx(2 / 4.541977)


def test_mooncakes_lines_are_milliseconds():
    lines = [{"timestamp": at, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]} for at in (0, 3000)]
    trace = read_trace("\n".join(map(json.dumps, lines)))
    assert trace.arrivals_s == (0.0, 3.0)
    assert trace.prompts == (6758, 6758)


@pytest.mark.parametrize("heads", ["arrival,prompt,output", "arrival_s;prompt_tokens;output_tokens", "t\tisl\tosl"])
def test_columns_go_by_several_names_and_requests_by_their_time(heads):
    mark = next(one for one in ";\t," if one in heads)
    rows = [heads, *(mark.join(row) for row in (("2.5", "10", "3"), ("0.5", "20", "4"), ("x", "1", "1")))]
    trace = read_trace("\n".join(rows))
    assert (trace.arrivals_s, trace.prompts, trace.unread) == ((0.0, 2.0), (20, 10), 1)


def test_a_long_trace_is_cut_and_says_so():
    trace = read_trace("arrival,prompt,output\n" + "\n".join(f"{i},8,8" for i in range(MOST_REQUESTS + 7)))
    assert (trace.requests, trace.left_out) == (MOST_REQUESTS, 7)


@each("end", range(len(AZURE) - 1))
def test_a_row_cut_in_half_is_left_out_or_said(end):
    """Wherever the text is cut: each request kept is one that was there, or its last number is said to be open."""
    whole = read_trace(AZURE)
    try:
        cut = read_trace(AZURE[:end])
    except UnreadableTextError:
        return
    asked = list(zip(whole.prompts, whole.outputs, strict=True))[: cut.requests]
    kept = list(zip(cut.prompts, cut.outputs, strict=True))
    assert kept[:-1] == asked[:-1]
    assert kept[-1] == asked[-1] or cut.open_end
    assert not (cut.open_end and AZURE[end - 1] == "\n")


def test_a_line_that_the_limit_cuts_is_left_out_and_counted():
    lines = ["arrival,prompt,output", *(f"{i},8,800" for i in range(MOST_CHARACTERS // 8))]
    trace = read_trace("\n".join(lines))
    assert set(trace.outputs) == {800}
    assert trace.requests + trace.left_out + trace.unread == len(lines) - 1
    assert not trace.open_end


def test_a_number_of_tokens_that_is_none_is_left_out():
    rows = ["1,8.5,3", "2,inf,3", "3,8,1e99", "4,8,--5", "5,1_000,٣", "6,8,9" + "9" * 5000, "7,512.0,1e2"]
    trace = read_trace("\n".join(["arrival,prompt,output", *rows, ""]))
    assert (trace.prompts, trace.outputs, trace.unread) == ((512,), (100,), 6)


@pytest.mark.parametrize("text", ["", "arrival,prompt\n1,2", "hello", "{}\n[1]", "arrival,prompt,output\n1,-1,5\n"])
def test_what_is_no_trace_is_refused(text):
    with pytest.raises(UnreadableTextError, match="columns arrival, prompt and output"):
        read_trace(text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    with suppress(UnreadableTextError):
        assert read_trace("arrival,prompt,output\n" + text).requests


@given(st.integers(1, 40), st.sampled_from([128, 512, 4096]), st.floats(0.1, 20))
def test_equal_requests_of_a_trace_are_the_cost_s_own(count, chunk, rate):
    """A second way to say the same: lengths and times of each request, all as the cost has them."""
    arrivals = np.arange(count) / rate
    same = Requests((1024,) * count, (64,) * count, (0.08,) * count, room_tokens=200 * 1088)
    alone, told = simulate(COST, arrivals, chunk), simulate(COST, arrivals, chunk, requests=same)
    for name in ("ttft_mean_s", "itl_mean_s", "tokens_per_s", "sojourn_mean_s", "requests"):
        assert getattr(told, name) == pytest.approx(getattr(alone, name)), name


def test_a_request_waits_for_room_in_the_cache():
    """Two of 1,088 tokens where 2,000 fit: one after another, so the second begins when the first is done."""
    two = Requests((1024, 1024), (64, 64), (0.08, 0.08), room_tokens=2000)
    run = simulate(COST, [0.0, 0.0], requests=two)
    assert run.mean_running == pytest.approx(1.0)
    assert run.sojourn_mean_s == pytest.approx(1.5 * (0.08 + 63 * 0.010))


def test_a_short_request_is_done_before_a_long_one_that_came_first():
    run = simulate(COST, [0.0, 0.0], requests=Requests((64, 64), (500, 2), (0.005, 0.005), room_tokens=10_000))
    assert run.requests == 2
    assert run.sojourn_mean_s < 500 * 0.0101


def test_a_request_that_no_engine_holds_is_refused():
    with pytest.raises(OutOfRangeError, match="over the 100"):
        Requests((90,), (11,), (0.1,), room_tokens=100)


@given(st.datetimes(min_value=datetime(1970, 1, 1)), st.datetimes(min_value=datetime(1970, 1, 1)))
def test_dates_are_as_far_apart_as_pythons(one, other):
    first, last = sorted((one, other))
    trace = read_trace(f"timestamp,prompt,output\n{first.isoformat(' ')},1,1\n{last.isoformat()},1,1\n")
    assert trace.arrivals_s[-1] == pytest.approx((last - first).total_seconds(), abs=1e-4)


@pytest.mark.parametrize(("left_out", "unread"), [(0, 0), (3, 0), (0, 2), (3, 2)])
def test_what_was_not_sent_of_a_trace_is_said(left_out, unread):
    trace = Trace((0.0,), (8,), (4,), left_out, unread)
    plan, run = SimpleNamespace(layout=Layout(1)), SimpleNamespace(cut=0)
    assert (trace_remark(trace, plan, run).values["left"] is not None) == bool(left_out or unread)
