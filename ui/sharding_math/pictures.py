"""What lab 01's prediction draws: a model's layers cut over its ranks, and the sums between them."""

from dataclasses import dataclass

from core.scenario import Scenario
from runtime.prose import said
from ui.figures.pictured import PLOT, TRUTH, Now, caption
from ui.figures.style import Layer, Spec, at, layer, own
from ui.theme import Look

_HEAD, _STRIP, _OVER = 24, 54, 6
MOST_STRIPES = 8


@dataclass(frozen=True)
class CutLayers:
    """Layers side by side, a stripe a rank; as many sums as the learner says stand in them, evenly.

    `cut` says how many layers there are over how many ranks.
    """

    layers: int
    ranks: int
    most: int
    cut: str
    height: float = _HEAD + _STRIP + 2 * _OVER + 4
    truth_height: float = _HEAD + _STRIP + 2 * _OVER

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the layers, and how they are cut."""
        return [*caption(look, 9, self.cut), *self._strip(look, _HEAD + _OVER)]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the sums; the truth's stand in the same layers, drawn once more under them."""
        is_truth = now.role == TRUTH
        top = (self.height + _HEAD if is_truth else _HEAD) + _OVER
        sums = now.rows([{"number": number} for number in range(self.most)])
        mark = {
            "y": look.px(top - _OVER),
            "y2": look.px(top + _STRIP + _OVER),
            "strokeWidth": {"expr": f"clamp({PLOT} / datum.at / 2.5, 0.7, {look.px(3.5)})"},
            "color": look.palette.text,
        }
        reckoned = now.reckon(sum_px=f"{PLOT} * (datum.number + 1) / datum.at")
        drawn = layer("rule", sums, reckoned=reckoned, where="datum.number < datum.at", x=at("sum_px"), **mark)
        if not is_truth:
            return [drawn]
        return [*caption(look, self.height + 11, now.name), *self._strip(look, top), drawn]

    def _strip(self, look: Look, top: float) -> list[Layer]:
        stripes = min(self.ranks, MOST_STRIPES)
        high = _STRIP / stripes
        rows = [
            {
                "layer": number,
                "top": look.px(top + stripe * high),
                "bottom": look.px(top + (stripe + 1) * high),
                "fill": look.palette.rank_fill(stripe),
                "edge": look.palette.ground,
            }
            for number in range(self.layers)
            for stripe in range(stripes)
        ]
        places = {
            "left_px": f"{PLOT} * datum.layer / {self.layers}",
            "right_px": f"{PLOT} * (datum.layer + 1) / {self.layers}",
        }
        across = {"x": at("left_px"), "x2": "right_px", "y": at("top"), "y2": "bottom"}
        edge = {"stroke": own("edge"), "strokeWidth": look.px(1)}
        return [layer("rect", rows, reckoned=places, **across, fill=own("fill"), **edge)]


def cut_layers(scenario: Scenario, most: int) -> CutLayers:
    """Return the picture of the question: the model's layers, cut over the ranks."""
    layers, ranks = scenario.model_spec.num_hidden_layers, scenario.tp
    return CutLayers(layers, ranks, most, said("sharding_math", "says.cut_over", layers=layers, ranks=ranks))
