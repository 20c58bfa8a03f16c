"""What a question says of its machine, read as users write it."""

import pytest

from core.ask.kinds import KINDS, recognised
from core.ask.reading import read_question
from core.errors import UnknownNameError
from tests.each import each


@each(
    ("text", "model", "gpu", "gpus", "nodes"),
    [
        ("Six A6000, Llama 3.1 70B: which TP?", "llama-3.1-70b", "a6000", 6, 1),
        ("Six T4, a 32B model in 4 bits", "qwen3-32b", "t4", 6, 1),
        ("8 × B200, DeepSeek-V4-Flash: TP=8 or DP=8?", "deepseek-v4-flash", "b200-sxm", 8, 1),
        ("Llama 13B on 4 × A100 40: PP or TP?", "llama-2-13b", "a100-40gb-sxm", 4, 1),
        ("TP=2 on two RTX PRO 6000 stands still", "llama-3.1-70b", "rtx-pro-6000", 2, 1),
        ("Can I run Qwen3-32B-AWQ on 2x 3090?", "qwen3-32b", "rtx-3090", 2, 1),
        ("deepseek-ai/DeepSeek-R1 on 8xH200", "deepseek-r1", "h200-sxm", 8, 1),
        ("Mixtral 8x7B on 4 L40S", "mixtral-8x7b", "l40s", 4, 1),
        ("Llama 3 70B on two nodes of 8 H100", "llama-3-70b", "h100-sxm", 8, 2),
        ("16 H100 across 2 nodes, deepseek v3", "deepseek-v3", "h100-sxm", 8, 2),
        ("a 7B model on a single T4", "mistral-7b-v0.3", "t4", 1, 1),
        ("gpt-oss-120b on one H100 NVL", "gpt-oss-120b", "h100-nvl", 1, 1),
        ("Qwen 3 30B A3B Instruct 2507 on a DGX Spark", "qwen3-30b-a3b-2507", "gb10", 1, 1),
        ("Two DGX Sparks and gpt-oss-120b", "gpt-oss-120b", "gb10", 1, 2),
        ("Would Kimi-K3 fit on 16 B200?", "kimi-k3", "b200-sxm", 8, 2),
        ("5090 x 2 Qwen3.5-27B fp8 tps", "qwen3.5-27b", "rtx-5090", 2, 1),
        ("5090x2 with Qwen3.5-27B", "qwen3.5-27b", "rtx-5090", 2, 1),
        ("why does a second A6000 make Llama 3.1 8B slower?", "llama-3.1-8b", "a6000", 2, 1),
        ("tokens per second A100 Llama 3.1 8B", "llama-3.1-8b", "a100-80gb-sxm", 8, 1),
        ("dual RTX 3090, Qwen2.5 14B", "qwen2.5-14b", "rtx-3090", 2, 1),
        ("3 nodes each 4 A10G, Llama 3.1 70B", "llama-3.1-70b", "a10g", 4, 3),
        ("2 servers with 8 H100 each, DeepSeek-V3", "deepseek-v3", "h100-sxm", 8, 2),
        ("DGX Spark, gpt-oss-120b, TP=2", "gpt-oss-120b", "gb10", 1, 2),
        ("DeepSeek-V3, TP=16 on H100", "deepseek-v3", "h100-sxm", 8, 2),
    ],
)
def test_a_machine_is_read_out_of_a_sentence(text, model, gpu, gpus, nodes):
    asked = read_question(text)
    assert (asked.model.key, asked.gpu.key, asked.gpus_per_node, asked.nodes) == (model, gpu, gpus, nodes)


def test_what_is_not_said_is_named_as_usual():
    """A model that only its size was said of is no model that was named."""
    assert read_question("which TP for 6 GPUs").usual == ("model", "gpu")
    assert read_question("Llama 3 8B on 4 A100").usual == ()
    sized = read_question("a 32B model on 4 A100")
    assert (sized.model_is, sized.usual) == ("size", ("model",))
    near = read_question("Qwen4-27B on 4 A100")
    assert (near.model.key, near.model_is, near.usual) == ("qwen3.5-27b", "near", ("model",))
    assert read_question("Qwen3.8-27B on 4 A100").model_is == "said"
    assert read_question("Mistral Large 3 on 8 H200").model.key == "mistral-large-3"


