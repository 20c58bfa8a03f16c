"""The grammar-correction corpus, generated, and how it is divided into what is trained on and what is held out.

Two kinds of sentence are held out, and neither is ever trained on:

- *triples*: a tenth of all (subject, verb, object) combinations, in every template. Each of the three words is
  met in training, never the three together.
- *templates*: for every verb, one template in each of three tenses. The verb is met in the tense's other templates,
  never in this one.

A verb whose forms were never shown cannot be guessed: irregular verbs are not held out.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from distributed.grammar_words import SUBJECTS, TEMPLATES, VERBS, Subject, Verb, forms

Part = Literal["train", "triples", "templates"]
SPLIT_SEED = 20
HELD_OUT_FRACTION = 0.1
HELD_OUT_TENSES = 3
ALWAYS_HELD_OUT = frozenset({("he", "go", "to school"), ("i", "eat", ""), ("she", "like", "apples")})
"""The three sentences that the page shows."""


@dataclass(frozen=True)
class Example:
    """A sentence, its correction, and the part of the corpus it belongs to."""

    wrong: str
    right: str
    template: str
    part: Part


@cache
def corpus() -> tuple[Example, ...]:
    """Every sentence of the corpus, in a fixed order. One that has two right corrections is left out."""
    rng = random.Random(SPLIT_SEED)
    triples = [(s, v, o) for s in SUBJECTS for v in VERBS for o in v.objects]
    unseen_triples = _held_out_triples(triples, rng)
    unseen_templates = _held_out_templates(rng)
    return _unambiguous([one for triple in triples for one in _examples(*triple, unseen_triples, unseen_templates)])


def part(examples: Iterable[Example], name: Part) -> list[Example]:
    """The examples of one part, in order."""
    return [example for example in examples if example.part == name]


def _examples(
    subject: Subject,
    verb: Verb,
    thing: str,
    unseen_triples: set[tuple[str, str, str]],
    unseen_templates: set[tuple[str, str]],
) -> Iterator[Example]:
    """A triple in every template."""
    fields = forms(subject, verb, thing)
    for template in TEMPLATES:
        if (subject.text, verb.base, thing) in unseen_triples:
            where: Part = "triples"
        else:
            where = "templates" if (verb.base, template.key) in unseen_templates else "train"
        wrong, right = (_tidy(words.format(**fields)) for words in (template.wrong, template.right))
        yield Example(wrong, right, template.key, where)


def _held_out_triples(triples: list[tuple[Subject, Verb, str]], rng: random.Random) -> set[tuple[str, str, str]]:
    named = [(subject.text, verb.base, thing) for subject, verb, thing in triples]
    return set(rng.sample(named, round(HELD_OUT_FRACTION * len(named)))) | ALWAYS_HELD_OUT


def _held_out_templates(rng: random.Random) -> set[tuple[str, str]]:
    """(verb, template) pairs: for each verb some tenses, of each one template with a mistake in it."""
    wrong = [template for template in TEMPLATES if template.wrong != template.right]
    tenses = sorted({template.tense for template in wrong})
    return {
        (verb.base, rng.choice([template.key for template in wrong if template.tense == tense]))
        for verb in VERBS
        for tense in rng.sample(tenses, HELD_OUT_TENSES)
    }


def _unambiguous(examples: list[Example]) -> tuple[Example, ...]:
    rights: dict[str, set[str]] = {}
    for example in examples:
        rights.setdefault(example.wrong, set()).add(example.right)
    unique = {example.wrong: example for example in reversed(examples) if len(rights[example.wrong]) == 1}
    return tuple(unique[wrong] for wrong in rights if wrong in unique)


def _tidy(sentence: str) -> str:
    return " ".join(sentence.split()).replace(" ?", "?")
