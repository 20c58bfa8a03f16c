"""The runs of a log told apart: the lines of each start of an engine, its figures, and what it was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.errors import OutOfRangeError
from core.specs import ModelSpec
from core.startup_log.basis import Basis, Doubt, refusal
from core.startup_log.figures import figures, memories
from core.startup_log.records import Engine, Figure, Given, LogLine, Memory, Remark, Settings
from core.startup_log.resolve import Seats, Sizes, find_format, find_model, find_seats, find_sizes, seat_of
from core.startup_log.settings import heard, is_launch, merged


@dataclass(frozen=True)
class Run:
    """One start of an engine: its lines, what they print in their order, and what it was asked for."""

    lines: tuple[LogLine, ...]
    found: tuple[Figure | Memory, ...]
    settings: Settings

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(item for item in self.found if isinstance(item, Figure))


@dataclass(frozen=True)
class Scene:
    """A run with all that its figures are predicted from. `driver`: its driver prints without a tag."""

    run: Run
    basis: Basis
    seats: Seats
    driver: bool
    remarks: tuple[Remark, ...]

    @property
    def world_size(self) -> int:
        return self.basis.sizes.tp_size * self.basis.sizes.pp_size

    def seat(self, line: LogLine) -> tuple[int | None, int | None]:
        """The rank and the pipeline stage a line is of, where known."""
        return seat_of(line, self.seats, self.basis.sizes, self.driver)


def runs(lines: Sequence[LogLine]) -> tuple[Run, ...]:
    """The lines, cut where a command starts another run."""
    starts = sorted({0, *(index for index, line in enumerate(lines) if is_launch(line.text))})
    return tuple(_run(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True))


def _run(lines: Sequence[LogLine]) -> Run:
    settings = Settings()
    found: list[Figure | Memory] = []
    for line in lines:
        settings = heard(settings, line)
        found += [*memories(line), *figures(line)]
    return Run(tuple(lines), tuple(found), settings)


def scene(run: Run, others: Sequence[Run], given: Given) -> Scene:
    """A run with its basis. Where it names no model, what other runs of its engine say holds for it too.

    Raises OutOfRangeError for a weight format that is unknown.
    """
    settings, said = _completed(run, others), []
    seats = find_seats(run.lines)
    sizes = find_sizes(settings, seats, given.tp_size, given.pp_size)
    spec, near = find_model(settings.model_path)
    at = run.lines[0].number if run.lines else 1
    if given.model is not None:
        if spec is not None and spec.key != given.model.key:
            said.append(Remark("given", f"the log names {spec.name}; {given.model.name} is what was given", at))
        spec, near = given.model, False
    form = None if spec is None else _format(settings, spec, given.dtype)
    doubts = _doubts(sizes, near)
    basis = Basis(spec, settings, sizes, form, near=near, format_given=given.dtype is not None, doubts=doubts)
    driver = any("Worker" in line.speaker for line in run.lines)
    return Scene(run, basis, seats, driver, (*said, *_assumed(run, basis, at)))


def main_scene(scenes: Sequence[Scene], engine: Engine) -> Scene:
    """The scene a report's head speaks of: the engine's first that has figures, else its first."""
    ours = [one for one in scenes if one.run.settings.engine in (engine, None)] or list(scenes)
    return next((one for one in ours if one.run.figures), ours[0])


def _completed(run: Run, others: Sequence[Run]) -> Settings:
    settings = run.settings
    for other in others:
        same = other.settings.engine in (settings.engine, None)
        if same and other is not run and settings.model_path is None:
            settings = merged(settings, replace(other.settings, version=None))
    return settings


def _format(settings: Settings, spec: ModelSpec, given: str | None) -> str | None:
    found = find_format(settings, spec, given)
    if given is not None and found is None:
        raise OutOfRangeError("dtype", given, "is none of bf16, fp16, fp32, fp8, int8, int4, awq, mxfp4")
    return found


def _doubts(sizes: Sizes, near: bool) -> tuple[Doubt, ...]:
    found = []
    if not sizes.stated:
        found.append(Doubt(_unstated(sizes)))
    if near:
        found.append(Doubt("only the end of the name is that of a model known here"))
    return tuple(found)


def _unstated(sizes: Sizes) -> str:
    return f"the log does not say how many ranks there are; TP={sizes.tp_size} is assumed"


def _assumed(run: Run, basis: Basis, at: int) -> list[Remark]:
    """What the checks rest on that the log does not say, and sizes that the model cannot have."""
    refused = refusal(basis)
    found = [] if refused is None else [Remark("refused", f"refused: {refused.reason}", at)]
    if not run.figures:
        return found
    if basis.model is None:
        name = (basis.settings.model_path or "").rstrip("/").split("/")[-1]
        named = f"names {name}, which the catalog does not know" if name else "does not name its model"
        found.append(Remark("assumed", f"the log {named}: give a model or its config.json", at))
    elif basis.near:
        found.append(Remark("assumed", f"taken for {basis.model.name} by the end of its name", at))
    if not basis.sizes.stated:
        found.append(Remark("assumed", _unstated(basis.sizes), at))
    return found
