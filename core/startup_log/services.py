"""Engines that print into one text told apart by what was put before their lines: a container, a pod, a unit.

Two that state a model of their own are two engines. A service that states none belongs to the only one that does:
its workers on other nodes, or a proxy before it. Nodes of one engine state the same model and how many they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.startup_log.records import LogLine, Settings
from core.startup_log.settings import heard, states


@dataclass(frozen=True)
class Service:
    """The lines of one engine, under the name of what printed them; without one, all that no other has."""

    name: str
    lines: tuple[LogLine, ...]


def services(lines: Sequence[LogLine]) -> tuple[Service, ...]:
    """The engines of a text, each with its lines; one without a name where nothing says that there are more."""
    names = list(dict.fromkeys(line.service for line in lines))
    stated = {name: _stated(line for line in lines if line.service == name) for name in names if name}
    own = {name: settings for name, settings in stated.items() if settings.model_path is not None}
    if len(own) < 2 or _one_engine(list(own.values())):
        return (Service("", tuple(lines)),)
    groups: dict[str, list[LogLine]] = {name: [] for name in ("", *own)}
    for line in lines:
        groups[line.service if line.service in own else ""].append(line)
    return tuple(Service(name, tuple(group)) for name, group in groups.items() if group)


def _stated(lines: Iterable[LogLine]) -> Settings:
    settings = Settings()
    for line in lines:
        if states(line.text):
            settings = heard(settings, line)
    return settings


def _one_engine(stated: Sequence[Settings]) -> bool:
    """Whether all are nodes of one engine: of one model, and each says of how many."""
    several = all((settings.nnodes or 1) > 1 for settings in stated)
    return several and len({settings.model_path for settings in stated}) == 1
