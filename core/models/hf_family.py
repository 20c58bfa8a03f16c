"""What an architecture's code fixes and its config.json does not say: the columns of the table of families."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from core.models.hf_values import Config, Values

Biases = Literal["none", "qkv", "all", "as_configured"]


@dataclass(frozen=True)
class Family:
    """What an architecture's code fixes and its config does not say.

    `biases`: on nothing; on q, k and v; on everything, these two unless the field `bias_switch` is false; or where
    `attention_bias` and `mlp_bias` put them. The field `qk_norm_switch` turns on the norms of queries and keys,
    which are of a head or of the whole row; `gate_switch` the gate of the attention's output. `extra_positions` are
    learned beside the `max_position_embeddings`; None where positions are not learned. `experts` is the field that
    counts a mixture's experts; a field in `fixed` with another value changes parts in a way that is not counted
    here. Where a file has a sliding window and says not where, each `window_pattern`-th layer is without; 0: none
    is. `otherwise` is what mixes in the layers that are not named as attention. `one_block` layers hold a mixer or
    an MLP, not both; `both_inner` ones an MLP and a mixture side by side, and of such ones those that are `twice`
    have attention and an MLP once more. Blocks stand `side_by_side` where vLLM adds what attention and MLP give
    before one sum over the ranks. `full_names` and `window_names` are fields that replace the usual ones in layers
    of that kind, `extra` the parameters of a layer that no block has.
    `defaults` are the class's own values of fields that a file may leave out, `sizes` of those that only a file
    nested in another leaves out; `renamed` maps a file's name of a field to the usual one, and `derived` writes
    fields that follow from others.
    """

    biases: Biases = "none"
    bias_switch: str = ""
    tied: bool = False
    mlp: Literal["gated", "plain"] = "gated"
    norm: Literal["rmsnorm", "layernorm", "bare"] = "rmsnorm"
    norms_per_layer: int = 2
    norms_of_experts: int = 0
    qk_norm: Literal["", "head", "row"] = ""
    qk_norm_switch: str = ""
    gate: Literal["", "row", "head"] = ""
    gate_switch: str = "attn_output_gate"
    head_bias: bool = False
    sinks: bool = False
    extra_positions: int | None = None
    window_pattern: int = 0
    otherwise: Literal["", "linear", "lightning", "mamba", "selective", "conv", "both"] = ""
    one_block: bool = False
    twice: bool = False
    both_inner: bool = False
    side_by_side: bool = False
    experts: str = ""
    router_bias: bool = False
    shared_gate: bool = False
    no_rotary: bool = False
    fixed: Mapping[str, bool] = field(default_factory=dict)
    defaults: Mapping[str, int | str | float] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    full_names: Mapping[str, str] = field(default_factory=dict)
    window_names: Mapping[str, str] = field(default_factory=dict)
    extra: Callable[[Values], int] | None = None
    derived: Callable[[Config], Config] | None = None


SAME = {
    "num_local_experts": "num_experts",
    "n_routed_experts": "num_experts",
    "moe_num_experts": "num_experts",
    "num_experts_per_token": "num_experts_per_tok",
    "top_k_experts": "num_experts_per_tok",
    "moe_k": "num_experts_per_tok",
    "moe_top_k": "num_experts_per_tok",
    "moe_topk": "num_experts_per_tok",
    "num_shared_expert": "n_shared_experts",
    "num_dense_layers": "first_k_dense_replace",
    "num_shared_experts": "n_shared_experts",
    "moe_num_shared_experts": "n_shared_experts",
    "shared_intermediate_size": "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size": "shared_expert_intermediate_size",
    "share_expert_dim": "shared_expert_intermediate_size",
    "num_attention_groups": "num_key_value_heads",
    "mamba_n_heads": "mamba_num_heads",
    "mamba_d_head": "mamba_head_dim",
    "n_groups": "mamba_n_groups",
    "mamba_d_state": "ssm_state_size",
    "mamba_d_conv": "conv_kernel",
    "mamba_conv_bias": "use_conv_bias",
    "attention_head_dim": "head_dim",
    "moe_latent_size": "latent_size",
    "routed_expert_hidden_size": "latent_size",
    "latent_moe_use_norm": "latent_norm",
}
"""Names of one thing in several families, and the name that is used here."""
