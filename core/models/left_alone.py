"""Which parts of which layers a quantised checkpoint leaves in 16 bits, from the names that its config gives them.

Every engine's own files name modules their own way: whole (`model.layers.0.mlp.down_proj`), by a part (`lm_head`,
`self_attn`), with wildcards (`model.layers.*.self_attn*`) or as a regular expression (`re:.*mlp\\.gate$`). Nothing
that was pasted is run as a regular expression: one is read as far as it is a wildcard in other words.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import product
from types import MappingProxyType

from core.errors import OutOfRangeError, remark, shortened
from core.text.numbers import whole

LeftAlone = tuple[tuple[str, frozenset[int]], ...]
_QKV = tuple(f"self_attn.{name}_proj" for name in "qkv")


def _mlp(prefix: str) -> Mapping[str, tuple[str, ...]]:
    # gate and up are one tensor, so that one name tells of both; a plain MLP has no gate
    return {"in": (f"{prefix}.up_proj",), "down": (f"{prefix}.down_proj",)}


PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "qkv": _QKV,
        "o": ("self_attn.o_proj",),
        "q": ("self_attn.q_proj",),
        "q down": ("self_attn.q_a_proj",),
        "q up": ("self_attn.q_b_proj",),
        "kv down": ("self_attn.kv_a_proj_with_mqa",),
        "kv up": ("self_attn.kv_b_proj",),
        "index q": ("self_attn.indexer.wq_b",),
        "index k": ("self_attn.indexer.wk",),
        "o down": ("self_attn.o_a_proj",),
        "compressor": ("self_attn.compressor",),
        "index compressor": ("self_attn.indexer.compressor",),
        "linear in": ("linear_attn.in_proj_qkv",),
        "linear decay": ("linear_attn.in_proj_b",),
        "linear out": ("linear_attn.out_proj",),
        "mamba in": ("mixer.in_proj",),
        "mamba out": ("mixer.out_proj",),
        "latent in": ("mlp.fc1_latent_proj",),
        "latent out": ("mlp.fc2_latent_proj",),
        **{f"mlp {side}": names for side, names in _mlp("mlp").items()},
        **{f"shared expert {side}": names for side, names in _mlp("mlp.shared_experts").items()},
        **{f"experts {side}": names for side, names in _mlp("mlp.experts.0").items()},
    }
)
"""A layer's matrices as core.models.loaded_weights names them, and the modules that each is made of."""

_BESIDE = {part: tuple(name.replace("mlp.experts.", "experts.") for name in names) for part, names in PARTS.items()}
_FIELD_NAMES = (
    ("block_sparse_moe.", "mlp."),
    ("feed_forward.", "mlp."),
    ("ffn.", "mlp."),
    *((f"mixer.{name}_proj", f"self_attn.{name}_proj") for name in "qkvo"),
    *((f"mixer.{name}", f"mlp.{name}") for name in ("experts", "shared_experts", "up_proj", "down_proj", "fc")),
    ("mamba.", "mixer."),
    ("in_proj_qkvz", "in_proj_qkv"),
    ("in_proj_ba", "in_proj_b"),
    ("mlp.self_attn", "self_attn"),
    ("shared_expert.", "shared_experts."),
    (".w1", ".gate_proj"),
    (".w3", ".up_proj"),
    (".w2", ".down_proj"),
    ("qkv_proj", "?_proj"),
    ("gate_up_proj", "*_proj"),
)
"""Other names of the same modules. A fused one stands for its parts."""
_ANYTHING = re.compile(r"(?<!\\)\.[*+]|\\d[+*]?|\[0-9\][+*]?")
_CHOICE = re.compile(r"\((?:\?:)?([\w.*|-]{1,400})\)")
_GLOB = re.compile(r"[\w.*?/-]*")
_MOST_CHOICES = 64


def left_alone(names: Sequence[str], layers: int, beside: bool = False) -> LeftAlone:
    """Each part that is left alone somewhere, with the layers where it is.

    Experts are a part of `mlp`, or stand `beside` it, as Gemma 4's do.

    Raises OutOfRangeError for a regular expression that is more than a wildcard.
    """
    of_parts = _BESIDE if beside else PARTS
    patterns = [glob for name in names for glob in _globs(name)]
    written = [pattern for pattern in patterns if not set(pattern) & set("*?")]
    wild = [pattern for pattern in patterns if set(pattern) & set("*?")]
    by_layer: dict[int, list[tuple[str, ...]]] = {}
    anywhere: list[tuple[str, ...]] = []
    for pattern in written:
        parts = tuple(pattern.split("."))
        numbered = parts[0] == "layers" and len(parts) > 1 and parts[1].isdecimal()
        if numbered:
            by_layer.setdefault(whole(parts[1]), []).append(parts[2:])
        else:
            anywhere.append(parts)
    everywhere = {part for part, modules in of_parts.items() if _all_named(modules, anywhere)}
    kept: dict[str, set[int]] = {part: set(range(layers)) for part in everywhere}
    for layer in range(layers):
        here = [*anywhere, *by_layer.get(layer, ())]
        for part, modules in of_parts.items():
            if part in everywhere or not (wild or layer in by_layer):
                continue
            if all(_named(module, here) or _matches(module, layer, wild) for module in modules):
                kept.setdefault(part, set()).add(layer)
    return tuple((part, frozenset(where)) for part, where in kept.items() if where)


def _all_named(modules: Iterable[str], patterns: Sequence[tuple[str, ...]]) -> bool:
    return all(_named(module, patterns) for module in modules)


def _named(module: str, patterns: Sequence[tuple[str, ...]]) -> bool:
    """Whether a pattern is a run of a module's own names; one that is empty is its whole layer."""
    parts = tuple(module.split("."))
    return any(
        any(parts[start : start + len(pattern)] == pattern for start in range(len(parts) - len(pattern) + 1))
        for pattern in patterns
    )


def _matches(module: str, layer: int, wild: Sequence[str]) -> bool:
    name = f"layers.{layer}.{module}"
    return any(fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*") for pattern in wild)


def _globs(name: str) -> list[str]:
    """A name as patterns with `*` and `?`, from `layers` on where it has that."""
    name = _unescaped(name) if name.startswith("re:") else name.rstrip(".")
    for theirs, ours in _FIELD_NAMES:
        name = name.replace(theirs, ours)
    choices = [part.split("|") if index % 2 else [part] for index, part in enumerate(_CHOICE.split(name))]
    globs = ["".join(parts) for parts, _ in zip(product(*choices), range(_MOST_CHOICES), strict=False)]
    if any(not _GLOB.fullmatch(glob) for glob in globs):
        raise OutOfRangeError(remark("errors.modules_left_alone"), shortened(name), "pattern")
    return [glob[glob.index("layers.") :] if "layers." in glob else glob for glob in globs]


def _unescaped(name: str) -> str:
    """A regular expression's wildcards as a shell's: `.*` and digits as `*`; open at the end unless it says not."""
    body = name.removeprefix("re:").removeprefix("^")
    ended = body.endswith("$")
    body = _ANYTHING.sub("*", body.removesuffix("$")).replace(r"\.", ".")
    return body if ended or body.endswith("*") else f"{body}*"
