"""The planner's figures: latency against throughput, and what fills each rank's memory."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from runtime.prose import named
from runtime.prose import said as phrase
from runtime.quantities import local
from ui.figures.bars import Bands, Sign, inside, key, stretch
from ui.figures.dots import dashed, dot
from ui.figures.style import (
    MILLISECONDS,
    PLAIN,
    Figure,
    Row,
    Spec,
    also,
    at,
    by,
    decades,
    each,
    either,
    figure,
    kept,
    layer,
    linear,
    log,
    narrower,
    over,
    own,
    rows_of,
    words,
)
from ui.theme import Look, mix

PARTS = ("tables", "attention", "MLP", "experts", "activation", "non-torch", "graphs", "KV cache")
_INK = {
    "tables": 0.72,
    "attention": 0.37,
    "MLP": 0.29,
    "experts": 0.21,
    "activation": 0.15,
    "non-torch": 0.10,
    "graphs": 0.06,
}
"""Shades from dark to light: what is read every token, then what is only there. Words on them read at 7:1."""
_LESS_IN_THE_DARK = 0.68
_GB = (("GB", 1.0),)
_PLOT, _PHONE_PLOT, _WALL_PLOT, _LETTER_PX, _NAME = 780, 290, 1000, 7.2, 13.5
_HIGH, _WALL_HIGH = 330, 205
_LEVELS = (13, 28, 43, 58)
"""Laptop pixels under a line's end where its name may stand; where letters are larger they stand further off."""


@kept
def latency_against_throughput(
    dots: Iterable[Row], marks: Iterable[Row], slo_ms: float | None, look: Look
) -> Figure:
    """A line a plan, from one sequence to all that fit; the front over them; the plans pointed at.

    `dots` has plan, concurrency, itl_ms, tokens_per_s, on_front; `marks` role ("shown" or "pinned"), name, itl_ms,
    tokens_per_s, low_ms, high_ms. Left and up is better. `slo_ms` stands as a line that good plans are left of.
    """
    # by name: which plan is the quicker one where one asks does not tell their lines apart
    points = sorted(rows_of(dots), key=lambda row: row["plan"])
    palette, pointed = look.palette, rows_of(marks)
    times = [row["itl_ms"] for row in points] + [end for row in pointed for end in _band(row, points)]
    rates = [row["tokens_per_s"] for row in (*points, *pointed)]
    x_ends = [0.8 * min(times), 1.25 * max(times)]
    x = log(
        "itl_ms",
        x_ends,
        MILLISECONDS,
        title=phrase("placement", "says.time_between_two_tokens"),
        ticks=decades(1, 2, 5),
    )
    ends = [(0.2 if look.present else 0.45) * min(rates), 1.8 * max(rates)]  # room for names under the lines
    y = log(
        "tokens_per_s", ends, PLAIN, title=phrase("placement", "says.tokens_s_sustained"), grid=True, line=False
    )
    front = sorted((row for row in points if row["on_front"]), key=lambda row: row["itl_ms"])
    starts = {row["plan"]: row for row in sorted(points, key=lambda row: -row["concurrency"])}
    named = {row["name"] for row in pointed}
    apart = _named_apart([row for row in starts.values() if row["plan"] not in named], pointed, x_ends, ends, look)
    place = f"({narrower(look)} ? datum.down_phone : datum.down)"
    under = f"{place} * {look.scale}"
    red: Spec = {"color": palette.off, "clip": True}
    targets = [
        {"itl_ms": end, "said": phrase("placement", "says.target_ms_2", end=local(f"{end:g}"))}
        for end in ([] if slo_ms is None else [slo_ms])
    ]
    circle = dot(look, 13, width=2) | {"fill": either("datum.role == 'shown'", palette.primary, palette.ground)}
    sides = {False: {"align": "right", "dx": look.px(-12)}, True: {"align": "left", "dx": look.px(12)}}
    named_marks = [{**row, **sides[_by_the_edge(row, x_ends)]} for row in pointed]
    layers = [
        # the target as a dashed line with its word
        layer("rule", targets, x=x, **dashed(look, strokeWidth=look.px(1.6), **red)),
        layer("text", targets, x=x, y=look.px(8), text="said", **words(look, 13.5, **_beside(look, red))),
        layer("line", points, x=x, y=y, detail="plan", strokeWidth=look.px(1.4), color=palette.axis),
        layer(
            "point",
            points,
            x=x,
            y=y,
            filled=True,
            size=look.px(4) ** 2,
            color=palette.axis,
            opacity=1,
            tooltip=["plan", "concurrency", "itl_ms", "tokens_per_s"],
        ),
        layer("line", front, x=x, y=y, strokeWidth=look.px(3.5), strokeCap="round", color=palette.text),
        *over(
            look,
            apart,
            x=x,
            y=y,
            text="plan",
            where=f"isValid({place})",
            **words(look, _NAME, dy={"expr": under}, color=palette.muted),
        ),
        # the plan shown, filled, and the one pinned, open, each over the band of what was measured elsewhere
        layer(
            "rule",
            named_marks,
            x=also(x, "low_ms"),
            x2="high_ms",
            y=y,
            strokeWidth=look.px(2.5),
            color=palette.primary,
        ),
        layer("point", named_marks, x=x, y=y, tooltip=["role", "name", "itl_ms", "tokens_per_s"], **circle),
        layer(
            "text",
            named_marks,
            x=x,
            y=y,
            text="name",
            **words(look, 15, dy=look.px(15), fontWeight=600, **each("align", "dx")),
        ),
    ]
    return figure(layers, look, _WALL_HIGH if look.present else _HIGH)


