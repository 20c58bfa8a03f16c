"""Recorded scaling curves: data/curves/<backend>.json, each the object that distributed.run_curve wrote."""

from functools import lru_cache
from pathlib import Path

from core.two_way_tp import ScalingRun, read_scaling

CURVES = Path(__file__).resolve().parent.parent / "data" / "curves"


@lru_cache(maxsize=8)
def load(backend: str, folder: Path = CURVES) -> ScalingRun | None:
    """The curve of a backend, None where none was recorded.

    Raises RunLogError when the file is not what run_curve writes.
    """
    path = folder / f"{backend}.json"
    return read_scaling(path.read_text(encoding="utf-8")) if path.is_file() else None
