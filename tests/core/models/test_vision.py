"""A vision tower's parameters against the classes of transformers 5.23, built without memory."""

import json

import pytest

from core.catalog import gpu
from core.models.hf_config import model_from_config
from core.models.parameters import total_parameters
from core.models.vision import vision_parameters
from core.placement.asked import Machine, question_of
from core.placement.assumed import assumed
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import judge
from runtime.prose import worded

QWEN3_VL = {
    "model_type": "qwen3_vl",
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "patch_size": 16,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 3584,
    "num_position_embeddings": 2304,
}
SIGLIP = {"num_hidden_layers": 27, "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14}
QWEN2_VL = {
    "embed_dim": 1280,
    "depth": 32,
    "hidden_size": 3584,
    "mlp_ratio": 4,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
}
TEXT = {
    "model_type": "qwen3_vl_text",
    "hidden_size": 3584,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 151936,
}


@pytest.mark.parametrize(
    ("tower", "parameters", "off"),
    [
        (QWEN3_VL | {"deepstack_visual_indexes": [8, 16, 24]}, 566_949_104, 0),
        (QWEN3_VL, 453_650_672, 0),
        (QWEN2_VL, 675_759_104, 1e-5),
        (SIGLIP, 412_442_352 + 256 * 1152, 0.01),
        ({}, 0, 0),
        ({"model_type": "unheard_of"}, 0, 0),
    ],
)
def test_a_tower_has_the_parameters_of_its_class(tower, parameters, off):
    assert vision_parameters({"vision_config": tower}) == pytest.approx(parameters, rel=off or 1e-9)


def test_a_tower_is_held_by_the_ranks_and_no_part_of_the_text():
    """566,949,104 parameters of two bytes, half of them on each of two ranks; the text's own count stays."""
    seeing, blind = (
        model_from_config(json.dumps({"model_type": "qwen3_vl", "text_config": TEXT, **more}))
        for more in ({"vision_config": QWEN3_VL | {"deepstack_visual_indexes": [8, 16, 24]}}, {})
    )
    assert total_parameters(seeing) == total_parameters(blind)
    questions = [question_of(one, Machine(gpu("h100-sxm"), 2), Demand()) for one in (seeing, blind)]
    held = [judge(asked, Layout(2)).weights_bytes for asked in questions]
    assert held[0] - held[1] == 566_949_104
    assert any("566\u202f949\u202f104" in worded(one) for one in assumed(questions[0]))
