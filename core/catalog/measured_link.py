"""The learner's own link, written whole into its key, so that a shared address keeps it.

    own_ALPHA_BANDWIDTH_BASE_RANKS, in µs, GB/s one way, µs: own_3.12_409_7.26_8

The ranks are those of the table it was fitted to: at another number it is an extrapolation.
A link fitted to a sweep of lab 02's says over what: own_120_1.9_0_2_gloo
"""

import re

from core.errors import OutOfRangeError, Remark, remark
from core.specs import LinkSpec
from core.text.numbers import figure, whole
from core.units import GB, plain

PREFIX = "own_"
DIGITS = 4
"""Significant figures kept: a fit is good to some percent."""

MOST_RANKS = 65536
_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
_KEY = re.compile(rf"own_{_NUMBER}_{_NUMBER}_{_NUMBER}_(\d{{1,6}})(?:_(gloo|shm|nccl))?")


def measured_link(
    latency_s: float, bandwidth_bytes_per_s: float, base_s: float, ranks: int, backend: str = ""
) -> LinkSpec:
    """A measured link as a row like the catalog's, its numbers rounded to what the key can hold.

    `backend` is lab 02's (gloo, shm, nccl), where its ranks were timed; none where a table was brought.

    Raises OutOfRangeError for numbers that are no link's.
    """
    latency_us, base_us = _kept("latency_us", latency_s * 1e6), _kept("base_us", base_s * 1e6)
    gb_per_s = _kept("bandwidth_gb_per_s", bandwidth_bytes_per_s / GB)
    if not 2 <= ranks <= MOST_RANKS:
        raise OutOfRangeError("ranks", ranks, "link_ranks", least=2, most=MOST_RANKS)
    return LinkSpec(
        key=f"{PREFIX}{latency_us}_{gb_per_s}_{base_us}_{ranks}{f'_{backend}' if backend else ''}",
        name=f"this machine ({backend})" if backend else f"your cluster, {ranks} ranks",
        latency_s=figure(latency_us) * 1e-6,
        bandwidth_bytes_per_s=figure(gb_per_s) * GB,
        base_s=figure(base_us) * 1e-6,
        measured_ranks=ranks,
        measured_note=f"fitted to a table of {ranks} ranks; at another number it is an extrapolation",
        source="lab 02's sweep of idle all-reduces" if backend else "the learner's own nccl-tests table",
    )


def measured_link_of(key: str) -> LinkSpec | None:
    """The link that such a key holds; None where the text is no such key, or its numbers are no link's."""
    match = _KEY.fullmatch(key.strip().lower())
    if match is None:
        return None
    latency_us, gb_per_s, base_us = (figure(text) for text in match.groups()[:3])
    try:
        return measured_link(latency_us * 1e-6, gb_per_s * GB, base_us * 1e-6, whole(match[4]), match[5] or "")
    except OutOfRangeError:
        return None


def extrapolation(link: LinkSpec, ranks: int) -> Remark | None:
    """A remark where a link that was fitted to one number of ranks prices another; None where none is due."""
    if link.measured_ranks is None or ranks in (1, link.measured_ranks):
        return None
    return remark("scenario.extrapolation", measured=link.measured_ranks, ranks=ranks)


def _kept(name: str, value: float) -> str:
    """A number in the figures that the key keeps, without an exponent."""
    if not 0 <= value < 1e9:
        raise OutOfRangeError(name, value, "below_power", least=0, most="10^9")
    return plain(value, DIGITS) if value >= 1e-5 else "0"
