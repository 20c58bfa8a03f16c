"""What a startup log says of one's own machine, for a plan: what is neither weights nor cache, and what was free.

    granted = weights + peak activation + outside of torch + graphs + left for the cache

Of these an engine prints some. What it does not print is what is left of the equation, with the weights as they are
predicted for the layout that the log is of. A refusal says figures too: the cache that one request needs and what
there was for it, the memory that was free at the start, what a GPU has in all.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.errors import Remark, ShardlabError, UnreadableTextError, remark
from core.placement.layout import Layout
from core.placement.plan import Plan, Question
from core.placement.rank_memory import Overhead, RankMemory, rank_memories
from core.startup_log.lines import read_lines
from core.startup_log.one_run import runs
from core.text.numbers import figure, whole
from core.units import GIB

_SIZE = r"(-?\d{1,4}(?:\.\d{1,6})?) ?Gi?B"
_NUMBER = r"(\d{1,5}(?:\.\d{1,6})?)"
_PEAK, _NON_TORCH, _GRAPHS, _LEFT, _WEIGHTS, _GRANTED, _TOTAL = (
    re.compile(pattern)
    for pattern in (
        rf"activation peak memory takes {_SIZE}|{_SIZE} for peak activation",
        rf"non_torch_memory takes {_SIZE}|{_SIZE} for non-torch memory",
        rf"Graph capturing finished in \d{{1,6}} secs?, took {_SIZE}|{_SIZE} for CUDAGraph memory"
        rf"|Capture cuda graph end\..{{0,200}}?mem usage={_SIZE}",
        rf"Available KV cache memory: {_SIZE}|reserved for KV Cache is {_SIZE}"
        rf"|available KV cache memory \({_NUMBER} GiB\)",
        rf"(?:Loading model weights|[Mm]odel loading) took (?:in total )?{_SIZE}|model weights take {_SIZE}"
        rf"|Load weight end\..{{0,300}}?\bmem usage={_SIZE}",
        rf"Desired GPU memory utilization is \({_NUMBER}, {_NUMBER} GiB\)",
        rf"has a total capacity of {_SIZE}|total GPU memory \({_NUMBER} ?GiB\)",
    )
)
_FREE = re.compile(
    rf"Free memory on device \(?[\w:]{{0,20}}\)? ?\({_NUMBER}/{_NUMBER} GiB\) on startup is less than desired"
)
_NEEDED = re.compile(
    rf"max seq len \((\d{{1,9}})\),? \(?{_NUMBER} GiB KV cache is needed.{{0,120}}?\({_NUMBER} GiB\)"
)
_SHARE = re.compile(r"gpu[-_]memory[-_]utilization['\"]?[=: ]{1,3}(0?\.\d{1,6}|1\.0|1)\b")
_LEAST_DIFFERENCE = 0.02


@dataclass(frozen=True)
class OwnLog:
    """The figures of a log in bytes, None where it prints none: each a rank's, and of several the fullest one's."""

    peak: float | None
    non_torch: float | None
    graphs: float | None
    left: float | None
    weights: float | None
    granted: float | None
    total: float | None
    share: float | None

    @property
    def is_silent(self) -> bool:
        return not any(size is not None for size in (self.peak, self.non_torch, self.left))


def read_own_log(log: str) -> OwnLog:
    """What a startup log, or the refusal that it ends in, prints of a rank's memory."""
    granted = [figure(match[2]) * GIB for match in _GRANTED.finditer(log)]
    shares = [figure(match[1]) for match in _SHARE.finditer(log)]
    return OwnLog(
        peak=max(_sizes(_PEAK, log), default=None),
        non_torch=max(_sizes(_NON_TORCH, log), default=None),
        graphs=max(_sizes(_GRAPHS, log), default=None),
        left=min(_sizes(_LEFT, log), default=None),
        weights=max(_sizes(_WEIGHTS, log), default=None),
        granted=max(granted, default=None),
        total=min(_sizes(_TOTAL, log), default=None),
        share=shares[-1] if shares else None,
    )


def _sizes(pattern: re.Pattern[str], log: str) -> Iterable[float]:
    return [figure(next(filter(None, match.groups()))) * GIB for match in pattern.finditer(log)]


def overhead_of(log: str, granted_bytes: float, weights_bytes: float | None = None) -> Overhead:
    """What a startup log says is neither weights nor cache, on its fullest rank.

    Printed parts are taken as they are. What is not printed is what is left of the granted memory beside the
    weights, printed or given, and the cache that the log prints, shared out as usual.
    Raises UnreadableTextError where the log leaves that open.
    """
    return _overhead(read_own_log(log), granted_bytes, weights_bytes)


