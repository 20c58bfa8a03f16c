"""The one scenario that every page shares: which model, on what, cut how, asked for what.

It travels in the URL. A query can hold anything, so it is read without ever raising: what cannot be used is
left out, with a remark.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from core.catalog import gpu, link, model
from core.catalog.links import timed_row
from core.errors import OutOfRangeError, Remark, ShardlabError, remark, shortened
from core.specs import DTYPE_BYTES, GpuSpec, LinkSpec, ModelSpec
from core.text.numbers import whole


class Limits(NamedTuple):
    """The least and the most of a whole number."""

    least: int
    most: int

    def allow(self, value: object) -> bool:
        """Whether `value` is a whole number within them."""
        return isinstance(value, int) and self.least <= value <= self.most


LIMITS = {
    "tp": Limits(1, 64),
    "pp": Limits(1, 64),
    "replicas": Limits(1, 1024),
    "batch": Limits(1, 4096),
    "prompt_tokens": Limits(1, 1_048_576),
    "output_tokens": Limits(1, 131_072),
    "slow_percent": Limits(0, 900),
}
"""The fields that are whole numbers, and how far each may go."""

_KEYS: Mapping[str, Callable[[str], ModelSpec | GpuSpec | LinkSpec]] = {
    "model": model,
    "gpu": gpu,
    "link": link,
    "network": link,
}
_QUERY_NAMES = {
    "prompt_tokens": "prompt",
    "output_tokens": "output",
    "weight_dtype": "weights",
    "kv_dtype": "kv",
    "slow_percent": "slow",
}
"""Fields whose name in the URL is a shorter one."""


@dataclass(frozen=True)
class Scenario:
    """Catalog keys and sizes. `link` joins GPUs inside a node, `network` joins nodes.

    `slow_percent` is by how much one rank is slower than the others: at 100 it takes twice their time.
    """

    model: str = "llama-3-8b"
    gpu: str = "a100-80gb-sxm"
    link: str = "nvlink-lab"
    network: str = "ethernet-10g-lab"
    tp: int = 2
    pp: int = 1
    replicas: int = 1
    batch: int = 1
    prompt_tokens: int = 2048
    output_tokens: int = 256
    weight_dtype: str = "bf16"
    kv_dtype: str = "bf16"
    slow_percent: int = 0

    def __post_init__(self) -> None:
        for name, find in _KEYS.items():
            object.__setattr__(self, name, find(getattr(self, name)).key)
        for name, limits in LIMITS.items():
            if not limits.allow(getattr(self, name)):
                raise OutOfRangeError(name, getattr(self, name), "whole_in", least=limits.least, most=limits.most)
        for name in ("weight_dtype", "kv_dtype"):
            if getattr(self, name) not in DTYPE_BYTES:
                raise OutOfRangeError(name, getattr(self, name), "not_one_of", known=", ".join(DTYPE_BYTES))

    @property
    def model_spec(self) -> ModelSpec:
        return model(self.model)

    @property
    def gpu_spec(self) -> GpuSpec:
        return gpu(self.gpu)

    @property
    def link_spec(self) -> LinkSpec:
        return link(self.link)

    @property
    def network_spec(self) -> LinkSpec:
        return link(self.network)

    @cached_property
    def timed(self) -> "Scenario":
        """The same over links that were timed: a link of the labs' napkin gives way to the row it stands for."""
        rows = (timed_row(row, self.gpu_spec) for row in (self.link_spec, self.network_spec))
        inside, between = (row.key for row in rows)
        return replace(self, link=inside, network=between)

    @property
    def slowdown(self) -> Fraction:
        """The slow rank's time over the others': 1 where all are alike."""
        return 1 + Fraction(self.slow_percent, 100)

    @classmethod
    def from_query(cls, params: Mapping[str, str]) -> "tuple[Scenario, list[Remark]]":
        """The scenario a URL's query means, and a remark on each value that was ignored.

        Names that are not the scenario's are skipped without a word: they may be a page's own.
        """
        scenario, ignored = cls(), []
        for name in FIELD_NAMES:
            text = params.get(query_name(name))
            if text is None:
                continue
            try:
                scenario = scenario.with_text(name, text)
            except ShardlabError:
                ignored.append(_ignored(name, text, getattr(scenario, name)))
        return scenario, ignored

    def to_query(self) -> dict[str, str]:
        """The query that `from_query` reads back as this scenario; defaults are left out."""
        default = Scenario()
        return {
            query_name(name): str(getattr(self, name))
            for name in FIELD_NAMES
            if getattr(self, name) != getattr(default, name)
        }

    def with_text(self, name: str, text: str) -> "Scenario":
        """This scenario with one field read from text.

        Raises ShardlabError when the text is not a value of that field.
        """
        values = {other: getattr(self, other) for other in FIELD_NAMES}
        values[name] = _whole_number(name, text) if name in LIMITS else text.strip().lower()
        return Scenario(**values)


FIELD_NAMES = tuple(field.name for field in fields(Scenario))


def query_name(name: str) -> str:
    """What a field is called in the URL: `prompt` for `prompt_tokens`."""
    return _QUERY_NAMES.get(name, name)


def _whole_number(name: str, text: str) -> int:
    """A whole number in ASCII digits.

    Raises OutOfRangeError for anything else.
    """
    if not re.fullmatch(r"[0-9]{1,12}", text.strip()):
        least, most = LIMITS[name]
        raise OutOfRangeError(name, shortened(text), "whole_in", least=least, most=most)
    return whole(text)


def _ignored(name: str, text: str, kept: object) -> Remark:
    """Which value of the query was ignored, by which rule, and what stands instead."""
    fields: dict[str, Any] = {"name": query_name(name), "text": shortened(text), "kept": kept}
    if name in _KEYS:
        return remark("scenario.unknown_row", **fields)
    if name in LIMITS:
        return remark("scenario.not_whole", **fields, **LIMITS[name]._asdict())
    return remark("scenario.unknown_width", **fields, known=tuple(DTYPE_BYTES))
