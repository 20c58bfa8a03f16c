"""Lab 01: what its figures draw, from core's runs, ledgers and rules."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from core.errors import OutOfRangeError
from core.scenario import Scenario
from core.sharding_math.drawn import CUT, RANKS, payload
from core.sharding_math.examples import Kind
from core.sharding_math.layer_parts import LayerPart
from core.sharding_math.step_ledger import step_ledger, sums_a_layer
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
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


def struck_ranks(kind: Kind) -> Mapping[int, str]:
    """Rank counts that leave a remainder, each with the equation it breaks."""
    rule = CUT[kind]
    if rule is None:
        return {}
    named_rule = replace(rule, quantity=named("sharding_math", rule.quantity))
    return {size: named_rule.broken_equation(size) for size in RANKS if not rule.holds(size)}


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
        broken = "; ".join(size.broken)
        raise OutOfRangeError("tp_size", scenario.tp, "does_not_split", model=scenario.model, broken=broken)
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
