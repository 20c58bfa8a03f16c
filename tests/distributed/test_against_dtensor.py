"""PyTorch's own tensor parallelism as a second implementation: the same weights, the same two ranks, the same y."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor.parallel import (  # noqa: E402
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

from core.two_way_tp import MINI_GPT  # noqa: E402
from distributed import grammar, mini_gpt  # noqa: E402
from distributed.decode import greedy  # noqa: E402
from distributed.job import make_job  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402
from tests.distributed.dtensor_gpt import dtensor_gpt, written  # noqa: E402

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


@torch.no_grad()
def both(_, group):
    x = torch.randn(T, D, generator=torch.Generator().manual_seed(4))
    plain, plan = dense(), {"up_proj": ColwiseParallel(), "down_proj": RowwiseParallel()}
    ours = mini_gpt.ParallelMLP(D, HIDDEN, group)
    for name in plan:
        layer = getattr(plain, name)
        getattr(ours, name).load_full(layer.weight, layer.bias)
    whole = plain(x)
    theirs = parallelize_module(dense(), init_device_mesh("cpu", (group.size,)), plan)
    held = [parameter.to_local().numel() for parameter in theirs.parameters()]
    mine = ours(x)
    return (
        float((mine - theirs(x)).abs().max()),
        float((mine - whole).abs().max()),
        sum(held) == sum(parameter.numel() for parameter in ours.parameters()),
    )


def test_our_mlp_is_dtensors_and_each_rank_holds_as_much():
    """DTensor leaves the row-parallel bias whole on each rank too; a sum of two floats has one order."""
    for apart, from_dense, same_size in run_ranks(2, Path(__file__), both.__name__, Path(mini_gpt.__file__)):
        assert apart < 1e-6
        assert from_dense < 1e-6
        assert same_size


SENTENCES, LETTERS = 4, 10


def some_prompts(_, group):
    """The first letters of some answers, by both on the same two ranks: same tokens, and how far logits differ."""
    job, ours, theirs = make_job(MINI_GPT.key), grammar.load(group=group), dtensor_gpt(MINI_GPT, group.size)
    found = []
    for prompt in job.prompts[:SENTENCES]:
        mine = greedy(ours, prompt, LETTERS, job.end)
        tokens, logits = written(theirs, list(prompt), LETTERS, job.end)
        apart = max(float((a - b).abs().max()) for a, b in zip(mine.logits, logits, strict=True))
        found.append((mine.tokens == tokens, apart))
    return found


def test_the_whole_model_writes_what_dtensors_writes():
    """Embedding, four layers and head, cut by `parallelize_module`, over Gloo: same tokens, logits within ulps."""
    for rank in run_ranks(2, Path(__file__), some_prompts.__name__, Path(mini_gpt.__file__)):
        assert [same for same, _ in rank] == [True] * SENTENCES
        assert max(apart for _, apart in rank) < 1e-3
