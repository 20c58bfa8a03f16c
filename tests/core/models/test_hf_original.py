"""A maker's own params.json counts as the config.json of the same model does."""

import json

import pytest

from core.errors import OutOfRangeError
from core.models.hf_config import model_from_config
from core.models.parameters import total_parameters

MISTRAL = {"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32, "n_kv_heads": 8}
EIGHT = {"num_experts": 8, "num_experts_per_tok": 2}
LLAMA3 = {
    "dim": 4096,
    "n_layers": 32,
    "n_heads": 32,
    "n_kv_heads": 8,
    "multiple_of": 1024,
    "ffn_dim_multiplier": 1.3,
}
LLAMA1 = {"dim": 4096, "n_layers": 32, "n_heads": 32, "multiple_of": 256}


def read(**params: object):
    return model_from_config(json.dumps(params))


@pytest.mark.parametrize(
    ("params", "parameters"),
    [
        ({**MISTRAL, "vocab_size": 32768}, 7_248_023_552),
        ({**MISTRAL, "vocab_size": 131072, "dim": 5120, "n_layers": 40}, 12_247_782_400),
        ({**MISTRAL, "vocab_size": 32000, "moe": EIGHT}, 46_702_792_704),
        ({**LLAMA3, "vocab_size": 128256}, 8_030_261_248),
        ({**LLAMA1, "vocab_size": 32000}, 6_738_415_616),
    ],
    ids=["Mistral 7B v0.3", "Mistral Nemo", "Mixtral 8x7B", "Llama 3 8B", "Llama 7B"],
)
def test_the_published_count_comes_out(params, parameters):
    """Each as the repository of its config.json is counted by Hugging Face."""
    assert total_parameters(read(**params)) == parameters


def test_a_list_of_windows_is_repeated_down_the_stack():
    """Ministral 8B: one layer of four sees all."""
    found = read(**MISTRAL, vocab_size=131072, sliding_window=[None, 32768, 32768, 32768], max_seq_len=131072)
    assert found.windowed_layers == 24
    assert found.max_position_embeddings == 131072


def test_shared_experts_and_latent_heads_are_deepseek_s_code():
    """Mistral Large 3's parts at a small size, in 8 bits."""
    latent = {
        "q_lora_rank": 96,
        "kv_lora_rank": 64,
        "qk_rope_head_dim": 16,
        "qk_nope_head_dim": 32,
        "v_head_dim": 32,
    }
    mixture = {**EIGHT, "num_shared_experts": 1, "expert_hidden_dim": 128, "first_k_dense_replace": 3}
    found = read(**MISTRAL, **latent, vocab_size=1000, moe=mixture, quantization={"qformat_weight": "fp8_e4m3"})
    assert (found.weight_dtype, found.mla is not None) == ("fp8", True)
    assert found.moe is not None
    assert (found.moe.num_experts, found.moe.n_shared_experts, found.moe.router_bias) == (8, 1, False)


def test_a_size_that_the_file_leaves_to_the_tokenizer_is_asked_for():
    """Llama 2's vocabulary is -1 there."""
    with pytest.raises(OutOfRangeError, match="vocab_size=-1"):
        read(**LLAMA1, vocab_size=-1)
