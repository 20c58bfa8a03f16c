"""A log that ends in a crash: its last fatal line, and the first of the same crash, whatever they say.

An engine's processes fall one after another: the first says why, the last that the others are gone. A fatal line is
an exception's last, an error's record, a signal's or a launcher's message. What an engine outlives is no crash:
after it the engine counts its cache, serves, or starts again. Warnings that quote an exception are none either.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.errors import Remark, remark
from core.startup_log.lines import masked
from core.startup_log.records import LogLine
from core.startup_log.settings import states

_SHOWN = 300
_BY_SHELL = r": line \d{1,6}: {1,12}\d{1,9} "
KILLED_BY_SHELL = rf"{_BY_SHELL}Killed\b|^(?:zsh: |\[\d{{1,4}}\][+-]? {{1,12}}(?:[+-] )?(?:\d{{1,9}} )?)[Kk]illed\b"
"""What a shell says of a command that the system killed."""
_TAGGED = r"(?:\([^()]{1,100}\)\s{0,2}|\[(?:rank|default)?\d{1,4}\]:\s?){0,3}"
_CLOCK = r"[\d\-T:., ]{8,30}[- |]{0,5}"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_QUIET = _any(
    rf"^{_TAGGED}(?:INFO|WARNING|WARN|DEBUG)\b",
    rf"^{_CLOCK}(?:INFO|WARNING|DEBUG)\b",
    r"\[(?:INFO|WARNING|DEBUG|I|W|V|D)\]",
    r"^\S{1,400}: \w{0,40}Warning\b",
    r"^(?:\[rank\d{1,4}\]:)?\[[WIVD]\d{3,4}\b",
    r"^Exception ignored in|NCCL (?:INFO|ATTN|DIAG)\b",
)
"""Records of a level below an error's."""
_HEAD = re.compile(
    rf"^{_TAGGED}(?:"
    r"(?:ERROR|CRITICAL|FATAL)\s{1,4}\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? (?:\[[^\[\]]{1,80}\])? ?"
    r"|(?:ERROR|CRITICAL|FATAL):(?:[\w.]{1,80}:)? {0,8}"
    r"|[\d\-T:., ]{8,30}[- |]{1,5}(?:ERROR|CRITICAL)[- |]{1,5}(?:std(?:err|out)[- |]{1,5})?"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\[\]]{0,60}\] ?"
    r"|\[(?:TRT-LLM|TensorRT-LLM)\] ?\[[A-Z]+\] ?"
    r"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] (?:\[TRT-LLM\] )?(?:\[RANK \d{1,4}\] )?(?:\[[A-Z]\] )?)?"
)
"""What an error's record puts before what it says."""
_EXCEPTION = re.compile(
    r"^(?:\[(?:rank|default)?\d{1,4}\]:\s{0,2})?(?:[A-Za-z_]\w{0,60}\.){0,6}(?!KeyboardInterrupt)[A-Za-z_]{0,80}"
    r"(?:Error|Exception|Panic|Timeout|NotFound|Failure|Failed|Exhausted)(?:\([\w .,=-]{0,80}\))?(?::(?=\s|$)|$)"
)
_FATAL = _any(
    # engines
    r"hit an exception|Traceback \(most recent call last\)|Engine process failed|Engine loop is not running",
    r"Engine ?[Cc]ore (?:failed|encountered|initialization failed|proc\w* died)|EngineDeadError",
    r"WorkerProc \w{0,20} ?failed|[Ff]ailed core proc|died unexpectedly|Exception in worker",
    r"Error executing method|[Rr]eceived sigquit from a child|Assertion failed|Assertion .{1,200} failed",
    # the runtime, the kernel, launchers
    r"terminate called|^\s{0,8}what\(\):|Fatal Python error|[Ss]egmentation fault|Segfault encountered|core dumped",
    rf"{KILLED_BY_SHELL}|{_BY_SHELL}(?:Aborted|Terminated|Segmentation fault|Bus error|Floating point)",
    r"^Aborted\b|Bus error|\*\*\* SIG(?:SEGV|ABRT|BUS|FPE|ILL)|[Cc]aught signal \d|^(?:.{0,80}\s)?Killed\s{0,4}$",
    r"exit ?code ?:? ?-?[1-9]\d{0,2}\b|exited with (?:exit )?(?:code|status) [1-9]|OOMKilled|oom-kill|panic: ",
    r"[Oo]ut of memory: Kill|(?:received|by|signal|with) (?:Signals\.)?SIG(?:KILL|SEGV|ABRT|BUS)",
    r"^(?:exit|signal): killed|MPI_ABORT was invoked|noticed that process rank|Primary job  ?terminated",
    r"^srun: error|^\w{1,20}: error: |Main process exited, code=(?:killed|dumped|exited, status=[1-9])",
    r"CrashLoopBackOff|ChildFailedError|Error response from daemon|(?:^|\s)error while loading shared libraries",
    r"command not found",
    # devices
    r"(?:CUDA|HIP|NPU|XPU|SYCL) (?:driver |runtime )?(?:error|out of memory)|Memory access fault by GPU",
    r"RESOURCE_EXHAUSTED",
    # collectives
    r"[NRH]CCL error|unhandled (?:system|cuda) error|nccl(?:System|Remote|Internal|UnhandledCuda)Error",
    r"Watchdog caught collective operation timeout|[Ww]atchdog (?:got stuck|timeout)|terminating the process",
    r"taking the entire process down",
    r"NCCL WARN .{0,200}(?:Cuda failure|ismatch|Duplicate GPU|refused|imed out|Bootstrap)",
    # Ray
    r"[Aa]ctor (?:died|is dead)|worker died|ActorDiedError|RayTaskError|RayActorError|Workers? .{0,40}killed",
    r"Node .{0,60}marked dead",
)
_ERROR_RECORD = _any(
    rf"^{_TAGGED}(?:ERROR|CRITICAL|FATAL)(?:\s{{1,4}}\d\d-\d\d |:)",
    rf"^{_CLOCK}(?:ERROR|CRITICAL)\b",
    r"\[(?:ERROR|FATAL|E|F)\](?!\[)",
)
_FRAME = _any(r"^(?:\s|File \"|\^|~|$)", r"^(?:During handling|The above exception|Exception raised from|frame #)")
_OUTLIVED = _any(
    r"KV cache size:|\bblocks: \d|num_gpu_blocks is|Maximum concurrency for|max_total_num_tokens=",
    r"init engine .{0,80}took|Graph capturing finished|Capture cuda graph end|Application startup complete",
    r"Uvicorn running|fired up and ready|Started server process|throughput: \d|(?:Prefill|Decode) batch",
    r"HTTP/1\.\d\" [24]\d\d|Initializing an? |Load weight begin",
)
"""What is printed by an engine that goes on, that answers (a request refused, too), or that starts anew."""
_ONE_REQUEST = "Exception in ASGI application"
"""What a server says of a request that it could not answer; a traceback follows, and the server goes on."""
_DEAD = _any(r"EngineDeadError|Engine ?[Cc]ore|Engine loop|CUDA|HIP|[Oo]utOfMemory")
"""What such a traceback names where the engine is gone."""

