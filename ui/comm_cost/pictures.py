"""What lab 03's prediction draws: a token on one GPU, and on each of several with a tail of communication."""

from dataclasses import dataclass

from core.steps.view import View
from runtime.prose import said
from ui.figures.pictured import PLOT, TRUTH, Now, box, caption, told
from ui.figures.style import Layer, Spec
from ui.theme import Look

_CAPTION, _BAR, _UNDER = 22, 30, 8
_PITCH = _CAPTION + _BAR + _UNDER
_ENDS = 1.6
"""The bars have room for so many times one GPU's token; a longer one is cut."""


@dataclass(frozen=True)
class Tail:
    """One GPU's token, and under it that of each of `gpus`: its share, and the tail that a speed leaves.

    Times in seconds; `one`, `each` and `too_fast` are words, the last for a token shorter than its share.
    """

    whole_s: float
    share_s: float
    one: str
    one_said: str
    each: str
    too_fast: str
    height: float = 2 * _PITCH
    truth_height: float = _PITCH

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return one GPU's token, and the share of it that each GPU computes."""
        grey = {"fill": look.palette.compute, "stroke": look.palette.axis}
        one = Now(1)
        return [
            *caption(look, 9, self.one, self.one_said),
            box(look, one, "0", self._px(self.whole_s), _CAPTION, _CAPTION + _BAR, **grey),
            *caption(look, _PITCH + 9, self.each),
            box(look, one, "0", self._px(self.share_s), _PITCH + _CAPTION, _PITCH + _CAPTION + _BAR, **grey),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the tail of a speed, and what the token comes to."""
        palette, is_truth = look.palette, now.role == TRUTH
        start = 2 * _PITCH if is_truth else _PITCH
        top, bottom = start + _CAPTION, start + _CAPTION + _BAR
        whole = f"(100 * {self.whole_s} / datum.at)"
        share, end = self._px(self.share_s), f"min({PLOT}, {PLOT} * {whole} / {_ENDS * self.whole_s})"
        slower, ink = f"datum.at > 0 && {whole} >= {self.share_s}", {"fill": palette.text, "stroke": palette.text}
        faster = f"datum.at > 0 && {whole} < {self.share_s}"
        ms = "format(1e3 * datum.{}, ',.2f') + ' ms'"
        total = f"{ms.format('share_s')} + ' + ' + {ms.format('tail_s')} + ' = ' + {ms.format('total_s')}"
        short = f"{PLOT} < {look.letters(520)} ? {ms.format('total_s')} : {total}"
        times = {"total_s": whole, "share_s": str(self.share_s), "tail_s": f"{whole} - {self.share_s}"}
        layers = [
            box(look, now, share, end, top, bottom, where=slower, **ink),
            told(look, now, start + 9, short, slower, **times),
        ]
        if is_truth:
            grey = {"fill": palette.compute, "stroke": palette.axis}
            return [*caption(look, start + 9, now.name), box(look, now, "0", share, top, bottom, **grey), *layers]
        gone = {"fill": palette.ground, "stroke": palette.off, "strokeDash": [4, 3]}
        return [
            *layers,
            box(look, now, end, share, top, bottom, where=faster, **gone),
            told(look, now, start + 9, repr(self.too_fast), faster),
        ]

    def _px(self, time_s: float) -> str:
        return f"{PLOT} * {time_s / (_ENDS * self.whole_s)}"


def tail(view: View) -> Tail:
    """Return the picture of the question: one GPU's token, and its share on each of several with a tail."""
    whole_s, ranks = view.step.compute_s, view.step.tp_size
    share_s = whole_s / ranks
    one, one_said, each, too_fast = (
        said("comm_cost", f"says.{name}", whole_s=whole_s, share_s=share_s, ranks=ranks)
        for name in ("tail_one", "tail_one_s", "tail_each", "tail_too_fast")
    )
    return Tail(whole_s, share_s, one, one_said, each, too_fast)
