"""Pairs of submissions whose code is alike, by runs of tokens that both have and the released starter has not.

Names, numbers, texts and comments count for nothing, so that a renamed copy is still one. It is a list to look at,
not a verdict: short labs have few ways to be right.
"""

import keyword
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

RUN = 8
"""Tokens of a run."""
FEWEST = 20
"""Runs of its own that a submission must have to be compared."""
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


@dataclass(frozen=True)
class Alike:
    """Two students and the share of the smaller one's runs that both have."""

    first: str
    second: str
    shared_fraction: float


def alike(codes: Mapping[str, str], starter: str, least_fraction: float) -> list[Alike]:
    """The pairs that share at least this fraction, the most alike first."""
    known = _runs(starter)
    runs = {name: own for name, text in codes.items() if len(own := _runs(text) - known) >= FEWEST}
    pairs = (
        Alike(one, other, len(runs[one] & runs[other]) / min(len(runs[one]), len(runs[other])))
        for one, other in combinations(runs, 2)
    )
    return sorted(
        (pair for pair in pairs if pair.shared_fraction >= least_fraction), key=lambda pair: -pair.shared_fraction
    )


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of tokens of a text, as far as it can be read; the names that a language gives stay themselves."""
    tokens: list[str] = []
    try:
        for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__):
            if token.type == tokenize.NAME:
                tokens.append(token.string if keyword.iskeyword(token.string) else "name")
            elif token.type in (tokenize.NUMBER, tokenize.STRING):
                tokens.append(tokenize.tok_name[token.type])
            elif token.type not in _SKIPPED:
                tokens.append(token.string)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return frozenset(tuple(tokens[at : at + RUN]) for at in range(len(tokens) - RUN + 1))
