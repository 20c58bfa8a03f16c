"""A second implementation to agree with: PyTorch's DTensor on two real Gloo ranks."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.sharding_math.group import Group
from core.sharding_math.layers import mlp_layer

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")]


def whole(seed, *shape):
    """Whole numbers: exact in any order of summing, so the two must agree to the last bit."""
    return np.random.default_rng(seed).integers(-4, 5, size=shape).astype(np.float64)


def test_an_mlp_cut_by_dtensor_holds_our_shards_and_gives_our_result(tmp_path):
    x, W1, W2 = whole(0, 3, 8), whole(1, 16, 8), whole(2, 8, 16)
    np.savez(tmp_path / "given.npz", x=x, W1=W1, W2=W2)
    program = Path(__file__).with_name("dtensor_mlp.py")
    subprocess.run([sys.executable, str(program), str(tmp_path)], check=True, timeout=120)

    group = Group(2)
    y = mlp_layer(group, group.replicate("x", x), W1, W2)
    trace = group.trace()
    for rank in range(2):
        theirs = np.load(tmp_path / f"rank{rank}.npz")
        assert np.array_equal(theirs["W1"], trace.tensor("W1").parts[rank])
        assert np.array_equal(theirs["W2"], trace.tensor("W2").parts[rank])
        assert np.array_equal(theirs["y"], y.parts[rank])
