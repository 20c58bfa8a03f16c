"""Training on two ranks: gradients of one process on the joined batch, and of PyTorch's own data parallelism."""

import json
import random
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch.nn.parallel import DistributedDataParallel  # noqa: E402

from core.models.parameters import total_parameters  # noqa: E402
from core.two_way_tp.predictions import MINI_GPT  # noqa: E402
from distributed import collectives, data_parallel, run_ddp  # noqa: E402
from distributed.collectives import Group  # noqa: E402
from distributed.data_parallel import buckets  # noqa: E402
from distributed.grammar_corpus import corpus, part  # noqa: E402
from distributed.local_ranks import run_ranks  # noqa: E402
from distributed.mini_gpt import MiniGPT, initialise  # noqa: E402
from distributed.run_ddp import joined_gradients, largest_difference  # noqa: E402
from distributed.train_grammar import batches  # noqa: E402


def fresh():
    model = MiniGPT(MINI_GPT, Group())
    initialise(model, 5)
    return model


def a_batch(size):
    return next(batches(part(corpus(), "train")[: 8 * size], size, random.Random(5)))


CASES = [(batch, bucket_bytes) for batch in (8, 7) for bucket_bytes in (0, 2**19, data_parallel.DDP_BUCKET_BYTES)]
"""How many sentences a step has, of which an odd count has uneven parts, and how much a bucket holds."""


def on_a_rank(_, group):
    """Every case, since torch's class alone takes seconds to load."""
    found = []
    for case in CASES:
        group.forget()
        found.append(apart(group, *case))
    return found


def apart(group, batch, bucket_bytes):
    """Ours from one process on the joined batch, and from torch's class on the same part."""
    tokens, targets = a_batch(batch)
    ours, theirs = fresh(), DistributedDataParallel(fresh())
    data_parallel.loss_of_part(ours, tokens, targets, group).backward()
    data_parallel.average_gradients(ours, group, bucket_bytes)
    data_parallel.loss_of_part(theirs, tokens, targets, group).backward()
    most = max(
        float((mine.grad - other.grad).abs().max())
        for mine, other in zip(ours.parameters(), theirs.module.parameters(), strict=True)
    )
    return largest_difference(ours, joined_gradients(fresh(), tokens, targets)), most, group.ledger.count()


def test_gradients_are_one_processs_on_the_joined_batch_and_pytorchs():
    """Sums of two floats have one order; what differs is the order over sentences."""
    for rank in run_ranks(2, Path(__file__), on_a_rank.__name__, Path(collectives.__file__)):
        for (_, bucket_bytes), (from_one, from_torch, sums) in zip(CASES, rank, strict=True):
            assert from_one < 1e-5
            assert from_torch < 1e-6
            assert sums == len(list(bucketed(bucket_bytes)))


def bucketed(bucket_bytes):
    model = fresh()
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    return buckets(model, bucket_bytes)


def test_buckets_hold_every_gradient_once_and_no_more_than_fits():
    """1.85 MB of gradients: one bucket of 25 MiB, some of half a MiB, or one for each of 68 tensors."""
    tensors = len(list(fresh().parameters()))
    assert [len(bucket) for bucket in bucketed(data_parallel.DDP_BUCKET_BYTES)] == [tensors]
    assert [len(bucket) for bucket in bucketed(0)] == [1] * tensors
    halves = list(bucketed(2**19))
    assert sum(grad.numel() for bucket in halves for grad in bucket) == total_parameters(MINI_GPT)
    assert all(sum(grad.nbytes for grad in bucket) <= 2**19 for bucket in halves)


def test_a_mean_over_each_ranks_own_tokens_would_be_another_gradient():
    """The classic slip: parts of unlike length weigh alike. Here by over a thousandth of the largest gradient."""
    tokens, targets = a_batch(7)
    joined = joined_gradients(fresh(), tokens, targets)
    model, wrong = fresh(), None
    for rank in range(2):
        group = Group()
        group.rank, group.size = rank, 2
        own = data_parallel.part_of_batch(targets, group)
        share = int((targets != -100).sum()) / (2 * int((own != -100).sum()))
        model.zero_grad()
        (data_parallel.loss_of_part(model, tokens, targets, group) * share / 2).backward()
        grads = [parameter.grad.clone() for parameter in model.parameters()]
        wrong = grads if wrong is None else [a + b for a, b in zip(wrong, grads, strict=True)]
    for parameter, grad in zip(model.parameters(), wrong, strict=True):
        parameter.grad = grad
    assert largest_difference(model, joined) > 1e-3


@pytest.mark.ranks
@pytest.mark.slow
def test_the_command_trains_and_tells_both_ways_of_sending(monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(sys, "argv", ["run_ddp", "--json", "--steps", "4", "--batch", "16"])
    with pytest.raises(SystemExit) as ended:
        run_ddp.main()
    assert ended.value.code == 0
    result = json.loads(capsys.readouterr().out)
    assert result["manifest"]["command"].endswith("--steps 4 --batch 16")
    assert result["losses"][-1] < result["losses"][0]
    assert result["largest_relative_difference"] < 1e-4
    assert result["weights_equal_on_all_ranks"]
    assert [way["all_reduces_per_step"] for way in result["ways"]] == [len(list(fresh().parameters())), 1]
    assert result["gradient_bytes"] == 4 * total_parameters(MINI_GPT)
    one_by_one, in_one = (way["billed_s_per_step"] for way in result["ways"])
    assert one_by_one > in_one > 0  # the same bytes, and the fixed cost of one sum in place of that of 68
