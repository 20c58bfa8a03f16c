"""One number line, and the picture over it: what the learner said, the truth, and the error between them."""

import json
from typing import Any

from runtime.prose import said as phrase
from runtime.quantities import form, local, percents
from ui.figures.dots import dot
from ui.figures.pictured import OWN, PLOT, TRUTH, Now, Picture, Played
from ui.figures.style import (
    PHONE,
    Figure,
    Layer,
    Spec,
    also,
    at,
    figure,
    kept,
    layer,
    narrower,
    serif,
    width_of,
    words,
)
from ui.theme import Look

_LINE = 46
_LABEL = 14
_OVER, _UNDER = 21, 7
_EDGE = 0.14
"""How near the end of the line, of all of it, a label leans inwards."""
_NEAR, _FAR = 0.28, 0.6
"""Closer than so much of the line two labels meet on a phone; farther ones too where its end turns one inwards."""
_ANY = 987653
"""A number that no learner says, in whose place the browser puts what was said."""
_PLACED = {
    "own_px": f"datum.value / span_x * {PLOT}",
    "place": "datum.align == 'right' ? max(datum.wide, min(datum.own_px, width - datum.after)) : "
    "datum.align == 'left' ? min(width - datum.wide, max(datum.own_px, datum.before)) : "
    "clamp(datum.own_px, datum.wide / 2, width - datum.wide / 2)",
}
"""Where a label stands: at its number, but not over an end of the line, which would be drawn shorter for it."""
_OWN_ALIGN = {"expr": "datum.align"}
"""Of a text mark: each row says how it leans."""
_LETTER = 0.015
"""How much of the line a letter takes, projected."""
_SAID_SIZE, _TRUTH_SIZE = 16, 23
_APART = 8
"""Between two labels that lean away from one another."""


@kept
def prediction_line(
    guess: float | None,
    truth: float | None,
    look: Look,
    *,
    high: float,
    unit: str,
    digits: int = 1,
    slider: str = "",
    picture: Picture | None = None,
) -> Figure:
    """An axis from 0 to `high`; an open circle where the learner said, and after the reveal the truth upright.

    `truth=None` draws the question alone. The bar between the two is the error. `unit` has as many forms as the
    language needs: `GPU,GPUs`. Before the reveal the browser moves the circle as `slider`, by its key, is moved.
    """
    x, live = axis_of(high, unit, look), f"live_{slider}" if slider and truth is None else ""
    top = _over(picture, truth)
    lives = [*([picture.played] if isinstance(picture, Played) else []), *([live] if live else [])]
    drawn = [] if picture is None else _pictured(picture, guess, truth, unit, digits, live, look, x)
    if live:
        return figure([*_moved(guess, high, unit, look, x, live, top), *drawn], look, top + _LINE, live=lives)
    said = "" if truth is None else local(f"{truth:.{digits}f} {unit_for(truth, unit)}")
    layers = [
        layer("point", [{"value": 0.0}], x=x, y=look.px(top + _LINE), opacity=0),
        *_error(guess, truth, high, unit, look, x, top),
        *_said(guess, truth, said, high, unit, look, x, top),
        *_truth(truth, guess, said, high, unit, look, x, top),
        *drawn,
    ]
    return figure(layers, look, top + _LINE, live=lives)


def _over(picture: Picture | None, truth: float | None) -> float:
    """How far down the number line begins."""
    return 0.0 if picture is None else picture.height + (picture.truth_height if truth is not None else 0.0)


def _pictured(
    picture: Picture,
    guess: float | None,
    truth: float | None,
    unit: str,
    digits: int,
    live: str,
    look: Look,
    x: Spec,
) -> list[Layer]:
    layers = [*picture.setting(look, x), *picture.drawn(Now(guess or 0.0, live, OWN), look, x)]
    if truth is not None:
        number = local(f"{truth:.{digits}f} {unit_for(truth, unit)}").strip()
        name = phrase("shell", "figure.truth", value=number)
        layers += picture.drawn(Now(truth, role=TRUTH, name=name), look, x)
    return layers


