"""vLLM's registry of models, walked: what is read, what is refused and by what name; and counts of PyTorch's own.

`vllm_registry.json` is the registry of a release: the group (text; seeing: text with pictures or sound; earlier: no
longer served), the class, the `model_type` of its text part where transformers or the class's first checkpoint
names one, and what becomes of it here. `class_defaults.jsonl` has for each class of transformers its own default
config and the parameters PyTorch counts in a model made of it, with the routers' corrections and Gemma's scalars,
which checkpoints hold and classes keep as buffers.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from core.errors import OutOfRangeError
from core.models.hf_config import model_from_config
from core.models.parameters import total_parameters
from tests.each import each

HERE = Path(__file__).parent
REGISTRY = json.loads((HERE / "vllm_registry.json").read_text())["architectures"]
DEFAULTS = [json.loads(line) for line in (HERE / "class_defaults.jsonl").read_text().splitlines()]


def test_every_architecture_of_the_registry_is_taken_or_refused_by_name():
    """Where a class is `nested`, its text part's own name decides, as that of a model without pictures would."""
    wrong = [row for row in REGISTRY if becomes_of(*row[1:3]) != row[3]]
    assert wrong == []
    text = Counter(read for group, _, _, read in REGISTRY if group == "text")
    assert text == {"taken": 122, "refused": 24, "nested": 1}


def becomes_of(architecture: str, kind: str) -> str:
    named = {"model_type": kind} if kind else {}
    try:
        model_from_config(json.dumps({"architectures": [architecture], **named}))
    except OutOfRangeError as error:
        if " needs " in str(error):
            return "taken"
        return "nested" if "is missing" in str(error) else "refused"
    return "taken"


@each("case", DEFAULTS)
def test_a_class_s_own_model_has_the_parameters_that_pytorch_counts(case):
    assert total_parameters(model_from_config(json.dumps(case["config"]))) == case["parameters"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AliceAIForCausalLM", "has layers of its own in vLLM"),
        ("LlamaForCausalLMEagle3", "guesses ahead for another model"),
        ("EagleMiniCPMForCausalLM", "guesses ahead for another model"),
        ("Qwen3NextMTP", "guesses ahead for another model"),
        ("Qwen3DSparkModel", "guesses ahead for another model"),
        ("DFlashDraftModel", "guesses ahead for another model"),
        ("IQuestLoopCoderForCausalLM", "runs its layers more than once a token"),
        ("LongcatFlashNgramForCausalLM", "has tables of several tokens together"),
        ("NemotronHPuzzleForCausalLM", "has layers of unlike sizes"),
    ],
)
def test_a_class_whose_parts_are_not_counted_is_refused_with_what_it_has(name, said):
    with pytest.raises(OutOfRangeError, match=f"architecture={name} {said}"):
        model_from_config(json.dumps({"architectures": [name], "model_type": "of_its_own"}))


def test_a_model_whose_text_part_is_another_repository_s_asks_for_that_one():
    """Ultravox: its file names the language model and has none of its sizes."""
    config = {"model_type": "ultravox", "text_config": None, "text_model_id": "meta-llama/Llama-3.1-8B-Instruct"}
    with pytest.raises(OutOfRangeError, match="Instruct is the model that thinks: give its config"):
        model_from_config(json.dumps(config))


def of_sizes(**more: object) -> int:
    """The parameters of a config with a 7B's usual sizes."""
    sizes = {"hidden_size": 4096, "num_hidden_layers": 34, "num_attention_heads": 32, "vocab_size": 153376}
    return total_parameters(model_from_config(json.dumps({**sizes, "intermediate_size": 12800, **more})))


def test_classes_of_vllm_s_own_count_as_their_code_has_them():
    """openPangu's biases on attention, TeleChat 2's on what leaves a block; the same matrices as a Llama's."""
    plain = of_sizes(model_type="llama")
    assert of_sizes(architectures=["TeleChat3ForCausalLM"]) == plain
    assert of_sizes(architectures=["PanguEmbeddedForCausalLM"], bias=True) - plain == 34 * 4 * 4096
    assert of_sizes(architectures=["TeleChat2ForCausalLM"]) - plain == 34 * 2 * 4096
    assert of_sizes(architectures=["MiniCPMV"], model_type="minicpmv", version=2.6) == of_sizes(model_type="qwen2")


def test_openpangu_ultra_has_the_718_billion_parameters_it_is_named_for():
    """Under the field names of its first release: openPangu-Ultra-MoE-718B."""
    config = {
        "architectures": ["PanguUltraMoEForCausalLM"],
        "sandwich_norm": True,
        "vocab_size": 153600,
        "attention_kv_lora_dim": 512,
        "attention_q_lora_dim": 1536,
        "attention_qk_dim": 128,
        "attention_qk_rope_dim": 64,
        "attention_v_dim": 128,
        "num_attention_heads": 128,
        "num_dense_layers": 3,
        "hidden_size": 7680,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_experts_per_tok": 8,
        "num_routed_experts": 256,
        "num_shared_experts": 1,
    }
    assert round(total_parameters(model_from_config(json.dumps(config))) / 1e9) in (718, 719)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("whisper", "has an encoder that every layer looks at"),
        ("mllama_text_model", "has layers that look at pictures only"),
        ("xlm-roberta", "has no decoder and keeps no cache"),
        ("rwkv", "keeps a kind of state that is not counted"),
    ],
)
def test_what_is_known_and_not_counted_is_refused_with_what_it_has(kind, said):
    with pytest.raises(OutOfRangeError, match=f"model_type={kind} {said}"):
        model_from_config(json.dumps({"model_type": kind}))


def test_phi_s_pictures_are_left_out_and_said_to_be():
    """Phi-4-multimodal and Phi-3.5-vision as their files have them: a Phi-3's layers, and what sees beside."""
    sizes = {"hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "vocab_size": 200064}
    heads = {"num_attention_heads": 24, "num_key_value_heads": 8, "tie_word_embeddings": True}
    mini, multimodal = (
        model_from_config(json.dumps({"model_type": kind, **sizes, **heads, **more}))
        for kind, more in (("phi3", {}), ("phi4mm", {"embd_layer": {"image_embd_layer": {}}}))
    )
    assert total_parameters(multimodal) == total_parameters(mini) == 3_836_021_760
    assert multimodal.vision_tower
    assert multimodal.remote_code
