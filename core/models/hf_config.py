"""A Hugging Face config.json, pasted or uploaded, as a ModelSpec.

A config says less than it seems: biases, norms and tied tables are facts of the architecture's code, not of the
file. `hf_families` holds those facts, so that the parameters come out exactly; an architecture that is not there
is refused, for a guess would be wrong in silence. Of a multimodal model the text part is read.
"""

import json
from dataclasses import replace

from core.errors import OutOfRangeError, UnreadableTextError, remark, shortened
from core.models.hf_blocks import has_bias, inner_width, latent_attention
from core.models.hf_codes import ARCHITECTURES, OF_ANOTHER_CODE, OF_VERSION, REMOTE_CODE
from core.models.hf_derived import other_heads
from core.models.hf_families import FAMILIES
from core.models.hf_family import SAME, Family
from core.models.hf_layers import layers_of
from core.models.hf_original import renamed
from core.models.hf_seeing import refuse_by_name
from core.models.hf_values import MOST_LAYERS, MOST_POSITIONS, Config, Values
from core.models.left_alone import PARTS, LeftAlone, left_alone
from core.models.quantisation import BLOCKS, WeightFormat, weight_format
from core.models.vision import vision_parameters
from core.models.weight_formats import cache_width
from core.specs import AttentionSpec, ModelSpec
from core.text.numbers import figure

MOST_CHARACTERS = 2**23
_UNKNOWN_PARTS = (
    "index_topk",
    "attention_other_setting",
    "attn_output_gate",
    "full_attention_interval",
    "linear_num_key_heads",
    "qk_layernorm",
    "attention_out_bias",
    "add_cross_attention",
    "bias",
)
_TOWERS = ("vision_config", "vision_tower", "vit_config", "img_processor", "embd_layer")
_NESTED = ("text_config", "llm_config", "language_config")
_DRAFT_LAYERS = ("num_nextn_predict_layers", "mtp_num_hidden_layers")
_REQUIRED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")


def model_from_config(text: str, key: str = "config") -> ModelSpec:
    """The model that a config.json describes; `key` names it.

    Raises UnreadableTextError where the text is not JSON object, OutOfRangeError where its architecture is unknown,
    a field is missing or a value is none that a model can have.
    """
    outer = renamed(_speaking(_parsed(text)))
    config = _text_part(outer)
    kind = _model_type(config, outer)
    family = FAMILIES[kind]
    fields = _counted(_filled(config, family, nested=config is not outer))
    values = Values(kind, family.derived(fields) if family.derived else fields)
    values.require(*_REQUIRED)
    values.refuse_unknown_parts({**_unknown_parts(family), **family.fixed})
    if family.experts and config.get(family.experts) is None:
        values.require(family.experts)
    heads, hidden = values.whole("num_attention_heads"), values.whole("hidden_size")
    layers = values.whole("num_hidden_layers", most=MOST_LAYERS)
    kinds, pattern = layers_of(values, family, layers)
    attends = [kind.mixer for kind in kinds if isinstance(kind.mixer, AttentionSpec)]
    own = next((mixer for mixer in attends if not mixer.window), attends[0] if attends else None)
    mla = latent_attention(values)
    head_dim = (
        mla.qk_nope_head_dim + mla.qk_rope_head_dim
        if mla
        else own.head_dim
        if own
        else values.head_dim(hidden, heads)
    )
    moe = next((kind.moe for kind in kinds if kind.moe is not None), None)
    positions = values.whole("max_position_embeddings", 2048, most=MOST_POSITIONS)
    form = weight_format({**config, **{name: outer[name] for name in BLOCKS if name in outer}})
    alone, others = _widths(form, layers, family.both_inner)
    narrow = values.count("hidden_size_per_layer_input")
    spec = ModelSpec(
        key=key,
        name=key if config is outer else f"{key}, text",
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads if mla else own.kv_heads if own else heads,
        head_dim=head_dim,
        intermediate_size=inner_width(values, family),
        vocab_size=values.whole("vocab_size"),
        max_position_embeddings=positions,
        tie_word_embeddings=values.flag("tie_word_embeddings", family.tied),
        mlp=family.mlp,
        norm=family.norm,
        norms_per_layer=family.norms_per_layer,
        qkv_bias=has_bias(values, family, "qkv"),
        o_bias=has_bias(values, family, "o"),
        mlp_bias=has_bias(values, family, "mlp"),
        head_bias=family.head_bias or values.flag("lm_head_bias", False),
        qk_norm=own is not None and own.qk_norm == "head",
        learned_positions=0 if family.extra_positions is None else positions + family.extra_positions,
        attention_sinks=own is not None and own.sinks,
        moe=moe,
        mla=mla,
        weight_dtype=form.dtype,
        quantisation_group=form.group,
        weight_block=form.block,
        left_alone=alone,
        other_widths=others,
        cache_dtype=cache_width({**config, **outer}),
        kinds=kinds,
        pattern=pattern,
        side_by_side=family.side_by_side,
        rotary_dim=_rotary_dim(values, family, head_dim, mla is not None),
        extra_parameters=_beyond_layers(values),
        extra_tables=values.count("vocab_size_per_layer_input") * layers * narrow if narrow else 0,
        vision_tower=any(name in outer for name in _TOWERS),
        vision_parameters=vision_parameters(outer),
        remote_code=kind in REMOTE_CODE,
        own_draft=any(values.count(name) for name in _DRAFT_LAYERS),
        source=f"a config.json of model_type {kind}",
    )
    plain = replace(spec, kinds=(), pattern="")
    in_order = "".join(letter * n for letter, (_, n) in zip("ab", plain.kinds_of(), strict=False))
    return plain if plain.kinds_of() == spec.kinds_of() and in_order == pattern else spec


