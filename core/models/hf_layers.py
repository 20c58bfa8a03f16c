"""Which layers a config has, in which order, and each kind's blocks.

Every family writes its order in its own way: a list of names, a string of letters, an interval, a list of zeros and
ones. All come to one list of names: what mixes (`full`, `window`, `linear`, `mamba`, `conv`, `both`, or nothing),
and what each token goes through (`dense`, `sparse`, or nothing).
"""

from dataclasses import replace

from core.errors import OutOfRangeError, shortened
from core.models.hf_blocks import attention, inner_width, mixer, mixture, reads_another, window
from core.models.hf_family import Family
from core.models.hf_values import Values
from core.specs import Block, LayerSpec, MlpSpec
from core.text.lines import object_in

_NAMES = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "window",
    "chunked_attention": "window",
    "local_attention": "window",
    "linear_attention": "linear",
    "kda": "linear",
    "mamba": "mamba",
    "conv": "conv",
    "hybrid": "both",
    "moe": "sparse",
    "mlp": "dense",
    "minimax_m3_sparse": "full",
    "deepseek_sparse_attention": "full",
    "indexed_attention": "full",
    "compressed_sparse_attention": "full",
    "heavily_compressed_attention": "full",
}
_LETTERS = {"M": "mamba", "*": "full", "-": "dense", "E": "sparse"}
_INNER = ("dense", "sparse", "")
_WIDE_UP = 256
_LETTERS_OF_KINDS = 26


def layers_of(values: Values, family: Family, layers: int) -> tuple[tuple[LayerSpec, ...], str]:
    """The kinds of layer and their order; both empty where a model's own fields say all.

    Raises OutOfRangeError for a layer of an unknown kind, or more kinds than have a letter.
    """
    if "block_configs" in values.fields:
        return _lettered(
            [_block_config(values, family, block) for block in values.listed("block_configs", layers) or []]
        )
    mixing, inner = _mixing(values, family, layers), _inner(values, family, layers)
    names = map(_alone, mixing) if inner is None else zip(mixing, inner, strict=True)
    return _lettered([_layer(values, family, *pair, index) for index, pair in enumerate(names)])


def _lettered(layers: list[LayerSpec]) -> tuple[tuple[LayerSpec, ...], str]:
    kinds = tuple(dict.fromkeys(layers))
    if len(kinds) > _LETTERS_OF_KINDS:
        raise OutOfRangeError("layers", len(kinds), "many_kinds", most=_LETTERS_OF_KINDS)
    letter = {kind: chr(97 + index) for index, kind in enumerate(kinds)}
    return kinds, "".join(letter[layer] for layer in layers)


def _alone(name: str) -> tuple[str, str]:
    return ("", name) if name in _INNER else (name, "")


def _mixing(values: Values, family: Family, layers: int) -> list[str]:
    """What mixes tokens in each layer, and where a layer is one block, that."""
    for name in ("hybrid_override_pattern", "layers_block_type", "layer_types"):
        written = values.get(name)
        if isinstance(written, str):
            written = list(written)
        if isinstance(written, list):
            if len(written) < layers:
                raise OutOfRangeError(name, len(written), "name_layers", layers=layers)
            return [_named(values, family, str(one)) for one in written[:layers]]
    swa = values.listed("hybrid_layer_pattern", layers)
    if swa is not None:
        return ["window" if one else "full" for one in swa]
    seeing = values.listed("attn_type_list", layers)
    if seeing is not None:
        return ["full" if one else family.otherwise for one in seeing]
    kda = values.inside("linear_attn_config").get("kda_layers")
    if isinstance(kda, list):
        return ["linear" if layer + 1 in kda else "full" for layer in range(layers)]
    for name in ("attn_layer_indices", "full_attn_idxs"):
        if isinstance(places := values.get(name), list):
            return ["full" if layer in places else family.otherwise for layer in range(layers)]
    period = values.count("attn_layer_period")
    if period:
        at = values.count("attn_layer_offset")
        return ["full" if layer % period == at else family.otherwise for layer in range(layers)]
    interval = values.count("full_attention_interval") if family.otherwise in ("linear", "lightning") else 0
    if interval:
        return [family.otherwise if (layer + 1) % interval else "full" for layer in range(layers)]
    if family.otherwise in ("both", "mamba", "selective"):
        return [family.otherwise] * layers
    return _windowed(values, family, layers)


def _named(values: Values, family: Family, name: str) -> str:
    known = _LETTERS.get(name) or _NAMES.get(name)
    if known is None:
        raise OutOfRangeError("layer_types", shortened(name), "unknown_layer", kind=values.kind)
    if known == "window" and not window(values):
        return "full"
    if known in ("linear", "mamba") and family.otherwise in ("lightning", "mamba", "selective"):
        return family.otherwise
    return known


def _windowed(values: Values, family: Family, layers: int) -> list[str]:
    """Every layer but each `pattern`-th has the window, or all from `max_window_layers` on."""
    if not window(values):
        return ["full"] * layers
    if "max_window_layers" in values.fields and values.kind.startswith("qwen"):
        first = values.count("max_window_layers")
        return ["full" if layer < first else "window" for layer in range(layers)]
    pattern = values.count("sliding_window_pattern") or family.window_pattern
    return ["window" if not pattern or (layer + 1) % pattern else "full" for layer in range(layers)]


