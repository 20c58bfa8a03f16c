"""What a log says beside its figures: which all-reduce runs, over what, what was refused, what ran out."""

import re
from collections.abc import Callable, Iterable, Iterator

from core.errors import Remark, divisors, once, remark
from core.startup_log.fatal import KILLED_BY_SHELL
from core.startup_log.records import LogLine
from core.text.numbers import whole

_Fields = dict[str, object]


def _stripped(fields: _Fields) -> _Fields:
    return {name: str(value).strip() for name, value in fields.items()}


def _heads(fields: _Fields) -> _Fields:
    sizes = [size for size in divisors(whole(str(fields["heads"])) or 1) if size <= 64]
    return {**fields, "sizes": ", ".join(map(str, sizes))}


def _layers(fields: _Fields) -> _Fields:
    counts = [whole(number) for number in str(fields["layers"]).split(",") if number.strip()]
    return {"layers": "+".join(map(str, counts)), "total": sum(counts)}


_SIZE = r"[\d.]{1,10} [KMG]iB"
_OUT = (
    r"(?:(?:CUDA|HIP|NPU|XPU) (?:error: )?out of memory|OutOfMemoryError"
    r"|Executor creation failed due to insufficient GPU memory)"
)

_RULES: tuple[tuple[str, str, re.Pattern[str], Callable[[_Fields], _Fields]], ...] = tuple(
    (code, cue, re.compile(pattern), more[0] if more else dict)
    for code, cue, pattern, *more in (
        ("all_reduce_off", "ustom allreduce is disabled",
         r"[Cc]ustom allreduce is disabled(?: because)? (?P<why>.{1,160}?)(?:\. To silence|\.?$)", _stripped),
        ("all_reduce_off_asked", "custom",
         r"(?<!specify )disable_custom_all_reduce['\"]?\s{0,2}[=:]\s{0,2}True|--disable-custom-all-reduce"),
        ("all_reduce_on", "cuda graph addresses", r"Registering (?P<buffers>\d{1,9}) cuda graph addresses"),
        ("p2p_untested", "P2P", r"Skipping P2P check"),
        ("p2p_off", "P2P", r"P2P is disabled|[Pp]eer access is not supported|"
                           r"NCCL_P2P_DISABLE(?: set by environment to |=)1"),
        ("p2p", " via P2P/", r" via P2P/(?P<way>[A-Za-z]{2,12})"),
        ("shared_memory", " via SHM", r" via SHM"),
        ("between_nodes", "NCCL INFO Using network",
         r"NCCL INFO Using network (?P<network>[\w ./-]{1,40})", _stripped),
        ("network_direct", " via NET/", r" via NET/(?P<network>[\w /-]{2,20}?)(?:/\d{1,3})?/GDRDMA(?:\s|$)"),
        ("network", " via NET/", r" via NET/(?P<network>[\w /-]{2,20}?)(?:/\d{1,3})?(?<!/GDRDMA)(?:\s|$)"),
        ("nccl", "nccl==", r"using nccl==(?P<version>\d[\w.]{0,20})"),
        ("uneven_layers", "unevenly partitioned", r"unevenly partitioned: \[(?P<layers>[\d,\s]{1,400})\]", _layers),
        ("heads_do_not_divide", "must be divisible by tensor parallel size",
         r"attention heads \((?P<heads>\d{1,6})\) must be divisible by tensor parallel size \((?P<ranks>\d{1,5})\)",
         _heads),
        ("does_not_divide", "is not divisible by", r"(?P<value>\d{1,9}) is not divisible by (?P<parts>\d{1,6})"),
        ("cache_below_request", "KV cache is needed",
         r"max seq len \((?P<length>\d{1,9})\), \(?(?P<need>[\d.]{1,12}) GiB KV cache is needed.{0,120}?"
         r"\((?P<have>[\d.-]{1,12}) GiB\)"),
        ("tokens_below_request", "larger than the maximum number of tokens",
         r"max seq len \((?P<length>\d{1,9})\) is larger than the maximum number of tokens.{0,40}?"
         r"\((?P<have>\d{1,12})\)"),
        ("free_below_asked", "Free memory on device",
         r"Free memory on device \(?[\w:]{0,20}\)? ?\((?P<free>[\d.]{1,10})/(?P<total>[\d.]{1,10}) GiB\)"
         r" on startup is less than desired GPU memory utilization "
         r"\((?P<share>[\d.]{1,8}), (?P<asked>[\d.]{1,10}) GiB\)"),
        ("scheduler_exception", "cheduler hit an exception", r"Scheduler hit an exception"),
        ("no_static_memory", "mem-fraction-static",
         r"Not enough memory\. Please try to increase --mem-fraction-static"),
        ("nccl_failed", "CCL", r"[NRH]CCL error(?:\s|:|$)|nccl(?:System|Remote|Internal|UnhandledCuda)Error"),
        ("watchdog", "Watchdog caught collective",
         r"Watchdog caught collective operation timeout: .{0,60}?OpType=(?P<op>\w{1,40})"
         r".{0,200}?Timeout\(ms\)=(?P<limit_ms>\d{1,12})"),
        ("process_killed", "ill",
         rf"SIGKILL|OOMKilled|[Oo]ut of memory: Kill|^Killed$|signal: killed|exitcode: -9\b|{KILLED_BY_SHELL}"),
        ("illegal_access", "illegal memory access", r"illegal memory access"),
        ("no_kernel_image", "no kernel image", r"no kernel image is available"),
        ("too_few_gpus", "available GPUs",
         r"[Ww]orld size \((?P<ranks>\d{1,5})\) .{0,40}?(?:number of )?available GPUs \((?P<gpus>\d{1,5})\)"),
        ("port_taken", "ddress already in use", r"[Aa]ddress already in use"),
        ("context_beyond", "greater than the derived",
         r"\((?P<asked>\d{1,9})\) is greater than the derived (?:max_model_len|context_length)"
         r" \((?:\w{1,40}=)?(?P<most>\d{1,9})"),
        ("not_allowed", "", r"gated repo|401 Client Error|403 Client Error"),
        ("old_driver", "river", r"NVIDIA driver on your system is too old|CUDA driver version is insufficient"),
        ("out_of_memory_at", "ut", rf"{_OUT}.{{0,60}}?Tried to allocate (?P<size>{_SIZE})"),
        ("out_of_memory", "ut", rf"{_OUT}(?!.{{0,60}}?Tried to allocate {_SIZE})"),
        ("no_cache_blocks", "No available memory for the cache blocks", "No available memory for the cache blocks"),
        ("draft", "Eagle", r"type=(?P<name>\w{0,40}Eagle\w{0,20})"),
        ("repeated", "across cluster", r"\[repeated \d{1,6}x across cluster\]"),
        ("lines_left_out", "elided", r"\[\.{3} .{1,80}elided \.{3}\]"),
    )
)  # fmt: skip
"""The code of what is said, a cue for it, the engine's words, and what is made of their groups."""

_REPEATED = re.compile(r"\s{0,4}\[repeated \d{1,6}x across cluster\]")


def remarks(lines: Iterable[LogLine]) -> tuple[Remark, ...]:
    """What the lines say, each thing once, in the order it is first said."""
    return once(remark for line in lines for remark in _of(line))


def _of(line: LogLine) -> Iterator[Remark]:
    text = _REPEATED.sub("", line.text) if "across cluster]" in line.text else line.text
    for code, cue, pattern, convert in _RULES:
        whole = line.text if code == "repeated" else text
        if cue in whole:
            for match in pattern.finditer(whole):
                yield remark(f"startup_log.{code}", line.number, **convert(match.groupdict()))
