"""The ways between GPUs as AMD's tools write them in JSON: `rocm-smi --showtopo`, `amd-smi topology`, `--json`."""

import json
import re

from core.text.lines import object_in
from core.text.numbers import whole

MOST_DEVICES = 512
_PAIR = re.compile(r'"\(Topology\) Link type between DRM devices (\d{1,2}) and (\d{1,2})": "([A-Z]{1,8})"')
_LIST = re.compile(r"\[\s{0,80}\{")
_DECODER = json.JSONDecoder()


def written_rows(text: str) -> list[tuple[str, list[str]]]:
    """The rows that AMD's tools write as JSON, each GPU's ways in the order of the GPUs."""
    pairs = {(whole(one), whole(other)): way for one, other, way in _PAIR.findall(text)}
    if pairs:
        gpus = range(1 + max(max(pair) for pair in pairs))
        both = {**pairs, **{(other, one): way for (one, other), way in pairs.items()}}
        return [
            (f"GPU{one}", ["X" if one == other else both.get((one, other), "N/A") for other in gpus])
            for one in gpus
        ]
    start = _LIST.search(text) if '"link_type"' in text else None
    try:
        rows = _DECODER.raw_decode(text, start.start())[0] if start else []
    except (ValueError, RecursionError):
        return []
    ways = [_ways(row) for row in rows[:MOST_DEVICES]]
    square = all(len(of_one) == len(ways) for of_one in ways)
    return [(f"GPU{index}", of_one) for index, of_one in enumerate(ways)] if square else []


def _ways(row: object) -> list[str]:
    """The link types of one GPU in amd-smi's JSON, in a list of links or, before ROCm 6.3, by name."""
    fields = object_in(row)
    links, named = fields.get("links"), fields.get("link_type")
    if isinstance(links, list):
        return [str(link.get("link_type")) for link in links if isinstance(link, dict)]
    return [str(way) for way in named.values()] if isinstance(named, dict) else []
