"""What is timed: decode steps and prompts of one arm, all-reduces with nothing else to do, and memory."""

import json
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from distributed.collectives import Group, synchronize
from distributed.decode import FixedStep, greedy
from distributed.decoder import Decoder
from distributed.job import Job
from distributed.progress import beat, summary

WARM_UP_STEPS = 20
NUMBERS = ("tokens", "step_s", "memory_bytes_per_s", "prefill_s", "graph_step_s")
PREFILLS = 5
SWEEP_REPEATS = 60
SWEEP_BYTES = (2**13, 2**15, 2**17, 2**19, 2**20)
MEMORY_ROWS, MEMORY_COLUMNS, MEMORY_REPEATS = 16_384, 4_096, 9


@dataclass
class Arm:
    """What one arm decoded, a row a prompt, and what each decode step took, prefills left out.

    `memory_bytes_per_s` is what the arm's process streamed with nothing else to do; 0 where it was not timed.
    `graph_step_s` are steps replayed as a CUDA graph, where there is one.
    """

    tokens: list[list[int]] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)
    step_s: list[float] = field(default_factory=list)
    memory_bytes_per_s: float = 0.0
    prefill_s: list[float] = field(default_factory=list)
    graph_step_s: list[float] = field(default_factory=list)

    def save(self, stem: Path) -> None:
        """Write the arm beside `stem`, for another process to read."""
        save_file(
            {str(row): logits.cpu() for row, logits in enumerate(self.logits)}, stem.with_suffix(".safetensors")
        )
        numbers = {name: getattr(self, name) for name in NUMBERS}
        stem.with_suffix(".json").write_text(json.dumps(numbers))

    @classmethod
    def load(cls, stem: Path) -> "Arm":
        tensors = load_file(stem.with_suffix(".safetensors"))
        numbers = json.loads(stem.with_suffix(".json").read_text())
        return cls(logits=[tensors[str(row)] for row in range(len(tensors))], **numbers)


def warm_up(model: Decoder, job: Job) -> None:
    """Let the allocator, the caches and the sockets see a decode before the clock does."""
    greedy(model, job.prompts[0], WARM_UP_STEPS, job.end)


@torch.inference_mode()
def time_prefill(model: Decoder) -> list[float]:
    """How long a prompt took that fills the model's positions: every sum carries all of its rows."""
    device = model.device
    tokens = torch.arange(model.max_tokens, device=device).remainder(model.spec.vocab_size).unsqueeze(0)
    took_s = []
    for _ in range(PREFILLS + 1):
        cache = model.new_cache()
        synchronize(device)
        start_s = time.perf_counter()
        model(tokens, cache)
        synchronize(device)
        took_s.append(time.perf_counter() - start_s)
        beat()
    return took_s[1:]


def decode_prompt(model: Decoder, job: Job, row: int, steps: int, arm: Arm, fixed: FixedStep | None = None) -> None:
    """Decode one prompt to its end, again and again until `steps` steps were timed; keep the first answer."""
    timed = 0
    while timed < steps:
        decoded = greedy(model, job.prompts[row], job.longest, job.end, fixed)
        if not timed:
            arm.tokens.append(decoded.tokens)
            arm.logits.append(torch.stack(decoded.logits))
        arm.step_s += decoded.step_s
        timed += max(1, len(decoded.step_s))


def decode_graphed(model: Decoder, job: Job, steps: int) -> Arm:
    """The same prompts with each decode step replayed as a CUDA graph. Needs a GPU that is this rank's own."""
    arm, fixed = Arm(), FixedStep(model).record()
    for row in range(len(job.prompts)):
        decode_prompt(model, job, row, steps, arm, fixed)
    return arm


def sweep(group: Group, row_bytes: int, device: torch.device) -> dict[int, dict[str, float]]:
    """Durations of idle all-reduces by payload, to which α and β are fitted.

    A decode step's row first, then sizes up to a mebibyte. The first half of the repeats is warm-up.
    """
    by_payload = {}
    for payload_bytes in (row_bytes, *SWEEP_BYTES):
        group.forget()
        payload = torch.zeros(payload_bytes // torch.float32.itemsize, device=device)
        for _ in range(2 * SWEEP_REPEATS):
            group.all_reduce(payload)
            beat()
        by_payload[payload_bytes] = summary(group.decode_all_reduces_s[SWEEP_REPEATS:])
    return by_payload


@torch.inference_mode()
def memory_bytes_per_s(device: str | torch.device = "cpu") -> float:
    """How fast weights stream from memory in a decode step: a matrix larger than any cache, times a row.

    Weight bytes over the median time of y[ROWS] = W[ROWS, COLUMNS] · x: 256 MiB a time, in fp32.
    """
    where = torch.device(device)
    weight, x = torch.ones(MEMORY_ROWS, MEMORY_COLUMNS, device=where), torch.ones(1, MEMORY_COLUMNS, device=where)
    took_s = []
    for _ in range(MEMORY_REPEATS + 1):
        synchronize(where)
        start_s = time.perf_counter()
        F.linear(x, weight)
        synchronize(where)
        took_s.append(time.perf_counter() - start_s)
        beat()
    return weight.nbytes / statistics.median(took_s[1:])
