"""vLLM's custom all-reduce: whether a release uses it on a machine, by which rule it is off, for which payloads.

The kernel reads its peers' memory directly, in one stage or two, where NCCL would go round a ring. It is off unless
every rule of the release holds; who is asked before it and after it, core.collectives.who_sums says.

Source: `vllm/distributed/device_communicators/custom_all_reduce.py` and `csrc/custom_all_reduce.cu[h]` as published
in the source packages of the releases in RELEASES_READ; a rule's release is the first of those that has it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.collectives.releases import Release, version_of
from core.errors import OutOfRangeError, require_positive
from core.text.numbers import whole
from core.units import KIB, MIB

WORLD_SIZES = (2, 4, 6, 8)
MAX_BYTES = 8 * MIB
PCIE_MAX_BYTES = 512 * KIB
"""Four PCIe GPUs were served up to here by the releases before the PCIe rule."""

SYMMETRIC_MEMORY_CAPS = {
    "9.0": {2: 64 * MIB, 4: 32 * MIB, 6: MIB // 2, 8: MIB // 4},
    "10.0": {2: 2 * MIB, 4: 2 * MIB, 6: MIB, 8: MIB},
    "10.3": {2: 4 * MIB, 4: 4 * MIB, 6: 8 * MIB, 8: 4 * MIB},
}
"""By compute capability and world size: above, PyTorch's symmetric memory is taken to be faster where it runs."""

RuleKey = Literal["one_node", "world_size", "nvlink_gpus", "nvlink", "p2p", "nvlink_domain"]


@dataclass(frozen=True)
class Machine:
    """What the rules ask about: the ranks of one tensor-parallel group and how they are joined.

    `full_nvlink`: every pair is one NVLink (or xGMI) hop apart. `p2p`: a copy between any two GPUs arrives;
    `driver_p2p` what the driver says of that, None where it tells the truth. `nvlink_domain`: ranks on several
    nodes share one NVLink domain whose switches multicast. `symmetric_memory` None is the release's default; it
    needs a switch that multicasts. So is `flashinfer` None, which a server has installed.
    """

    release: str
    world_size: int
    nodes: int = 1
    full_nvlink: bool = True
    p2p: bool = True
    rocm: bool = False
    compute_capability: str = "9.0"
    symmetric_memory: bool | None = None
    flashinfer: bool | None = None
    driver_p2p: bool | None = None
    nvlink_domain: bool = False

    def __post_init__(self) -> None:
        require_positive(world_size=self.world_size, nodes=self.nodes)
        if self.nodes > self.world_size:
            raise OutOfRangeError("nodes", self.nodes, "world_size", most=self.world_size)
        version_of(self.release)

    @property
    def version(self) -> Release:
        """The release as numbers, `0.6.3.post1` as 0.6.3. Raises OutOfRangeError outside of what was read."""
        return version_of(self.release)

    @property
    def blackwell(self) -> bool:
        """Compute capability 10 or newer: what multi-node NVLink is told from."""
        return whole(self.compute_capability.partition(".")[0]) >= 10


@dataclass(frozen=True)
class Rule:
    """One condition, the first release read that has it, and the line a log shows where it stops the kernel.

    All releases' lines have the words of `told_by`. `until` is the first release read that no longer has it; ""
    where it stands.
    """

    key: RuleKey
    told_by: str
    since: str
    asks: str
    logs: str
    holds: Callable[[Machine], bool]
    until: str = ""


_SILENCE = "To silence this warning, specify disable_custom_all_reduce=True explicitly."

RULES = (
    Rule(
        "one_node",
        "spans across nodes",
        "0.5.0",
        "all ranks on one node",
        "Custom allreduce is disabled because this process group spans across nodes.",
        lambda machine: machine.nodes == 1,
        until="0.28.0",
    ),
    Rule(
        "world_size",
        "unsupported world size",
        "0.3.0",
        "2, 4, 6 or 8 ranks",
        f"Custom allreduce is disabled due to an unsupported world size: %d. Supported world sizes: %s. {_SILENCE}",
        lambda machine: machine.world_size in world_sizes(machine),
    ),
    Rule(
        "nvlink_gpus",
        "does not have MNNVL-capable GPUs",
        "0.29.0",
        "one node, or GPUs whose NVLink can span nodes",
        "Custom collectives are disabled because this multi-node group does not have MNNVL-capable GPUs on every"
        " rank.",
        lambda machine: machine.nodes == 1 or machine.blackwell,
    ),
    Rule(
        "nvlink",
        "more than two PCIe-only GPUs",
        "0.4.1",
        "two ranks, or NVLink between every two",
        f"Custom allreduce is disabled because it's not supported on more than two PCIe-only GPUs. {_SILENCE}",
        lambda machine: machine.nodes > 1 or machine.world_size == 2 or machine.full_nvlink,
    ),
    Rule(
        "p2p",
        "lacks GPU P2P capability",
        "0.3.0",
        "peer-to-peer copies that arrive",
        "Custom allreduce is disabled because your platform lacks GPU P2P capability or P2P test failed. "
        f"{_SILENCE}",
        lambda machine: machine.nodes > 1 or _p2p_taken_for_granted(machine),
    ),
    Rule(
        "nvlink_domain",
        "does not support MNNVL multicast",
        "0.28.0",
        "one node, or one NVLink domain over several",
        "Custom collectives are disabled because this multi-node group does not support MNNVL multicast.",
        lambda machine: machine.nodes == 1 or (machine.nvlink_domain and machine.blackwell),
    ),
)
"""In the order a release asks them: the first that fails is the one a log names. NVLink between every two and
peer-to-peer are asked inside one node; what spans nodes is asked for its multicast, last."""

