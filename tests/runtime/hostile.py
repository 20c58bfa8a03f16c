"""Twenty submissions that would rather do something else, and a program that grades them and counts what is left.

    python -m tests.runtime.hostile CONFINE MARK

`MARK` stands in the name of each file and process that they make. It prints the grades, and what is left of all.
"""

import ctypes
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from core.course.grading.tasks import LABS, earned
from core.errors import NotGradedError
from runtime.grading import Limits, Patience, grade_code
from runtime.processes import PROC

ANSWER = (Path(__file__).parent / "answers" / "lab_03.py").read_text(encoding="utf-8")
PATIENCE = Patience(load_s=6.0, call_s=2.0, all_s=12.0, limits=Limits(cpu_s=5), tree_bytes=2**30)
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/", "/home", "/root", "/run", "/var", str(Path(__file__).parent))
GONE_WITHIN_S = 20.0

IN_A_TASK = "\n\ndef comm_fraction(comm_s, step_s):\n    "
SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(300)', MARK]"
PROGRAMS = {
    "an honest one": ANSWER,
    "a number of 401 digits": ANSWER + IN_A_TASK + "return 10**400\n",
    "half a pair": "raise RuntimeError('\\ud800')\n",
    "600 lists": ANSWER
    + IN_A_TASK
    + "import os\n    os.write(OUT, b'[' * 600 + b']' * 600 + b'\\n')\n    return 1\n",
    "closed descriptors": "import os, time\nos.closerange(3, 64)\ntime.sleep(1e6)\n",
    "never reads": "import time\ntime.sleep(1e6)\n",
    "a daemon": f"import subprocess, sys\nsubprocess.Popen({SLEEPER}, start_new_session=True)\n" + ANSWER,
    "a daemon without environment": "import subprocess, sys\n"
    f"subprocess.Popen({SLEEPER}, start_new_session=True, env={{}})\n" + ANSWER,
    "two forks": "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n"
    "        time.sleep(300)\n    os._exit(0)\n" + ANSWER,
    "forks without end": "import os, time\nwhile True:\n    if not os.fork():\n        time.sleep(300)\n",
    "memory": "held = [bytearray(2**26) for _ in range(100)]\n",
    "many files": "n = 0\nwhile True:\n    with open(f'/tmp/{MARK}-{n}', 'wb') as file:\n"
    "        file.write(bytes(2**23))\n    n += 1\n",
    "files everywhere": "for place in PLACES:\n    try:\n        open(f'{place}/{MARK}', 'w').write('x')\n"
    "    except OSError:\n        pass\n" + ANSWER,
    "signals ignored": "import signal\nfor n in range(1, 64):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
    "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass\n",
    "its own end": ANSWER + IN_A_TASK + "import os\n    os.kill(os.getpid(), 9)\n",
    "everybody's end": "import os, signal\nos.kill(-1, signal.SIGKILL)\n",
    "an answer without end": ANSWER
    + IN_A_TASK
    + "import os\n    while True:\n        os.write(OUT, b'[' * 65536)\n",
    "a shell": "import os\nos.system('sleep 300 & echo ' + MARK + ' > /tmp/' + MARK)\n" + ANSWER,
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(300,)).start()\n" + ANSWER,
    "a socket": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('/tmp/' + MARK + '.s')\n" + ANSWER,
}


def graded(confine: bool, mark: str) -> dict[str, object]:
    """What each earned, or why it was not graded."""
    points: dict[str, object] = {}
    for name, code in PROGRAMS.items():
        if not confine and name == "everybody's end":
            continue  # nothing keeps it from its user's processes, of which the judge is one
        head = f"import sys\nMARK, PLACES, OUT = {mark!r}, {PLACES!r}, {_out()}\n"
        try:
            points[name] = float(earned(grade_code(LABS["lab-03"], (head + code).encode(), 7, PATIENCE, confine)))
        except NotGradedError as error:
            points[name] = str(error)
    return points


def _out() -> str:
    """The descriptor that the program answers through: the first pipe above the standard ones."""
    return "next(n for n in range(3, 20) if __import__('os').path.exists(f'/proc/self/fd/{n}'))"


def processes_left(mark: str) -> list[str]:
    """Processes that bear the mark, or were orphaned by what was graded: this process adopts those."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        marked = mark.encode() in command and int(folder.name) != os.getpid()
        if (marked or parent == os.getpid()) and command:
            found.append(command.replace(b"\0", b" ").decode(errors="replace")[:120])
    return found


def files_left(mark: str) -> list[str]:
    """Files that bear the mark, wherever they could be, and what stands in the temporary folder."""
    there = [path for place in PLACES if os.access(place, os.R_OK) for path in Path(place).glob(f"*{mark}*")]
    return [str(path) for path in [*there, *Path(tempfile.gettempdir()).iterdir()]]


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    given = {"points": graded(sys.argv[1] == "confined", sys.argv[2])}
    until_s = time.monotonic() + GONE_WITHIN_S
    while processes_left(sys.argv[2]) and time.monotonic() < until_s:
        time.sleep(0.1)
    print(json.dumps({**given, "processes": processes_left(sys.argv[2]), "files": files_left(sys.argv[2])}))
