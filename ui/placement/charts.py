"""The planner's figures: latency against throughput, and what fills each rank's memory."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

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
    ends = [0.45 * min(rates), 1.8 * max(rates)]
    y = log(
        "tokens_per_s", ends, PLAIN, title=phrase("placement", "says.tokens_s_sustained"), grid=True, line=False
    )
    front = sorted((row for row in points if row["on_front"]), key=lambda row: row["itl_ms"])
    starts = {row["plan"]: row for row in sorted(points, key=lambda row: -row["concurrency"])}
    named = {row["name"] for row in pointed}
    apart = _apart([row for row in starts.values() if row["plan"] not in named], pointed, points)
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
        layer("text", apart, x=x, y=y, text="plan", **words(look, 13.5, dy=look.px(12), color=palette.muted)),
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
    return figure(layers, look, 205 if look.present else 330)


def _band(mark: Row, points: list[Row]) -> tuple[float, float]:
    """The ends of its band that the axis has room for: the low one wherever on its line the plan stands.

    So the axis stays where it is while one asks for more sequences.
    """
    quickest = min((row["itl_ms"] for row in points if row["plan"] == mark["name"]), default=mark["itl_ms"])
    low_ms = mark["low_ms"] * min(1.0, quickest / mark["itl_ms"])
    return float(f"{low_ms:.9g}"), mark["high_ms"]  # the same to the last digit


def _beside(look: Look, mark: Spec) -> Spec:
    return {"align": "left", "dx": look.px(6), **mark}


def _apart(starts: list[Row], marks: list[Row], points: list[Row]) -> list[Row]:
    """Lines' lower ends that leave room for a name each: the lowest of those that lie close together.

    None stands where a plan that is pointed at has its own, nor on another plan's line.
    """
    kept_rows: list[Row] = []
    lines: dict[str, list[Row]] = {}
    for point in sorted(points, key=lambda row: row["concurrency"]):
        lines.setdefault(point["plan"], []).append(point)
    for row in sorted(starts, key=lambda row: row["tokens_per_s"]):
        if any(
            1 / 3 < row["tokens_per_s"] / mark["tokens_per_s"] < 2
            and 1 / 1.6 < row["itl_ms"] / mark["itl_ms"] < 1.3
            for mark in marks
        ):
            continue
        apart = 1.33 if len(row["plan"]) < 10 else 2.0
        if any(1 / apart <= row["itl_ms"] / other["itl_ms"] <= apart for other in kept_rows):
            continue
        if not any(_crosses(line, row) for plan, line in lines.items() if plan != row["plan"]):
            kept_rows.append(row)
    return kept_rows


def _by_the_edge(mark: Row, ends: Sequence[float]) -> bool:
    """Whether a plan has no room for its name on its left, where no other plan's line can be but a faster one's."""
    share = math.log(mark["itl_ms"] / ends[0]) / math.log(ends[1] / ends[0])
    return bool(share < 0.03 * len(mark["name"]))


def _crosses(line: list[Row], end: Row) -> bool:
    """Whether a plan's line runs through the place of a name, which hangs under the lower end of another's."""
    wide = 1.02 + 0.012 * len(end["plan"])
    left, right = end["itl_ms"] / wide, end["itl_ms"] * wide
    bottom, top = 0.62 * end["tokens_per_s"], 0.96 * end["tokens_per_s"]
    for here, there in pairwise(line):
        (ms, rate), (ms_2, rate_2) = ((one["itl_ms"], one["tokens_per_s"]) for one in (here, there))
        if (
            max(ms, ms_2) <= left
            or min(ms, ms_2) >= right
            or max(rate, rate_2) <= bottom
            or min(rate, rate_2) >= top
        ):
            continue
        shares = (step / 8 for step in range(9))
        way = ((ms ** (1 - share) * ms_2**share, rate ** (1 - share) * rate_2**share) for share in shares)
        if any(left < x < right and bottom < y < top for x, y in way):
            return True
    return False


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
