"""MiniGPT-grammar at work: correct a sentence, and measure how often it is right on what it never saw.

python -m distributed.grammar "he goed to school"
python -m distributed.grammar --held-out [--json]
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import torch
from torch import Tensor

from core.two_way_tp.predictions import MINI_GPT
from distributed import checkpoint
from distributed.collectives import Group
from distributed.decode import greedy
from distributed.grammar_corpus import Example, corpus, part
from distributed.job import LONGEST_ANSWER
from distributed.mini_gpt import MiniGPT
from distributed.tokenizer import END, END_TOKEN, decode, prompt

BATCH = 256


@dataclass(frozen=True)
class Score:
    """Sentences corrected to the last character, of how many."""

    part: str
    exact: int
    sentences: int

    @property
    def exact_fraction(self) -> float:
        return self.exact / self.sentences


def load(path: Path = checkpoint.CHECKPOINT, group: Group | None = None) -> MiniGPT:
    """The model with this rank's part of its weights."""
    model = MiniGPT(MINI_GPT, group or Group()).eval()
    checkpoint.load_sharded(model, path)
    return model


def correct(model: MiniGPT, sentence: str) -> str:
    tokens = greedy(model, prompt(sentence), LONGEST_ANSWER, END_TOKEN).tokens
    return decode(tokens).removesuffix(END)


@torch.inference_mode()
def correct_many(model: MiniGPT, sentences: Sequence[str]) -> list[str]:
    """Many corrections at once: sentences of equal length share a batch, so nothing is padded."""
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    answers = [""] * len(sentences)
    for _, equal in groupby(order, key=lambda i: len(sentences[i])):
        indices = list(equal)
        for start in range(0, len(indices), BATCH):
            chunk = indices[start : start + BATCH]
            for i, answer in zip(chunk, _correct_equal(model, [sentences[i] for i in chunk]), strict=True):
                answers[i] = answer
    return answers


def score(model: MiniGPT, name: str, examples: Sequence[Example]) -> Score:
    """How many wrong sentences are corrected letter by letter."""
    answers = correct_many(model, [example.wrong for example in examples])
    exact = sum(answer == example.right for answer, example in zip(answers, examples, strict=True))
    return Score(name, exact, len(examples))


def _correct_equal(model: MiniGPT, sentences: list[str]) -> list[str]:
    step = torch.tensor([prompt(sentence) for sentence in sentences])
    cache = model.new_cache(len(sentences))
    written: list[Tensor] = []
    ended = torch.zeros(len(sentences), dtype=torch.bool)
    for _ in range(min(LONGEST_ANSWER, model.max_tokens - step.shape[1])):
        step = model(step, cache)[:, -1].argmax(-1, keepdim=True)
        written.append(step)
        ended |= step[:, 0] == END_TOKEN
        if ended.all():
            break
    return [decode(row).split(END)[0] for row in torch.cat(written, dim=1).tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", nargs="*", help="sentences to correct")
    parser.add_argument("--held-out", action="store_true", help="exact match on both held-out parts of the corpus")
    parser.add_argument("--checkpoint", type=Path, default=checkpoint.CHECKPOINT)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    try:
        model = load(args.checkpoint)
        answers = [correct(model, sentence) for sentence in args.sentences]
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    for answer in answers:
        print(answer)
    if args.held_out:
        examples = corpus()
        scores = [score(model, name, part(examples, name)) for name in ("triples", "templates")]
        rows = [asdict(s) | {"exact_fraction": s.exact_fraction} for s in scores]
        print(json.dumps({"held_out": rows}) if args.json else "\n".join(map(str, scores)))


if __name__ == "__main__":
    main()
