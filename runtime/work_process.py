"""A process that does one task after another for a server, and ends with it: what `runtime.workers` starts.

    python -m runtime.work_process MEMORY_BYTES CPU_S

A task is a function of ours, what it is given and the language of the visit. An answer is what it returned or
refused. Both are pickles, their length before them. The function comes from the server alone: a visitor's text is
an argument, never a name. The system ends the process where one task takes more than `CPU_S` of processor time.
"""

import os
import pickle
import sys
import threading
import time
from typing import IO, Literal

from core.errors import ShardlabError
from runtime.content import speaking
from runtime.processes import PARENT, limit_memory

LENGTH_BYTES = 8
MOST_BYTES = 32_000_000
"""Of an answer: reading it costs the server time."""
LESS_URGENT = 10
LOOKS_EVERY_S = 1.0

Kind = Literal["gives", "refuses", "memory", "faults"]


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message, its length first."""
    pipe.write(len(message).to_bytes(LENGTH_BYTES, "big"))
    pipe.write(message)
    pipe.flush()


def received(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where there is no whole one any more."""
    length = int.from_bytes(head, "big") if len(head := pipe.read(LENGTH_BYTES)) == LENGTH_BYTES else 0
    message = pipe.read(length)
    return message if length and len(message) == length else None


def answered(task: bytes) -> bytes:
    """What a task comes to: ("gives", value), ("refuses", its error), ("memory", ""), ("faults", a name)."""
    kind: Kind = "gives"
    try:
        function, given, language = pickle.loads(task)
        with speaking(language):
            reply = function(*given)
    except ShardlabError as error:
        kind, reply = "refuses", (type(error), error.args, vars(error))
    except MemoryError:
        kind, reply = "memory", ""
    except Exception as error:
        kind, reply = "faults", type(error).__name__
    answer = pickle.dumps((kind, reply), pickle.HIGHEST_PROTOCOL)
    return answer if len(answer) <= MOST_BYTES else pickle.dumps(("memory", ""))


def main(memory_bytes: int, cpu_s: int) -> None:
    """Answer until the server closes the pipe, or dies, which closes it too."""
    tasks, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_server, daemon=True).start()
    limit_memory(memory_bytes)
    os.nice(LESS_URGENT)
    while (task := received(tasks)) is not None:
        _bound_time(cpu_s)
        send(answers, answered(task))


def _end_with_server() -> None:
    """A task that is being done is nobody's any more once the server has died."""
    server = os.environ.get(PARENT) or str(os.getppid())
    while str(os.getppid()) == server:
        time.sleep(LOOKS_EVERY_S)
    os._exit(1)


def _bound_time(cpu_s: int) -> None:
    """Let the process have so many more seconds of processor time, where the system counts them."""
    if sys.platform == "win32":
        return
    import resource

    spent = resource.getrusage(resource.RUSAGE_SELF)
    until_s = int(spent.ru_utime + spent.ru_stime) + cpu_s + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
