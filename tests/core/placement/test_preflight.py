"""Commands that start: every one has passed the refusals that its engine makes itself, and says what it needs."""

from dataclasses import replace

import pytest

from core.catalog import gpu, model
from core.models.checkpoint import checkpoint_width, named_checkpoint
from core.placement.assumed import assumed
from core.placement.cluster import usual_cluster
from core.placement.demand import Demand
from core.placement.layout import Layout
from core.placement.plan import Question, judge
from core.placement.planner import Placement, place
from core.placement.preflight import REFUSALS, preflight
from core.placement.preflight_checks import ENGINES
from core.placement.rank_memory import measured_budget
from core.placement.serve_flags import as_emitted, remarks, serve_command
from core.placement.under_load import place_under_load
from runtime.prose import worded
from tests.each import each

SERVED = ("llama-3-70b", "qwen3-235b-a22b-fp8", "deepseek-v3", "gpt-oss-120b", "gemma-3-27b", "kimi-k2", "opt-13b")


def asked(name: str, gpu_key: str = "h200-sxm", gpus: int = 8, nodes: int = 1, **demand: object) -> Question:
    spec = model(name)
    wanted = Demand(**{"dtype": checkpoint_width(spec), **demand})
    return Question(spec, usual_cluster(gpu(gpu_key), gpus, nodes), measured_budget(gpu(gpu_key)), wanted)


@pytest.mark.parametrize("name", SERVED)
def test_what_splits_has_passed_what_its_engine_checks(name):
    """One predicate: a layout that is planned is none that vLLM would refuse, and the other way round."""
    for plan in place(asked(name, nodes=2)).plans:
        met = [
            one
            for one in preflight(model(name), plan.layout, Demand(dtype=checkpoint_width(model(name))))
            if one.refusal.code != "context"
        ]
        assert not (plan.splits and met), (plan.layout.name, met)


@each("engine", ENGINES)
@each("name", SERVED)
def test_every_command_that_is_emitted_has_passed(engine, name):
    """Whatever is asked: a prompt longer than the model's context is cut in the command, and said."""
    question = asked(name, prompt_tokens=400_000, output_tokens=10_000)
    found = place(question)
    plan = found.plans[found.nearest if found.recommended is None else found.recommended]
    assert not preflight(question.model, plan.layout, as_emitted(question), engine)
    assert serve_command(question, plan, engine).count("\n") >= 2
    assert any("do not fit in it" in worded(note) for note in remarks(question, plan))


@pytest.mark.parametrize(
    ("name", "layout", "words"),
    [
        (
            "llama-3-70b",
            Layout(6),
            "Total number of attention heads (64) must be divisible by tensor parallel size (6).",
        ),
        ("qwen3-235b-a22b-fp8", Layout(8), "weight = 192 is not divisible by weight quantization block_n = 128."),
    ],
)
def test_a_refusal_quotes_the_engine(name, layout, words):
    said = worded(judge(asked(name), layout).reason)
    assert words in said


def test_a_refusal_quotes_the_engine_that_is_asked_for():
    question = replace(asked("qwen3-235b-a22b-fp8"), engine="trtllm")
    assert f"TensorRT-LLM would say: “{SHORT.format(2, 0)}" in worded(judge(question, Layout(8)).reason)


SHORT = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension 0"


