"""A log read: a text in, a report out."""

from collections.abc import Iterable, Sequence

from core.errors import UnreadableTextError
from core.startup_log.checking import checks
from core.startup_log.lines import LIMIT_LINES, read_lines
from core.startup_log.records import Engine, Given, LogLine, Memory, Remark, Report
from core.startup_log.remarks import memory_remark, remarks
from core.startup_log.runs import Run, main_scene, runs, scene
from core.startup_log.settings import engine_of

LIMIT_CHARACTERS = 20_000_000
"""More than any engine prints before it serves."""
LIMIT_FIGURES = 4096
"""More than the ranks of any published start print together: each is held to what it may be made of."""


def read_log(text: str, given: Given | None = None) -> Report:
    """The report of a startup log, with what `given` adds to it.

    Raises UnreadableTextError where no engine is recognised in it, OutOfRangeError for a weight format that is
    unknown.
    """
    if len(text) > LIMIT_CHARACTERS:
        raise UnreadableTextError(f"{len(text):,} characters are more than a startup log has; keep its start")
    lines = [line for line in read_lines(text) if not _is_comment(line.text)]
    starts = runs(lines)
    figures = sum(len(run.found) for run in starts)
    if figures > LIMIT_FIGURES:
        raise UnreadableTextError(f"{figures:,} figures are more than a startup log has; keep one start of it")
    engine = _engine(starts, lines)
    if engine is None:
        raise UnreadableTextError(
            "no line of vLLM, SGLang or TensorRT-LLM is recognised in this text;"
            " paste what the engine prints as it starts"
        )
    scenes = [scene(run, starts, given or Given()) for run in starts]
    main = main_scene(scenes, engine)
    found = sorted((check for one in scenes for check in checks(one)), key=lambda check: check.line)
    said = [*_cut(text), *remarks(lines), *_no_room(starts), *(remark for one in scenes for remark in one.remarks)]
    sizes = main.basis.sizes
    version, model = main.run.settings.version, main.basis.model
    return Report(engine, version, model, sizes.tp_size, sizes.pp_size, tuple(found), _once(said))


def _cut(text: str) -> list[Remark]:
    """A remark where the log is longer than what is read of it."""
    if text.count("\n") < LIMIT_LINES:
        return []
    return [Remark("elided", f"only the first {LIMIT_LINES:,} lines were read", LIMIT_LINES)]


def _is_comment(text: str) -> bool:
    """Whether a person wrote the line: a heading or a comment, which "# GPU blocks" is not."""
    return text.startswith("#") and "blocks:" not in text


def _engine(starts: Iterable[Run], lines: Sequence[LogLine]) -> Engine | None:
    """The engine of the first figure, else of the first line that is one's."""
    for run in starts:
        if run.figures:
            return run.figures[0].engine
    return next((engine for line in lines if (engine := engine_of(line.text))), None)


def _no_room(starts: Iterable[Run]) -> list[Remark]:
    """A remark for memory that leaves nothing for a cache."""
    left = (item for run in starts for item in run.found if isinstance(item, Memory))
    return [remark for memory in left if (remark := memory_remark(memory.size_gib, memory.line.number))]


def _once(said: Iterable[Remark]) -> tuple[Remark, ...]:
    """Each remark once, by its words."""
    found: dict[str, Remark] = {}
    for remark in said:
        found.setdefault(remark.text, remark)
    return tuple(found.values())