def _overhead(own: OwnLog, granted_bytes: float, weights_bytes: float | None) -> Overhead:
    usual = Overhead()
    captured = usual.cuda_graphs_bytes if own.graphs is None else own.graphs
    if own.peak is not None and own.non_torch is not None:
        return Overhead(own.peak, own.non_torch, captured)
    if own.is_silent:
        raise UnreadableTextError("no_overhead")
    weights = weights_bytes if own.weights is None else own.weights
    if own.left is None or weights is None:
        if own.peak is None and own.non_torch is None:
            raise UnreadableTextError("weights_unprinted")
        peak = usual.peak_activation_bytes if own.peak is None else own.peak
        return Overhead(peak, usual.non_torch_bytes if own.non_torch is None else own.non_torch, captured)
    rest = granted_bytes - weights - own.left
    if not 0 <= rest < granted_bytes / 2:
        raise UnreadableTextError("left_of_granted", rest=rest / GIB)
    if own.peak is not None:
        return Overhead(own.peak, max(0.0, rest - own.peak), captured)
    if own.non_torch is not None:
        return Overhead(max(0.0, rest - own.non_torch), own.non_torch, captured)
    share = rest / (usual.peak_activation_bytes + usual.non_torch_bytes)
    return Overhead(share * usual.peak_activation_bytes, share * usual.non_torch_bytes, captured)


def with_log(question: Question, log: str, ran: Plan | None) -> tuple[Question, tuple[Remark, ...]]:
    """The question with what a log says of its machine, and each thing taken.

    Raises UnreadableTextError where the log says nothing of it.
    """
    own, notes = read_own_log(log), list[Remark]()
    budget = question.budget
    if free := _FREE.search(log):
        have, total = (figure(free[at]) * GIB for at in (1, 2))
        budget = replace(budget, usable_bytes=total, utilisation=min(budget.utilisation, have / total))
        notes.append(remark("placement.refit_free", free_bytes=have, total_bytes=total))
    elif own.total is not None:
        budget = replace(budget, usable_bytes=own.total)
        notes.append(remark("placement.refit_total", total_bytes=own.total))
    rank = _rank(replace(question, budget=budget), log, ran)
    if own.is_silent and notes:
        return replace(question, budget=budget), tuple(notes)
    needed = _NEEDED.search(log)
    if needed and rank is not None:
        own, said = _by_its_own_cache(own, rank, needed)
        notes += said
    granted = own.granted or (own.share or budget.utilisation) * budget.usable_bytes
    overhead = _overhead(own, granted, None if rank is None else rank.weights.total_bytes)
    notes.append(remark("placement.refit_overhead", old=budget.overhead, new=overhead))
    if (
        own.left is not None
        and own.weights is None
        and rank is not None
        and (own.peak is None or own.non_torch is None)
    ):
        notes.append(remark("placement.refit_weights", weights_bytes=rank.weights.total_bytes, left_bytes=own.left))
    return replace(question, budget=replace(budget, overhead=overhead)), tuple(notes)


def _by_its_own_cache(own: OwnLog, rank: RankMemory, needed: re.Match[str]) -> tuple[OwnLog, list[Remark]]:
    """What there was for the cache, in the plan's own bytes of a request, where the engine counts others."""
    length, asks, have = whole(needed[1]), figure(needed[2]) * GIB, figure(needed[3]) * GIB
    predicted = rank.sequence_bytes(length)
    note = remark(
        "placement.refit_needed", length=length, needed_bytes=asks, left_bytes=have, predicted_bytes=predicted
    )
    if asks <= 0 or predicted <= 0 or abs(predicted / asks - 1) < _LEAST_DIFFERENCE:
        return replace(own, left=have), [note]
    return replace(own, left=have * predicted / asks), [note]


def _rank(question: Question, log: str, ran: Plan | None) -> RankMemory | None:
    """The fullest rank of the layout that a log is of: as its arguments say, else as the plan that ran."""
    layout = stated_layout(log) or (ran.layout if ran else None)
    if layout is None:
        return None
    demand, step_tokens = question.demand, question.cluster.gpu.vllm_batched_tokens
    try:
        ranks = rank_memories(question.model, layout, question.budget, demand.dtype, demand.kv_dtype, step_tokens)
    except ShardlabError:
        return None
    return max(ranks, key=lambda rank: rank.weights.total_bytes)


def stated_layout(log: str) -> Layout | None:
    """The layout that a log's arguments name; None where they name no sizes."""
    settings = [run.settings for run in runs(read_lines(log)) if run.settings.tp_size or run.settings.pp_size]
    if not settings:
        return None
    return Layout(settings[-1].tp_size or 1, settings[-1].pp_size or 1)
