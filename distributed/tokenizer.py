"""A character tokenizer: 31 signs, an odd number, so that cutting the vocabulary over two ranks needs padding."""

ALPHABET = "abcdefghijklmnopqrstuvwxyz '?>\n"
"""Letters, space, apostrophe, question mark; `>` parts a sentence from its correction, a newline ends it."""

ANSWER = ">"
END = "\n"
_IDS = {sign: token for token, sign in enumerate(ALPHABET)}
END_TOKEN = _IDS[END]


def encode(text: str) -> list[int]:
    """Token ids of `text`.

    Raises ValueError, naming the sign, for one that the alphabet lacks.
    """
    unknown = sorted(set(text) - _IDS.keys())
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not one of the tokenizer's {len(ALPHABET)} signs")
    return [_IDS[sign] for sign in text]


def decode(tokens: list[int]) -> str:
    return "".join(ALPHABET[token] for token in tokens)


def prompt(sentence: str) -> list[int]:
    """Token ids of a sentence to be corrected, up to the sign after which the correction is written."""
    return encode(sentence.lower().strip() + ANSWER)
