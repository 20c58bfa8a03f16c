"""A Hugging Face config.json, pasted or uploaded, as a ModelSpec.

A config says less than it seems: biases, norms and tied tables are facts of the architecture's code, not of the
file. `hf_families` holds those facts, so that the parameters come out exactly; an architecture that is not there
is refused, for a guess would be wrong in silence. Of a multimodal model the text part is read.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.errors import OutOfRangeError, UnreadableTextError
from core.models.hf_families import ARCHITECTURES, FAMILIES, GPT2_NAMES, REMOTE_CODE, Family
from core.models.left_alone import left_alone
from core.models.quantisation import BLOCKS, weight_format
from core.specs import MlaSpec, ModelSpec, MoeSpec

MOST_CHARACTERS = 2**20
_MOST = 10**7
_MOST_LAYERS = 4096
_MOST_POSITIONS = 2**27
_UNKNOWN_PARTS = (
    "index_topk",
    "attn_output_gate",
    "full_attention_interval",
    "linear_num_key_heads",
    "qk_layernorm",
    "attention_out_bias",
    "add_cross_attention",
    "bias",
)
_NESTED = ("text_config", "llm_config", "language_config")
_REQUIRED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")

_EXPERTS_AS_WIDE_AS_THE_MLP = {"mixtral", "gpt_oss", "phimoe", "granitemoe", "llama4_text"}

Config = Mapping[str, object]


def model_from_config(text: str, key: str = "config") -> ModelSpec:
    """The model that a config.json describes; `key` names it.

    Raises UnreadableTextError where the text is no JSON object, OutOfRangeError where its architecture is unknown,
    a field is missing or a value is none that a model can have.
    """
    outer = _parsed(text)
    config = _text_part(outer)
    kind = _model_type(config, outer)
    family = FAMILIES[kind]
    values = _Values(kind, _filled(config, family, nested=config is not outer))
    values.require(*_REQUIRED)
    values.refuse_unknown_parts(family.fixed)
    heads, hidden = values.whole("num_attention_heads"), values.whole("hidden_size")
    mla, moe = _latent_attention(values), _mixture(values, family)
    head_dim = mla.qk_nope_head_dim + mla.qk_rope_head_dim if mla else values.head_dim(hidden, heads)
    positions = values.whole("max_position_embeddings", 2048, most=_MOST_POSITIONS)
    form = weight_format({**config, **{name: outer[name] for name in BLOCKS if name in outer}})
    layers = values.whole("num_hidden_layers", most=_MOST_LAYERS)
    window, windowed = _windows(values, family, layers)
    tied = values.flag("tie_word_embeddings", family.tied)
    return ModelSpec(
        key=key,
        name=key if config is outer else f"{key}, text",
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads if mla else values.whole("num_key_value_heads", heads),
        head_dim=head_dim,
        intermediate_size=_inner_width(values, family, moe),
        vocab_size=values.whole("vocab_size"),
        max_position_embeddings=positions,
        tie_word_embeddings=tied,
        mlp=family.mlp,
        norm=family.norm,
        norms_per_layer=family.norms_per_layer,
        qkv_bias=_has_bias(values, family, "qkv"),
        o_bias=_has_bias(values, family, "o"),
        mlp_bias=_has_bias(values, family, "mlp"),
        head_bias=family.head_bias or values.flag("lm_head_bias", False),
        qk_norm=family.qk_norm or (bool(family.qk_norm_switch) and values.flag(family.qk_norm_switch, False)),
        learned_positions=0 if family.extra_positions is None else positions + family.extra_positions,
        attention_sinks=family.sinks,
        moe=moe,
        mla=mla,
        weight_dtype=form.dtype,
        quantisation_group=form.group,
        weight_block=form.block,
        left_alone=left_alone(form.kept, layers),
        sliding_window=window,
        windowed_layers=windowed,
        remote_code=kind in REMOTE_CODE,
        source=f"a config.json of model_type {kind}",
    )


def _parsed(text: str) -> Config:
    """The JSON object in a text; words and fences around it are left out."""
    if len(text) > MOST_CHARACTERS:
        raise UnreadableTextError(
            f"the text has {len(text)} characters; a config.json has at most {MOST_CHARACTERS}"
        )
    start = text.find("{")
    if start < 0 or "}" not in text[start:]:
        raise UnreadableTextError("the text holds no JSON object; paste the whole config.json, from { to }")
    try:
        config, end = json.JSONDecoder().raw_decode(text, start)
        beside = _beside(text, end)
    except (ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableTextError(
            f"the text is no JSON{where}; paste the whole config.json, from {{ to }}"
        ) from error
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
    named = config.get("model_type")
    if isinstance(named, str) and named in FAMILIES:
        return named
    for architecture in _names(config.get("architectures")) + _names(outer.get("architectures")):
        if architecture in ARCHITECTURES:
            return ARCHITECTURES[architecture]
    lacking = [name for name in _REQUIRED if name not in config]
    also = f"; the config has no {', '.join(lacking)} either" if lacking else ""
    if named is None:
        raise OutOfRangeError("model_type", "", f"is missing, and says how the rest is meant{also}")
    known = ", ".join(FAMILIES)
    raise OutOfRangeError("model_type", str(named)[:40], f"is unknown here; known are {known}{also}")


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _filled(config: Config, family: Family, nested: bool) -> Config:
    """A config under the usual names, over its class's own values; a null says that there is none.

    A file writes all its sizes, but a part nested in another only those that are not its class's own.
    """
    renamed = {family.renamed.get(name, name): value for name, value in config.items()}
    fields = {**(family.sizes if nested else {}), **family.defaults, **renamed}
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class _Values:
    """A config's fields, checked as they are read."""

    kind: str
    fields: Config

    def get(self, name: str) -> object:
        return self.fields.get(name)

    def require(self, *names: str) -> None:
        """Raise OutOfRangeError that names every field that is missing."""
        lacking = [name for name in names if name not in self.fields]
        if lacking:
            raise OutOfRangeError("model_type", self.kind, f"needs {', '.join(lacking)}, which the config lacks")

    def whole(self, name: str, default: int | None = None, most: int = _MOST) -> int:
        """A whole number from 1; the default where the field is missing."""
        if default is None:
            self.require(name)
        value = self.fields.get(name, default)
        if isinstance(value, float) and value.is_integer() and value <= most:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise OutOfRangeError(name, str(value)[:40], f"must be a whole number from 1 to {most}")
        return value

    def count(self, name: str) -> int:
        """A whole number from 0, which a missing field is."""
        return self.whole(name) if self.fields.get(name, 0) not in (0, False) else 0

    def flag(self, name: str, default: bool) -> bool:
        """True or false; the default where the field is missing."""
        value = self.fields.get(name, default)
        if not isinstance(value, bool):
            raise OutOfRangeError(name, str(value)[:40], "must be true or false")
        return value

    def refuse_unknown_parts(self, fixed: Mapping[str, bool]) -> None:
        """Raise OutOfRangeError for a field that changes parameters in a way nobody here counts."""
        for name, value in {**dict.fromkeys(_UNKNOWN_PARTS, False), **fixed}.items():
            if bool(self.fields.get(name, value)) != value:
                raise OutOfRangeError(
                    name, str(self.fields[name])[:40], "changes parts whose parameters are unknown here"
                )
        narrow = self.fields.get("word_embed_proj_dim", self.fields["hidden_size"])
        if narrow != self.fields["hidden_size"]:
            raise OutOfRangeError("word_embed_proj_dim", str(narrow)[:40], "must be the hidden_size")

    def head_dim(self, hidden: int, heads: int) -> int:
        """The width of a head: written, or the hidden size divided over the heads."""
        if "head_dim" in self.fields:
            return self.whole("head_dim")
        if hidden % heads:
            raise OutOfRangeError("hidden_size", hidden, f"does not divide over num_attention_heads={heads}")
        return hidden // heads


