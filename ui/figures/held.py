"""Axes that are held while a figure changes, so that two of its states are compared by eye, on one scale."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ui.figures.axes import Spec
from ui.figures.lifted import are_numbers

Axes: TypeAlias = Mapping[str, Spec]
"""What a figure is measured along: its `x` and `y` of numbers, by field, scale and axis of their first layer."""

_SAID = ("title", "labelExpr", "tickCount", "values")
"""What an axis says; its colours and sizes are those of where it is drawn now."""


def axes_of(spec: Spec) -> Axes:
    """The axes of a finished chart."""
    by_channel: dict[str, Spec] = {}
    for _, _, axis, channel in _measured(spec):
        by_channel.setdefault(axis, channel)
    return by_channel


def with_span(spec: Spec) -> Spec:
    """The chart with the length of its `x` as `span_x`, in the field's unit, by which words find out their room."""
    x = axes_of(spec).get("x")
    if x is None:
        return spec
    low, high = x["scale"]["domain"]
    others = [param for param in spec.get("params", ()) if param["name"] != "span_x"]
    return {**spec, "params": [*others, {"name": "span_x", "value": abs(high - low)}]}


def hold(spec: Spec, before: Axes) -> Spec:
    """The chart along the axes it had before, where they are of the same fields.

    An axis that is too short grows to what is drawn now, for a figure must not be cut: it never shrinks.
    """
    held = {axis: _longer(before.get(axis), now) for axis, now in axes_of(spec).items()}
    layers = list(spec["layer"])
    for number, name, axis, channel in _measured(spec):
        titles = {what: words for what, words in (held[axis]["axis"] or {}).items() if what in _SAID}
        own = channel["axis"] and {what: how for what, how in channel["axis"].items() if what not in _SAID}
        along = {**channel, "scale": held[axis]["scale"], "axis": own and {**own, **titles}}
        layers[number] = {**layers[number], "encoding": {**layers[number]["encoding"], name: along}}
    return with_span({**spec, "layer": layers})


def _measured(spec: Spec) -> Iterator[tuple[int, str, str, Spec]]:
    """Each layer's number, channel, axis and what that is; layers share an axis unless they are apart."""
    apart = spec.get("resolve", {}).get("scale", {})
    for number, layer in enumerate(spec["layer"]):
        for name in ("x", "y"):
            channel = layer["encoding"].get(name)
            if isinstance(channel, dict) and are_numbers((channel.get("scale") or {}).get("domain")):
                yield number, name, f"{name} {number}" if name in apart else name, channel


def _longer(before: Spec | None, now: Spec) -> Spec:
    if before is None or before["field"] != now["field"] or before["scale"].get("type") != now["scale"].get("type"):
        return now
    (low, high), (first, last) = before["scale"]["domain"], now["scale"]["domain"]
    if (low < high) != (first < last):
        return now
    nearer, farther = (min, max) if low < high else (max, min)
    domain = [nearer(low, first), farther(high, last)]
    longer = before if domain == [low, high] else now
    return {**longer, "scale": {**longer["scale"], "domain": domain}}
