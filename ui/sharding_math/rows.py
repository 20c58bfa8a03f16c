"""Lab 01: what its figures draw, from core's runs, ledgers and rules."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import prod

from core.errors import OutOfRangeError
from core.scenario import Scenario
from core.sharding_math.examples import FULL_WIDTH, NARROW_WIDTH, Kind, Run, run
from core.sharding_math.layer_parts import LayerPart, layer_parts
from core.sharding_math.mistakes import Broken, broken
from core.sharding_math.numerics import precision
from core.sharding_math.step_ledger import layer_collectives, mlp_order_collectives, step_ledger, sums_a_layer
from core.sharding_math.tp_sizes import Rule, check_tp_size, tp_sizes
from runtime.kept import kept
from runtime.prose import named, said
from runtime.quantities import binary_bytes, grouped
from runtime.rows import Row

KINDS: Mapping[str, Kind] = {
    "Column": "column",
    "Row": "row",
    "MLP pair": "mlp",
    "Attention": "attention",
    "Embedding": "embedding",
    "Sequence": "sequence",
}
RANKS = (1, 2, 3, 4, 6, 8)
DRAWN_FORMAT = precision("float32")
BROKEN_RANKS, MORE_RANKS = 2, 4
MISTAKES = {
    "No all-reduce": "no_all_reduce",
    "Reduced twice": "reduced_twice",
    "Mean": "mean_for_sum",
    "Activation first": "activation_before_sum",
    "Bias on each": "bias_on_every_rank",
    "KV uncut": "kv_not_sharded",
    "Row then column": "row_then_column",
    "Column twice": "column_then_column",
}
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


@kept
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


def struck_ranks(kind: Kind) -> Mapping[int, str]:
    """Rank counts that leave a remainder, each with the equation it breaks."""
    rule = CUT[kind]
    if rule is None:
        return {}
    named_rule = replace(rule, quantity=named("sharding_math", rule.quantity))
    return {size: named_rule.broken_equation(size) for size in RANKS if not rule.holds(size)}


def payload(scenario: Scenario, kind: Kind = "row") -> int:
    """Bytes of one all-reduce of a decode step; of a gathered layer, those of an MLP's hidden row."""
    if kind == "gathered":
        ranks = max(2, scenario.tp)
        return mlp_order_collectives(scenario.model_spec, scenario.batch, ranks, "column_then_column")[
            0
        ].payload_bytes
    return layer_collectives(scenario.model_spec, scenario.batch, max(2, scenario.tp))[0].payload_bytes


def payload_terms(scenario: Scenario) -> tuple[str, ...]:
    """The payload of one all-reduce: formula, values, result."""
    model = scenario.model_spec
    width = payload(scenario) // (scenario.batch * model.hidden_size)
    values = f"{grouped(scenario.batch)} × {grouped(model.hidden_size)} × {width} B"
    return said("sharding_math", "says.tokens_hidden_size_bytes"), values, binary_bytes(payload(scenario))


def count_terms(scenario: Scenario) -> tuple[str, ...]:
    """The all-reduces of one step: formula, values, result."""
    layers, count = scenario.model_spec.num_hidden_layers, len(ledger_cells(scenario))
    return (
        said("sharding_math", "says.sums_layer_layers"),
        f"{count // layers} × {layers}",
        said("sharding_math", "says.all_reduces", count=count),
    )


@kept
def ledger_cells(scenario: Scenario) -> tuple[Row, ...]:
    """The ledger of one decode step, in order.

    Raises OutOfRangeError when the model does not split over the scenario's TP size.
    """
    size = check_tp_size(scenario.model_spec, scenario.tp)
    if size.broken:
        raise OutOfRangeError("tp_size", scenario.tp, f"does not split {scenario.model}: {'; '.join(size.broken)}")
    entries = step_ledger(scenario.model_spec, scenario.batch, scenario.tp)
    each = sums_a_layer(scenario.model_spec)
    return tuple(
        Row(
            layer=index // each,
            half=said("sharding_math", f"says.half_{entry.layer.split()[-1].lower()}"),
            operation=entry.op.replace("_", "-"),
            payload=binary_bytes(entry.payload_bytes),
            ranks=entry.ranks,
            why=named("sharding_math", entry.why),
        )
        for index, entry in enumerate(entries)
    )


def layer_rows(parts: Sequence[LayerPart]) -> list[dict[str, object]]:
    cuts = {
        "replicated": said("sharding_math", "says.every_rank"),
        "out": said("sharding_math", "says.outputs"),
        "in": said("sharding_math", "says.inputs"),
    }
    return [
        {
            "name": part.name,
            "whole": " × ".join(map(str, part.shape)),
            "a_rank": " × ".join(map(str, part.rank_shape)),
            "cut": "" if part.is_collective else cuts[part.cut],
            "parameters_a_rank": prod(part.rank_shape) if part.rank_shape else 0,
            "payload": binary_bytes(part.payload_bytes) if part.is_collective else "",
        }
        for part in parts
    ]


def size_cells(scenario: Scenario) -> tuple[Row, ...]:
    names = {
        "allowed": said("sharding_math", "says.allowed"),
        "kv_replicated": said("sharding_math", "says.kv_heads_copied"),
        "refused": said("sharding_math", "says.refused"),
    }
    return tuple(
        Row(
            tp_size=size.tp_size,
            verdict=names[size.verdict],
            kv_copies=size.kv_copies,
            equation="; ".join(size.broken),
        )
        for size in tp_sizes(scenario.model_spec)
    )


def slips(scenario: Scenario) -> dict[str, float]:
    """Wrong answers to the question: so many collectives, by their names in room.md."""
    layers, sums = scenario.model_spec.num_hidden_layers, scenario.model_spec.all_reduces
    wrong: dict[str, float] = {"growing": sums * scenario.tp}
    if sums > layers:
        wrong["one_a_layer"] = layers
    with suppress(OutOfRangeError):  # a layer of experts has no row of matrices to count
        parts = layer_parts(scenario.model_spec, scenario.tp)
        wrong["every_matrix"] = layers * sum(part.matrices for part in parts)
    return wrong
