"""What a visitor's browser may ask of the server over its WebSocket: reruns, and the data of what is on the page.

Streamlit answers more than this app's pages ask for, and to anybody: it clears the caches of all visitors, runs git
and sends the names of changed files. For whoever seems to sit at the machine itself, as everybody does behind a
proxy on it, it also writes files beside the app. `install` has all of that dropped. Source: streamlit 1.67,
runtime/app_session.py, `handle_backmsg`; runtime/backend_operation_handler.py, `connection_locality`.
"""

from functools import wraps

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession

from runtime import operators

WANTED = frozenset({"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"})
OPERATIONS = frozenset({"deferred_file", "dataframe_chunk"})


def is_wanted(message: BackMsg) -> bool:
    """Whether a page of this app sends such a message."""
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in WANTED


def install() -> None:
    """Let every session of this process drop what is not wanted. Doing it again changes nothing."""
    handle = AppSession.handle_backmsg
    if hasattr(handle, "__wrapped__"):
        return

    @wraps(handle)
    def handle_wanted(session: AppSession, message: BackMsg) -> None:
        if is_wanted(message):
            handle(session, message)
        else:
            operators.note("dropped", message=message.WhichOneof("type") or "none")

    AppSession.handle_backmsg = handle_wanted  # type: ignore[method-assign, assignment]