def _band(mark: Row, points: list[Row]) -> tuple[float, float]:
    """The ends of its band that the axis has room for: the low one wherever on its line the plan stands.

    So the axis stays where it is while one asks for more sequences.
    """
    quickest = min((row["itl_ms"] for row in points if row["plan"] == mark["name"]), default=mark["itl_ms"])
    low_ms = mark["low_ms"] * min(1.0, quickest / mark["itl_ms"])
    return float(f"{low_ms:.9g}"), mark["high_ms"]  # the same to the last digit


def _beside(look: Look, mark: Spec) -> Spec:
    return {"align": "left", "dx": look.px(6), **mark}


def _named_apart(
    starts: list[Row], marks: list[Row], ends: Sequence[float], rates: Sequence[float], look: Look
) -> list[Row]:
    """Each line's lower end with how far under it its name has room: `down`, and on a phone `down_phone`, in px."""
    larger = look.font(_NAME) / look.px(_NAME)
    wide, high = (_WALL_PLOT * look.zoom / look.scale, _WALL_HIGH) if look.present else (_PLOT, _HIGH)
    placed, on_phone = (
        _levels(starts, marks, partial(_at_px, ends=ends, rates=rates, width=width, height=high), larger, high)
        for width in (wide, _PHONE_PLOT)
    )
    return [{**row, "down": placed[row["plan"]], "down_phone": on_phone[row["plan"]]} for row in starts]


def _levels(
    starts: list[Row], marks: list[Row], at_px: Callable[[Row], tuple[float, float]], larger: float, axis: float
) -> dict[str, float | None]:
    """How far under its line's end each name stands: the first level that has room above the axis, or none."""
    boxes: list[tuple[float, float, float]] = []
    letter, levels = _LETTER_PX * larger, [level * larger for level in _LEVELS[: 4 if larger == 1 else 3]]
    for mark in marks:
        x, y = at_px(mark)
        boxes.append((x - 12 - letter * len(mark["name"]), x + 12 + letter * len(mark["name"]), y + 15))
        low, high = (at_px({**mark, "itl_ms": mark[end]})[0] for end in ("low_ms", "high_ms"))
        boxes.append((low, high, y))
    found: dict[str, float | None] = {}
    for row in sorted(starts, key=lambda row: row["itl_ms"]):
        x, y = at_px(row)
        half = letter * len(row["plan"]) / 2
        down = next(
            (
                down
                for down in levels
                if y + down + levels[0] / 2 <= axis
                and not any(
                    x - half < right and left < x + half and abs(y + down - middle) < levels[0]
                    for left, right, middle in boxes
                )
            ),
            None,
        )
        if down is not None:
            boxes.append((x - half, x + half, y + down))
        found[row["plan"]] = down
    return found


