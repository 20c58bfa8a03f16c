"""A log as it is posted, line by line: colours, quote marks, and the prefixes of whatever passed it on, taken off.

What is shown of it gives away nobody: hosts, addresses, folders, users and keys are covered. The name of a
container, a pod or a unit is taken off too, and kept as the line's service: two engines may print into one text.

A terminal of fixed width cuts a long line anywhere, in the middle of a word too; an editor breaks it at a space.
Both are put together again. No expression here can backtrack: each has one way to match.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator

from core.startup_log.arguments import opens_call
from core.startup_log.records import LogLine
from core.text.lines import CONTAINER, LONGEST_LINE, without_colours, without_tags
from core.text.numbers import whole

_QUOTE = re.compile(r"^[ \t]{0,8}(?:>[ \t]?){1,6}(?!=)")
_FRAMED = re.compile(r"^\s{0,8}│ ?(?=\S)")
_COMMENTED = re.compile(
    r"^# ?(?=(?:INFO|WARNING|ERROR|DEBUG)\b|\((?:Ray|Vllm|Worker|EngineCore|APIServer|pid=)"
    r"|\[(?:\d{4}-|TensorRT|TRT))"
)
_FENCE = re.compile(r"^\s{0,8}(?:```|~~~)")
_POD = re.compile(r"^\[?(pods?/[\w./-]{1,160})\]? ")
_JOURNAL = re.compile(
    r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,9})?|\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)?)"
    r" ([\w.-]{1,80} [\w@./-]{1,80})(?:\[\d{1,9}\])?: "
)
_ISO = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.,]{8,20}(?:Z|[+-]\d\d:?\d\d)? +(?:std(?:out|err) [FP] )?")
_BEFORE = (_COMMENTED, CONTAINER, _POD, _JOURNAL, _ISO)
"""What others put before a line, in any order: a group is the name of who printed it."""
_MOST_BEFORE = 4
_LAUNCHER = re.compile(r"^\[(?:rank|default)?(\d{1,4})\]:\s?|^\[\d{1,4},(\d{1,4})\]<std\w{2,4}>:\s?|^(\d{1,4}): ")
_TAG = re.compile(
    r"\(((?:RayWorker\w{0,12}|VllmWorker\w{0,12}|Worker\w{0,24}|EngineCore\w{0,12}|APIServer\w{0,8}|pid=)[^()]{0,80})\)"
)
_TAGS = r"(?:\((?:RayWorker|VllmWorker|Worker|EngineCore|APIServer|pid=)[^()]{0,80}\)\s{0,2})"
_DATED = (
    rf"{_TAGS}{{0,3}}(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\s{{1,4}}\d\d-\d\d \d\d:\d\d:\d\d"
    r"|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\]| (?:DP|TP|PP|EP|CP)\d)"
    r"|\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[TRT|\[TensorRT-LLM\]\["
)
_RECORD_START = re.compile(_DATED)
"""The beginning of a record, wherever a bar, dots or another record without an end of line stands before it."""
_PROGRESS = re.compile(rf"^[\s.·•=>#*%\d/:,<\[\]?|it_█▏▎▍▌▋▊▉~-]{{1,400}}(?={_TAGS}|$)")
_MOST_REPAINTS = 8
_SGLANG = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d((?: (?:DP|TP|PP|EP|CP)\d{1,4}){1,5})\]")
_TRT = re.compile(r"\[RANK (\d{1,4})\]")
_RECORD = r"(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|\d{4}[-/]\d\d|[(\[]"
_START = re.compile(
    rf"^\s{{0,12}}(?:$|{_RECORD}|[#*`~|>+-]|(?:WARN|FATAL|Traceback|Loading|Capturing)\b|\d{{1,3}}%"
    r"|(?:\w{1,40}\.){0,6}\w{1,60}(?:Error|Warning|Exception|Failed)\b|terminate called|command terminated"
    r"|what\(\)|\d{1,4}\s{1,12}0x|(?:srun|vllm|docker|zsh|bash|sh): "
    r"|[\w.-]{1,80}:\d{1,9}:\d{1,9} \[|File \"|raise |return "
    r"|vllm serve|sglang serve|trtllm|python|export |command=|[A-Z][A-Z\d_]{2,60}=\S)"
)
_SURE_START = re.compile(
    r"^\s{0,12}(?:(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|\[?\d{4}-\d\d-\d\d|\((?:Ray|Vllm|Worker|EngineCore|APIServer|pid=)|\[T)"
)
_OPEN_RECORD = re.compile(rf"^\s{{0,12}}(?:{_RECORD})")
_GOES_ON = re.compile(r"^\s{0,12}[a-z\d,.;:'\")}\]=]")
_KEY_OF_COMMAND = re.compile(r"^( {0,40})(?:- )?(command|args):(?: [>|]-?)?$")
_ARRAY = re.compile(r"^\s{0,40}(?:[a-z]{1,10} (?:-a )?)?[A-Za-z_]\w{0,60}\+?=\($")
_WORD_OF_COMMAND = re.compile(r"^( {1,60})(- )?(\S.{0,400})$")
_LONG = 60

LIMIT_LINES = 50_000
"""Lines that are read; what an engine prints at its start is within far fewer."""


def read_lines(text: str) -> list[LogLine]:
    """The log's lines, decoration off and wrapped ones joined, each service's by itself."""
    printed: dict[str, list[tuple[int, str]]] = {}
    for number, service, bare in _plain(text):
        printed.setdefault(service, []).append((number, bare))
    lines = [
        _spoken(number, line, service)
        for service, own in printed.items()
        for number, line in _joined(list(_in_one_line(iter(own))))
    ]
    return sorted(lines, key=lambda line: line.number) if len(printed) > 1 else lines


def _plain(text: str) -> Iterator[tuple[int, str, str]]:
    """Each physical line with its number and its service, without what was put before it."""
    for number, raw in enumerate(text.split("\n", LIMIT_LINES)[:LIMIT_LINES], 1):
        if not raw:
            yield number, "", raw
        for piece in _repaints(raw.rstrip("\r")) if raw else ():
            bare = without_colours(_unwrapped(piece))
            if not piece.isascii():
                bare = bare.replace("\u200b", "").replace("\xa0", " ")
                bare = bare.strip()[1:].removesuffix("│").strip() if _FRAMED.match(bare) else bare
            if _FENCE.match(bare):
                continue
            service, bare = _named(_QUOTE.sub("", without_tags(bare)))
            for record in _records(bare):
                yield number, service, record[:LONGEST_LINE]


def _unwrapped(piece: str) -> str:
    """What a record of docker's or containerd's JSON file says; any other line as it is."""
    if not piece.startswith('{"') or '"stream":' not in piece:
        return piece
    try:
        record = json.loads(piece)
    except (ValueError, RecursionError):
        return piece
    said = record.get("log", record.get("message")) if isinstance(record, dict) else None
    return said.rstrip("\n") if isinstance(said, str) else piece


def _repaints(raw: str) -> list[str]:
    """The pieces of a line that was painted over: all records, and the last of a bar's repaints."""
    pieces = raw.split("\r")
    if len(pieces) <= _MOST_REPAINTS:
        return pieces
    records = [piece for piece in pieces[:-_MOST_REPAINTS] if _RECORD_START.search(piece[:200])]
    return [*records, *pieces[-_MOST_REPAINTS:]]