def _inner(values: Values, family: Family, layers: int) -> list[str] | None:
    """What each layer's tokens go through; None where a layer is one block."""
    if family.one_block:
        return None
    if not values.count("num_experts"):
        return ["dense"] * layers
    for name in ("mlp_layer_types", "moe_layer_freq"):
        if isinstance(values.get(name), list):
            return [_goes_through(name, one) for one in values.listed(name, layers) or []]
    for name in ("moe_layers_enum", "moe_layers"):
        inner = values.get(name)
        places = inner.split(",") if isinstance(inner, str) else inner
        if isinstance(places, list):
            return ["sparse" if str(layer) in map(str, places) else "dense" for layer in range(layers)]
    period = values.count("expert_layer_period")
    if period:
        at = values.count("expert_layer_offset")
        return ["sparse" if layer % period == at else "dense" for layer in range(layers)]
    first, last = values.count("first_k_dense_replace"), values.count("moe_layer_end_index", layers) or layers
    dense = values.get("mlp_only_layers")
    dense = dense if isinstance(dense, list) else []
    step = 1
    for rhythm in ("moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"):
        step = max(step, values.whole(rhythm, 1))
    return [
        "sparse" if layer >= first and layer <= last and (layer + 1) % step == 0 and layer not in dense else "dense"
        for layer in range(layers)
    ]


_THROUGH = {
    "1": "sparse", "True": "sparse", "sparse": "sparse", "moe": "sparse", "hash_moe": "sparse",
    "0": "dense", "False": "dense", "dense": "dense", "mlp": "dense",
}  # fmt: skip


def _goes_through(field: str, name: object) -> str:
    """What a layer's tokens go through, as a list has it."""
    if str(name) not in _THROUGH:
        raise OutOfRangeError(field, shortened(name), "unknown_mlp")
    return _THROUGH[str(name)]


def _by_a_table(values: Values, index: int) -> bool:
    """Whether a table chooses a layer's experts, and no router with a bias."""
    names = values.get("mlp_layer_types")
    named = isinstance(names, list) and index < len(names) and names[index] == "hash_moe"
    return named or index < values.count("num_hash_layers")


def _layer(values: Values, family: Family, mixing: str, inner: str, index: int) -> LayerSpec:
    """One layer of a kind."""
    if values.count("num_mem_blocks"):
        return _shared_layer(values, family, mixing, index)
    mixers = ("full", "mamba") if mixing == "both" else (mixing,)
    blocks: list[Block] = [mixer(values, family, name, index) for name in mixers if name]
    extra = family.extra(values) if family.extra else 0
    if inner == "dense" or (inner and family.both_inner):
        doubled = values.flag("use_double_wide_mlp", False) and reads_another(values, index)
        blocks.append(MlpSpec((1 + doubled) * inner_width(values, family)))
    moe = mixture(values, family) if inner == "sparse" else None
    if moe is not None and _by_a_table(values, index):
        moe = replace(moe, router_bias=False)
    again = list(blocks) if family.twice else []
    norms = family.norms_per_layer
    if moe is not None:
        blocks.append(moe)
        norms += family.norms_of_experts
    elif inner == "dense" and not blocks[-1].width:  # type: ignore[union-attr]
        blocks.pop()
    return LayerSpec((*blocks, *again), norms, extra)


def _block_config(values: Values, family: Family, block: object) -> LayerSpec:
    """One layer of a model that was cut by search (Nemotron-NAS): its attention and its MLP, either may be missing.

    f = ⌈(2 · ffn_mult · d / 3) / 256⌉ · 256
    Source: vllm/model_executor/models/nemotron_nas.py.
    """
    outer = Values(values.kind, object_in(block))
    own, inner, blocks = outer.inside("attention"), outer.inside("ffn"), list[Block]()
    for part in (own, inner):
        if part.flag("replace_with_linear", False) or part.get("sparsify"):
            raise OutOfRangeError("block_configs", "", "replaced_layers")
    if not own.flag("no_op", False):
        heads = values.whole("num_attention_heads")
        share = {"num_key_value_heads": heads // own.whole("n_heads_in_group", most=heads)}
        blocks.append(attention(Values(values.kind, {**values.fields, **share}), family, "full"))
    if not inner.flag("no_op", False):
        mult = inner.get("ffn_mult")
        if not isinstance(mult, int | float) or not 0 < mult < 1000:
            raise OutOfRangeError("ffn_mult", shortened(mult), "a_number_above", least=0)
        wide = int(2 * mult * values.whole("hidden_size") / 3)
        blocks.append(MlpSpec(-(-wide // _WIDE_UP) * _WIDE_UP))
    return LayerSpec(tuple(blocks), len(blocks))


def _shared_layer(values: Values, family: Family, mixing: str, index: int) -> LayerSpec:
    """A Mamba layer, with a shared block before it where it is a hybrid one: layers look through one block in turn.

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
