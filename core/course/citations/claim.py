"""What a claim about an engine's source is: of which file, by which predicate, of which releases."""

from dataclasses import dataclass

from core.course.citations.predicates import Predicate
from core.text.numbers import whole


@dataclass(frozen=True)
class Source:
    """An engine, the package that publishes it, and the folder in it where its files' paths begin."""

    engine: str
    name: str
    package: str
    root: str

    @property
    def fetched_by(self) -> str:
        """How its archive is had."""
        if self.engine == "nccl":
            return "the source archive of a tag of github.com/NVIDIA/nccl is one"
        return f"`pip download --no-deps {self.package}` fetches one"


@dataclass(frozen=True)
class Citation:
    """One claim about one file of an engine."""

    engine: str
    key: str
    file: str
    symbol: str
    predicate: Predicate
    leans_on: str
    since: str = ""
    until: str = ""

    def asked_of(self, release: str) -> bool:
        """Whether the claim is made of a release at all."""
        at = version(release)
        return at >= version(self.since or "0") and not (self.until and at >= version(self.until))


def version(release: str) -> tuple[int, ...]:
    """A release as numbers that compare: `0.6.3.post1` is 0.6.3, `2.13.0+cpu` is 2.13.0."""
    numbers = []
    for part in release.partition("+")[0].split("."):
        if not part.isascii() or not part.isdecimal():
            break
        numbers.append(whole(part[:6]))
    return tuple(numbers)
