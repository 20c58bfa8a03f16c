"""The parameters of what sees beside a language model: a vision tower's blocks, its tables, what leads to the text.

h its width, f its inner width, L its blocks, m = merge², o the text's width. Exact for Qwen3-VL's and Qwen3.5's. Of
others the blocks and patches are counted: a tenth is left out of most, half where the way to the text is wide.
"""

from collections.abc import Mapping

from core.models.hf_values import MOST_LAYERS, Values

_GATED = ("qwen2_5_vl", "pixtral", "glm4v")
_OWNERS = ("vision_config", "vit_config")
CHANNELS = 3


def vision_parameters(config: Mapping[str, object]) -> int:
    """Of the tower that a config.json describes; 0 where it describes none, or not its sizes.

    L · (4h² + 2hf + 9h + f) + (3tp² + 1) · h + positions · h + merger + D · deep merger
    """
    tower = next((part for name in _OWNERS if isinstance(part := config.get(name), dict)), {})
    values = Values(str(tower.get("model_type") or config.get("model_type")), tower).under(
        {"num_hidden_layers": "depth"}
    )
    values = (
        values.under({"hidden_size": "embed_dim", "out_hidden_size": "hidden_size"})
        if "embed_dim" in tower
        else values
    )
    if "hidden_size" not in values.fields or "num_hidden_layers" not in values.fields:
        return 0
    h, layers = values.whole("hidden_size"), values.whole("num_hidden_layers", most=MOST_LAYERS)
    f = values.whole("intermediate_size", int(h * float(str(tower.get("mlp_ratio") or 4))))
    if values.kind.startswith("glm4v"):
        f = values.whole("out_hidden_size", f)
    gated = any(values.kind.startswith(name) for name in _GATED)
    block = 4 * h**2 + (3 if gated else 2) * h * f + (2 * h if gated else 9 * h + f)
    edge = tower.get("patch_size", 14)
    edge = edge[0] if isinstance(edge, list) and edge else edge
    patch = edge if isinstance(edge, int) and 0 < edge < 256 else 14
    patches = h * CHANNELS * values.whole("temporal_patch_size", 1) * patch**2
    out = values.count("out_hidden_size")
    if not out:
        return layers * block + patches
    wide = h * values.whole("spatial_merge_size", 2) ** 2
    leads = wide**2 + wide + wide * out + out
    deep = tower.get("deepstack_visual_indexes")
    deeper = len(deep) * (2 * wide + leads) if isinstance(deep, list) else 0
    tables = h + values.count("num_position_embeddings") * h
    return layers * block + patches + tables + 2 * h + leads + deeper