def _inner_width(values: _Values, family: Family, moe: MoeSpec | None) -> int:
    """The width of a dense MLP; of a mixture that has none, what the config says or the experts' own."""
    if moe is not None and not moe.first_k_dense_replace and "intermediate_size" not in values.fields:
        return moe.moe_intermediate_size
    if family.renamed is GPT2_NAMES:
        return values.whole("intermediate_size", 4 * values.whole("hidden_size"))
    return values.whole("intermediate_size")


def _has_bias(values: _Values, family: Family, part: Literal["qkv", "o", "mlp"]) -> bool:
    """Whether a part's matrices carry biases."""
    if family.biases == "as_configured":
        return values.flag("mlp_bias" if part == "mlp" else "attention_bias", False)
    if family.biases == "all" or (family.biases == "qkv" and part == "qkv"):
        return not family.bias_switch or values.flag(family.bias_switch, True)
    return False


def _windows(values: _Values, family: Family, layers: int) -> tuple[int, int]:
    """The window and how many layers have it: as `layer_types` say, else every layer but each `pattern`-th."""
    if values.get("sliding_window") in (None, 0) or not values.flag("use_sliding_window", True):
        return 0, 0
    window, types = values.whole("sliding_window", most=_MOST_POSITIONS), values.get("layer_types")
    if isinstance(types, list):
        return window, min(layers, sum(one == "sliding_attention" for one in types))
    if "max_window_layers" in values.fields and values.kind.startswith("qwen"):
        return window, max(0, layers - values.count("max_window_layers"))
    pattern = values.count("sliding_window_pattern") or family.window_pattern
    return window, layers - layers // pattern if pattern else layers


