"""What a browser may ask for, and of how much; that a server drops the rest is tested on one that runs."""

import asyncio
import random
from contextlib import suppress

import pytest
from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from runtime import operators
from ui import wanted_messages
from ui.wanted_messages import (
    AT_ONCE,
    LONGEST_QUERY,
    MOST_FIELDS,
    MOST_NAMES,
    MOST_WIDGETS,
    OPERATIONS,
    PER_S,
    WANTED,
    Allowance,
    Visit,
    is_wanted,
)

KINDS = BackMsg.DESCRIPTOR.fields_by_name


def rerun(widgets: int, query: str) -> BackMsg:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.extend(WidgetState(id=str(number)) for number in range(widgets))
    message.rerun_script.query_string = query
    return message


def names(count: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * count)
    return message


def of_kind(kind: str) -> BackMsg:
    """A message of a kind, as empty as it may be."""
    if KINDS[kind].message_type is None:
        return BackMsg(**{kind: True})
    message = BackMsg()
    getattr(message, kind).SetInParent()
    return message


def operation(kind: str) -> BackMsg:
    message = BackMsg()
    message.backend_operation_request.request_id = "1"
    getattr(message.backend_operation_request, kind).SetInParent()
    return message


def test_the_numbers_are_those_of_streamlits_own_messages():
    wanted = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request"}
    assert {KINDS[name].number for name in wanted} == WANTED
    operations = KINDS["backend_operation_request"].message_type.fields_by_name
    of_page = ("request_id", "session_id", "deferred_file", "dataframe_chunk")
    assert {operations[name].number for name in of_page} == OPERATIONS
    script = KINDS["rerun_script"].message_type.fields_by_name
    assert script["query_string"].number == wanted_messages.QUERY
    assert script["widget_states"].number == wanted_messages.WIDGETS
    assert script["widget_states"].message_type.fields_by_name["widgets"].number == wanted_messages.WIDGET
    names_of = KINDS["file_urls_request"].message_type.fields_by_name
    assert names_of["file_names"].number == wanted_messages.FILE_NAME


@pytest.mark.parametrize("kind", list(KINDS))
def test_of_all_that_streamlit_answers_a_visit_may_ask_for_what_a_page_does(kind):
    assert is_wanted(of_kind(kind).SerializeToString()) == (KINDS[kind].number in WANTED)


def test_of_operations_a_visit_may_ask_for_what_a_page_shows():
    kinds = KINDS["backend_operation_request"].message_type.oneofs_by_name["payload"].fields
    passed = {one.name for one in kinds if is_wanted(operation(one.name).SerializeToString())}
    assert passed == {"deferred_file", "dataframe_chunk"}


@pytest.mark.parametrize(
    ("usual", "too_much"),
    [
        (rerun(MOST_WIDGETS, ""), rerun(MOST_WIDGETS + 1, "")),
        (rerun(0, "a" * LONGEST_QUERY), rerun(0, "a" * (LONGEST_QUERY + 1))),
        (names(MOST_NAMES), names(MOST_NAMES + 1)),
    ],
    ids=["widgets", "an address", "names of files"],
)
def test_a_message_may_ask_for_so_much(usual, too_much):
    assert is_wanted(usual.SerializeToString())
    assert not is_wanted(too_much.SerializeToString())


def spoiled(rng: random.Random) -> bytes:
    """Messages of any kind one after another, which Streamlit takes as one, then some of their bytes changed."""
    usual = [of_kind(kind) for kind in KINDS] + [operation("install_skills"), rerun(3, "a=1"), names(2)]
    parts = [message.SerializeToString() for message in rng.choices(usual, k=rng.randrange(1, 4))]
    data = bytearray(b"".join(parts))
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        place = rng.randrange(len(data) + 1)
        data[place : place + rng.randrange(2)] = rng.choice(
            (b"", b"\x00", b"\x80", b"\xff", bytes([rng.randrange(256)]))
        )
    return bytes(data)


def test_nothing_passes_that_streamlit_would_take_for_something_else():
    """10,000 mangled by a seed: each that passes is, as Streamlit reads it, one that a page sends, or none."""
    rng, passed = random.Random(5), 0
    for _ in range(10_000):
        data = spoiled(rng)
        if not is_wanted(data):
            continue
        with suppress(DecodeError):
            message = BackMsg.FromString(data)
            kind = message.WhichOneof("type")
            assert kind is None or KINDS[kind].number in WANTED, data
            payload = message.backend_operation_request.WhichOneof("payload")
            assert payload in (None, "deferred_file", "dataframe_chunk"), data
            passed += 1
    assert passed > 500


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x5a" * 100_000,
        b"\x58\x01" * (MOST_FIELDS + 1),
        b"\x5a\xff\xff\xff\xff\x0f",
        b"\x80" * 1_000_000,
        b"\x5b\x5c" * 10,
        b"\xa8\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
    ],
    ids=["nothing", "tags alone", "many fields", "no end", "a number without end", "groups", "a longer tag"],
)
def test_what_is_no_message_is_dropped(data):
    assert not is_wanted(data)


def test_a_visit_may_send_so_many_messages_at_once_and_some_more_each_second():
    allowance = Allowance()
    assert sum(allowance.takes(100.0) for _ in range(1_000)) == AT_ONCE
    assert sum(allowance.takes(100.0 + second) for second in range(1, 11) for _ in range(1_000)) == 10 * PER_S
    assert sum(allowance.takes(1_000.0) for _ in range(1_000)) == AT_ONCE


PRESS = {"type": "websocket.receive", "bytes": rerun(1, "").SerializeToString()}


async def heard(visit: Visit, count: int) -> list[dict]:
    return [await visit.receive() for _ in range(count)]


def test_whoever_takes_nothing_begins_no_run_and_is_hung_up_on(monkeypatch):
    """A press is heard before, and none after a second; then what is sent is given up, and the visit with it."""
    monkeypatch.setattr(operators, "_write", lambda *_, **__: None)
    monkeypatch.setattr(wanted_messages, "UNREAD_S", 0.05)
    monkeypatch.setattr(wanted_messages, "GIVE_UP_S", 0.3)
    coming: asyncio.Queue = asyncio.Queue()

    async def never(_):
        await asyncio.Event().wait()

    async def lasts():
        ends = asyncio.timeout(None)
        async with ends:
            visit = Visit(coming.get, never, ends)
            sending = asyncio.create_task(visit.send({"type": "websocket.send", "bytes": b"a"}))
            await asyncio.sleep(0)
            coming.put_nowait(PRESS)
            assert await heard(visit, 1) == [PRESS]
            await asyncio.sleep(0.1)
            for _ in range(5):
                coming.put_nowait(PRESS)
            coming.put_nowait({"type": "websocket.disconnect"})
            assert await heard(visit, 1) == [{"type": "websocket.disconnect"}]
            with pytest.raises(OSError, match="taken"):
                await sending
            await visit.receive()

    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(lasts(), 30))


def test_whoever_takes_its_answers_is_heard_however_many_they_are(monkeypatch):
    monkeypatch.setattr(wanted_messages, "UNREAD_S", 0.0)
    coming: asyncio.Queue = asyncio.Queue()

    async def taken(_):
        await asyncio.sleep(0)

    async def lasts():
        async with asyncio.timeout(None) as ends:
            visit = Visit(coming.get, taken, ends)
            for _ in range(int(AT_ONCE) - 10):
                await visit.send({"type": "websocket.send", "bytes": bytes(1_000_000)})
                coming.put_nowait(PRESS)
                assert await heard(visit, 1) == [PRESS]

    asyncio.run(lasts())
