"""What a browser may ask for, and of how much; that a server drops the rest is tested on one that runs."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from ui import wanted_messages
from ui.wanted_messages import (
    AT_ONCE,
    LONGEST_QUERY,
    MOST_FILES,
    MOST_NAMES,
    MOST_WIDGETS,
    PER_S,
    Allowance,
    is_wanted,
)


def rerun(widgets: int, query: str) -> BackMsg:
    message = BackMsg()
    message.rerun_script.widget_states.widgets.extend(WidgetState(id=str(number)) for number in range(widgets))
    message.rerun_script.query_string = query
    return message


def names(count: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * count)
    return message


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
    assert is_wanted(usual)
    assert not is_wanted(too_much)


def test_a_visit_keeps_so_many_files_and_no_other_visit_loses_one():
    wanted_messages.install()
    files = MemoryUploadedFileManager("upload")
    files.add_file("other", UploadedFileRec("0", "a", "", b"theirs"))
    for number in range(3 * MOST_FILES):
        files.add_file("hostile", UploadedFileRec(str(number), "a", "", bytes(1000)))
    kept = files.file_storage["hostile"]
    assert list(kept) == [str(number) for number in range(2 * MOST_FILES, 3 * MOST_FILES)]
    assert [file.data for file in files.get_files("other", ["0"])] == [b"theirs"]


def test_all_visits_together_keep_so_many_bytes_of_files(monkeypatch):
    """Six hundred visits of one address, each with its last 32 megabytes, would have kept nineteen gigabytes."""
    monkeypatch.setattr(wanted_messages, "MOST_UPLOADED", 10_000)
    wanted_messages.install()
    files = MemoryUploadedFileManager("upload")
    for number in range(40):
        files.add_file(f"visit {number % 8}", UploadedFileRec(str(number), "a", "", bytes(1000)))
    kept = [len(file.data) for own in files.file_storage.values() for file in own.values()]
    assert kept == [1000] * 10
    assert "39" in files.file_storage["visit 7"]


def test_a_visit_may_send_so_many_messages_at_once_and_some_more_each_second():
    allowance = Allowance()
    assert sum(allowance.takes(100.0) for _ in range(1_000)) == AT_ONCE
    assert sum(allowance.takes(100.0 + second) for second in range(1, 11) for _ in range(1_000)) == 10 * PER_S
    assert sum(allowance.takes(1_000.0) for _ in range(1_000)) == AT_ONCE
