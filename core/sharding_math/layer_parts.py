"""One decoder layer as its ranks hold it: every weight, how it is cut, and the two places where the ranks talk.

Letters: D hidden, H heads, K KV heads, h head_dim, F the MLP's width, N ranks.
"""

from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from core.errors import OutOfRangeError
from core.sharding_math.step_ledger import layer_collectives
from core.sharding_math.tp_sizes import check_tp_size, tp_sizes
from core.specs import ModelSpec

Cut: TypeAlias = Literal["replicated", "out", "in"]


@dataclass(frozen=True)
class LayerPart:
    """One weight of a layer, (out, in), or the collective after it. `units` are distributed: heads, or columns.

    `matrices` stand one above the other in one row, each of an equal share of `shape`.
    """

    name: str
    shape: tuple[int, ...]
    rank_shape: tuple[int, ...]
    cut: Cut
    units: str = ""
    num_units: int = 0
    copies: int = 1
    matrices: int = 1
    payload_bytes: int = 0

    @property
    def is_collective(self) -> bool:
        return self.payload_bytes > 0

    @property
    def parameters(self) -> int:
        """Of the whole, before the cut."""
        return prod(self.shape) if self.shape else 0

    def units_of(self, rank: int, num_ranks: int) -> tuple[int, int]:
        """The first and the last unit that a rank holds. Of a replicated part: none."""
        share = max(1, self.num_units // num_ranks)
        first = rank // self.copies * share
        return first, first + share - 1


def layer_parts(model: ModelSpec, tp_size: int, tokens: int = 1) -> tuple[LayerPart, ...]:
    """A dense decoder layer from top to bottom.

    Raises OutOfRangeError where the size does not split the model, and for layers of another make: latent
    attention, experts, a plain MLP.
    """
    if model.mla is not None or model.moe is not None or model.mlp != "gated":
        raise OutOfRangeError("model", model.key, "other_layer")
    size = check_tp_size(model, tp_size)
    if size.broken:
        broken, use = (
            "; ".join(size.broken),
            ", ".join(str(size.tp_size) for size in tp_sizes(model) if not size.broken),
        )
        raise OutOfRangeError("tp_size", tp_size, "does_not_split_use", model=model.key, broken=broken, sizes=use)
    hidden, wide, n = model.hidden_size, model.intermediate_size, tp_size
    heads, kv, h = model.num_attention_heads, model.num_key_value_heads, model.head_dim
    kv_rank = max(1, kv // n) * h
    collectives = [
        LayerPart(entry.op.replace("_", "-"), (), (), "replicated", payload_bytes=entry.payload_bytes)
        for entry in layer_collectives(model, tokens, tp_size)
    ]
    norm = LayerPart("norm", (hidden,), (hidden,), "replicated")
    attention = (
        norm,
        LayerPart("Wq", (heads * h, hidden), (heads // n * h, hidden), "out", "heads", heads),
        LayerPart(
            "Wk, Wv", (2 * kv * h, hidden), (2 * kv_rank, hidden), "out", "KV heads", kv, size.kv_copies, matrices=2
        ),
        LayerPart("Wo", (hidden, heads * h), (hidden, heads // n * h), "in", "heads", heads),
    )
    mlp = (
        norm,
        LayerPart(
            "Wgate, Wup", (2 * wide, hidden), (2 * wide // n, hidden), "out", "columns of h", wide, matrices=2
        ),
        LayerPart("Wdown", (hidden, wide), (hidden, wide // n), "in", "columns of h", wide),
    )
    return (*attention, *collectives[:1], *mlp, *collectives[1:])
