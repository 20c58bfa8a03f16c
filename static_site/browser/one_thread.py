"""Let a program that starts threads run where there are none: each begins when the event loop comes to it.

    one_thread.install()

What a thread would have done at once beside its starter is done whole, after it. So a thread may not wait for one
that was started later, and none may run without end. What asks for a thread's answer, as a pool does, has it at
once.
"""

import asyncio
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

_main = threading.current_thread()
_running = [_main]
_waiting: dict[int, threading.Thread] = {}


class _NoLoop:
    """An event loop for those who make one of their own and run nothing on it."""

    def is_closed(self) -> bool:
        return False

    def is_running(self) -> bool:
        return False

    def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio.get_running_loop(), name)


def install() -> None:
    """Put these in the place of the library's own."""
    threading.Thread.start = _start  # type: ignore[method-assign]
    threading.Thread.is_alive = _is_alive  # type: ignore[method-assign]
    threading.Thread.join = _join  # type: ignore[method-assign]
    threading.current_thread = lambda: _running[-1]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]
    asyncio.to_thread = _done_here  # type: ignore[assignment]
    asyncio.new_event_loop = _NoLoop  # type: ignore[assignment]
    asyncio.set_event_loop = lambda loop: None


def _start(thread: threading.Thread) -> None:
    loop = asyncio.get_running_loop()
    after_s = getattr(thread, "interval", 0.0) if isinstance(thread, threading.Timer) else 0.0
    _waiting[id(thread)] = thread
    loop.call_later(after_s, _run, thread)


def _run(thread: threading.Thread) -> None:
    """Do what the thread does, unless somebody who waited for it has had it done."""
    if _waiting.get(id(thread)) is not thread or thread in _running:
        return
    _running.append(thread)
    try:
        if not isinstance(thread, threading.Timer):
            thread.run()
        elif not thread.finished.is_set():  # its own `run` would wait
            thread.function(*thread.args, **thread.kwargs)
            thread.finished.set()
    except Exception:
        logging.getLogger(__name__).exception("in %s", thread.name)
    finally:
        _running.pop()
        _waiting.pop(id(thread), None)


def _is_alive(thread: threading.Thread) -> bool:
    return thread is _main or id(thread) in _waiting


def _join(thread: threading.Thread, timeout: float | None = None) -> None:
    """Run it now, where it has not begun: whoever waits for it could otherwise never go on."""
    _run(thread)


def _submit(pool: ThreadPoolExecutor, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
    done: Future[Any] = Future()
    try:
        done.set_result(call(*args, **kwargs))
    except Exception as error:
        done.set_exception(error)
    return done


async def _done_here(call: Any, /, *args: Any, **kwargs: Any) -> Any:
    return call(*args, **kwargs)
