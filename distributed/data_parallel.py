"""Data parallelism: every rank has the whole model and a part of the batch; what is sent is the gradient.

Two ways to send it: one all-reduce a tensor, or tensors laid end to end in buckets. As PyTorch's
DistributedDataParallel, but after the backward pass: there, buckets are sent while the rest is still computed.
Letters: N ranks, Ψ parameters.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.units import MIB
from distributed.collectives import Group
from distributed.train_grammar import IGNORED

DDP_BUCKET_BYTES = 25 * MIB
"""What DistributedDataParallel fills before it sends."""


def part_of_batch(batch: Tensor, group: Group) -> Tensor:
    """This rank's sentences: every N-th, from its own number on."""
    return batch[group.rank :: group.size]


def loss_of_part(model: nn.Module, tokens: Tensor, targets: Tensor, group: Group) -> Tensor:
    """This rank's part of the joined batch's loss, so that the mean over ranks is the loss of the whole.

        N · Σ_part / (tokens of the whole batch)

    A mean over each rank's own tokens would weigh a short part like a long one.
    """
    answers = int((targets != IGNORED).sum())
    logits = model(part_of_batch(tokens, group)).flatten(0, 1)
    wanted = part_of_batch(targets, group).flatten()
    total = F.cross_entropy(logits, wanted, ignore_index=IGNORED, reduction="sum")
    return total * group.size / answers


def gradients(model: nn.Module) -> list[Tensor]:
    """The gradient of every parameter that the backward pass reached."""
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def buckets(model: nn.Module, bucket_bytes: int) -> Iterator[list[Tensor]]:
    """Gradients in the order in which the backward pass has them, until one more would pass `bucket_bytes`.

    A bucket of 0 bytes holds one tensor each.
    """
    bucket: list[Tensor] = []
    for new in reversed(gradients(model)):
        if bucket and sum(grad.nbytes for grad in bucket) + new.nbytes > bucket_bytes:
            yield bucket
            bucket = []
        bucket.append(new)
    if bucket:
        yield bucket


@torch.no_grad()
def average_gradients(model: nn.Module, group: Group, bucket_bytes: int = DDP_BUCKET_BYTES) -> None:
    """Put the mean of every rank's gradients in place of each rank's own.

    g[Ψ]{U_N} / N → g[Ψ]
    """
    for bucket in buckets(model, bucket_bytes):
        flat = torch.cat([grad.flatten() for grad in bucket]) if len(bucket) > 1 else bucket[0].flatten()
        mean = group.all_reduce(flat, "gradients", "mean over the parts of the batch") / group.size
        for grad, part in zip(bucket, mean.split([grad.numel() for grad in bucket]), strict=True):
            grad.copy_(part.view_as(grad))
