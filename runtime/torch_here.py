"""Whether this server may and can run two ranks: torch and GPUs, found without importing torch.

Live runs start processes on the server's machine, so a public deployment does not offer them. `SHARDLAB_LIVE_RUNS`
decides: `1` allows, `0` forbids. Without it, runs are allowed when the page was opened at a loopback address
(`localhost`, `127.0.0.1`, `::1`) and the app does not stand in Community Cloud's `/mount/src`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

SETTING = "SHARDLAB_LIVE_RUNS"
COMMUNITY_CLOUD = Path("/mount/src")
HERE = Path(__file__).resolve()


@dataclass(frozen=True)
class TorchHere:
    """What a page may offer. `why_not` says, in a sentence, what stands in the way of a run; empty when nothing."""

    cuda_devices: int
    why_not: str

    @property
    def can_run(self) -> bool:
        """Whether a run may be started."""
        return not self.why_not

    @property
    def backend(self) -> str:
        """NCCL with a GPU for each of two ranks, else Gloo between CPU processes."""
        return "nccl" if self.cuda_devices > 1 else "gloo"


def torch_here(page_url: str | None, environ: Mapping[str, str] = os.environ) -> TorchHere:
    """What can be run for a page opened at `page_url`."""
    if not live_runs_allowed(page_url, environ):
        return TorchHere(0, f"Live runs are off in a shared deployment; {SETTING}=1 allows them.")
    if not has_torch():
        return TorchHere(0, "PyTorch is not installed here: pip install -r requirements.txt brings it.")
    return TorchHere(cuda_devices(), "")


def live_runs_allowed(page_url: str | None, environ: Mapping[str, str], app: Path = HERE) -> bool:
    """Whether processes may be started for a visitor. The setting wins; without it, only on one's own machine."""
    setting = environ.get(SETTING, "").strip().lower()
    if setting:
        return setting in ("1", "true", "yes", "on")
    return is_loopback(page_url) and not app.is_relative_to(COMMUNITY_CLOUD)


def is_loopback(page_url: str | None) -> bool:
    """Whether a page's address names the machine it is read on."""
    host = urlsplit(page_url or "").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def has_torch() -> bool:
    """Whether `import torch` would find something. Nothing is imported."""
    return find_spec("torch") is not None


@lru_cache(maxsize=1)
def cuda_devices(dev: Path = Path("/dev")) -> int:
    """NVIDIA GPUs of this machine, by their device files; 0 where the driver makes none."""
    return sum(path.name.removeprefix("nvidia").isdecimal() for path in dev.glob("nvidia*"))
