"""What a log says beside its figures: which all-reduce runs, over what, what was refused, what ran out."""

import re
from collections.abc import Callable, Iterable, Iterator

from core.startup_log.records import LogLine, Remark

_Words = Callable[[re.Match[str]], str]


def _tensor(match: re.Match[str]) -> str:
    heads, ranks = int(match.group(1)), int(match.group(2))
    sizes = ", ".join(str(n) for n in range(1, min(heads, 64) + 1) if heads % n == 0)
    return f"refused: {heads} attention heads do not divide over {ranks} ranks; a TP size of {sizes} would"


def _too_small(match: re.Match[str]) -> str:
    length, need, have = match.groups()
    return f"too little KV cache for a request of {length} tokens: a rank needs {need} GiB and has {have} GiB"


def _layers(match: re.Match[str]) -> str:
    counts = [int(number) for number in match.group(1).split(",") if number.strip()]
    return (
        f"uneven pipeline stages: {'+'.join(map(str, counts))} of {sum(counts)} layers; the fullest sets the pace"
    )


_REPEATED = re.compile(r"\s{0,4}\[repeated \d{1,6}x across cluster\]")

_RULES: tuple[tuple[str, str, re.Pattern[str], _Words], ...] = (
    ("custom all-reduce", "ustom allreduce is disabled",
     re.compile(r"[Cc]ustom allreduce is disabled(?: because)? (.{1,160}?)(?:\. To silence|\.?$)"),
     lambda m: f"custom all-reduce is off: {m.group(1).strip()}; every all-reduce is NCCL's"),
    ("custom all-reduce", "custom",
     re.compile(r"(?<!specify )disable_custom_all_reduce['\"]?\s{0,2}[=:]\s{0,2}True|--disable-custom-all-reduce"),
     lambda m: "custom all-reduce is off: asked for by an argument"),
    ("custom all-reduce", "cuda graph addresses",
     re.compile(r"Registering (\d{1,9}) cuda graph addresses"),
     lambda m: f"custom all-reduce is on: {m.group(1)} of its buffers are in CUDA graphs"),
    ("P2P", "P2P", re.compile(r"(?:Skipping P2P check|P2P is disabled|[Pp]eer access is not supported|"
                              r"NCCL_P2P_DISABLE(?: set by environment to |=)1)"),
     lambda m: {"Skipping": "P2P between GPUs is taken from the driver's word, untested"}.get(
         m.group(0).split()[0], "P2P between GPUs is off")),
    ("P2P", " via P2P/", re.compile(r" via P2P/([A-Za-z]{2,12})"),
     lambda m: f"GPUs of a node reach each other over P2P ({m.group(1)})"),
    ("transport", " via SHM", re.compile(r" via SHM"),
     lambda m: "NCCL goes through the host's shared memory: no P2P between some GPUs"),
    ("transport", "NCCL INFO Using network", re.compile(r"NCCL INFO Using network ([\w ./-]{1,40})"),
     lambda m: f"NCCL's transport between nodes: {m.group(1).strip()}"),
    ("transport", " via NET/", re.compile(r" via NET/([\w /-]{2,20}?)(?:/\d{1,3})?(/GDRDMA)?(?:\s|$)"),
     lambda m: f"ranks talk over the network: {m.group(1)}{', from GPU memory' if m.group(2) else ''}"),
    ("NCCL", "nccl==", re.compile(r"using nccl==(\d[\w.]{0,20})"), lambda m: f"NCCL {m.group(1)}"),
    ("layers", "unevenly partitioned", re.compile(r"unevenly partitioned: \[([\d,\s]{1,400})\]"), _layers),
    ("refused", "must be divisible by tensor parallel size",
     re.compile(r"attention heads \((\d{1,6})\) must be divisible by tensor parallel size \((\d{1,5})\)"), _tensor),
    ("refused", "is not divisible by",
     re.compile(r"(\d{1,9}) is not divisible by (\d{1,6})"),
     lambda m: f"refused: {m.group(1)} does not divide by {m.group(2)}"),
    ("memory", "KV cache is needed",
     re.compile(r"max seq len \((\d{1,9})\), \(?([\d.]{1,12}) GiB KV cache is needed.{0,120}?"
                r"\(([\d.-]{1,12}) GiB\)"),
     _too_small),
    ("memory", "larger than the maximum number of tokens",
     re.compile(r"max seq len \((\d{1,9})\) is larger than the maximum number of tokens.{0,40}?\((\d{1,12})\)"),
     lambda m: f"too little KV cache for one request: {m.group(1)} tokens are asked for, {m.group(2)} fit"),
    ("memory", "ut",
     re.compile(r"(?:(?:CUDA|HIP|NPU|XPU) (?:error: )?out of memory|OutOfMemoryError)(?:.{0,60}?Tried to allocate "
                r"([\d.]{1,10} [KMG]iB))?"),
     lambda m: f"out of memory{f', at {m.group(1)} more' if m.group(1) else ''}"),
    ("memory", "No available memory for the cache blocks", re.compile(r"No available memory for the cache blocks"),
     lambda m: "nothing is left for the KV cache: the weights and the profile took it all"),
    ("draft", "Eagle", re.compile(r"type=(\w{0,40}Eagle\w{0,20})"),
     lambda m: f"a draft model ({m.group(1)}) is loaded beside the model; its figures are its own"),
    ("repeated", "across cluster", re.compile(r"\[repeated (\d{1,6})x across cluster\]"),
     lambda m: "lines of other ranks are left out ('repeated … across cluster'): what they print is not seen here"),
    ("elided", "elided", re.compile(r"\[\.{3} .{1,80}elided \.{3}\]|^\s{0,4}\[?\.{3,6}\]?\s{0,4}$"),
     lambda m: "lines are left out of this log"),
)  # fmt: skip


def remarks(lines: Iterable[LogLine]) -> tuple[Remark, ...]:
    """What the lines say, each thing once, in the order it is first said."""
    found: dict[str, Remark] = {}
    for line in lines:
        for remark in _of(line):
            found.setdefault(remark.text, remark)
    return tuple(found.values())


def memory_remark(size_gib: float, line: int) -> Remark | None:
    """What to say of memory left for a cache: nothing, unless there is none."""
    if size_gib > 0:
        return None
    return Remark(
        "memory", f"no room for a KV cache: {size_gib:.2f} GiB are left after weights and activations", line
    )


def _of(line: LogLine) -> Iterator[Remark]:
    once = _REPEATED.sub("", line.text) if "across cluster]" in line.text else line.text
    for kind, cue, pattern, words in _RULES:
        text = line.text if kind == "repeated" else once
        if cue in text:
            for match in pattern.finditer(text):
                yield Remark(kind, words(match), line.number)
