"""What each kind of block is made of: its matrices and vectors, and how tensor-parallel ranks share each.

One table for everything that counts weights: the parameters of a model are these parts whole, a rank's tensors are
these parts as it holds them. The tensors are those vLLM makes: q, k and v in one, gate and up in one, all experts
of a layer in one. Letters: d hidden_size, h and k heads, hd head_dim, r a latent rank, f an inner width.
"""

from collections.abc import Sequence
from functools import lru_cache

from core.errors import OutOfRangeError
from core.models import attention_parts
from core.models.cuts import Cut, Group, Part, whole
from core.specs import (
    AttentionSpec,
    Block,
    CompressedSpec,
    ConvSpec,
    DeltaSpec,
    LayerSpec,
    LightningSpec,
    MambaSpec,
    MlaSpec,
    MlpSpec,
    ModelSpec,
    MoeSpec,
    SelectiveSpec,
)


@lru_cache(maxsize=4096)
def layer_parts(model: ModelSpec, layer: LayerSpec) -> tuple[Part, ...]:
    """Every part of one layer of a kind; those of no size are left out."""
    parts = [part for block in layer.blocks for part in block_parts(model, block)]
    norm = Part("norm", "norm", whole(model.hidden_size), width="other")
    norms = [norm] * layer.norms * VECTORS_A_NORM[model.norm]
    extra = Part("extra", "norm", whole(layer.extra), width="other")
    return tuple(part for part in (*parts, *norms, extra) if part.times * part.by * sum(c.units for c in part.cuts))


def block_parts(model: ModelSpec, block: Block) -> Sequence[Part]:
    """The parts of one block.

    Raises OutOfRangeError for a block of no kind that is known.
    """
    match block:
        case AttentionSpec():
            return attention_parts.attention_parts(model.hidden_size, block)
        case MlaSpec():
            return attention_parts.latent_parts(model, block)
        case CompressedSpec():
            return attention_parts.compressed_parts(model.hidden_size, block)
        case DeltaSpec():
            return attention_parts.delta_parts(model.hidden_size, block)
        case LightningSpec():
            return attention_parts.lightning_parts(model.hidden_size, block)
        case MambaSpec():
            return attention_parts.mamba_parts(model.hidden_size, block)
        case SelectiveSpec():
            return attention_parts.selective_parts(model.hidden_size, block)
        case ConvSpec():
            return attention_parts.short_conv_parts(model.hidden_size, block)
        case MlpSpec():
            return _mlp(model, "mlp", "mlp", block.width)
        case MoeSpec():
            return _mixture(model, block)
    raise OutOfRangeError("block", str(block), "no_known_kind")


def _mlp(model: ModelSpec, name: str, group: Group, width: int) -> list[Part]:
    """Column-parallel gate and up in one tensor (up alone, when plain), and row-parallel down."""
    inner, n = (Cut(width, what=f"{name} width"),), _matrices(model)
    biases = [
        Part(f"{name} in bias", group, inner, times=n, width="other"),
        Part(f"{name} down bias", group, whole(model.hidden_size), width="other"),
    ]
    return [
        Part(f"{name} in", group, inner, model.hidden_size, n),
        Part(f"{name} down", group, inner, model.hidden_size),
        *(biases if model.mlp_bias else ()),
    ]


def _mixture(model: ModelSpec, moe: MoeSpec) -> list[Part]:
    """The router, whole on every rank, the experts as two stacked tensors, and the shared experts."""
    d, experts, n = model.hidden_size, moe.num_experts, _matrices(model)
    chosen = experts + moe.idle_experts
    reads, inner = moe.latent_size or d, (Cut(moe.moe_intermediate_size, what="moe_intermediate_size"),)
    latent = [
        Part("latent in", "router", whole(moe.latent_size), d),
        Part("latent out", "router", whole(moe.latent_size), d),
        Part("latent norm", "router", whole(moe.latent_size * moe.latent_norm), width="other"),
    ]
    biases = [
        Part("experts in bias", "experts", inner, times=experts * n, width="other"),
        Part("experts down bias", "experts", whole(1), reads, experts, width="other"),
    ]
    return [
        Part("router", "router", whole(chosen), d, width="other"),
        Part("router bias", "router", whole(chosen * moe.router_bias), width="other"),
        Part("router scales", "router", whole((d + experts) * moe.router_scales), width="other"),
        *(latent if moe.latent_size else ()),
        Part("experts in", "experts", inner, reads, experts * n, "expert"),
        Part("experts down", "experts", inner, reads, experts, "expert"),
        *(biases if model.mlp_bias else ()),
        Part("shared expert gate", "router", whole(d * moe.shared_expert_gate), width="other"),
        *(_mlp(model, "shared expert", "shared", moe.shared_width) if moe.shared_width else ()),
    ]


VECTORS_A_NORM = {"rmsnorm": 1, "layernorm": 2, "bare": 0}


def _matrices(model: ModelSpec) -> int:
    return 2 if model.mlp == "gated" else 1