def axis_of(high: float, unit: str, look: Look) -> Spec:
    """From 0 to `high` in tenths, or one by one where there are fewer; the unit at its end."""
    parts = int(min(10, high)) if high == int(high) else 10
    last = local(f"0 {unit_for(high, unit)}")[1:]
    axis: dict[str, Any] = {
        "values": [high * part / parts for part in range(parts + 1)],
        "grid": False,
        "title": None,
        "labelOverlap": True,
        "labelPadding": look.px(6),
        "labelExpr": f"datum.label + (datum.value == span_x ? '{last}' : '')",
    }
    scale = {"domain": [0, high], "nice": False}
    return {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}


def unit_for(value: float, unit: str) -> str:
    """The form of a unit that a number takes."""
    return form(value, unit.split(","))


def _error(
    guess: float | None, truth: float | None, high: float, unit: str, look: Look, x: Spec, top: float
) -> list[Layer]:
    bars, gaps = [], []
    if guess is not None and truth is not None:
        gap = _gap(guess, truth, unit)
        middle, align, dx, above = _beside(guess, truth, high, gap)
        # a phone has no room for them between the marks
        crowded = abs(guess - truth) < 0.025 * len(gap) * high
        place = {"value": middle, "align": align, "dx": look.px(dx), "y": look.px(top + _LINE - above)}
        bars, gaps = [{"value": guess, "end": truth}], [{**place, "text": gap, "crowded": crowded}]
    text = words(look, 14.5, align=_OWN_ALIGN, dx={"expr": "datum.dx"}, color=look.palette.muted)
    bar = {"y": look.px(top + _LINE), "strokeWidth": look.px(5), "color": look.palette.text}
    room = f"!(datum.crowded && {narrower(look, PHONE)})"
    return [
        layer("rule", bars, x=x, x2="end", **bar),
        layer("text", gaps, where=room, x=x, y=at("y"), text="text", **text),
    ]


def _said(
    guess: float | None,
    truth: float | None,
    said_truth: str,
    high: float,
    unit: str,
    look: Look,
    x: Spec,
    top: float,
) -> list[Layer]:
    row = []
    if guess is not None:
        # a right guess stands where the truth stands, which has the only words there
        right = truth is not None and not round(truth - guess)
        said = "" if right else _own_words(guess, unit)
        neighbour = 0.0 if truth is None else _wide(said_truth, _TRUTH_SIZE, look)
        row = [_label(guess, truth, high, said, _wide(said, _SAID_SIZE, look), neighbour, look)]
    text = words(look, _SAID_SIZE, align=_OWN_ALIGN)
    return [
        layer("point", row, x=x, y=look.px(top + _LINE), shape="circle", **dot(look, 15, width=2.5)),
        layer("text", row, reckoned=_PLACED, x=at("place"), y=look.px(top + _LABEL), text="text", **text),
    ]


def _own_words(guess: float, unit: str) -> str:
    return percents(phrase("shell", "figure.said", value=guess, unit=unit_for(guess, unit)))


def _wide(text: str, size: float, look: Look) -> float:
    return width_of(text, look.font(size))


def _label(
    value: float, other: float | None, high: float, text: str, wide: float, neighbour: float, look: Look
) -> dict[str, Any]:
    """A label and how wide it is; `before` and `after` is the room its neighbor needs at that side."""
    align = _lean(value, other, high)
    room = neighbour + look.px(_APART) if _is_near(value, other, high) else 0.0
    before, after = (room if align == side else 0.0 for side in ("left", "right"))
    return {"value": value, "text": text, "align": align, "wide": wide, "before": before, "after": after}