def _named(bare: str) -> tuple[str, str]:
    """The service that a line is of, and the line without all that others put before it."""
    service = ""
    for _ in range(_MOST_BEFORE):
        match = next((match for prefix in _BEFORE if (match := prefix.match(bare))), None)
        if match is None:
            break
        service = service or (match[1] if match.re.groups else "")
        bare = bare[match.end() :]
    return service, bare


def _records(bare: str) -> Iterator[str]:
    """A line parted where another record begins in it; progress before a record goes."""
    at = 0
    for match in _RECORD_START.finditer(bare):
        if (before := bare[at : match.start()]).strip() and not _PROGRESS.fullmatch(before):
            yield before
        at = match.start()
    rest = bare[at:]
    tagged = _PROGRESS.match(rest)
    yield rest[tagged.end() :] if tagged and tagged.end() < len(rest) else rest


def _in_one_line(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """A manifest's command, a shell's array or a script's call, of which each line is a word or a flag, in one."""
    key, indent, number = "", 0, 0
    for line_number, bare in lines:
        if key and bare.lstrip().startswith("# "):
            continue
        if opens_call(key) and len(key) < LONGEST_LINE:
            key = f"{key} {bare.strip()}"
            if not opens_call(key):
                yield number, key
                key = ""
            continue
        if key.startswith("(") and len(key) < LONGEST_LINE and bare.strip() != ")":
            key = f"{key} {bare.strip()}"
            continue
        word = _WORD_OF_COMMAND.match(bare) if key[:1] not in ("", "(") and len(key) < LONGEST_LINE else None
        if word and len(word[1]) >= indent + (word[2] is None):
            stripped = word[3].strip(" '\"")
            key = f"{key} {stripped}"
            continue
        if key:
            yield number, key
            key = ""
        if match := _KEY_OF_COMMAND.match(bare.rstrip()):
            key, indent, number = f"{match[2]}:", len(match[1]), line_number
        elif _ARRAY.match(bare.rstrip()):
            key, number = "(", line_number
        elif opens_call(bare):
            key, number = bare.strip(), line_number
        else:
            yield line_number, bare
    if key:
        yield number, key


def _joined(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines with their continuations: glued where the line before is cut at the terminal's width, else spaced."""
    starts = [_START.match(bare) is not None for _, bare in lines]
    cut = _cut_widths([len(bare) for _, bare in lines], starts)
    number, held, length, previous, open_record = 0, [""], 0, "", False
    for index, (line_number, bare) in enumerate(lines):
        glued = len(previous) in cut
        starting = starts[index] and not (glued and bare and not _SURE_START.match(bare))
        goes_on = open_record and not starting and len(previous) >= _LONG and length < LONGEST_LINE
        if previous.rstrip().endswith("\\") and length < LONGEST_LINE:
            held[-1] = f"{held[-1].rstrip().removesuffix(chr(92))} {bare.strip()}"
        elif goes_on and (glued or _GOES_ON.match(bare)):
            held.append(bare if glued else f" {bare.strip()}")
        else:
            if index:
                yield number, "".join(held)
            number, held, length = line_number, [bare], 0
            open_record = _OPEN_RECORD.match(bare) is not None
        length += len(bare)
        previous = bare
    yield number, "".join(held)


def _cut_widths(lengths: list[int], starts: list[bool]) -> set[int]:
    """The widths at which a terminal cut this log: lengths that recur, near the longest or before odd starts."""
    long = Counter(length for length in lengths if length >= _LONG)
    before = Counter(length for length, start in zip(lengths, starts[1:], strict=False) if not start)
    near_longest = 0.9 * max(long, default=0)
    return {width for width, times in long.items() if times >= 2 and (width >= near_longest or before[width] >= 2)}


def _spoken(number: int, text: str, service: str = "") -> LogLine:
    """A line with what its prefixes say of who printed it. A worker's is its own, whoever passes it on."""
    text = text[:LONGEST_LINE]
    launcher = _LAUNCHER.match(text)
    rank = next((whole(group) for group in launcher.groups() if group), None) if launcher else None
    if launcher:
        text = text[launcher.end() :]
    head = text[:400]
    own = _SGLANG.match(head)
    tags = _TAG.findall(head)
    tag = own.group(1) if own else (tags[-1] if tags else "")
    parts = {name: whole(value) for name, value in re.findall(r"(TP|PP|rank=)_?(\d{1,4})", tag)}
    trt = _TRT.search(head)
    passed_on = None if "Worker" in tag else rank
    return LogLine(
        number,
        text.strip(),
        tag,
        parts.get("TP"),
        parts.get("PP"),
        parts.get("rank=", whole(trt.group(1)) if trt else passed_on),
        service,
    )


_COVERS = (
    (re.compile(r"\b(?:hf|sk|ghp|github_pat|xox[abp])[_-][A-Za-z0-9_-]{8,200}"), "<token>"),
    (re.compile(r"(?i)\b((?:api[_-]?key|token|password|secret|authorization)['\"]?\s{0,3}[=:]\s{0,3}\[?['\"]?)"
                r"(?!None\b|null\b|<)[^\s'\",)]{4,200}"), r"\1<token>"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"), "<mail>"),
    (re.compile(r"\b(?:https?|tcp|ipc|file|s3|gs|hdfs|zmq)://[^\s'\",)>]{1,400}"), "<address>"),
    (re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:<\d{1,3}>)?(?![\d.])"), "<address>"),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])"), "<address>"),
    (re.compile(r"(?<![\w/.:-])(?=[\d.-]{0,100}[A-Za-z_])[\w-][\w.-]{0,100}:(\d{2,9}):(\d{2,9}) \["),
     r"<host>:\1:\2 ["),
    (re.compile(r"(?i)\b((?:host(?:name)?|user(?:name)?|node_ip|ip|master_addr|hostname)['\"]?\s{0,2}=\s{0,2}['\"]?)"
                r"(?!None\b|<)[\w.-]{1,120}"), r"\1<host>"),
    (re.compile(r"(?<![\w<])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+-]{1,120}){1,24}[/\\]([\w.@+-]{1,160})"), r"…/\1"),
)  # fmt: skip


def masked(text: str) -> str:
    """`text` with hosts, addresses, the folders of paths, users and keys covered. The last part of a path stays."""
    for pattern, cover in _COVERS:
        text = pattern.sub(cover, text)
    return text