def _counted(fields: Config) -> Config:
    """The fields with the number of layers, where a file names each and does not count them."""
    named = fields.get("layers_block_type") or fields.get("hybrid_override_pattern")
    if "num_hidden_layers" in fields or not isinstance(named, list | str):
        return fields
    return {**fields, "num_hidden_layers": len(named)}


def _widths(
    form: WeightFormat, layers: int, beside: bool
) -> tuple[LeftAlone, tuple[tuple[str, frozenset[int], str], ...]]:
    """The parts in 16 bits, and those in a third width."""
    if not form.listed:
        kept = left_alone(form.kept, layers, beside)
        narrow = {part: frozenset(range(layers)) - dict(kept).get(part, frozenset()) for part in PARTS}
        whole = tuple((part, where, "mxfp4-everywhere") for part, where in narrow.items() if where)
        return kept, whole if form.everywhere else ()
    named = [(dtype, dict(left_alone(names, layers, beside))) for dtype, names in form.listed]
    rest = {
        part: frozenset(range(layers)).difference(*(parts.get(part, ()) for _, parts in named)) for part in PARTS
    }
    widths = [*named[1:], *([] if form.rest == form.dtype else [(form.rest, rest)])]
    alone = [(part, where) for dtype, parts in widths if dtype == "bf16" for part, where in parts.items() if where]
    others = [
        (part, where, dtype) for dtype, parts in widths if dtype != "bf16" for part, where in parts.items() if where
    ]
    return tuple(alone), tuple(others)


def _unknown_parts(family: Family) -> dict[str, bool]:
    """The fields that change parts of a family for which they are not read."""
    read = {
        "attn_output_gate": bool(family.gate),
        "index_topk": "index_n_heads" in family.defaults,
        "attention_other_setting": family.derived is other_heads,
        "full_attention_interval": family.otherwise in ("linear", "lightning"),
        "linear_num_key_heads": family.otherwise == "linear",
    }
    return {name: False for name in _UNKNOWN_PARTS if not read.get(name)}


def _rotary_dim(values: Values, family: Family, head_dim: int, latent: bool) -> int | None:
    """The part of a head that is turned; None for a whole one, 0 where no position is told."""
    if family.no_rotary or values.get("position_embedding_type") == "nope" or values.flag("mla_use_nope", False):
        return 0
    if latent:
        return None
    inside = values.inside("rope_parameters" if "rope_parameters" in values.fields else "rope_scaling")
    named = ("partial_rotary_factor", "rotary_pct", "rotary_percent")
    factor = next(
        (value for level in (values, inside) for name in named if (value := level.get(name)) is not None), 1
    )
    if "rotary_dim" in values.fields:
        return values.count("rotary_dim")
    fits = isinstance(factor, int | float) and 0 < factor < 1
    return int(head_dim * figure(str(factor))) if fits else None


