"""What both arms of a run decode: a model, ten prompts, and where an answer ends.

MiniGPT-grammar comes from its checkpoint and a Hugging Face directory from its files; the larger models of our own
have random weights, drawn alike on every rank: they say nothing worth reading, and take the time a trained one
would. Of a directory the tokenizer is not read: its prompts are random tokens, too.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from core.specs import ModelSpec
from core.two_way_tp.predictions import MINI_GPT, SHAPE_FIELDS, gpt
from distributed import checkpoint, tokenizer
from distributed.collectives import Group
from distributed.decoder import Decoder
from distributed.hugging_face import ModelDirectory, read_directory
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
class Job:
    """A model and its prompts. `checkpoint` is None for random weights; `end` is None where nothing ends early.

    `name` is what the model was asked for by: a key of ours, or a directory.
    """

    name: str
    spec: ModelSpec
    given: tuple[str, ...]
    prompts: tuple[tuple[int, ...], ...]
    longest: int
    end: int | None
    checkpoint: Path | None
    directory: ModelDirectory | None = None

    def model(self, group: Group) -> Decoder:
        if self.directory is not None:
            return self.directory.model(group)
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
        """Where the weights come from: the checkpoint's fingerprint, the directory's name, or the seed."""
        if self.directory is not None:
            return f"local directory {self.directory.path.name}"
        return checkpoint.sha256(self.checkpoint) if self.checkpoint else f"random, seed {SEED}"

    @property
    def shape(self) -> dict[str, object]:
        """The shape of a model that is not one of ours, for whoever reads the log."""
        if self.directory is None:
            return {}
        return {"shape": {name: asdict(self.spec)[name] for name in SHAPE_FIELDS}}


def make_job(name: str, path: Path = checkpoint.CHECKPOINT) -> Job:
    """What both arms do with a model.

    Raises UnknownNameError for what is neither one of ours nor a directory, CheckpointError where its checkpoint is
    missing, ShardlabError where a directory holds another shape.
    """
    if name == MINI_GPT.key:
        checkpoint.require(path)
        prompts = tuple(tuple(tokenizer.prompt(sentence)) for sentence in SENTENCES)
        return Job(name, MINI_GPT, SENTENCES, prompts, LONGEST_ANSWER, tokenizer.END_TOKEN, path)
    directory = read_directory(Path(name)) if Path(name).is_dir() else None
    spec = directory.spec if directory else gpt(name)
    generator = torch.Generator().manual_seed(SEED)
    rows = torch.randint(spec.vocab_size, (len(SENTENCES), RANDOM_PROMPT_TOKENS), generator=generator).tolist()
    given = tuple(" ".join(map(str, row)) for row in rows)
    return Job(name, spec, given, tuple(map(tuple, rows)), RANDOM_ANSWER_TOKENS, None, None, directory)
