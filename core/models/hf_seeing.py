"""Families by `model_type` of models that see or hear: the text parts that are no other family's.

Source: the modelling files of Hugging Face transformers, by class, and their parameters as PyTorch counts them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import OutOfRangeError
from core.models.hf_family import Family
from core.models.hf_makers import AS_WIDE, ERNIE, GLM, GLM_MOE_DEFAULTS, LLAMA, PHI3, QWEN2_VL, QWEN3_MOE, sizes
from core.models.hf_values import Config


def _with_a_head(fields: Config) -> Config:
    """Whoever thinks has a head of its own, whatever its text part says."""
    return {**fields, "tie_word_embeddings": False}


SEEING: Mapping[str, Family] = {
    "aria_text": replace(
        LLAMA,
        experts="moe_num_experts",
        defaults={"moe_num_experts": 8, "moe_topk": 2, "moe_num_shared_experts": 2},
        renamed=AS_WIDE,
    ),
    "glm4v_text": Family(
        biases="qkv",
        norms_per_layer=4,
        defaults={"num_key_value_heads": 2},
        sizes=sizes(4096, 13696, 40, 32, 151552, 32768),
    ),
    "glm4v_moe_text": replace(
        GLM, experts="n_routed_experts", defaults={**GLM_MOE_DEFAULTS, "attention_bias": True}
    ),
    "glm_ocr_text": Family(
        norms_per_layer=4,
        defaults={"num_key_value_heads": 8},
        sizes=sizes(1024, 4096, 16, 16, 59392, 131072),
    ),
    "paddleocr_vl_text": replace(ERNIE, sizes=sizes(1024, 3072, 18, 16, 103424, 131072)),
    "phi3_v": PHI3,
    "phi4mm": PHI3,
    "phi4_multimodal": replace(PHI3, defaults={"num_key_value_heads": 8}),
    "qwen2_5_omni_text": replace(QWEN2_VL, derived=_with_a_head),
    "qwen3_omni_moe_text": replace(QWEN3_MOE, derived=_with_a_head),
}
"""Of Phi's the adapters for pictures and speech are left out: engines load those with requests, or not at all."""

_ENCODERS = "bart cohere_asr florence2 mbart nemotron_parse t5 whisper"
_CROSSING = "idefics mllama mllama_text_model"
_EMBEDDING = "bert clip deberta ernie modernbert nomic_bert roberta siglip xlm-roberta"
_RECURRENT = "recurrent_gemma rwkv rwkv5 rwkv6 rwkv7 xlstm"


_LOOPED = "HrmTextForCausalLM IQuestLoopCoderForCausalLM OuroForCausalLM"
_DRAFT_BEGINS = re.compile(r"Eagle3?[A-Z]|DFlash|MLPSpeculator|MedusaModel")
_DRAFT_ENDS = ("Eagle", "Eagle3", "MTP", "MTPModel", "DSparkModel")
"""vLLM's classes that guess ahead for another model; Eagle2_5_VL is a whole one."""
_UNLIKE = "NemotronHPuzzleForCausalLM"
_OF_NGRAMS = "LongcatFlashNgramForCausalLM"
_OWN_CODE = """
AliceAIForCausalLM BailingMoeV3ForCausalLM BailingMoeV3VLForConditionalGeneration BeamForCausalLM
DomynEdgeForCausalLM DoryForCausalLM FlintForCausalLM Glm5NextForCausalLM Glm5NextForConditionalGeneration
HYV4ForCausalLM InklingForCausalLM InklingForConditionalGeneration K2HorizonForCausalLM Kolibri1ForCausalLM
MolmoForCausalLM MuseGlimmerForCausalLM MuseGlimmerForConditionalGeneration NanbeigeForCausalLM
PanguProMoEV2ForCausalLM Rnj1ForCausalLM Qwen4ExpForCausalLM Qwen4ExpForConditionalGeneration Step5ForCausalLM
Step5ForConditionalGeneration
"""


def refuse_by_name(kind: str, classes: Sequence[str] = ()) -> None:
    """Raise OutOfRangeError for a family that is known to have what is not counted here, saying what that is."""
    if kind in _ENCODERS.split():
        raise OutOfRangeError("model_type", kind, "has_encoder")
    if kind in _CROSSING.split():
        raise OutOfRangeError("model_type", kind, "looks_at_pictures")
    if kind in _EMBEDDING.split():
        raise OutOfRangeError("model_type", kind, "no_decoder")
    if kind in _RECURRENT.split():
        raise OutOfRangeError("model_type", kind, "own_state")
    for name in classes:
        if name in _LOOPED.split():
            raise OutOfRangeError("architecture", name, "loops")
        if _DRAFT_BEGINS.match(name) or name.endswith(_DRAFT_ENDS):
            raise OutOfRangeError("architecture", name, "guesses_ahead")
        if name in _UNLIKE.split():
            raise OutOfRangeError("architecture", name, "unlike_layers")
        if name in _OF_NGRAMS.split():
            raise OutOfRangeError("architecture", name, "of_ngrams")
        if name in _OWN_CODE.split():
            raise OutOfRangeError("architecture", name, "own_layers")
