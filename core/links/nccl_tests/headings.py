"""Lines that are no rows: headings, device lists, footers, failures, and words on which test it was."""

import re

from core.links.nccl_tests.records import Device
from core.links.nccl_tests.streams import Stream
from core.text.numbers import number as number_in
from core.text.numbers import whole

OPS = {
    "all_reduce": "all_reduce", "allreduce": "all_reduce", "all_gather": "all_gather", "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter", "reducescatter": "reduce_scatter", "alltoall": "alltoall",
    "alltoallv": "alltoallv", "all_to_all": "alltoall", "broadcast": "broadcast", "reduce": "reduce",
    "sendrecv": "sendrecv", "gather": "gather", "scatter": "scatter", "hypercube": "hypercube",
}  # fmt: skip
"""The tests under the names people write, as nccl-tests names them."""

_SHORT = ("reduce", "gather", "scatter", "hypercube")
_COMPOUND = "|".join(name for name in OPS if name not in _SHORT)
_TEST = re.compile(rf"(?<![a-z])({_COMPOUND}|(?<!_)(?:{'|'.join(_SHORT)}))_perf", re.IGNORECASE)
_WORD = re.compile(rf"(?<![a-z_])({_COMPOUND})(?![a-z_])", re.IGNORECASE)
INTERESTING = re.compile(
    r"nThread|Rank +\d|busbw|Avg bus|Out of bounds|nranks|\.\.|…|snip|Reducing maxBytes|samples|-place|"
    r"failure|Segmentation|error|FATAL|ABORT|Abort|abort|Killed|out of memory|exited|all|All|reduce|_perf|cast"
)
_ASKED = re.compile(r"minBytes +(\d{1,18}) +maxBytes +(\d{1,18}) +step: *(\d{1,18}) ?\((factor|bytes)\)")
_GPUS = re.compile(r"nThread +(\d{1,18}) +nGpus +(\d{1,18})")
_DEVICE = re.compile(
    r"Rank\s{1,20}(\d{1,9})\s.{0,200}?(?:\bon\s{1,20}(\S{1,120})\s{1,20})?device\s{1,20}(\d{1,9})\s{1,20}\[([^\]]{0,200})\](.*)"
)
_REDUCED = re.compile(r"Reducing maxBytes to (\d{1,18})")
_AVERAGE = re.compile(r"Avg bus bandwidth\s{0,40}:\s{0,40}(\S{1,40})")
_BOUNDS = re.compile(r"Out of bounds values\s{0,40}:\s{0,40}(\d{1,18})\s{1,40}(\w{1,40})")
_NRANKS = re.compile(r"\bnranks (\d{1,18})")
_ELISION_MARKS = " \t#>|*[]()<>-"
_TOLD = re.compile(r"NCCL (?:INFO|ATTN|DIAG)")
"""Records of NCCL that tell of no failure; the last two words are NCCL 2.32's."""
_FAILURE = re.compile(
    r"Test (?:NCCL|CUDA|HIP) failure|Test failure|Segmentation fault|\bFATAL\b|Abort(?:ed|ing)|Killed|"
    r"out of memory|srun: error|exited with (?:exit )?code [1-9]|MPI_ABORT|unhandled (?:cuda|system) error|"
    r"remote process exited"
)
GLOO = re.compile(r"elements\s{1,40}min \(us\).{0,200}samples")


def take_remark(stream: Stream, number: int, line: str) -> None:
    """A line that is no row: a heading, a device, a footer, a failure, or a word on which test it was."""
    for take in (_elision, _footer, _device, _heading, _half_name, _asked, _test_name, _failed, _hint):
        if take(stream, number, line):
            return


def _footer(stream: Stream, number: int, line: str) -> bool:
    bounds, average = _BOUNDS.search(line), _AVERAGE.search(line)
    if bounds is None and average is None:
        return False
    stream.settle()
    if bounds is not None:
        stream.section.wrong_values = bounds.group(2) != "OK" or bounds.group(1) != "0"
    if average is not None:
        stream.section.closed = True
        stream.section.average_busbw = number_in(average.group(1))
    return True


def _device(stream: Stream, number: int, line: str) -> bool:
    match = _DEVICE.search(line)
    if match is None:
        return False
    rank, host, device, bus, name = match.groups()
    section = stream.fresh(again=any(device.rank == whole(rank) for device in stream.section.devices))
    section.devices.append(Device(whole(rank), host or "", f"{host} {device} {bus}", name.strip()))
    return True


def _heading(stream: Stream, number: int, line: str) -> bool:
    words = line.split()
    if "busbw" not in words or not {"size", "bytes"} & set(words):
        return False
    section = stream.fresh()
    section.header, section.failure = line, None
    return True


def _half_name(stream: Stream, number: int, line: str) -> bool:
    """The line above the heading, or what a narrow window left of it: which halves there are."""
    words = set(line.replace("#", " ").split())
    if not words or not words <= {"out-of-place", "in-place"}:
        return False
    stream.fresh().half_names |= words
    return True


def _asked(stream: Stream, number: int, line: str) -> bool:
    reduced, gpus, asked = _REDUCED.search(line), _GPUS.search(line), _ASKED.search(line)
    if reduced is not None:
        stream.section.most_bytes = whole(reduced.group(1))
    if gpus is None:
        return reduced is not None
    section = stream.fresh(again=stream.section.process_gpus is not None)
    section.started, section.failure = True, None
    section.process_gpus = whole(gpus.group(1)) * whole(gpus.group(2))
    if asked is not None:
        smallest, largest, step, kind = asked.groups()
        section.asked = (whole(smallest), whole(largest), whole(step), kind)
    return True


def _test_name(stream: Stream, number: int, line: str) -> bool:
    names = {OPS[name.lower()] for name in _TEST.findall(line)} if "_perf" in line.lower() else set()
    if not names:
        return False
    if "concluded" not in line and len(names) == 1:
        starting = "starting" in line
        section = stream.fresh(again=starting and stream.section.process_gpus is not None)
        section.op = names.pop()
        section.started = section.started or starting
    return True


def _elision(stream: Stream, number: int, line: str) -> bool:
    text = line.strip(_ELISION_MARKS)
    if text not in ("…", "snip") and (len(text) < 2 or set(text) != {"."}):
        return False
    if stream.section.header or stream.section.rows:
        stream.section.elisions.append(number)
    return True


def _failed(stream: Stream, number: int, line: str) -> bool:
    if _TOLD.search(line) or _FAILURE.search(line) is None:
        return False
    stream.section.failure = " ".join(line.split())[:120]
    return True


def _hint(stream: Stream, number: int, line: str) -> bool:
    nranks = _NRANKS.search(line)
    if nranks is not None:
        section = stream.fresh() if stream.section.closed and "Destroy" not in line else stream.section
        section.nranks = whole(nranks.group(1))
    elif "NCCL " not in line and (names := {OPS[name.lower()] for name in _WORD.findall(line)}):
        stream.weak_op = names.pop() if len(names) == 1 else None
        if not stream.section.has_rows:
            stream.section.weak_op = stream.weak_op
    return True
