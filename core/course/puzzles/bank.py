"""The ten puzzles, in the order in which they rise: each adds one idea to those before it."""

from core.course.puzzles.board import COLLECTIVES, CUTS, Choice, Held, Puzzle, Step

D, F, VOCABULARY, RANK = 1024, 4096, 32768, 16
TOKENS = 8

_SUMS: tuple[Choice, ...] = ("nothing", "all_reduce", "all_gather")
_SCATTERS: tuple[Choice, ...] = (*_SUMS, "to_features", "to_tokens")


def _matrix(name: str, width: int) -> Step:
    return Step("matrix", name, width, CUTS)


def _slot(options: tuple[Choice, ...] = _SUMS) -> Step:
    return Step("slot", options=options)


def _puzzle(
    key: str,
    ranks: int,
    ends: tuple[Held, Held],
    steps: tuple[Step, ...],
    answer: str,
    width: int = D,
    room: bool = False,
) -> Puzzle:
    named: dict[str, Choice] = {
        "W": "whole", "O": "outputs", "I": "inputs", "-": "nothing", "R": "all_reduce", "G": "all_gather",
        "f": "to_features", "t": "to_tokens", "x": "all_to_all",
    }  # fmt: skip
    placed = tuple(named[letter] for letter in answer)
    return Puzzle(key, ranks, TOKENS, width, *ends, steps, placed, room)


_NORM, _ACTIVATION, _ATTENTION = Step("norm"), Step("activation"), Step("attention")
_MLP = (_matrix("up", F), _slot(), _ACTIVATION, _matrix("down", D))
_HEADS = (_matrix("qkv", D), _slot(), _ATTENTION, _matrix("out", D))

PUZZLES: tuple[Puzzle, ...] = (
    _puzzle("columns", 2, ("whole", "whole"), (_matrix("w", D), _slot()), "OG"),
    _puzzle("rows", 2, ("features", "whole"), (_slot(), _matrix("w", D), _slot()), "-IR", width=F),
    _puzzle("pair", 2, ("whole", "whole"), (*_MLP, _slot()), "O-IR"),
    _puzzle(
        "narrow",
        4,
        ("features", "features"),
        (_slot(), _matrix("a", RANK), _slot(_SCATTERS), _matrix("b", D), _slot()),
        "-IRO-",
    ),
    _puzzle(
        "finished",
        4,
        ("features", "whole"),
        (_slot(), _matrix("w1", D), _slot(_SCATTERS), _ACTIVATION, _matrix("w2", D), _slot()),
        "-IfIR",
        width=F,
    ),
    _puzzle("copies", 4, ("tokens", "tokens"), (_NORM, _slot(), *_MLP, _slot(_SCATTERS)), "-W-W-", room=True),
    _puzzle("layer", 4, ("whole", "whole"), (_NORM, *_HEADS, _slot(), _NORM, *_MLP, _slot()), "O-IRO-IR"),
    _puzzle(
        "sequence",
        8,
        ("tokens", "tokens"),
        (Step("cut_norm"), _slot(), *_MLP, _slot(_SCATTERS), Step("cut_norm")),
        "GO-It",
    ),
    _puzzle(
        "experts",
        8,
        ("tokens", "tokens"),
        (_NORM, _slot(COLLECTIVES), Step("experts"), _slot(COLLECTIVES)),
        "xx",
    ),
    _puzzle(
        "token",
        8,
        ("parts", "whole"),
        (
            _slot(_SCATTERS),
            _NORM,
            _slot(),
            _matrix("head", VOCABULARY),
            _slot(),
            Step("best"),
            _slot(),
            Step("best"),
        ),
        "R-O-G",
    ),
)
"""All of them."""
