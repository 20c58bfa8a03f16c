"""What of a GPU can be had without one: its name on tensors that hold nothing, and a recorded step on the CPU.

`on_a_named_gpu` runs PyTorch's own device propagation (FakeTensorMode): an operation whose tensors are not all on
one device fails as it would there. `Recording` keeps what a CUDA graph keeps, each operation with the very tensors
it was given, and replays it: whatever Python worked out beside them is frozen, as it is in a graph.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

GPU = torch.device("cuda", 0)


class _PlainOperations(TorchFunctionMode):
    """The few methods that ask for CUDA in a build that has none, by the operations they stand for."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.__getitem__:
            return _part(*args)
        if func is torch.Tensor.__setitem__:
            x, at, value = args
            return torch.ops.aten.copy_(_part(x, at), value)
        if func is torch.Tensor.copy_:
            return torch.ops.aten.copy_(*args)
        return func(*args, **(kwargs or {}))


def _part(x, at):
    dim = 0
    for one in at if isinstance(at, tuple) else (at,):
        if isinstance(one, int):
            x = x.select(dim, one)
            continue
        if isinstance(one, slice):
            x = torch.ops.aten.slice(x, dim, one.start, one.stop)
        elif one is Ellipsis:
            dim = x.ndim - len(at) + at.index(...)
        else:
            x = torch.ops.aten.index(x, [None] * dim + [one])
        dim += 1
    return x


@contextmanager
def on_a_named_gpu() -> Iterator[None]:
    """Tensors made here are of a GPU and hold nothing; PyTorch says where they may not meet others."""
    with FakeTensorMode(), GPU, _PlainOperations():
        yield


class Crossings(TorchDispatchMode):
    """Notes each operation between devices, which no graph can hold; to read a value back fails by itself here."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0
        self.between: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        devices = {x.device.type for x in tree_leaves((args, kwargs, out)) if isinstance(x, torch.Tensor)}
        self.operations += 1
        if len(devices) > 1:
            self.between.append(str(func))
        return out


class Recording(TorchDispatchMode):
    """A CUDA graph's memory on a CPU: each operation with its tensors, done again into those it gave first."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self._steps.append((func, args, kwargs or {}, out))
        return out

    def replay(self) -> None:
        """Do all of it again: nothing of the Python that asked for it runs."""
        for func, args, kwargs, out in self._steps:
            again = func(*args, **kwargs)
            for first, new in zip(tree_leaves(out), tree_leaves(again), strict=True):
                if isinstance(first, torch.Tensor) and first.data_ptr() != new.data_ptr():
                    first.copy_(new)
