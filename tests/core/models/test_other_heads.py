"""A per-layer override of heads is counted, or refused by its name: Step's `attention_other_setting`."""

import json

import pytest

from core.errors import OutOfRangeError
from core.models.hf_config import model_from_config
from core.models.kv_cache import kv_bytes_per_token
from core.models.parameters import total_parameters

OTHER = {
    "attention_type": "sliding_attention",
    "num_attention_heads": 96,
    "num_attention_groups": 8,
    "head_dim": 128,
}
STEP = {
    "model_type": "step3p5",
    "hidden_size": 4096,
    "num_hidden_layers": 8,
    "num_attention_heads": 64,
    "num_attention_groups": 8,
    "head_dim": 128,
    "intermediate_size": 11264,
    "vocab_size": 128896,
    "max_position_embeddings": 262144,
    "sliding_window": 512,
    "layer_types": ["full_attention", *["sliding_attention"] * 3] * 2,
    "moe_layers_enum": "3,4,5,6,7",
    "moe_num_experts": 16,
    "moe_top_k": 8,
    "moe_intermediate_size": 1280,
    "share_expert_dim": 1280,
    "use_head_wise_attn_gate": True,
}


def read(**others):
    return model_from_config(json.dumps({**STEP, **others}))


def test_layers_with_a_window_have_the_heads_that_are_set_apart():
    """Six of eight layers: 32 heads more, of 128 each in q and o, and a gate of one number a head."""
    more = total_parameters(read(attention_other_setting=OTHER)) - total_parameters(read())
    assert more == 6 * (2 * 32 * 128 * 4096 + 32 * 4096)
    assert kv_bytes_per_token(read(attention_other_setting=OTHER)) == kv_bytes_per_token(read())


def test_fewer_groups_in_them_keep_less():
    halved = read(attention_other_setting={**OTHER, "num_attention_groups": 4})
    assert kv_bytes_per_token(halved) == (2 * 8 + 6 * 4) * 2 * 128 * 2


@pytest.mark.parametrize(
    "changed",
    [
        {"attention_other_setting": {**OTHER, "attention_type": "full_attention"}},
        {"model_type": "llama", "attention_other_setting": OTHER},
        {"model_type": "qwen3", "attention_other_setting": OTHER},
    ],
)
def test_an_override_that_is_not_counted_is_refused_by_its_name(changed):
    with pytest.raises(OutOfRangeError, match="attention_other_setting"):
        read(**changed)
