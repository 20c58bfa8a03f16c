"""What a visitor's browser may ask of the server over its WebSocket: reruns, and the data of what is on the page.

Streamlit answers more than this app's pages ask for, and to anybody: it clears the caches of all visitors, runs git
and sends the names of changed files. For whoever seems to sit at the machine itself, as everybody does behind a
proxy on it, it also writes files beside the app. `install` has all of that dropped. Source: streamlit 1.67,
runtime/app_session.py, `handle_backmsg`; runtime/backend_operation_handler.py, `connection_locality`.

What our pages do ask for is bounded, too: Streamlit makes an address for each file name of a list as long as a
message, in the thread that all visitors share, keeps whatever number of files a visit uploads, and begins a script
anew for each message of a visit, of which thousands a second would leave no time to the others.
"""

import time
from dataclasses import dataclass
from functools import wraps
from weakref import WeakKeyDictionary

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from runtime import operators

WANTED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})
MOST_WIDGETS, LONGEST_QUERY, MOST_NAMES = 2_000, 64_000, 16
"""Of one message: a page of ours has some hundred widgets, and asks for one file at a time."""
MOST_FILES = 32
MOST_UPLOADED = 1 << 26
"""Files of one visit, and bytes of all: past either the first are let go, which a page took as they came."""
AT_ONCE, PER_S = 60.0, 50.0
"""Messages of one visit, at once and from then on: whoever waits for each answer sends fewer."""


def is_wanted(message: BackMsg) -> bool:
    """Whether a page of this app sends such a message."""
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    if kind == "file_urls_request":
        return len(message.file_urls_request.file_names) <= MOST_NAMES
    script = message.rerun_script
    short = len(script.widget_states.widgets) <= MOST_WIDGETS and len(script.query_string) <= LONGEST_QUERY
    return kind in WANTED and short


@dataclass
class Allowance:
    """How many messages a visit may still send: so many at once, and some more each second."""

    left: float = AT_ONCE
    at_s: float = 0.0

    def takes(self, now_s: float) -> bool:
        """Whether one more may come now, which is then counted."""
        self.left = min(AT_ONCE, self.left + PER_S * (now_s - self.at_s))
        self.at_s = now_s
        if self.left < 1:
            return False
        self.left -= 1
        return True


def install() -> None:
    """Let every session of this process drop what is not wanted. Doing it again changes nothing."""
    handle = AppSession.handle_backmsg
    if hasattr(handle, "__wrapped__"):
        return

    allowed: WeakKeyDictionary[AppSession, Allowance] = WeakKeyDictionary()

    @wraps(handle)
    def handle_wanted(session: AppSession, message: BackMsg) -> None:
        if not is_wanted(message):
            operators.note("dropped", message=message.WhichOneof("type") or "none")
        elif not allowed.setdefault(session, Allowance()).takes(time.monotonic()):
            operators.note("dropped", message="too many")
        else:
            handle(session, message)

    AppSession.handle_backmsg = handle_wanted  # type: ignore[method-assign, assignment]
    add = MemoryUploadedFileManager.add_file

    @wraps(add)
    def add_one_of_few(files: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(files, session_id, file)
        for oldest in list(files.file_storage.get(session_id, ()))[:-MOST_FILES]:
            files.remove_file(session_id, oldest)
        while files._total_bytes > MOST_UPLOADED:
            first, kept = next((visit, kept) for visit, kept in files.file_storage.items() if kept)
            files.remove_file(first, next(iter(kept)))

    MemoryUploadedFileManager.add_file = add_one_of_few  # type: ignore[method-assign, assignment]