@pytest.mark.parametrize(
    ("engine", "name", "tp", "quoted"),
    [
        ("trtllm", "llama-3-70b", 6, "assert self.num_heads % (tp_size * cp_size) == 0"),
        ("trtllm", "llama-3-70b", 6, "assert num_kv_heads % tensor_parallel_size == 0"),
        ("trtllm", "llama-3-70b", 6, "in_features 28672 must be divisible by tp_size 6"),
        ("sglang", "llama-3-70b", 12, "assert tp_size % self.total_num_kv_heads == 0"),
        ("sglang", "llama-3-70b", 6, "28672 is not divisible by 6"),
        ("vllm", "llama-3-70b", 6, "assert self.total_num_kv_heads % tp_size == 0"),
        ("vllm", "qwen3-30b-a3b", 512, "assert self.intermediate_size % tp_size == 0"),
        ("sglang", "qwen3-30b-a3b", 512, "assert intermediate_size % self.moe_tp_size == 0"),
        # twelve rows of scales, two a rank: the seventh of eight ranks gets none
        ("trtllm", "qwen3-235b-a22b-fp8", 8, SHORT.format(2, 0)),
        ("trtllm", "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 8, SHORT.format(3, 2)),
    ],
)
def test_each_engine_is_quoted_in_its_own_words(engine, name, tp, quoted):
    served = named_checkpoint(name)
    met = preflight(served, Layout(tp), Demand(dtype=checkpoint_width(served)), engine)
    assert quoted in [one.text for one in met]


def test_tensorrt_llm_cuts_a_context_that_is_too_long_and_goes_on():
    """It warns (model_engine.py, _init_max_seq_len, main at 1a0dc5f), where vLLM and SGLang stop."""
    long = Demand(dtype="bf16", prompt_tokens=400_000)
    codes = {
        engine: {one.refusal.code for one in preflight(model("llama-3-70b"), Layout(8), long, engine)}
        for engine in ENGINES
    }
    assert codes == {"vllm": {"context"}, "sglang": {"context"}, "trtllm": set()}


def test_a_row_says_where_its_words_are_from():
    for row in REFUSALS:
        assert row.source
        assert row.read_in
        assert set(row.engines) <= set(ENGINES)


def test_attention_that_is_data_parallel_over_nodes_names_its_back_end_and_address():
    """Sixteen ranks of attention over two nodes of eight: eight a node, and where the first of them is."""
    question = asked("deepseek-v3", nodes=2, concurrency=256)
    plan = judge(question, Layout(1, 1, 1, 16))
    vllm, sglang = (serve_command(question, plan, engine) for engine in ("vllm", "sglang"))
    for flag in ("--data-parallel-size-local 8", "--data-parallel-address", "--data-parallel-rpc-port"):
        assert flag in vllm
    for flag in ("--tp-size 16", "--dp-size 16", "--enable-dp-attention", "--nnodes 2", "--dist-init-addr"):
        assert flag in sglang
    assert any("--headless" in worded(note) for note in remarks(question, plan))


def test_a_tensor_parallel_group_over_nodes_needs_a_ray_cluster():
    question = asked("llama-3.1-405b", "h100-sxm", nodes=2)
    plan = judge(question, Layout(16))
    assert "--distributed-executor-backend ray" in serve_command(question, plan)
    assert any("Ray cluster over them" in worded(note) for note in remarks(question, plan))


@pytest.mark.parametrize(
    ("engine", "told"),
    [("vllm", "Ray cluster over them"), ("sglang", "after --node-rank"), ("trtllm", "mpirun -n 16")],
)
def test_each_engine_says_its_own_way_over_nodes(engine, told):
    """Ray was named for all three."""
    question = replace(asked("llama-3.1-405b", "h100-sxm", nodes=2), engine=engine)
    notes = [worded(note) for note in remarks(question, judge(question, Layout(16)))]
    assert [told in note for note in notes].count(True) == 1
    assert engine == "vllm" or not any("Ray" in note for note in notes)


def test_code_of_a_repositorys_own_is_trusted_where_the_model_needs_it():
    for name, flag in (("kimi-k2", True), ("deepseek-v3", False)):
        question = asked(name, nodes=4)
        plan = judge(question, Layout(8, 4))
        assert ("--trust-remote-code" in serve_command(question, plan)) == flag
        assert ("--trust_remote_code" in serve_command(question, plan, "trtllm")) == flag


def test_one_sequence_that_nobody_asked_for_is_no_limit():
    assert "--max-num-seqs" not in serve_command(asked("llama-3-70b"), judge(asked("llama-3-70b"), Layout(8)))
    many = asked("llama-3-70b", concurrency=96)
    assert "--max-num-seqs 48" in serve_command(many, judge(many, Layout(4, 1, 2)))


def test_a_pasted_config_is_not_served_by_that_name():
    pasted = replace(model("llama-3-8b"), key="config", aliases=())
    question = replace(asked("llama-3-8b"), model=pasted)
    assert serve_command(question, judge(question, Layout())).startswith('vllm serve "$MODEL" ')


def test_what_is_assumed_names_all_that_an_answer_hangs_on():
    said = " ".join(worded(one) for one in assumed(asked("gemma-3-27b", nodes=2, concurrency=32)))
    for words in (
        "parameters",
        "bf16",
        "a token over all layers",
        "32 at once",
        "2\u202f048 tokens",
        "NVLink 4",
        "52 of 62",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("gpu_key", "refused"), [("a100", True), ("l4", True), ("h100-sxm", False), ("mi300x", False)]
)
def test_tensorrt_llm_has_no_kernel_for_experts_of_four_bits_before_hopper(gpu_key, refused):
    """Printed on an A100: NotImplementedError: WFP4A16 MoE is unsupported on SM80."""
    said = [
        one.text
        for one in preflight(model("gpt-oss-120b"), Layout(2), Demand(dtype="mxfp4"), "trtllm", gpu(gpu_key), 8)
    ]
    assert any("WFP4A16 MoE is unsupported on SM8" in text for text in said) == refused


def under(rate: float, percentile: int = 99) -> Placement:
    return place_under_load(
        asked(
            "llama-3-70b",
            "h100-sxm",
            slo_itl_s=0.4,
            slo_ttft_s=2.0,
            requests_per_s=rate,
            percentile=percentile,
            concurrency=32,
        )
    )


def test_targets_at_a_rate_are_those_of_the_load():
    """Low enough, a plan meets both; no plan meets them at a rate that none can complete."""
    easy, hopeless = under(0.5), under(1e4)
    assert easy.meets(easy.recommended)
    assert not any(hopeless.meets(index) for index in hopeless.fitting)
    assert all(hopeless.judged(index)[0] == float("inf") for index in hopeless.fitting)


def test_the_median_is_kept_where_the_99th_percentile_is_not():
    """A step that reads another's prompt is one in many: p99 sees it, p50 does not."""
    tail, half = under(2.0), under(2.0, 50)
    for index in tail.fitting:
        assert half.judged(index)[1] <= tail.judged(index)[1]


def test_a_first_token_has_a_target_of_its_own():
    tight = place(asked("llama-3-70b", "h100-sxm", slo_ttft_s=0.130))
    assert {tight.plans[index].layout.tp_size for index in tight.fitting if tight.meets(index)} == {8}
    assert tight.plans[tight.recommended].layout.tp_size == 8
