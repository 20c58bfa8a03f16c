"""Activations: the table of arXiv 2205.05198 for GPT layers, and the tensors PyTorch itself keeps for one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog import model
from core.pipeline_bubble.schedules.families import family
from core.pipeline_bubble.schedules.report import report
from core.pipeline_bubble.schedules.simulator import simulate
from core.specs import ModelSpec
from core.strategy.training.activations import layer_activations, microbatches_in_flight
from core.strategy.training.layout import Strategy
from core.strategy.training.memory import Job, activation_bytes
from tests.each import each


def gpt(h, a, layers=4, v=51_200):
    """A GPT of the paper's kind: plain MLP of 4h, layernorms, as many KV heads as heads."""
    shape = ModelSpec(f"gpt-{h}", "GPT", h, layers, a, a, h // a, 4 * h, v, 2048)
    return replace(shape, mlp="plain", norm="layernorm", qkv_bias=True, o_bias=True, mlp_bias=True)


TABLE_2 = [
    (Strategy(), lambda a, s, h, t: 34 + 5 * a * s / h),
    (Strategy(tp_size=8), lambda a, s, h, t: 10 + 24 / t + 5 * a * s / (h * t)),
    (Strategy(tp_size=8, sequence_parallel=True), lambda a, s, h, t: 34 / t + 5 * a * s / (h * t)),
    (Strategy(tp_size=8, recompute="selective"), lambda a, s, h, t: 10 + 24 / t),
    (Strategy(tp_size=8, sequence_parallel=True, recompute="selective"), lambda a, s, h, t: 34 / t),
    (Strategy(tp_size=8, recompute="full"), lambda a, s, h, t: 2),
]
"""The six rows of arXiv 2205.05198, table 2, in units of s·b·h bytes a layer."""


@each(("strategy", "row"), TABLE_2)
@each(("h", "a"), [(12_288, 96), (20_480, 128), (6144, 64)])
def test_table_2_comes_out_for_the_papers_models(strategy, row, h, a):
    """175B, 530B and 22B parameters, s = 2048."""
    a_token = layer_activations(gpt(h, a), 2048, dropout=True).on_rank(strategy)
    assert a_token == pytest.approx(h * row(a, 2048, h, strategy.tp_size), rel=1e-12)


@pytest.mark.parametrize(("h", "a", "share"), [(12_288, 96, 0.70), (20_480, 128, 0.65)])
def test_selective_recomputation_saves_what_the_paper_says(h, a, share):
    """Section 5: 70 % for GPT-3 and 65 % for MT-NLG: 5·a·s/h is 80 and 64 beside 34."""
    plain, selective = (
        layer_activations(gpt(h, a), 2048, dropout=True).on_rank(Strategy(recompute=kind))
        for kind in ("none", "selective")
    )
    assert 1 - selective / plain == pytest.approx(share, abs=0.005)


@given(p=st.sampled_from([1, 2, 4, 8]), m=st.integers(1, 12), data=st.data())
def test_a_stage_holds_as_many_microbatches_as_1f1b_does_when_it_is_run(p, m, data):
    stage = data.draw(st.integers(0, p - 1))
    one_f_one_b = family("1f1b")
    run = report(simulate(one_f_one_b.actions(p, m), one_f_one_b.placement(p)))
    assert microbatches_in_flight(Strategy(pp_size=p), m, stage) == run.ranks[stage].peak_activations
    assert microbatches_in_flight(Strategy(pp_size=p), m) == run.ranks[0].peak_activations


@pytest.mark.parametrize("p", [2, 4, 8])
def test_the_first_stage_of_a_full_pipe_holds_as_much_as_all_layers_of_one_microbatch(p):
    """Equation 5 with the dropout of the embeddings: s·b·h·L/t·(34 + 5·a·s/h) + s·b·h·p/t."""
    gpt3, s, b, t = gpt(12_288, 96, layers=96), 2048, 2, 8
    strategy = Strategy(tp_size=t, sequence_parallel=True, pp_size=p)
    found = activation_bytes(gpt3, strategy, Job(b, s, microbatches=64, dropout=True))
    sbh = s * b * 12_288
    assert found == pytest.approx(sbh * 96 / t * (34 + 80) + sbh * p / t, rel=1e-12)


def test_without_a_pipe_the_ends_come_on_top():
    """Section 4.3: s·b·h for the embedding's dropout, 4·s·b·h·(1 + v/h) for the last norm, head and logits."""
    small = gpt(1024, 16)
    found = activation_bytes(small, Strategy(), Job(1, 512, dropout=True))
    sbh = 512 * 1024
    assert found == sbh * (4 * (34 + 5 * 16 * 512 / 1024) + 1 + 4 * (1 + 51_200 / 1024))


def test_grouped_queries_and_a_gated_mlp_keep_what_their_shapes_say():
    """Llama-3-8B, a token, no dropout: 8·4096 whole; Q and its output 4096, K and V 1024, three times 14336."""
    layer = layer_activations(model("llama-3-8b"), 8192)
    assert layer.repeated == 8 * 4096
    assert layer.divided == 2 * (2 * 4096 + 2 * 1024 + 3 * 14_336)
    assert layer.scores == 2 * 32 * 8192
    assert layer.input == 2 * 4096


def test_a_mixture_keeps_its_chosen_experts_rows():
    """Mixtral: two experts of 14336 a token, and a copy of its row for each."""
    layer = layer_activations(model("mixtral-8x7b"), 1024)
    assert layer.repeated == 2 * 4096 * (3 + 2)
    assert layer.divided == 2 * (2 * 4096 + 2 * 1024 + 3 * 2 * 14_336)


@pytest.mark.slow
def test_pytorch_keeps_these_tensors_for_a_gpt_layer():
    """Every tensor autograd saves in a layer written out in bf16, weights and the norms' statistics left out."""
    torch = pytest.importorskip("torch")
    s, b, h, a = 64, 2, 128, 4
    functional = torch.nn.functional
    shapes = [(3 * h, h), (h, h), (4 * h, h), (h, 4 * h)]
    weights = [torch.randn(shape, dtype=torch.bfloat16, requires_grad=True) for shape in shapes]
    scale = [torch.ones(h, dtype=torch.bfloat16, requires_grad=True) for _ in range(2)]
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    def dropped(x):
        return torch.native_dropout(x, 0.1, True)[0]

    def heads(x):
        return x.view(b, s, a, h // a).transpose(1, 2)

    x = torch.randn(b, s, h, dtype=torch.bfloat16, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        q, k, v = (
            heads(part.contiguous())
            for part in (functional.layer_norm(x, (h,), scale[0]) @ weights[0].T).chunk(3, -1)
        )
        scores = dropped((q @ k.transpose(-1, -2)).softmax(-1))
        mixed = (scores @ v).transpose(1, 2).reshape(b, s, h)
        x = x + dropped(mixed @ weights[1].T)
        inner = functional.gelu(functional.layer_norm(x, (h,), scale[1]) @ weights[2].T)
        y = x + dropped(inner @ weights[3].T)
    assert y.requires_grad
    own = {tensor.untyped_storage().data_ptr() for tensor in (*weights, *scale)}
    found = sum(size for place, size in kept.items() if place not in own and size > 4 * s * b)
    assert found == s * b * layer_activations(gpt(h, a), s, dropout=True).on_rank(Strategy())
