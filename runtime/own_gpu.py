"""The files of the project's own run on a GPU: what it measured, and the ledger of what was foretold of it."""

import os
from functools import lru_cache
from pathlib import Path

from core.evidence.own_gpu import (
    FORETOLD_GPUS,
    OwnFigure,
    Told,
    predictions,
    read_part,
    read_told,
    told_line,
)
from runtime.files import DATA
from runtime.locks import appending

FOLDER = DATA / "own_gpu"
LEDGER = FOLDER / "foretold.jsonl"


def told(ledger: Path = LEDGER) -> tuple[Told, ...]:
    """Every prediction there is. Raises as `read_told` does."""
    return read_told(ledger.read_text(encoding="utf-8").splitlines()) if ledger.is_file() else ()


def own_figures(folder: Path = FOLDER) -> tuple[OwnFigure, ...]:
    """Every figure that was measured on a GPU, with what was told of it before; none as long as nobody ran it.

    Raises as `read_part` and `read_told` do.
    """
    paths = sorted(folder.rglob("*.json"))
    return _read(tuple(path.read_text(encoding="utf-8") for path in paths if path.parent.name != "capture"), told())


@lru_cache(maxsize=2)
def _read(texts: tuple[str, ...], before: tuple[Told, ...]) -> tuple[OwnFigure, ...]:
    return tuple(figure for text in texts for figure in read_part(text, before))


def foretell(made: str, ledger: Path = LEDGER) -> tuple[Told, ...]:
    """Append what is expected of each GPU and not yet in the ledger; what is in it stays as it is."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with appending(ledger) as file:
        lines = ledger.read_text(encoding="utf-8").splitlines()
        known = {(one.gpu, one.key) for one in read_told(lines)}
        for gpu in FORETOLD_GPUS:
            for one in predictions(gpu, made):
                if (one.gpu, one.key) not in known:
                    lines.append(told_line(lines[-1] if lines else "", one))
                    os.write(file, (lines[-1] + "\n").encode())
        os.fsync(file)
    return read_told(lines)
