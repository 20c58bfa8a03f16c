"""Which model, which weight format and how many ranks a log is about, as far as it says, and on what assumption."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.catalog import MODELS, model
from core.errors import UnknownNameError
from core.specs import ModelSpec
from core.startup_log.records import LogLine, Settings
from core.text.numbers import whole

_ASSIGNED = re.compile(
    r"rank (\d{1,5}) in world size (\d{1,5}) is assigned as DP rank (\d{1,5}), PP rank (\d{1,5}),"
    r"(?: PCP rank \d{1,5},)? TP rank (\d{1,5})"
)
_WORLD = re.compile(
    r"\bworld_size=(\d{1,5}) rank=\d{1,5}\b|MPI size: (\d{1,5})(?:, MPI local size: \d{1,5})?, rank: \d"
)

_FORMATS = {
    "fp8": "fp8", "awq": "awq", "awq_marlin": "awq", "moe_wna16": "awq", "gptq": "int4", "gptq_marlin": "int4",
    "gptq_marlin_24": "int4", "mxfp4": "mxfp4", "gpt_oss_mxfp4": "mxfp4", "experts_int8": "int8",
    "bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16", "fp32": "fp32",
    "float32": "fp32", "float": "fp32", "int8": "int8", "w8a8": "int8", "int4": "int4", "w4a16": "int4",
    "nvfp4": "nvfp4",
}  # fmt: skip
_PATH_HINTS = (
    (re.compile(r"nvfp4|gguf|bnb|bitsandbytes|q\d_k|modelopt|smoothquant|w4afp8|hqq|aqlm", re.I), "unknown"),
    (re.compile(r"awq", re.I), "awq"),
    (re.compile(r"w8a8|int8|8bit", re.I), "int8"),
    (re.compile(r"w4a16|int4|4bit|gptq", re.I), "int4"),
    (re.compile(r"fp8|w8a16-?fp", re.I), "fp8"),
    (re.compile(r"mxfp4", re.I), "mxfp4"),
)


_CACHED = re.compile(r"(?:^|[/\\])models--([\w.-]{1,200})")
"""A repository's folder in the cache of Hugging Face, whose last parts are `snapshots` and a hash."""
_BRANCH = re.compile(r"(?:[/\\](?:snapshots|resolve|tree|blobs))?[/\\](?:[0-9a-f]{7,40}|main|master|latest|hf)$")


@dataclass(frozen=True)
class Sizes:
    """The ranks: how many ways a layer and the stack are cut, and whether the log says so."""

    tp_size: int
    pp_size: int
    stated: bool


@dataclass(frozen=True)
class Ranks:
    """The rank and stage of each speaker, from the lines that tell; the sizes as those lines have them."""

    of_speaker: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    tp_size: int | None = None
    pp_size: int | None = None
    world_size: int | None = None
    dp_size: int = 1
    workers: int = 0


def find_model(path: str | None) -> tuple[ModelSpec | None, bool]:
    """The catalog's model for a path or a name, and whether only the end of the name says so."""
    if not path:
        return None, False
    path = repository(path)
    try:
        return model(path), False
    except UnknownNameError:
        name = _last_part(path).lower()
    for key in sorted(MODELS, key=len, reverse=True):
        if re.search(rf"(?:^|[-_.]){re.escape(key)}(?:-(?:instruct|chat|it|hf|base))?$", name):
            return MODELS[key], True
    return None, False


def repository(path: str) -> str:
    """A path without what a cache puts around a repository's name: `models--`, a snapshot's hash, a branch."""
    path = path.replace("___", ".")  # as ModelScope writes a folder
    if cached := _CACHED.search(path):
        return cached[1].replace("--", "/", 1)
    return _BRANCH.sub("", path.rstrip("/\\"))


