"""A checkpoint is the file whose checksum stands beside it, or it is refused."""

import random
import shutil

import pytest
from torch import nn

from distributed import checkpoint
from distributed.checkpoint import CHECKPOINT, SUMS, CheckpointError, require


@pytest.fixture
def copied(tmp_path):
    for name in (CHECKPOINT.name, SUMS):
        shutil.copy(CHECKPOINT.with_name(name), tmp_path)
    return tmp_path / CHECKPOINT.name


def test_the_published_checkpoint_is_the_one_of_its_checksum(copied):
    require(CHECKPOINT)
    require(copied)


def test_a_checkpoint_that_was_changed_anywhere_is_refused(copied):
    """One bit of one weight, which no reader of the format would notice: of twenty places each."""
    whole, rng = copied.read_bytes(), random.Random(4)
    for _ in range(20):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole) // 2, len(whole))] ^= 1 << rng.randrange(8)
        copied.write_bytes(changed)
        with pytest.raises(CheckpointError, match="checksum"):
            require(copied)


def test_a_checkpoint_of_ones_own_has_its_own_checksum_and_leaves_the_others(tmp_path):
    model = nn.Linear(2, 2)
    for name in ("a.safetensors", "b.safetensors", "a.safetensors"):
        checkpoint.save(model, tmp_path / name, {})
        require(tmp_path / name)
    assert [line[66:] for line in (tmp_path / SUMS).read_text().splitlines()] == ["a.safetensors", "b.safetensors"]
    (tmp_path / SUMS).unlink()
    require(tmp_path / "a.safetensors")