def _latent_attention(values: _Values) -> MlaSpec | None:
    """MLA, where the config has a latent rank."""
    if values.get("kv_lora_rank") is None:
        return None
    values.require("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    return MlaSpec(
        kv_lora_rank=values.whole("kv_lora_rank"),
        qk_rope_head_dim=values.whole("qk_rope_head_dim"),
        qk_nope_head_dim=values.whole("qk_nope_head_dim"),
        v_head_dim=values.whole("v_head_dim"),
        q_lora_rank=values.whole("q_lora_rank") if values.get("q_lora_rank") is not None else None,
    )


def _mixture(values: _Values, family: Family) -> MoeSpec | None:
    """The experts, where the config has any; under each family's own names."""
    kind = values.kind
    if family.experts:
        values.require(family.experts)
    name = next((one for one in ("num_local_experts", "n_routed_experts", "num_experts") if values.get(one)), None)
    if name is None:
        return None
    if kind not in _EXPERTS_AS_WIDE_AS_THE_MLP:
        values.require("moe_intermediate_size")
    for rhythm in ("moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step"):
        if values.whole(rhythm, 1) != 1:
            raise OutOfRangeError(rhythm, str(values.get(rhythm))[:40], "must be 1: experts in every layer")
    if values.get("mlp_only_layers"):
        raise OutOfRangeError("mlp_only_layers", str(values.get("mlp_only_layers"))[:40], "must be empty")
    wide = "intermediate_size" if kind in _EXPERTS_AS_WIDE_AS_THE_MLP else "moe_intermediate_size"
    shared_width = values.count("shared_expert_intermediate_size")
    return MoeSpec(
        num_experts=values.whole(name),
        num_experts_per_tok=values.whole("num_experts_per_tok", most=values.whole(name)),
        moe_intermediate_size=values.whole(wide),
        n_shared_experts=values.count("n_shared_experts"),
        shared_expert_intermediate_size=shared_width,
        first_k_dense_replace=min(values.count("first_k_dense_replace"), values.whole("num_hidden_layers")),
        shared_expert_gate=bool(shared_width),
        router_bias=kind == "gpt_oss" or values.get("topk_method") == "noaux_tc",
    )