def _at_px(
    row: Row, ends: Sequence[float], rates: Sequence[float], width: float, height: float
) -> tuple[float, float]:
    """About where a point stands in a plot of a width and a height."""
    across = math.log(row["itl_ms"] / ends[0]) / math.log(ends[1] / ends[0])
    down = math.log(rates[1] / row["tokens_per_s"]) / math.log(rates[1] / rates[0])
    return width * across, height * down


def _by_the_edge(mark: Row, ends: Sequence[float]) -> bool:
    """Whether a plan has no room for its name on its left, where no other plan's line can be but a faster one's."""
    share = math.log(mark["itl_ms"] / ends[0]) / math.log(ends[1] / ends[0])
    return bool(share < 0.03 * len(mark["name"]))


@kept
def memory_bars(parts: Iterable[Row], labels: Iterable[Row], look: Look) -> Figure:
    """One bar a kind of rank: each part from the left, a line where the engine's share ends.

    `parts` has rank, position, part, start_gb, end_gb, in_words; `labels` rank, position, in_words,
    granted_gb, usable_gb, short.
    """
    palette = look.palette
    bands = Bands(28, 24, 28 if look.present else 34, 26)
    inks = {"tables": palette.ground, "KV cache": palette.on_primary}
    drawn = [
        bands.place(row, row["position"], look) | {"ink": inks.get(row["part"], palette.text)}
        for row in rows_of(parts)
    ]
    placed = [bands.place(row, row["position"], look) for row in rows_of(labels)]
    named_parts = [
        {
            **row,
            "whole": phrase("placement", "says.weights_overhead_kv", in_words=row["in_words"]),
            # the line that the engine may fill up to stands out over and under the bar
            "line_top": row["top"] - look.px(4),
            "line_bottom": row["bottom"] + look.px(4),
        }
        for row in placed
    ]
    end_gb = 1.02 * max(*(row["end_gb"] for row in drawn), *(row["usable_gb"] for row in named_parts))
    x = linear("start_gb", [0, end_gb], _GB, labelOverlap="greedy")
    fills = dict(zip(PARTS, _fills(look), strict=True))
    there = [part for part in PARTS if any(row["part"] == part for row in drawn)]
    signs = (Sign(named("placement", part), fills[part], palette.text) for part in there)
    told = ["rank", "in_words", "end_gb"]
    layers = [
        stretch(look, drawn, x, "end_gb", by("part", fills), palette.ground, tooltip=told),
        inside(look, drawn, x, "end_gb", "in_words", fontSize=look.font(13.5), dx=look.px(6), color=own("ink")),
        layer("text", named_parts, x=0, y=at("over"), text="rank", **words(look, 15, align="left", fontWeight=600)),
        layer(
            "text",
            named_parts,
            shown=f"{narrower(look)} ? datum.in_words : datum.whole",
            x=0,
            y=at("under"),
            **words(look, 13.5, align="left", color=palette.muted),
        ),
        layer(
            "rule",
            named_parts,
            x=also(x, "granted_gb"),
            y=at("line_top"),
            y2="line_bottom",
            strokeWidth=look.px(3),
            color=either("datum.short", palette.off, palette.text),
        ),
        *key(look, signs, size=13.5, weight=400),
    ]
    return figure(layers, look, bands.height(len(named_parts)))


def _fills(look: Look) -> list[str]:
    palette = look.palette
    shares = (share * (_LESS_IN_THE_DARK if palette.dark and share < 0.5 else 1) for share in _INK.values())
    return [*(mix(palette.text, palette.ground, share) for share in shares), palette.primary]
