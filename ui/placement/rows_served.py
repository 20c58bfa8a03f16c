"""Served times as rows: a line for each system and model, its times gathered to dots by how far off they are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import exp, log

from core.catalog import gpu as find_gpu
from core.evidence.blind import Held, is_inside
from core.evidence.headline import ClassLine, Headline
from core.evidence.report import Residual, errors_of
from runtime.catalog_words import told
from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import percent
from runtime.rows import Row
from ui.placement.rows_accuracy import KIND_NAMES, signed

_STEP = log(1.08)
"""Times whose ratios differ by less than this are one dot."""
_LEAST, _MOST = log(0.25), log(4.0)

Group = tuple[str, str]
"""A system and a model; "" for all models of it."""


def served_lines(found: Headline, own: str, every: bool = False) -> list[Row]:
    """A line a system, one's `own` first with a line for each of its models; of `every` system, where asked.

    How far its times were off: told blind, and told now by constants that their model had no part in.
    """
    blind, now = _groups(found.blind, own, every), _groups(found.apart, own, every)
    order = sorted({*blind, *now}, key=lambda one: (one[0] != own, one))
    return [
        Row(
            position=place,
            line=_line_name(one),
            own=one[0] == own,
            blind_n=len(blind.get(one, ())),
            **_sizes("blind", blind.get(one, ())),
            now_n=len(now.get(one, ())),
            **_sizes("now", now.get(one, ())),
        )
        for place, one in enumerate(order)
    ]


def _line_name(one: Group) -> str:
    system = find_gpu(one[0]).name.split(" SXM")[0]
    return f"{system}, {told(one[1])}" if one[1] else system


def _sizes(name: str, rows: Sequence[Residual]) -> Mapping[str, object]:
    """The median error, that of nine in ten, the bias, and how many lie in the band."""
    if not rows:
        return {f"{name}_median": "–", f"{name}_p90": "–", f"{name}_bias": "–", f"{name}_inside": "–"}
    line = errors_of(rows)
    return {
        f"{name}_median": percent(line.median_error),
        f"{name}_p90": percent(line.p90_error),
        f"{name}_bias": signed(line.bias),
        f"{name}_inside": str(sum(map(is_inside, rows))),
    }


def served_dots(found: Headline, lines: Sequence[Row], own: str) -> list[Row]:
    """Every time of the lines in a dot: those as far off as each other in one, with how many it stands for.

    `told` is blind, or now. Beyond a factor of four they stand at its end.
    """
    places = {line.line: line.position for line in lines}
    counted: Counter[tuple[str, float, int]] = Counter()
    for kind, rows in (("blind", found.blind), ("now", found.apart)):
        for each in rows:
            off = min(_MOST, max(_LEAST, -log(each.ratio)))
            for group in _groups_of(each, own, every=False):
                counted[kind, places[_line_name(group)], round(off / _STEP)] += 1
    return [
        Row(told=kind, position=place, ratio=round(exp(step * _STEP), 3), count=count)
        for (kind, place, step), count in sorted(counted.items())
    ]


def _groups_of(each: Residual, own: str, every: bool) -> Iterable[Group]:
    system = each.measurement.gpu.key
    yield system, ""
    if every or system == own:
        yield system, each.measurement.model.name


def _groups(rows: Iterable[Residual], own: str, every: bool) -> dict[Group, list[Residual]]:
    found: dict[Group, list[Residual]] = {}
    for each in rows:
        for group in _groups_of(each, own, every):
            found.setdefault(group, []).append(each)
    return found


def headline_lines(found: Headline) -> list[Row]:
    """The lines of the headline, blind ones first."""
    return [Row(what=phrase("placement", f"headline.{line.code}"), **_held(line.held)) for line in found.lines]


def headline_classes(found: Headline) -> list[Row]:
    """By class of GPU and kind of layers: what was told blind, and what is told now by constants of others."""
    return [
        Row(gpus=line.gpu_class, layers=named("placement", KIND_NAMES[line.kind]), **_pair(line))
        for line in found.classes
    ]


def _pair(line: ClassLine) -> Mapping[str, object]:
    pairs = (("blind", line.blind), ("now", line.now))
    return {f"{name}_{key}": value for name, one in pairs for key, value in _short(one).items()}


def _short(one: Held | None) -> Mapping[str, object]:
    if one is None:
        return {"n": "–", "median": "–", "p90": "–"}
    return {
        "n": str(one.errors.rows),
        "median": percent(one.errors.median_error),
        "p90": percent(one.errors.p90_error),
    }


def _held(one: Held) -> Mapping[str, object]:
    return {
        "rows": one.errors.rows,
        "sources": one.errors.sources,
        "median_error": percent(one.errors.median_error),
        "p90_error": percent(one.errors.p90_error),
        "bias": signed(one.errors.bias),
        "inside": one.inside,
    }


def left_out_lines(found: Headline) -> list[Row]:
    """The one rule for what is in no figure, reason by reason, with how many it left out."""
    return [
        Row(reason=phrase("placement", f"left_out.{code}"), rows=count) for code, count in found.left_out.items()
    ]