P2P_TESTED_SINCE = "0.4.1"
"""Before, the driver's word was taken; since, a copy is made between every two GPUs and looked at."""
P2P_BELIEVED_SINCE = "0.10.1"
"""`VLLM_SKIP_P2P_CHECK` is on by default: the driver's word is taken again."""
SIXTEEN_RANKS_SINCE = "0.28.0"
"""For gathers and scatters: an all-reduce over more than eight goes elsewhere."""
STRICTLY_BELOW_SINCE = "0.6.2"
"""Before, a payload of just the cap was taken; since, only smaller ones."""
ROCM_TRUSTED_SINCE = "0.8.3"
CAPS_SINCE = {"9.0": "0.10.2", "10.0": "0.10.2", "10.3": "0.19.0"}
SYMMETRIC_MEMORY_DEFAULT_SINCE = "0.11.0"
"""`VLLM_ALLREDUCE_USE_SYMM_MEM` is off by default in 0.10.2 and on in 0.11.0."""


@dataclass(frozen=True)
class Check:
    """One rule put to one machine; `holds` is None where the release does not ask it."""

    rule: Rule
    holds: bool | None


@dataclass(frozen=True)
class Decision:
    """Whether the kernel is on, rule by rule up to the one that stops it, and the largest payload it is offered."""

    machine: Machine
    checks: tuple[Check, ...]
    max_bytes: int

    @property
    def stopped_by(self) -> Rule | None:
        """The rule that failed, if one did."""
        return next((check.rule for check in self.checks if check.holds is False), None)

    @property
    def enabled(self) -> bool:
        """On, with at least two ranks and every rule met."""
        return self.machine.world_size > 1 and self.stopped_by is None

    @property
    def reduces(self) -> bool:
        """On, and not for gathers and scatters alone, as over more than eight ranks."""
        return self.enabled and self.machine.world_size <= max(WORLD_SIZES)

    @property
    def logged(self) -> str:
        """The line a log shows; "" while it is on, and for one rank, which has nothing to say."""
        if self.machine.world_size == 1 or self.stopped_by is None:
            return ""
        sizes = str(list(world_sizes(self.machine)))
        return self.stopped_by.logs.replace("%d", str(self.machine.world_size)).replace("%s", sizes)


@lru_cache(maxsize=1024)
def decide(machine: Machine) -> Decision:
    """The rules of a machine's release, asked in its order until one fails."""
    checks: list[Check] = []
    for rule in RULES:
        asked = at_least(machine, rule.since) and not (rule.until and at_least(machine, rule.until))
        checks.append(Check(rule, rule.holds(machine) if asked else None))
        if checks[-1].holds is False:
            break
    return Decision(machine, tuple(checks), max_bytes(machine))


def max_bytes(machine: Machine) -> int:
    """The size cap: 8 MiB, less where symmetric memory serves larger payloads on this architecture."""
    if not machine.full_nvlink and machine.world_size > 2:
        return PCIE_MAX_BYTES if machine.world_size <= 4 else 0
    caps = SYMMETRIC_MEMORY_CAPS.get(machine.compute_capability, {}) if in_symmetric_memory(machine) else {}
    return min(MAX_BYTES, caps.get(machine.world_size, MAX_BYTES))


def world_sizes(machine: Machine) -> tuple[int, ...]:
    """The numbers of ranks that the machine's release builds the kernels for."""
    return (*WORLD_SIZES, 16) if at_least(machine, SIXTEEN_RANKS_SINCE) else WORLD_SIZES


def at_least(machine: Machine, release: str) -> bool:
    """Whether the machine's release is that one or newer."""
    return machine.version >= version_of(release)


def in_symmetric_memory(machine: Machine) -> bool:
    """Whether PyTorch's symmetric memory is in use: asked for or by default, and known for this architecture."""
    since = CAPS_SINCE.get(machine.compute_capability)
    if since is None or not at_least(machine, since) or machine.rocm or not machine.full_nvlink:
        return False
    default = at_least(machine, SYMMETRIC_MEMORY_DEFAULT_SINCE)
    asked = default if machine.symmetric_memory is None else machine.symmetric_memory
    return asked and machine.world_size in SYMMETRIC_MEMORY_CAPS[machine.compute_capability]


def _p2p_taken_for_granted(machine: Machine) -> bool:
    """Whether the release goes on: by the driver's word, by a copy it makes, or on AMD without asking."""
    believed = at_least(machine, P2P_BELIEVED_SINCE) or not at_least(machine, P2P_TESTED_SINCE)
    told = machine.p2p if machine.driver_p2p is None else machine.driver_p2p
    return (told if believed else machine.p2p) or (machine.rocm and at_least(machine, ROCM_TRUSTED_SINCE))
