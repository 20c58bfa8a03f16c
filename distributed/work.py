"""What both arms of a run decode: a model, ten prompts, and where an answer ends.

MiniGPT-grammar comes from its checkpoint; the larger models have random weights, drawn alike on every rank: they
say nothing worth reading, and take the time a trained one would.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from core.specs import ModelSpec
from core.two_way_tp import MINI_GPT, gpt
from distributed import checkpoint, tokenizer
from distributed.collectives import Group
from distributed.mini_gpt import MiniGPT, initialise

SENTENCES = (
    "he goed to school",
    "i has eat",
    "she dont like apples",
    "yesterday we buy bread",
    "they is singing a song",
    "my sister have never drived a car",
    "tomorrow tom wrote a letter",
    "the boy not play football",
    "do anna see a bird?",
    "you didnt took the bus",
)
SEED = 7
RANDOM_PROMPT_TOKENS = 16
RANDOM_ANSWER_TOKENS = 33
LONGEST_ANSWER = 48


@dataclass(frozen=True)
class Work:
    """A model and its prompts. `checkpoint` is None for random weights; `end` is None where nothing ends early."""

    spec: ModelSpec
    given: tuple[str, ...]
    prompts: tuple[tuple[int, ...], ...]
    longest: int
    end: int | None
    checkpoint: Path | None

    def model(self, group: Group) -> MiniGPT:
        """This rank's part of the model."""
        model = MiniGPT(self.spec, group).eval()
        if self.checkpoint is None:
            initialise(model, SEED)
        else:
            checkpoint.load_sharded(model, self.checkpoint)
        return model

    def text(self, tokens: list[int]) -> str:
        """Tokens as they are read: letters, or where there are none, numbers."""
        if self.end is None:
            return " ".join(map(str, tokens))
        return tokenizer.decode(tokens).removesuffix(tokenizer.END)

    @property
    def weights(self) -> str:
        """Where the weights come from: the checkpoint's fingerprint, or the seed."""
        return checkpoint.sha256(self.checkpoint) if self.checkpoint else f"random, seed {SEED}"


def work(key: str, path: Path = checkpoint.CHECKPOINT) -> Work:
    """The work of a model.

    Raises UnknownNameError for a model that is not one of ours, CheckpointError where its checkpoint is missing.
    """
    spec = gpt(key)
    if spec is MINI_GPT:
        checkpoint.require(path)
        prompts = tuple(tuple(tokenizer.prompt(sentence)) for sentence in SENTENCES)
        return Work(spec, SENTENCES, prompts, LONGEST_ANSWER, tokenizer.END_TOKEN, path)
    generator = torch.Generator().manual_seed(SEED)
    rows = torch.randint(spec.vocab_size, (len(SENTENCES), RANDOM_PROMPT_TOKENS), generator=generator).tolist()
    given = tuple(" ".join(map(str, row)) for row in rows)
    return Work(spec, given, tuple(map(tuple, rows)), RANDOM_ANSWER_TOKENS, None, None)
