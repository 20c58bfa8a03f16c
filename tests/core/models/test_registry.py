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
from core.models.hf_families import FAMILIES
from core.models.parameters import total_parameters

HERE = Path(__file__).parent
REGISTRY = json.loads((HERE / "vllm_registry.json").read_text())["architectures"]
DEFAULTS = [json.loads(line) for line in (HERE / "class_defaults.jsonl").read_text().splitlines()]


def test_every_architecture_of_the_registry_is_taken_or_refused_by_name():
    wrong = [row for row in REGISTRY if becomes_of(row[2]) != row[3]]
    assert wrong == []
    text = Counter(read for group, _, _, read in REGISTRY if group == "text")
    assert text == {"taken": 110, "unnamed": 26, "refused": 11}


def becomes_of(kind: str) -> str:
    if kind in FAMILIES:
        return "taken"
    with pytest.raises(OutOfRangeError, match=f"model_type={kind} " if kind else "model_type= is missing"):
        model_from_config(json.dumps({"model_type": kind} if kind else {"architectures": ["SomeForCausalLM"]}))
    return "refused" if kind else "unnamed"


@pytest.mark.parametrize("case", DEFAULTS, ids=[case["config"]["model_type"] for case in DEFAULTS])
def test_a_class_s_own_model_has_the_parameters_that_pytorch_counts(case):
    assert total_parameters(model_from_config(json.dumps(case["config"]))) == case["parameters"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("whisper", "has an encoder that every layer looks at"),
        ("mllama_text_model", "has layers that look at pictures only"),
        ("xlm-roberta", "has no decoder and keeps no cache"),
        ("rwkv", "keeps a state of a kind that is not counted"),
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
