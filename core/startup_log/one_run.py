"""One start of an engine: the lines of one command, up to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.errors import UnreadableTextError
from core.startup_log.figures import printed
from core.startup_log.records import Figure, LogLine, Memory, Settings
from core.startup_log.settings import heard, is_launch

LIMIT_RUNS = 500


@dataclass(frozen=True)
class Run:
    """One start of an engine: its lines, what they print in their order, and what it was asked for."""

    lines: tuple[LogLine, ...]
    printed: tuple[Figure | Memory, ...]
    settings: Settings

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(item for item in self.printed if isinstance(item, Figure))


def runs(lines: Sequence[LogLine]) -> tuple[Run, ...]:
    """The lines, cut where a command starts another run.

    Raises UnreadableTextError where more are started than anyone does.
    """
    starts = sorted({0, *(index for index, line in enumerate(lines) if is_launch(line.text))})
    if len(starts) > LIMIT_RUNS:
        raise UnreadableTextError("many_commands", starts=len(starts))
    return tuple(_run(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True))


def _run(lines: Sequence[LogLine]) -> Run:
    settings = Settings()
    items: list[Figure | Memory] = []
    for line in lines:
        if line.text:
            settings = heard(settings, line)
            items += printed(line)
    return Run(tuple(lines), tuple(items), settings)
