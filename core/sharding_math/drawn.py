"""The layers that lab 01 draws: small enough to show every number, and which ranks leave them a remainder."""

from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

from core.errors import OutOfRangeError
from core.scenario import Scenario
from core.sharding_math.examples import FULL_WIDTH, NARROW_WIDTH, Kind, Run, run
from core.sharding_math.layer_parts import layer_parts
from core.sharding_math.mistakes import Broken, broken
from core.sharding_math.numerics import precision
from core.sharding_math.step_ledger import layer_collectives, mlp_order_collectives
from core.sharding_math.tp_sizes import Rule

RANKS = (1, 2, 3, 4, 6, 8)
DRAWN_FORMAT = precision("float32")
BROKEN_RANKS, MORE_RANKS = 2, 4
DRAWN_LENGTH = 4
"""The inputs and the outputs of the drawn layer, and the width of its MLP."""

CUT: Mapping[Kind, Rule | None] = {
    "column": Rule("out_features", DRAWN_LENGTH),
    "gathered": Rule("out_features", DRAWN_LENGTH),
    "row": Rule("in_features", DRAWN_LENGTH),
    "mlp": Rule("width of the MLP", DRAWN_LENGTH),
    "attention": Rule("num_attention_heads", 4),
    "embedding": None,
    "sequence": Rule("tokens", 4),
}
"""What each drawing cuts. A vocabulary is padded until it divides, so it refuses nothing."""


@lru_cache(maxsize=64)
def drawn_runs(kind: Kind, num_ranks: int) -> tuple[Run, ...]:
    """The runs that the stepper may show, widest first. More than four ranks are drawn narrow, to be readable.

    Raises IndivisibleError.
    """
    widths = (NARROW_WIDTH,) if num_ranks > 4 else (FULL_WIDTH, NARROW_WIDTH)
    if kind == "sequence" and num_ranks > NARROW_WIDTH:
        widths = (FULL_WIDTH,)  # each rank has a token at least
    return tuple(run(kind, num_ranks, width, DRAWN_FORMAT) for width in widths)


@lru_cache(maxsize=16)
def sides(mistake: str) -> tuple[Broken, Run, Run]:
    """A mistake on a drawn layer, and its two runs: as it should be, and as it was done."""
    layer = broken(mistake, BROKEN_RANKS)
    return layer, Run(layer.right, layer.dense), Run(layer.wrong, layer.dense)


def usual_ranks(scenario: Scenario) -> int:
    """The scenario's TP, as far as the drawn layer has columns for it."""
    return min(max(2, scenario.tp), DRAWN_LENGTH) if scenario.tp in RANKS and DRAWN_LENGTH % scenario.tp == 0 else 4


def payload(scenario: Scenario, kind: Kind = "row") -> int:
    """Bytes of one all-reduce of a decode step; of a gathered layer, those of an MLP's hidden row."""
    if kind == "gathered":
        ranks = max(2, scenario.tp)
        return mlp_order_collectives(scenario.model_spec, scenario.batch, ranks, "column_then_column")[
            0
        ].payload_bytes
    return layer_collectives(scenario.model_spec, scenario.batch, max(2, scenario.tp))[0].payload_bytes


def known_slips(scenario: Scenario) -> dict[str, float]:
    """Wrong answers to the question: so many collectives, by their names in room.md."""
    layers, sums = scenario.model_spec.num_hidden_layers, scenario.model_spec.all_reduces
    wrong: dict[str, float] = {"growing": sums * scenario.tp}
    if sums > layers:
        wrong["one_a_layer"] = layers
    with suppress(OutOfRangeError):  # a layer of experts has no row of matrices to count
        parts = layer_parts(scenario.model_spec, scenario.tp)
        wrong["every_matrix"] = layers * sum(part.matrices for part in parts)
    return wrong
