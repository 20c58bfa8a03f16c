"""Which device a rank may use, said before anything is started; what GPUs do with it is not tried here."""

from contextlib import nullcontext

import pytest

from core.errors import ShardlabError

torch = pytest.importorskip("torch")

from distributed.machine import device, ranks_per_gpu, require_device  # noqa: E402


@pytest.mark.parametrize(
    ("kind", "backend", "ranks", "gpus", "why"),
    [
        ("cpu", "gloo", 2, 0, ""),
        ("cpu", "shm", 2, 4, ""),
        ("cpu", "nccl", 2, 4, "NCCL sends between GPUs"),
        ("cuda", "nccl", 2, 2, ""),
        ("cuda", "nccl", 2, 1, "2 ranks want 2 GPUs over NCCL and there are 1: --backend gloo lets them share"),
        ("cuda", "gloo", 2, 1, ""),
        ("cuda", "gloo", 2, 0, "there is no GPU here"),
        ("cuda", "shm", 2, 2, "shared memory is the host's"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(kind, backend, ranks, gpus, why):
    with pytest.raises(ShardlabError, match=why) if why else nullcontext():
        require_device(kind, backend, ranks, gpus)


def test_ranks_share_the_gpus_there_are(monkeypatch):
    """Three ranks on two GPUs: two on the first, one on the second."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda number: None)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    found = []
    for rank in range(3):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        found.append(device("cuda"))
    assert [one.index for one in found] == [0, 1, 0]
    assert ranks_per_gpu(found[0]) == 2
    assert ranks_per_gpu(device("cpu")) == 0