def _last_part(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def find_format(settings: Settings, spec: ModelSpec, given: str | None) -> str | None:
    """The format of the weights, a key of FORMATS; None where the log names one that is not known here."""
    name = _format_said(settings, spec) if given is None else _FORMATS.get(given.lower().removeprefix("torch."))
    return "mxfp4-marlin" if name == "mxfp4" and settings.marlin else name


def _format_said(settings: Settings, spec: ModelSpec) -> str | None:
    if spec.weight_dtype == "nvfp4":  # a config was given, as no row of the catalog is: it says what is left alone
        return spec.weight_dtype
    name = _last_part(repository(settings.model_path or ""))
    hint = next((key for pattern, key in _PATH_HINTS if pattern.search(name)), None)
    known = None if hint == "unknown" else hint
    if settings.quantization == "compressed-tensors":
        return known
    if settings.quantization in ("gptq", "gptq_marlin") and hint == "int8":
        return hint
    if settings.quantization:
        return _FORMATS.get(settings.quantization)
    if hint is not None and not settings.resolved:
        return known
    if spec.weight_dtype in ("bf16", "fp16", "fp32"):
        return _FORMATS.get(settings.dtype or spec.weight_dtype)
    return spec.weight_dtype


def find_ranks(lines: Iterable[LogLine]) -> Ranks:
    """Which rank is whose, from "rank 3 in world size 4 is assigned as …" and from the tags themselves."""
    of_speaker: dict[str, tuple[int, int]] = {}
    tp = pp = world = -1
    replicas = 1
    workers: set[str] = set()
    for line in lines:
        tp, pp = max(tp, -1 if line.tp_rank is None else line.tp_rank), max(pp, line.pp_rank or -1)
        if "Worker" in line.speaker and "DP" not in line.speaker:
            workers.add(line.speaker)
        if "in world size" in line.text:
            for rank, size, replica, stage, part in (map(whole, match) for match in _ASSIGNED.findall(line.text)):
                tp, pp, world = max(tp, part), max(pp, stage), max(world, size)
                replicas = max(replicas, replica + 1)
                if line.speaker:
                    of_speaker[line.speaker] = (rank, stage)
        elif "world_size=" in line.text or "MPI size" in line.text:
            world = max([world, *(whole(torch or mpi) for torch, mpi in _WORLD.findall(line.text))])
    return Ranks(
        of_speaker,
        tp + 1 if tp > 0 else None,
        pp + 1 if pp > 0 else None,
        world if world > 0 else None,
        replicas,
        len(workers),
    )


def find_sizes(settings: Settings, ranks: Ranks, tp_given: int | None, pp_given: int | None) -> Sizes:
    """TP and PP: as given, as stated, as the world's size has it, or, unstated, as many as are seen to speak."""
    pp_size = pp_given or settings.pp_size or ranks.pp_size or 1
    if stated := tp_given or settings.tp_size or (1 if settings.stated else None):
        return Sizes(stated, pp_size, True)
    if ranks.world_size:
        replicas = settings.dp_size or ranks.dp_size
        return Sizes(max(1, ranks.world_size // (pp_size * replicas)), pp_size, True)
    # before V1 the first rank is the driver, which prints without a tag
    seen = ranks.workers + 1 if ranks.workers and not settings.v1 else ranks.workers
    return Sizes(ranks.tp_size or max(1, seen // pp_size), pp_size, False)


def rank_of(line: LogLine, ranks: Ranks, sizes: Sizes, driver: bool) -> tuple[int | None, int | None]:
    """A line's rank and pipeline stage, where they are known. `driver`: a line without a tag is rank 0's."""
    if line.speaker in ranks.of_speaker:
        return ranks.of_speaker[line.speaker]
    if line.tp_rank is not None or line.pp_rank is not None:
        stage = line.pp_rank or 0
        if line.tp_rank is None and sizes.tp_size > 1:
            return None, stage
        return stage * sizes.tp_size + (line.tp_rank or 0), stage
    if line.rank is not None:
        return line.rank, line.rank // sizes.tp_size if line.rank < sizes.tp_size * sizes.pp_size else None
    if sizes.tp_size * sizes.pp_size == 1 or (driver and not line.speaker):
        return 0, 0
    return None, 0 if sizes.pp_size == 1 else None
