"""GPUs in domains, their ports, and what the clock is given for a message, a collective, a hand-over, a pipeline.

A message holds its sender's way out and its receiver's way in for n/β, and arrives α later. Between domains these
are the GPU's own network ports or, where a link belongs to the node, the node's one port, which all its GPUs share.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from core.collectives.programs import SWITCH, Message, Program
from core.errors import OutOfRangeError, require_positive
from core.specs import LinkSpec
from tests.core.referee.clock import Work


@dataclass(frozen=True)
class Fabric:
    """Ranks in order, `domain` of them on `inside`; between two domains, `network`."""

    inside: LinkSpec
    domain: int = 2**20
    network: LinkSpec | None = None

    def __post_init__(self) -> None:
        require_positive(domain=self.domain)

    def message(
        self,
        name: str,
        source: int,
        target: int,
        payload_bytes: float,
        after: tuple[str, ...] = (),
        from_s: float = 0,
    ) -> Work:
        """One message. Raises OutOfRangeError where it must cross and there is no network."""
        here, there = source // self.domain, target // self.domain
        if here == there or SWITCH in (source, target):
            link = self.inside
            ways = {"out": source, "in": target}
            holds = tuple(f"{way} {rank}" for way, rank in ways.items() if rank != SWITCH)
        elif self.network is None:
            raise OutOfRangeError("target", target, f"lies beyond a domain of {self.domain}; name the network")
        else:
            link = self.network
            ends = (here, there) if link.scope == "node" else (source, target)
            holds = (f"{link.scope} out {ends[0]}", f"{link.scope} in {ends[1]}")
        # the bytes reach a switch's far side while they still leave the near one
        travels_s = 0.0 if target == SWITCH else link.latency_s
        return Work(name, holds, payload_bytes / link.bandwidth_bytes_per_s, after, travels_s, from_s)

    def collective(self, program: Program, payload_bytes: float) -> list[Work]:
        """A program's messages, each once the chunks it carries are whole at its sender; rounds wait for nobody."""
        chunk_bytes = payload_bytes / program.chunks
        wrote: dict[tuple[int, int], tuple[str, ...]] = defaultdict(tuple)
        launched = self.network if self.domain == 1 and self.network else self.inside
        base_s = launched.base_s
        works = []
        for number, messages in enumerate(program.rounds):
            arrived: dict[tuple[int, int], tuple[str, ...]] = {}
            for index, message in enumerate(sorted(messages, key=lambda one: _turn(one, program.ranks))):
                name = f"{number}.{index} {message.source}>{message.target}"
                carried = () if program.reads_input else message.chunks
                after = {before for chunk in carried for before in wrote[message.source, chunk]}
                sent = len(message.chunks) * chunk_bytes
                works.append(self.message(name, message.source, message.target, sent, tuple(sorted(after)), base_s))
                for slot in message.slots:
                    key = (message.target, slot)
                    before = wrote[key] if message.adds else ()
                    arrived[key] = (*arrived.get(key, before), name)
            wrote |= arrived
        return works


def _turn(message: Message, ranks: int) -> tuple[int, int]:
    """Messages of one round in an order in which every port has one at a time."""
    return (message.target - message.source) % ranks, message.source


def around(
    stage_s: Sequence[float], hop_s: Sequence[tuple[float, float]], microbatches: int, laps: int
) -> list[Work]:
    """Decode round a pipeline: m microbatches, each token's stages in turn, hops of (bytes, latency) between them.

    The way back from the last stage to the first carries token numbers and is free.
    """
    works = []
    for lap in range(laps):
        for item in range(microbatches):
            before: tuple[str, ...] = (_end(lap - 1, item, len(stage_s) - 1),) if lap else ()
            for stage, took_s in enumerate(stage_s):
                name = _end(lap, item, stage)
                works.append(Work(name, (f"stage {stage}",), took_s, before))
                if stage < len(stage_s) - 1:
                    bytes_s, latency_s = hop_s[stage]
                    hop = f"hop {lap}.{item}.{stage}"
                    works.append(Work(hop, (f"link {stage}",), bytes_s, (name,), latency_s))
                    before = (hop,)
    return works


def _end(lap: int, item: int, stage: int) -> str:
    return f"token {lap}.{item}.{stage}"