@each(
    ("text", "field", "value"),
    [
        ("TP=4 slower than TP=2", "tp_sizes", (4, 2)),
        ("tensor-parallel-size 8", "tp_sizes", (8,)),
        ("tensor parallel size (3)", "tp_sizes", (3,)),
        ("2 GPUs are slower than one", "tp_sizes", (2, 1)),
        ("PP=2 and TP 4", "pp_sizes", (2,)),
        ("in 4 bits", "dtype", "int4"),
        ("the AWQ version", "dtype", "int4"),
        ("in FP8", "dtype", "fp8"),
        ("with 32k context", "context_tokens", 32768),
        ("--max-model-len 131072", "context_tokens", 131072),
        ("8192 tokens", "context_tokens", 8192),
        ("64 users", "at_once", 64),
        ("64 usuarios", "at_once", 64),
        ("32k de contexto", "context_tokens", 32768),
        ("un prompt de 16k", "context_tokens", 16384 + 256),
        ("TTFT for 8k prompt", "context_tokens", 8192 + 256),
        ("a 70B model", "context_tokens", None),
    ],
)
def test_sizes_widths_and_lengths_are_read(text, field, value):
    assert getattr(read_question(text), field) == value


IN_SPANISH = {
    "Seis A6000 y Llama 3.1 70B: ¿qué TP?": ("which_tp", "a6000", 6, 1),
    "CodeLlama 13B en 4 A100: ¿por qué TP=4 no es más rápido que TP=2?": ("tp_slower", "a100-80gb-sxm", 4, 1),
    "¿Cabe Llama 3.1 70B en 4 A100 con 32k de contexto?": ("fits_context", "a100-80gb-sxm", 4, 1),
    "Llama 3.1 70B en dos nodos de 8 H100: ¿PP entre los nodos o TP?": ("pp_over_nodes", "h100-sxm", 8, 2),
    "8 × B200, DeepSeek-V4-Flash: ¿TP=8 o DP=8?": ("tp_or_dp", "b200-sxm", 8, 1),
    "TP=2 en dos RTX PRO 6000 se queda parado tras el init": ("hang_p2p", "rtx-pro-6000", 2, 1),
    "¿Cuántas GPU necesito para Llama 3.1 405B en fp8?": ("how_many_gpus", "h100-sxm", 8, 1),
    "¿Cuántos usuarios caben a la vez en 8 H100 con 8k de contexto?": ("users", "h100-sxm", 8, 1),
    "¿Cuánto ocupa la caché KV por token de Qwen3-32B?": ("kv_tokens", "h100-sxm", 8, 1),
    "¿Por qué no puedo usar TP=3 con Llama 3 8B?": ("heads", "h100-sxm", 8, 1),
    "¿Conviene TP entre dos nodos con 10 GbE?": ("tp_over_nodes", "h100-sxm", 8, 2),
    "¿Hace falta NVLink para TP=2 en dos 3090?": ("need_nvlink", "rtx-3090", 2, 1),
    "¿Cuántos tokens por segundo dará Llama 3.1 70B en 4 H100?": ("tokens_per_s", "h100-sxm", 4, 1),
    "¿Por qué tarda tanto el primer token en 8 H100?": ("first_token", "h100-sxm", 8, 1),
    "¿FP8 es más rápido que BF16 en 4 H100?": ("width_speed", "h100-sxm", 4, 1),
    "TP=2 espera para siempre, NCCL usa la interfaz lo": ("hang_interface", "h100-sxm", 8, 1),
    "vLLM se cuelga al arrancar con tensor-parallel-size 2": ("hang", "h100-sxm", 8, 1),
    "¿Dos réplicas con TP=4 o una con TP=8?": ("replicas_or_tp", "h100-sxm", 8, 1),
    "Se queda sin memoria al cargar Llama 3 70B en 2 A100": ("oom", "a100-80gb-sxm", 2, 1),
}


@each(("text", "told"), IN_SPANISH.items())
def test_a_question_in_spanish_is_read_as_one_in_english(text, told):
    asked = read_question(text)
    assert (recognised(text)[0], asked.gpu.key, asked.gpus_per_node, asked.nodes) == told


def test_the_speed_of_a_network_is_no_number_of_gpus():
    """`two nodes with 10 GbE` are nodes of eight, as usual."""
    assert read_question("TP over two nodes with 10 GbE").gpus_per_node == 8
    assert read_question("dos nodos con 10 GbE").gpus_per_node == 8
    assert read_question("two nodes with 4 GPUs and 10 GbE").gpus_per_node == 4


@each(("text", "key"), [("10 GbE", "ethernet-10g"), ("over InfiniBand", "ib-ndr"), ("100 GbE", "ethernet-100g")])
def test_a_network_is_read(text, key):
    assert read_question(text).network.key == key