def _moved(guess: float | None, high: float, unit: str, look: Look, x: Spec, live: str, top: float) -> list[Layer]:
    """What was said, where the slider stands: until it is moved, where the server knows it; at 0, nothing."""
    row = [{"said": guess or 0.0}]
    reckoned = {"at": f"{live} === '' ? datum.said : toNumber({live})"}
    forms = list(dict.fromkeys(unit_for(value, unit) for value in range(int(high) + 1)))
    which = "".join(str(forms.index(unit_for(value, unit))) for value in range(int(high) + 1))
    texts = [_own_words(_ANY, form) for form in forms]
    form = f"[toNumber(substring('{which}', datum.at, datum.at + 1))]" if forms[1:] else "[0]"
    text = f"replace({json.dumps(texts)}{form}, '{_ANY}', datum.at)"
    sides = {
        "left": f"datum.at > 0 && datum.at < {_EDGE} * span_x",
        "center": f"datum.at >= {_EDGE} * span_x && datum.at <= {1 - _EDGE} * span_x",
        "right": f"datum.at > {1 - _EDGE} * span_x",
    }
    half = _wide(_own_words(high, unit), _SAID_SIZE, look) / 2
    centred = {**reckoned, "place": f"clamp(datum.at / span_x * {PLOT}, {half}, {PLOT} - {half})"}
    x = also(x, "at")
    return [
        layer("point", [{"at": 0.0}], x=x, y=look.px(top + _LINE), opacity=0),
        layer(
            "point",
            row,
            reckoned=reckoned,
            where="datum.at > 0",
            x=x,
            y=look.px(top + _LINE),
            shape="circle",
            **dot(look, 15, width=2.5),
        ),
        *(
            layer(
                "text",
                row,
                reckoned=centred,
                where=where,
                shown=text,
                x=at("place") if side == "center" else x,
                y=look.px(top + _LABEL),
                **words(look, _SAID_SIZE, align=side),
            )
            for side, where in sides.items()
        ),
    ]


def _truth(
    truth: float | None,
    guess: float | None,
    text: str,
    high: float,
    unit: str,
    look: Look,
    x: Spec,
    top: float,
) -> list[Layer]:
    row = []
    if truth is not None:
        neighbour = 0.0 if guess is None else _wide(_own_words(guess, unit), _SAID_SIZE, look)
        row = [_label(truth, guess, high, text, _wide(text, _TRUTH_SIZE, look), neighbour, look)]
    label = serif(look, _TRUTH_SIZE, fontWeight=600, align=_OWN_ALIGN)
    upright = {"y": look.px(top + _LINE - _OVER), "y2": look.px(top + _LINE + _UNDER), "strokeWidth": look.px(5)}
    return [
        layer("rule", row, x=x, **upright, color=look.palette.text),
        layer("text", row, reckoned=_PLACED, x=at("place"), y=look.px(top + _LABEL), text="text", **label),
    ]


def _beside(guess: float, truth: float, high: float, words: str) -> tuple[float, str, int, int]:
    """Where the error's words stand, how they lean, how far and how high: over its bar, or beside a short one."""
    low, top = min(guess, truth), max(guess, truth)
    if top - low > _LETTER * len(words) * high:
        return (guess + truth) / 2, "center", 0, 16
    return (low, "right", -14, 12) if low > high - top else (top, "left", 14, 12)


def _gap(guess: float, truth: float, unit: str) -> str:
    off = abs(round(truth - guess))
    if not off:
        return phrase("shell", "figure.right")
    side = "low" if guess < truth else "high"
    if unit == "%":
        return phrase("shell", f"figure.{side}_points", off=off)
    return phrase("shell", f"figure.{side}", off=f"{off} {unit_for(off, unit)}".strip())


def _lean(value: float, other: float | None, high: float) -> str:
    """Which way a label leans: inside the axis, and away from a neighbour that is near."""
    if other is not None and _is_near(value, other, high):
        return "right" if value < other else "left"
    return "left" if value < _EDGE * high else "right" if value > (1 - _EDGE) * high else "center"


def _is_near(value: float, other: float | None, high: float) -> bool:
    """Tell whether two labels may meet, so that they lean away from one another."""
    if other is None or value == other:
        return False
    at_an_end = min(value, other) < _EDGE * high or max(value, other) > (1 - _EDGE) * high
    return abs(value - other) < (_FAR if at_an_end else _NEAR) * high
