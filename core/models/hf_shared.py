"""Layers that look through one block in turn (Zamba 2): its weights are held once, its cache by each of them."""

from dataclasses import replace

from core.layer_specs import LayerSpec, MlpSpec
from core.models.hf_blocks import attention, inner_width, mixer
from core.models.hf_family import Family
from core.models.hf_values import Values


def shared_layer(values: Values, family: Family, mixing: str, index: int) -> LayerSpec:
    """A Mamba layer, with a shared block before it where it is a hybrid one.

    The first `num_mem_blocks` of them hold the blocks, which read the embedding beside the stream; the others
    borrow. Each hybrid layer has a way back into the stream of its own, and adapters of low rank.
    Source: transformers/models/zamba2/modeling_zamba2.py, Zamba2Model.get_layers.
    """
    mamba = mixer(values, family, "mamba", index)
    if mixing != "both":
        return LayerSpec((mamba,), 1)
    names = values.get("layers_block_type")
    before = sum(name == "hybrid" for name in names[:index]) if isinstance(names, list) else 0
    hidden, rank, wide = values.whole("hidden_size"), values.whole("adapter_rank", 128), inner_width(values, family)
    reads = values.whole("attention_hidden_size")
    own = attention(values, family, "full", index)
    adapters = rank * (hidden + 2 * wide)
    adapters += 6 * reads * rank if values.flag("use_shared_attention_adapter", False) else 0
    if before < values.whole("num_mem_blocks"):
        return LayerSpec((own, MlpSpec(wide), mamba), 1, hidden**2 + adapters + reads + hidden)
    return LayerSpec((replace(own, borrows=True), mamba), 1, hidden**2 + adapters)
