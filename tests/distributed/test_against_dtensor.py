"""PyTorch's own tensor parallelism as a second implementation: the same weights, the same two ranks, the same y."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from core.sharding_math.group import Group as LabGroup  # noqa: E402
from core.sharding_math.layers import mlp_layer  # noqa: E402
from core.two_way_tp.predictions import MINI_GPT  # noqa: E402
from distributed import grammar, mini_gpt  # noqa: E402
from distributed.decode import greedy  # noqa: E402
from distributed.job import make_job  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402

D, HIDDEN, T = 16, 64, 5


class DenseMLP(nn.Module):
    """The same MLP, unsharded, as DTensor wants it: plain linear layers and a plan beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.up_proj, self.down_proj = nn.Linear(D, HIDDEN), nn.Linear(HIDDEN, D)

    def forward(self, x):
        return self.down_proj(nn.functional.gelu(self.up_proj(x)))


def dense() -> DenseMLP:
    torch.manual_seed(3)
    return DenseMLP()


def all_three(_, group):
    """The MLP, the whole model, and lab 01's MLP: DTensor takes seconds to load, and so only the ranks do."""
    return the_mlp(group), some_prompts(group), lab_01s_mlp(group)


@torch.no_grad()
def the_mlp(group):
    from tests.distributed.dtensor_gpt import cut

    x = torch.randn(T, D, generator=torch.Generator().manual_seed(4))
    plain, plan = dense(), {"up_proj": "columns", "down_proj": "rows"}
    ours = mini_gpt.ParallelMLP(D, HIDDEN, group)
    for name in plan:
        layer = getattr(plain, name)
        getattr(ours, name).load_full(layer.weight, layer.bias)
    whole = plain(x)
    theirs = cut(dense(), group.size, plan)
    held = [parameter.to_local().numel() for parameter in theirs.parameters()]
    mine = ours(x)
    return (
        float((mine - theirs(x)).abs().max()),
        float((mine - whole).abs().max()),
        sum(held) == sum(parameter.numel() for parameter in ours.parameters()),
    )


@pytest.fixture(scope="module")
def on_two_ranks():
    return run_ranks(2, Path(__file__), all_three.__name__, Path(mini_gpt.__file__))


def test_our_mlp_is_dtensors_and_each_rank_holds_as_much(on_two_ranks):
    """DTensor leaves the row-parallel bias whole on each rank too; a sum of two floats has one order."""
    for (apart, from_dense, same_size), *_ in on_two_ranks:
        assert apart < 1e-6
        assert from_dense < 1e-6
        assert same_size


SENTENCES, LETTERS = 4, 10


def some_prompts(group):
    """The first letters of some answers, by both on the same two ranks: same tokens, and how far logits differ."""
    from tests.distributed.dtensor_gpt import dtensor_gpt, written

    job, ours, theirs = make_job(MINI_GPT.key), grammar.load(group=group), dtensor_gpt(MINI_GPT, group.size)
    found = []
    for prompt in job.prompts[:SENTENCES]:
        mine = greedy(ours, prompt, LETTERS, job.end)
        tokens, logits = written(theirs, list(prompt), LETTERS, job.end)
        apart = max(float((a - b).abs().max()) for a, b in zip(mine.logits, logits, strict=True))
        found.append((mine.tokens == tokens, apart))
    return found


def test_the_whole_model_writes_what_dtensors_writes(on_two_ranks):
    """Embedding, four layers and head, cut by `parallelize_module`, over Gloo: same tokens, logits within ulps."""
    for _, prompts, _ in on_two_ranks:
        assert [same for same, _ in prompts] == [True] * SENTENCES
        assert max(apart for _, apart in prompts) < 1e-3


def whole(seed, *shape):
    """Whole numbers: exact in any order of summing, so the two must agree to the last bit."""
    return np.random.default_rng(seed).integers(-4, 5, size=shape).astype(np.float64)


X, W1, W2 = whole(0, 3, 8), whole(1, 16, 8), whole(2, 8, 16)


@torch.no_grad()
def lab_01s_mlp(group):
    """What a rank holds of an MLP without biases that `parallelize_module` cuts, and what it gets."""
    from tests.distributed.dtensor_gpt import cut

    float64 = {"bias": False, "dtype": torch.float64}
    mlp = nn.Sequential(nn.Linear(8, 16, **float64), nn.ReLU(), nn.Linear(16, 8, **float64))
    for layer, weight in ((mlp[0], W1), (mlp[2], W2)):
        layer.weight.copy_(torch.from_numpy(weight))
    cut(mlp, group.size, {"0": "columns", "2": "rows"})
    held = [mlp[place].weight.to_local().numpy() for place in (0, 2)]
    return *held, mlp(torch.from_numpy(X)).numpy()


def test_an_mlp_cut_by_dtensor_holds_lab_01s_shards_and_gives_its_result(on_two_ranks):
    group = LabGroup(2)
    y = mlp_layer(group, group.replicate("x", X), W1, W2)
    trace = group.trace()
    for rank, (*_, theirs) in enumerate(on_two_ranks):
        ours = trace.tensor("W1").parts[rank], trace.tensor("W2").parts[rank], y.parts[rank]
        for mine, other in zip(ours, theirs, strict=True):
            assert np.array_equal(mine, other)
