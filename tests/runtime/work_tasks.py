"""What the tests of the workers have done: module functions, as a task must be."""

import os
import time

from core.errors import OutOfRangeError, UnreadableTextError, remark


def process_id(_: int = 0) -> int:
    return os.getpid()


def busy(seconds: float, _: int = 0) -> int:
    until_s = time.process_time() + seconds
    while time.process_time() < until_s:
        pass
    return os.getpid()


def asleep(seconds: float) -> None:
    time.sleep(seconds)


def greedy(size_bytes: int) -> int:
    return len(bytearray(size_bytes))


def refused(text: str) -> None:
    raise UnreadableTextError("no table", remark("links.no_row", line=3, text=text))


def out_of_range(value: int) -> None:
    raise OutOfRangeError("tp_size", value, "must be above 0")


def faulty(text: str) -> None:
    raise KeyError(text)


def imported(_: int = 0) -> set[str]:
    import sys

    return {name.partition(".")[0] for name in sys.modules}


def spoken(_: int = 0) -> str:
    from runtime.content import language

    return language()
