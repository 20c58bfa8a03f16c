"""Two real ranks run an MLP cut by PyTorch's own `parallelize_module`, and write what each held and got."""

import sys

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def rank_main(rank: int, world: int, folder: str) -> None:
    """One rank: shard, run forward, save."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=world)
    given = np.load(f"{folder}/given.npz")
    mlp = torch.nn.Sequential(
        torch.nn.Linear(8, 16, bias=False, dtype=torch.float64),
        torch.nn.ReLU(),
        torch.nn.Linear(16, 8, bias=False, dtype=torch.float64),
    )
    with torch.no_grad():
        mlp[0].weight.copy_(torch.from_numpy(given["W1"]))
        mlp[2].weight.copy_(torch.from_numpy(given["W2"]))
    mesh = init_device_mesh("cpu", (world,))
    parallelize_module(mlp, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    y = mlp(torch.from_numpy(given["x"]))
    np.savez(
        f"{folder}/rank{rank}.npz",
        W1=mlp[0].weight.to_local().detach().numpy(),
        W2=mlp[2].weight.to_local().detach().numpy(),
        y=y.detach().numpy(),
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(rank_main, args=(2, sys.argv[1]), nprocs=2)
