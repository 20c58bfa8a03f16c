"""A log read: a text in, a report out."""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.errors import Remark, UnreadableTextError, once, remark
from core.startup_log.basis import Basis, basis_of, main_basis
from core.startup_log.checking import checks
from core.startup_log.fatal import crash_of
from core.startup_log.lines import LIMIT_LINES, read_lines
from core.startup_log.one_run import Run, runs
from core.startup_log.records import Check, Given, Memory, Report
from core.startup_log.remarks import remarks
from core.startup_log.services import services
from core.startup_log.variables import filled_in
from core.text.lines import LONGEST_LINE
from core.text.numbers import number

LIMIT_CHARACTERS = 20_000_000
"""More than any engine prints before it serves."""
LIMIT_FIGURES = 4096
"""More than the ranks of any published start print together: each is held to what it may be made of."""
LONGEST_FIGURE = 40
_LAST_FIGURE = re.compile(r"\d[\d.,]{0,39}\Z", re.ASCII)


def read_log(text: str, given: Given | None = None) -> Report:
    """The report of a startup log, with what `given` adds to it.

    A figure that the text ends in may have been cut, which is said: where it is the beginning of the one that was
    predicted it is left out, and where none was it stands.

    Of a text that ends in a crash and names no engine only the crash is said.
    Raises UnreadableTextError where neither is recognized in it, OutOfRangeError for a weight format that is
    unknown.
    """
    if len(text) > LIMIT_CHARACTERS:
        raise UnreadableTextError("many_characters", text=len(text))
    # a person's heading or comment is no line of an engine; "# GPU blocks" is
    lines = [
        line for line in filled_in(read_lines(text)) if not line.text.startswith("#") or "blocks:" in line.text
    ]
    engines_of = services(lines)
    parts = [(one.name, runs(one.lines)) for one in engines_of]
    crashes = [crash for one in engines_of if (crash := crash_of(one.lines)) is not None]
    starts = tuple(run for _, own in parts for run in own)
    figures = sum(len(run.printed) for run in starts)
    if figures > LIMIT_FIGURES:
        raise UnreadableTextError("many_figures", figures=figures)
    engines = [run.figures[0].engine for run in starts if run.figures]
    engine = next(iter((*engines, *(run.settings.engine for run in starts if run.settings.engine))), None)
    if engine is None and crashes:
        said = [each for crash in crashes for each in crash.remarks]
        return Report(None, None, None, None, None, (), once([*said, *remarks(lines)]), crashes[-1].remarks[0])
    if engine is None:
        raise UnreadableTextError("no_engine_line")
    bases = [basis_of(run, own, given or Given()) for _, own in parts for run in own]
    main = main_basis(bases, engine)
    cut = [remark("startup_log.cut", LIMIT_LINES, lines=LIMIT_LINES)] if text.count("\n") >= LIMIT_LINES else []
    cut += [
        remark("startup_log.line_cut", number, longest=LONGEST_LINE, number=number)
        for number, line in enumerate(text.split("\n", LIMIT_LINES)[:LIMIT_LINES], start=1)
        if len(line) > LONGEST_LINE
    ][:1]
    checked = tuple(sorted((check for basis in bases for check in checks(basis)), key=lambda check: check.line))
    last, ending = text.count("\n") + 1, _LAST_FIGURE.search(text[-LONGEST_FIGURE:])
    shown = number(ending[0]) if ending else None
    # a console breaks a line before its figure, too: then the check has the line before
    at_end = [
        one for one in checked if ending and (one.line == last or (one.line == last - 1 and one.logged == shown))
    ]
    unsure = [one for one in at_end if one.verdict == "off" and _may_be_cut(one)]
    if unsure:
        cut.append(remark("startup_log.end_cut", last, number=last))
    elif any(one.predicted is None and one.logged == shown for one in at_end):
        cut.append(remark("startup_log.end_open", last, number=last))
    return Report(
        engine=engine,
        version=main.run.settings.version,
        model=main.model,
        tp_size=main.sizes.tp_size,
        pp_size=main.sizes.pp_size,
        checks=tuple(check for check in checked if check not in unsure),
        crash=crashes[-1].remarks[0] if crashes else None,
        remarks=once(
            [
                *cut,
                *(each for crash in crashes for each in crash.remarks),
                *_named(parts, bases),
                *remarks(lines),
                *_no_room(starts),
                *(each for basis in bases for each in basis.remarks),
            ]
        ),
    )


def _named(parts: Sequence[tuple[str, tuple[Run, ...]]], bases: Sequence[Basis]) -> Iterator[Remark]:
    """What each engine of several is about."""
    of_run = {id(basis.run): basis for basis in bases}
    for name, own in parts if len(parts) > 1 else ():
        main = next((basis for run in own if (basis := of_run[id(run)]).settings.model_path), None)
        if name and main is not None:
            model = main.model.name if main.model else main.settings.model_path
            line = main.run.lines[0].number
            yield remark("startup_log.service", line, service=name, model=model, tp=main.sizes.tp_size)


def _may_be_cut(check: Check) -> bool:
    """Whether a count has the first digits of the predicted one, within a fiftieth, and lacks others."""
    logged, predicted = check.logged, check.predicted
    if logged is None or predicted is None or not 1 <= logged < predicted < 1e15:
        return False
    missing = 10 ** (len(str(int(predicted))) - len(str(int(logged))))
    low, high = int(logged) * missing, (int(logged) + 1) * missing
    return bool(missing > 1 and 0.98 * low <= predicted <= 1.02 * high)


def _no_room(starts: Iterable[Run]) -> list[Remark]:
    """A remark for memory that leaves nothing for a cache."""
    left = (item for run in starts for item in run.printed if isinstance(item, Memory))
    none = (memory for memory in left if memory.size_gib <= 0)
    return [remark("startup_log.no_room", memory.line.number, left_gib=memory.size_gib) for memory in none]
