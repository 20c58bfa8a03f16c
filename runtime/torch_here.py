"""Whether this server may and can run two ranks: torch and GPUs, found without importing torch.

Live runs start processes on the server's machine. A deployment is public unless the person who starts its server
declares it their own, with `SHARDLAB_LIVE_RUNS=1`; nothing that a visitor sends is asked. In Community Cloud's
`/mount/src` no declaration counts.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from core.errors import Remark, remark
from runtime.one_process import ALONE

SETTING = "SHARDLAB_LIVE_RUNS"
COMMUNITY_CLOUD = Path("/mount/src")
HERE = Path(__file__).resolve()


@dataclass(frozen=True)
class TorchHere:
    """What a page may offer. `why_not` says what stands in the way of a run; None when nothing."""

    cuda_devices: int
    why_not: Remark | None = None

    @property
    def backend(self) -> str:
        """NCCL with a GPU for each of two ranks, else Gloo between CPU processes."""
        return "nccl" if self.cuda_devices > 1 else "gloo"


def torch_here(environ: Mapping[str, str] = os.environ) -> TorchHere:
    """What can be run on this server."""
    if ALONE:
        return TorchHere(0, remark("errors.run.in_tab"))
    if not live_runs_allowed(environ):
        return TorchHere(0, remark("errors.run.off", setting=f"{SETTING}=1"))
    if not has_torch():
        return TorchHere(0, remark("errors.run.install_torch"))
    return TorchHere(cuda_devices())


def live_runs_allowed(environ: Mapping[str, str] = os.environ, app: Path = HERE) -> bool:
    """Whether processes may be started for a visitor: only where the server was declared private."""
    declared = environ.get(SETTING, "").strip().lower() in ("1", "true", "yes", "on")
    return declared and not app.is_relative_to(COMMUNITY_CLOUD)


def has_torch() -> bool:
    """Whether `import torch` would find something. Nothing is imported."""
    return find_spec("torch") is not None


@lru_cache(maxsize=1)
def cuda_devices(dev: Path = Path("/dev")) -> int:
    """NVIDIA GPUs of this machine, by their device files; 0 where the driver makes none."""
    return sum(path.name.removeprefix("nvidia").isdecimal() for path in dev.glob("nvidia*"))
