"""Recorded faults: what two real ranks printed until they stopped, and how each was run.

data/faults/<fault>.json    what distributed.faulty wrote
"""

import json
from functools import lru_cache

from core.clinic.faults import Fault
from core.two_way_tp.result import read_manifest
from runtime.captures import DATA

FOLDER = DATA / "faults"


@lru_cache(maxsize=1)
def recorded() -> tuple[Fault, ...]:
    """Every recorded fault, in an order that tells nothing: that of their moments."""
    rows = (json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
    faults = (
        Fault(row["fault"], tuple(row["lines"]), row["lasted_s"], read_manifest(row["manifest"])) for row in rows
    )
    return tuple(sorted(faults, key=lambda fault: fault.manifest.date))
