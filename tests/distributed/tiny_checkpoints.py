"""Random Hugging Face directories of a few thousand parameters, one for each thing that shapes differ in."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

BASE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 37,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
}
STRETCHED = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
KINDS = {
    "llama-tied": {"model_type": "llama", "tie_word_embeddings": True},
    "llama-untied-biased-stretched": {
        "model_type": "llama",
        "tie_word_embeddings": False,
        "attention_bias": True,
        "mlp_bias": True,
        "rope_scaling": STRETCHED,
    },
    "llama-one-kv-head": {"model_type": "llama", "tie_word_embeddings": False, "num_key_value_heads": 1},
    "qwen2-biased": {"model_type": "qwen2", "tie_word_embeddings": True, "rope_theta": 1e6},
    "qwen3-normed-wide-heads": {"model_type": "qwen3", "tie_word_embeddings": False, "head_dim": 16},
}


def shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Every tensor that transformers would save, with its shape."""
    d, f, heads, kv = (
        config[name] for name in ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    )
    k = config.get("head_dim", d // heads)
    biased = config["model_type"] == "qwen2" or config.get("attention_bias", False)
    found = {"model.embed_tokens.weight": (config["vocab_size"], d), "model.norm.weight": (d,)}
    if not config["tie_word_embeddings"]:
        found["lm_head.weight"] = (config["vocab_size"], d)
    for number in range(config["num_hidden_layers"]):
        at = f"model.layers.{number}."
        outs = {"q": (heads * k, d), "k": (kv * k, d), "v": (kv * k, d), "o": (d, heads * k)}
        for name, shape in outs.items():
            found[f"{at}self_attn.{name}_proj.weight"] = shape
            if biased and (name != "o" or config["model_type"] == "llama"):
                found[f"{at}self_attn.{name}_proj.bias"] = shape[:1]
        for name, shape in {"gate": (f, d), "up": (f, d), "down": (d, f)}.items():
            found[f"{at}mlp.{name}_proj.weight"] = shape
            if config.get("mlp_bias"):
                found[f"{at}mlp.{name}_proj.bias"] = shape[:1]
        if config["model_type"] == "qwen3":
            found |= {f"{at}self_attn.{name}_norm.weight": (k,) for name in "qk"}
        found |= {f"{at}{name}_layernorm.weight": (d,) for name in ("input", "post_attention")}
    return found


def write(kind: str, folder: Path, files: int = 1) -> Path:
    """A directory of one kind, in one file, or in several with an index."""
    config, rng = {**BASE, **KINDS[kind]}, np.random.default_rng(len(kind))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = {
        name: (rng.standard_normal(shape) * (0.4 if len(shape) > 1 else 0.2) + ("norm" in name)).astype(np.float32)
        for name, shape in shapes(config).items()
    }
    if files == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    places = {name: f"model-{1 + place % files:05}-of-{files:05}.safetensors" for place, name in enumerate(tensors)}
    for file in set(places.values()):
        save_file({name: tensors[name] for name in tensors if places[name] == file}, folder / file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return folder
