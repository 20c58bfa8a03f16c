"""A second implementation of Llama and Qwen in numpy: one device, float64, no cache, weights read whole.

Written from the equations of the papers and of transformers' modelling files, sharing no line with distributed/:
each layer in loops over heads and positions where that is plainest.
"""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file


def weights(folder: Path) -> dict[str, np.ndarray]:
    """Every tensor of a directory, in float64."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= {name: tensor.astype(np.float64) for name, tensor in load_file(path).items()}
    return found


def logits(folder: Path, tokens: list[int]) -> np.ndarray:
    """Scores of the next token after each position.  (T, V)"""
    config, w = json.loads((folder / "config.json").read_text()), weights(folder)
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    eps, turns = config["rms_norm_eps"], angles(config, head_dim)
    x = w["model.embed_tokens.weight"][tokens]
    for number in range(config["num_hidden_layers"]):
        at = f"model.layers.{number}."
        h = norm(x, w[at + "input_layernorm.weight"], eps)
        x = x + attention(h, w, at + "self_attn.", heads, kv_heads, head_dim, turns, eps)
        h = norm(x, w[at + "post_attention_layernorm.weight"], eps)
        gate, up = (linear(h, w, f"{at}mlp.{name}_proj") for name in ("gate", "up"))
        x = x + linear(gate / (1 + np.exp(-gate)) * up, w, at + "mlp.down_proj")
    head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return norm(x, w["model.norm.weight"], eps) @ head.T


def norm(x, scale, eps):
    """x over its root mean square, scaled."""
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * scale


def linear(x, w, name):
    """x · Wᵀ + b, where there is a b."""
    return x @ w[name + ".weight"].T + w.get(name + ".bias", 0.0)


def angles(config, head_dim):
    """How far each pair of dims turns a position."""
    turns = np.array([config["rope_theta"] ** (-2 * i / head_dim) for i in range(head_dim // 2)])
    scaling = config.get("rope_scaling")
    if not scaling:
        return turns
    stretched = []
    for turn in turns:
        length = 2 * np.pi / turn
        longest = scaling["original_max_position_embeddings"] / scaling["low_freq_factor"]
        shortest = scaling["original_max_position_embeddings"] / scaling["high_freq_factor"]
        if length < shortest:
            stretched.append(turn)
        elif length > longest:
            stretched.append(turn / scaling["factor"])
        else:
            span = scaling["high_freq_factor"] - scaling["low_freq_factor"]
            smooth = (scaling["original_max_position_embeddings"] / length - scaling["low_freq_factor"]) / span
            stretched.append((1 - smooth) * turn / scaling["factor"] + smooth * turn)
    return np.array(stretched)


def turned(row, position, turns):
    """One head's row at a position, each pair (i, i + half) as a complex number times e^(i·angle)."""
    half = len(turns)
    pairs = (row[:half] + 1j * row[half:]) * np.exp(1j * position * turns)
    return np.concatenate([pairs.real, pairs.imag])


def attention(h, w, at, heads, kv_heads, head_dim, turns, eps):
    """Causal attention, a head and a position at a time."""
    q, k, v = (linear(h, w, f"{at}{name}_proj") for name in "qkv")
    length, out = len(h), np.zeros((len(h), heads * head_dim))
    for head in range(heads):
        shared = head // (heads // kv_heads)
        mine, theirs = (slice(n * head_dim, (n + 1) * head_dim) for n in (head, shared))
        queries, keys = q[:, mine], k[:, theirs]
        if at + "q_norm.weight" in w:
            queries = norm(queries, w[at + "q_norm.weight"], eps)
            keys = norm(keys, w[at + "k_norm.weight"], eps)
        queries = np.array([turned(queries[t], t, turns) for t in range(length)])
        keys = np.array([turned(keys[t], t, turns) for t in range(length)])
        for t in range(length):
            scores = keys[: t + 1] @ queries[t] / np.sqrt(head_dim)
            shares = np.exp(scores - scores.max())
            out[t, mine] = shares / shares.sum() @ v[: t + 1, theirs]
    return linear(out, w, at + "o_proj")
