"""The releases of vLLM whose sources were read, and a release as numbers that compare."""

from functools import lru_cache

from core.errors import OutOfRangeError, remark
from core.text.numbers import whole

Release = tuple[int, ...]

# fmt: off
RELEASES_READ = (
    "0.3.0", "0.3.3", "0.4.1", "0.4.2", "0.4.3", "0.5.0", "0.5.4", "0.6.0", "0.6.1", "0.6.2", "0.6.3.post1",
    "0.7.3", "0.8.0", "0.8.1", "0.8.3", "0.8.5", "0.9.0", "0.9.2", "0.10.0", "0.10.1", "0.10.2", "0.11.0", "0.13.0",
    "0.16.0", "0.17.0", "0.18.0", "0.19.0", "0.20.0", "0.25.0", "0.28.0", "0.29.0", "0.30.0", "0.31.0", "0.32.0",
    "0.33.0",
)
# fmt: on
"""The releases whose sources these rules were read in; one between two of them is taken to be as the older."""


@lru_cache(maxsize=256)
def version_of(release: str) -> Release:
    """A release such as `0.6.3.post1`, read as 0.6.3. Raises OutOfRangeError outside of what was read."""
    numbers = release.strip().removeprefix("v").partition(".post")[0].split(".")
    if not 2 <= len(numbers) <= 4 or not all(part.isascii() and part.isdecimal() for part in numbers):
        raise OutOfRangeError("release", repr(release[:40]), "such_as", example="0.9.2")
    version = tuple(whole(part[:6]) for part in numbers)
    newest = tuple(map(whole, RELEASES_READ[-1].split(".")))
    if not (0, 3) <= version < (newest[0], newest[1] + 1):
        read = remark("errors.range", least=RELEASES_READ[0], most=RELEASES_READ[-1])
        raise OutOfRangeError("release", release[:40], "releases_read", read=read)
    return version