_WENT_ON = _any(r"Starting to load model|[Mm]odel loading took|Load weight end|Available KV cache memory")
"""What one rank prints where another may have fallen: it outlives a record of an error, and no exception."""

_Weight = Literal["error", "gone", "raised"]
"""How much a line says of a crash, the least first; as words they have the same order."""


@dataclass(frozen=True)
class Crash:
    """The last fatal line of a log, and the first of that crash; the same line where there is one."""

    last: LogLine
    first: LogLine

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The crash in words: the last line, and where it began."""
        last = remark("startup_log.crash", self.last.number, number=self.last.number, text=quoted(self.last))
        if quoted(self.first) == quoted(self.last):
            return (last,)
        return last, remark(
            "startup_log.crash_began", self.first.number, number=self.first.number, text=quoted(self.first)
        )


def crash_of(lines: Sequence[LogLine]) -> Crash | None:
    """The crash that a log of one engine ends in; None where it does not, or goes on after it.

    Of its lines the last that says more than that there is an error, and the first that names an exception.
    """
    fatal: list[tuple[LogLine, _Weight]] = []
    requests = False
    for line in lines:
        weight = _weight(line)
        requests = _ONE_REQUEST in line.text or (requests and _of_traceback(line))
        if requests and not _DEAD.search(line.text):
            continue
        if weight:
            fatal.append((line, weight))
        elif line.text.endswith("KeyboardInterrupt"):  # its traceback is none of a crash
            fatal = [(one, said) for one, said in fatal if said != "error"]
        elif (
            _OUTLIVED.search(line.text)
            or states(line.text)
            or (fatal and _WENT_ON.search(line.text) and all(said == "error" for _, said in fatal))
        ):
            fatal = []
    if not fatal:
        return None
    telling = [line for line, weight in fatal if weight > "error"]
    raised = [line for line, weight in fatal if weight == "raised"]
    return Crash((telling or [line for line, _ in fatal])[-1], (raised or [line for line, _ in fatal])[0])


def _weight(line: LogLine) -> _Weight | None:
    """How much a line says of a crash; None of one that is not fatal."""
    text = line.text
    if not text or _QUIET.search(text[:400]):
        return None
    said = _said(line)
    if _FRAME.match(said):
        return None
    if _EXCEPTION.match(said):
        return "raised"
    if _FATAL.search(text[:2000]):
        return "error" if text.endswith("(most recent call last):") else "gone"
    return "error" if _ERROR_RECORD.search(text[:400]) else None


def _of_traceback(line: LogLine) -> bool:
    """Whether a line goes on with a traceback: it is no record, no end of a process, and nothing that serves."""
    text, said = line.text, _said(line)
    if _ERROR_RECORD.search(text[:400]) or _QUIET.search(text[:400]) or _OUTLIVED.search(text) or states(text):
        return False
    raised = said.startswith("Traceback (most recent") or bool(_FRAME.match(said) or _EXCEPTION.match(said))
    return raised or not _FATAL.search(said[:2000])


def _said(line: LogLine) -> str:
    """What a line says, behind its record's head."""
    head = _HEAD.match(line.text)
    return line.text[head.end() :] if head else line.text


def quoted(line: LogLine) -> str:
    """What a fatal line says, masked, and as long as anybody reads."""
    return masked(_said(line)[:_SHOWN]).strip()
