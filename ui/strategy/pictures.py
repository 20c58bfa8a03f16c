"""What the prediction of the strategy page draws: a GPU's memory that fills."""

from dataclasses import dataclass

from core.scenario import Scenario
from core.units import GB
from runtime.prose import said
from ui.figures.pictured import TRUTH, Now, caption
from ui.figures.style import Layer, Spec, also, layer, words
from ui.theme import Look

_HEAD, _BOX = 24, 58


@dataclass(frozen=True)
class Memory:
    """A GPU's memory along the number line, filled as far as the learner says. `gpu` and `full` are words."""

    capacity: float
    gpu: str
    beyond: str
    height: float = _HEAD + _BOX + 8
    truth_height: float = 0.0

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the box, empty, and where it ends."""
        palette = look.palette
        row = [{"zero": 0.0, "end": self.capacity, "name": self.beyond}]
        box = {"y": look.px(_HEAD), "y2": look.px(_HEAD + _BOX), "strokeWidth": look.px(2.5)}
        name = words(look, 14, align="left", dx=look.px(8), color=palette.muted)
        return [
            *caption(look, 9, self.gpu),
            layer("rect", row, x=also(x, "zero"), x2="end", fill=None, stroke=palette.text, **box),
            layer("text", row, x=also(x, "end"), y=look.px(_HEAD + _BOX / 2), text="name", **name),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return what fills it: the learner's, and the truth as a darker one in it."""
        is_truth = now.role == TRUTH
        palette = look.palette
        inset = 16 if is_truth else 3
        row = now.rows([{"zero": 0.0}])
        mark = {"y": look.px(_HEAD + inset), "y2": look.px(_HEAD + _BOX - inset)}
        fill = {"fill": palette.text if is_truth else palette.compute, "stroke": palette.axis}
        reckoned = now.reckon(end="datum.at")
        return [layer("rect", row, reckoned=reckoned, x=also(x, "zero"), x2="end", **mark, **fill)]


def memory_box(scenario: Scenario) -> Memory:
    """Return the picture of the first question: the memory of one of the scenario's GPUs."""
    gpu = scenario.gpu_spec
    named = said("strategy", "says.box", gpu=gpu.name, room=gpu.usable_memory_bytes)
    return Memory(gpu.usable_memory_bytes / GB, named, said("strategy", "says.past_the_box"))
