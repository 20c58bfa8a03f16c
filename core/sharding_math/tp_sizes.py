"""Which tensor-parallel sizes a model allows, and the equation that each refused one breaks."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from core.errors import require_positive
from core.models.parameters import padded_vocab_size
from core.models.parts import layer_parts
from core.specs import AttentionSpec, ModelSpec

LARGEST_TP_SIZE = 64

Verdict: TypeAlias = Literal["allowed", "kv_replicated", "refused"]


@dataclass(frozen=True)
class Rule:
    """One dimension that TP cuts, and the unit it may not be cut below."""

    quantity: str
    value: int
    unit: int = 1

    @cached_property
    def units(self) -> int:
        """How many indivisible units the dimension has; 0 when it is not whole units to begin with."""
        return self.value // self.unit if self.value % self.unit == 0 else 0

    def holds(self, tp_size: int) -> bool:
        """Every rank gets the same whole number of units."""
        return self.units > 0 and self.units % tp_size == 0

    def broken_equation(self, tp_size: int) -> str:
        """What is left over, written out: `num_attention_heads: 32 = 5 × 6 + 2`."""
        quotient, remainder = divmod(self.value // self.unit, tp_size)
        per_unit = f" / {self.unit}" if self.unit > 1 else ""
        return f"{self.quantity}: {self.value}{per_unit} = {quotient} × {tp_size} + {remainder}"


@dataclass(frozen=True)
class TpSize:
    """One size for one model. `kv_copies` is how many ranks hold each KV head."""

    tp_size: int
    verdict: Verdict
    kv_copies: int
    broken: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def divisibility_rules(model: ModelSpec, quantisation_group: int | None = None) -> tuple[Rule, ...]:
    """Every dimension of a model that TP cuts. The hidden size is not among them: no weight is cut along it.

    A quantised weight shares one scale among `quantisation_group` inputs, or the model's own number of them, and a
    group is not cut; that binds the inputs of the row-parallel layers. KV heads have their own rule: beyond their
    number they are copied.
    """
    group = quantisation_group or _checkpoint_group(model)
    rules = [Rule("num_attention_heads", model.num_attention_heads), *_mlp_rules(model, group)]
    if group > 1:
        rules.append(Rule("attention output in groups", _attention_width(model), group))
    rules.append(Rule("padded_vocab_size", padded_vocab_size(model.vocab_size)))
    return (*rules, *_of_other_kinds(model))


def _of_other_kinds(model: ModelSpec) -> list[Rule]:
    """What layers of other kinds are cut along: the heads of a window, of linear attention, of Mamba; groups."""
    cuts = (cut for kind in model.kinds for part in layer_parts(model, kind) for cut in part.cuts)
    cut_along = {(cut.what, cut.units): None for cut in cuts if cut.share == "cut" and "width" not in cut.what}
    known = {"num_attention_heads": model.num_attention_heads, "moe_intermediate_size": 0}
    return [Rule(what, units) for what, units in cut_along if known.get(what) not in (units, 0)]


@lru_cache(maxsize=256)
def block_rules(model: ModelSpec) -> tuple[Rule, ...]:
    """What a rank's part of a weight must be whole blocks of, where outputs and inputs share scales in blocks.

    Parts that are left in 16 bits everywhere are not bound. Source: vllm/model_executor/layers/quantization/
    utils/fp8_utils.py, validate_fp8_block_shape, and fp8.py, Fp8MoEMethod.create_weights.
    """
    if model.weight_block is None:
        return ()
    edge = max(model.weight_block)
    wide = {part for part, layers in model.left_alone if len(layers) == model.num_hidden_layers}
    rules = [] if "mlp in" in wide else _mlp_rules(model, edge)
    return (*rules, *([] if "o" in wide else [Rule("attention output in blocks", _attention_width(model), edge)]))


def _checkpoint_group(model: ModelSpec) -> int:
    """A checkpoint's own group; mxfp4's is no bound, for its kernels pad what a rank holds."""
    return model.quantisation_group or 1 if model.weight_dtype in ("int4", "int8", "nvfp4") else 1


def _attention_width(model: ModelSpec) -> int:
    return model.num_attention_heads * (model.mla.v_head_dim if model.mla else model.head_dim)


def _mlp_rules(model: ModelSpec, group: int) -> list[Rule]:
    """The widths of the MLPs and experts that the model has; one that is no whole groups cannot be quantised."""
    widths = [("intermediate_size", model.intermediate_size)]
    if model.moe is not None:
        if model.sparse_layers == model.num_hidden_layers:
            widths = []
        widths += [
            ("moe_intermediate_size", model.moe.moe_intermediate_size),
            ("shared_expert_intermediate_size", model.moe.shared_expert_intermediate_size),
        ]
    return [Rule(name, width, 1 if width % group else group) for name, width in widths if width]


@lru_cache(maxsize=256)
def check_tp_size(
    model: ModelSpec, tp_size: int, quantisation_group: int | None = None, experts_whole: bool = False
) -> TpSize:
    """Whether a model splits over `tp_size` ranks; all the equations it breaks when it does not.

    `experts_whole` where expert parallelism leaves every expert on one rank.

    Raises OutOfRangeError when `tp_size` is not positive.
    """
    require_positive(tp_size=tp_size)
    rules = divisibility_rules(model, quantisation_group)
    # an engine compares blocks only where it cuts
    rules += block_rules(model) if tp_size > 1 else ()
    left_over = (rule for rule in rules if not rule.holds(tp_size))
    whole = "moe_intermediate_size" if experts_whole else ""
    broken = [rule.broken_equation(tp_size) for rule in left_over if rule.quantity != whole]
    broken += [_kv_equation(heads, tp_size) for heads in _kv_heads(model) if heads % tp_size and tp_size % heads]
    if broken:
        return TpSize(tp_size, "refused", 0, tuple(dict.fromkeys(broken)))
    copies = tp_size if model.mla is not None else max(1, tp_size // model.num_key_value_heads)
    return TpSize(tp_size, "kv_replicated" if copies > 1 else "allowed", copies)


@lru_cache(maxsize=256)
def _kv_heads(model: ModelSpec) -> tuple[int, ...]:
    """The numbers of KV heads that a model's layers have; none of latent attention."""
    mixers = (kind.mixer for kind, _ in model.kinds_of())
    return tuple(dict.fromkeys(mixer.kv_heads for mixer in mixers if isinstance(mixer, AttentionSpec)))


def _kv_equation(kv_heads: int, tp_size: int) -> str:
    """KV heads divide over the ranks or the ranks over the KV heads; here neither."""
    larger, smaller = max(kv_heads, tp_size), min(kv_heads, tp_size)
    return f"num_key_value_heads: {larger} = {larger // smaller} × {smaller} + {larger % smaller}"


@lru_cache(maxsize=64)
def tp_sizes(
    model: ModelSpec, largest: int = LARGEST_TP_SIZE, quantisation_group: int | None = None
) -> tuple[TpSize, ...]:
    """Every size from 1 to `largest`, judged."""
    return tuple(check_tp_size(model, size, quantisation_group) for size in range(1, largest + 1))