def test_what_is_given_counts_before_what_the_text_says():
    asked = read_question("Llama 3 8B on 4 A100", model="qwen3-32b", gpu="h100", gpus=2)
    assert (asked.model.key, asked.gpu.key, asked.gpus) == ("qwen3-32b", "h100-sxm", 2)
    with pytest.raises(UnknownNameError):
        read_question("anything", gpu="nobody")


@each("text", ["gpt-oss-20b on RTX 4080 16GB", "two Radeon Pro W7900 and Qwen3-32B", "Arc B580: does it fit?"])
def test_a_card_that_is_not_known_is_refused_with_its_nearest_and_no_other_is_planned(text):
    with pytest.raises(UnknownNameError, match="nearest"):
        read_question(text)
    assert read_question(text, gpu="l4").gpu.key == "l4"


QUESTIONS = {
    "Six A6000, Llama 3.1 70B: which TP?": "which_tp",
    "Which TP size should I use for Qwen3-235B-A22B-FP8 on 8 H100?": "which_tp",
    "CodeLlama 13B, TP=4: why no faster than TP=2?": "tp_slower",
    "gpt-oss-120b: why is TP=2 slower than TP=1?": "tp_slower",
    "Adding a second GPU gives no speedup with Mistral 7B on 2 A100": "tp_slower",
    "8 × B200, DeepSeek-V4-Flash: TP=8 or DP=8?": "tp_or_dp",
    "Should I use expert parallelism for DeepSeek-V3 on 8 H200?": "tp_or_dp",
    "Llama 13B on 4 × A100 40: PP or TP?": "pp_or_tp",
    "TP=2 waits forever, NCCL says it uses `lo`": "hang_interface",
    "TP=2 on two RTX PRO 6000 stands still after init (ACS/IOMMU)": "hang_p2p",
    "vLLM hangs at startup with tensor-parallel-size 2": "hang",
    "does it fit with 32k context": "fits_context",
    "How much VRAM do I need for Llama 3.1 70B with 128k context?": "fits_context",
    "Does Llama 3.1 70B fit on two A100 80GB?": "fits",
    "Can a single L4 serve Qwen3-4B with 32k context?": "fits_context",
    "What is the max model len for gpt-oss-20b on one RTX 4090?": "fits_context",
    "Why does adding a second A6000 over PCIe make Llama 3.1 8B slower?": "tp_slower",
    "5090 x 2 Qwen3.5-27B fp8 tps": "tokens_per_s",
    "CUDA out of memory when loading Llama 3 70B on 2 A100": "oom",
    "how many H100s do I need for Llama 3.1 405B in fp8": "how_many_gpus",
    "How many concurrent users can 8 H100 serve with 8k context?": "users",
    "How large is the KV cache per token of Qwen3-32B?": "kv_tokens",
    "Why can't I use TP=3 with Llama 3 8B?": "heads",
    "PP over two nodes": "pp_over_nodes",
    "Is TP over two nodes with 10 GbE a good idea?": "tp_over_nodes",
    "2 x TP=4 or one TP=8 for Llama 3.1 70B on 8 H100?": "replicas_or_tp",
    "Do I need NVLink for TP=2 on two 3090s?": "need_nvlink",
    "Is one node of 8 L40S without NVLink enough for TP=8?": "need_nvlink",
    "How many tokens per second will Llama 3.1 70B give on 4 H100?": "tokens_per_s",
    "TTFT is too long with a 32k prompt on 8 H100": "first_token",
    "Is FP8 faster than BF16 for Llama 3.1 70B on H100?": "width_speed",
}


@each(("text", "kind"), QUESTIONS.items())
def test_a_question_is_recognised_by_its_words(text, kind):
    assert recognised(text)[0] == kind


def test_every_kind_is_asked_above():
    assert {kind.key for kind in KINDS} == set(QUESTIONS.values())


def test_a_question_of_no_kind_is_not_made_one():
    """A model and its GPUs without a word beside them ask how to serve the one on the others."""
    assert recognised("What is the weather?") == ()
    assert recognised("") == ()
    assert recognised("Six T4, a 32B model in 4 bits") == ()
    assert recognised("Six T4, a 32B model in 4 bits", named=True) == ("which_tp",)


def test_a_text_of_any_length_is_read_as_fast_as_a_sentence():
    """Only its beginning is read; no pattern goes over it twice."""
    assert recognised("a" * 10**6) == ()
    assert read_question("1" * 10**6 + " gpus " + "tp=" * 10**5).model_is == "usual"