def _beyond_layers(values: Values) -> int:
    """Parameters of no layer and no table: what mixes streams before the head, or leads to per-layer inputs."""
    hidden, layers = values.whole("hidden_size"), values.whole("num_hidden_layers")
    streams, narrow = values.count("hc_mult"), values.count("hidden_size_per_layer_input")
    mixed = streams * (streams * hidden + 1) + 1 if streams else 0
    residual = 2 * hidden if values.get("attn_res_block_size") is not None else 0
    residual += 2 * max(0, values.count("altup_num_inputs") - 1) * hidden**2
    residual += 2 * hidden if values.flag("embedding_norm", False) else 0
    return mixed + residual + (narrow * (layers * hidden + 1) if narrow else 0)


def _parsed(text: str) -> Config:
    """The JSON object in a text; words and fences around it are left out."""
    if len(text) > MOST_CHARACTERS:
        raise UnreadableTextError("long_config", text=len(text), most=MOST_CHARACTERS)
    start = text.find("{")
    if start < 0 or "}" not in text[start:]:
        raise UnreadableTextError("no_json_object")
    try:
        config, end = json.JSONDecoder().raw_decode(text, start)
        beside = _beside(text, end)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):
            raise UnreadableTextError("no_json_at", line=error.lineno) from error
        raise UnreadableTextError("no_json") from error
    own = {name: value for name, value in config.items() if name != "quantization_config" or value}
    return {**beside, **own}


def _beside(text: str, start: int) -> Config:
    """What a hf_quant_config.json behind a config.json adds to it; nothing where there is none."""
    opened = text.find("{", start)
    if opened < 0:
        return {}
    second, _ = json.JSONDecoder().raw_decode(text, opened)
    quantisation = second.get("quantization")
    return {"quantization_config": quantisation} if isinstance(quantisation, dict) else {}


def _speaking(outer: Config) -> Config:
    """The part that thinks in the file's place, where another part talks."""
    inner = outer.get("thinker_config")
    return {**outer, **inner} if isinstance(inner, dict) else outer


def _text_part(outer: Config) -> Config:
    """The language model's own config: nested in a multimodal one, with what stands outside filled in."""
    for name in _NESTED:
        inner = outer.get(name)
        if isinstance(inner, dict):
            shared = {key: outer[key] for key in ("tie_word_embeddings", "torch_dtype", "dtype") if key in outer}
            return {**shared, **inner}
    return outer


def _model_type(config: Config, outer: Config) -> str:
    """The family of a config.

    Raises OutOfRangeError for one that is not in FAMILIES, saying what the config would also have lacked.
    """
    named = config.get("model_type") or outer.get("model_type")
    architectures = _names(config.get("architectures")) + _names(outer.get("architectures"))
    refuse_by_name(str(named), architectures)
    if isinstance(named, str) and named in FAMILIES:
        return next((kind for own in architectures if (kind := OF_ANOTHER_CODE.get((named, own)))), named)
    for architecture in architectures:
        if architecture in ARCHITECTURES:
            return ARCHITECTURES[architecture]
    if named in ("minicpmv", "minicpmo") and (text := OF_VERSION.get(str(config.get("version")))):
        return text
    if isinstance(elsewhere := outer.get("text_model_id"), str):
        raise OutOfRangeError("text_model_id", shortened(elsewhere), "thinks_elsewhere")
    lacking = [name for name in _REQUIRED if name not in config]
    also = remark("errors.lacks_too", lacking=", ".join(lacking)) if lacking else ""
    if named is None:
        raise OutOfRangeError("model_type", "", "missing_kind", also=also)
    known = ", ".join(FAMILIES)
    raise OutOfRangeError("model_type", shortened(named), "unknown_kind", also=also, known=known)


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _filled(config: Config, family: Family, nested: bool) -> Config:
    """A config under the usual names, over its class's own values; a null says that there is none.

    A file writes all its sizes, but a part nested in another only those that are not its class's own.
    """
    names = {**SAME, **family.renamed}
    plain = {name: value for name, value in config.items() if name not in names}
    renamed = {names[name]: value for name, value in config.items() if name in names}
    fields = {**(family.sizes if nested else {}), **family.defaults, **plain, **renamed}
    return {
        name: _one(value) if name in _ONE_A_LAYER else value for name, value in fields.items() if value is not None
    }


_ONE_A_LAYER = (
    "intermediate_size",
    "moe_intermediate_size",
    "num_experts",
    "num_experts_per_tok",
    "n_shared_experts",
)


def _one(value: object) -> object:
    """A number that a file writes once for each layer; the list itself where layers differ."""
    same = isinstance(value, list) and bool(value) and all(one == value[0] for one in value)
    return value[0] if same and isinstance(value, list) else value
