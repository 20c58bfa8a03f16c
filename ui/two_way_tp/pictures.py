"""What lab 02's prediction draws: a line that one process types, and what two have typed of it by then."""

from dataclasses import dataclass

from core.two_way_tp.reconcile import slowdown
from core.two_way_tp.run_log import RunLog
from runtime.prose import said
from ui.figures.pictured import PLOT, TRUTH, Now, caption
from ui.figures.style import Layer, Spec, at, layer, words
from ui.theme import CODE, Look

_CAPTION, _ROW = 24, 38
_PITCH = _CAPTION + _ROW
LETTERS = 20
"""Letters that one process types in the time that is drawn."""
FIGURE, PLAYED = "typed", "live_typed"
"""By what a player knows this picture, and the parameter by which it tells how much of that time is over."""


@dataclass(frozen=True)
class Typed:
    """Letters where their times put them: those of one process, and under them two's at the pace the learner says.

    `text` is at least twice `LETTERS` long. `one` and `two` are words, and so is `real`, of the pace that was
    measured: it is drawn under the answer on paper. While it is played, letters are there once they are typed.
    """

    text: str
    one: str
    two: str
    real: str
    real_percent: float
    height: float = 2 * _PITCH
    truth_height: float = 2 * _PITCH
    played: str = PLAYED

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the letters that one process types."""
        return [
            *caption(look, 9, self.one),
            *self._letters(Now(100.0), look, _CAPTION),
            *caption(look, _PITCH + 9, self.two),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the letters at a pace, in percent of one process's."""
        if now.role == TRUTH:
            start, real = 2 * _PITCH, Now(self.real_percent)
            return [
                *caption(look, start + 9, now.name),
                *self._letters(now, look, start + _CAPTION),
                *caption(look, start + _PITCH + 9, self.real),
                *self._letters(real, look, start + _PITCH + _CAPTION),
            ]
        return self._letters(now, look, _PITCH + _CAPTION)

    def _letters(self, now: Now, look: Look, top: float) -> list[Layer]:
        """Return each letter where it is done: the n-th after n times what one takes."""
        rows = now.rows([{"letter": letter, "n": number} for number, letter in enumerate(self.text, 1)])
        step = f"{PLOT} / {LETTERS} * 100 / datum.at"
        places = now.reckon(end_px=f"datum.n * {step}", start_px=f"(datum.n - 1) * {step}")
        where = f"datum.at > 0 && datum.end_px <= {PLOT} + 0.5"
        is_done = f"({self.played} === '' || datum.end_px <= toNumber({self.played}) * {PLOT} + 0.5)"
        size = f"clamp({step} * 1.5, 12, {look.font(20)})"
        style = words(look, 20, align="right", font=CODE, fontSize={"expr": size}, dx=-look.px(3))
        pace = {"x": at("start_px"), "x2": "end_px", "y": look.px(top + 30), "strokeWidth": look.px(3)}
        tick = {"x": at("end_px"), "y": look.px(top + 24), "y2": look.px(top + 32), "strokeWidth": look.px(1.5)}
        begun = f"datum.at > 0 && datum.start_px < {PLOT}"
        line = {**places, "end_px": f"min({PLOT}, {places['end_px']})"}
        palette = look.palette
        return [
            layer("rule", rows, reckoned=line, where=begun, color=palette.compute, **pace),
            layer("rule", rows, reckoned=places, where=where, color=palette.text, **tick),
            layer(
                "text",
                rows,
                reckoned=places,
                where=f"{where} && {is_done}",
                x=at("end_px"),
                y=look.px(top + 10),
                text="letter",
                **style,
            ),
        ]


def typed(log: RunLog) -> Typed:
    """Return the picture of the question: what the model writes, at one process's pace and at another."""
    text = "  ".join(answer.answer for answer in log.answers)
    text = (text * (2 * LETTERS // max(1, len(text)) + 1))[: 2 * LETTERS]
    one, two, real = (said("two_way_tp", f"says.{name}", log) for name in ("one_types", "two_type", "two_typed"))
    return Typed(text, one, two, real, 100 / slowdown(log))
