"""What the texts of a machine are of, and what all of them say together.

A text may be of the driver's list of GPUs, the table of ways between them, an engine's startup log, an nccl-tests
table, or of several of these.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from core.errors import Remark, ShardlabError, remark
from core.links.fitted_tables import FittedTable, fitted_tables
from core.placement.devices import Devices, SeenGpu, read_devices
from core.placement.topology import Topology, read_topology
from core.startup_log.reader import read_log
from core.startup_log.records import Report

_SAID = ("driver", "runtime")
T = TypeVar("T")
Kind = Literal["devices", "topology", "log", "table"]


@dataclass(frozen=True)
class Source:
    """A text by its name: a command that was run, or a file."""

    name: str
    text: str


@dataclass(frozen=True)
class Heard:
    """What was read of one source: nothing, or in so many words what of each kind."""

    source: str
    kinds: tuple[Kind, ...]
    said: tuple[Remark, ...]


@dataclass
class Reading:
    """What all sources say together; the first of each kind counts, and every GPU's figures are put together."""

    heard: list[Heard] = field(default_factory=list)
    of_kind: dict[Kind, str] = field(default_factory=dict)
    devices: list[Devices] = field(default_factory=list)
    topology: Topology | None = None
    report: Report | None = None
    log: str = ""
    tables: tuple[FittedTable, ...] = ()
    table: str = ""

    def take(self, source: Source) -> None:
        """One source's text, by all that it is of."""
        said: dict[Kind, Remark] = {}
        devices = read_devices(source.text)
        if not devices.is_empty:
            said["devices"] = _devices_said(devices)
            self.devices.append(devices)
        if topology := _quietly(read_topology, source.text):
            code = "doctor.topology_first" if len(topology.tables) > 1 else "doctor.topology"
            machines = len(topology.tables)
            said["topology"] = remark(code, gpus=topology.gpus, way=topology.worst_way, tables=machines)
            self.topology = self.topology or topology
        report = _quietly(read_log, source.text)
        if report is not None and report.engine is not None:
            said["log"] = _log_said(report)
            if self.report is None:
                self.report, self.log = report, source.text
        if tables := _quietly(fitted_tables, source.text):
            said["table"] = remark("doctor.table", tables=len(tables), op=tables[0].table.op or "?")
            if not self.tables:
                self.tables, self.table = tables, source.text
        for kind in said:
            self.of_kind.setdefault(kind, source.name)
        nothing = () if said else (remark("doctor.nothing_read"),)
        self.heard.append(Heard(source.name, tuple(said), (*said.values(), *nothing)))

    @property
    def all_devices(self) -> Devices:
        """The GPUs of all sources, by their numbers."""
        named = [one for one in self.devices if one.gpus]
        if not named:
            return next(iter(self.devices), Devices())
        gpus: dict[int, SeenGpu] = {}
        for one in (gpu for devices in named for gpu in devices.gpus):
            gpus[one.index] = one.with_more(gpus[one.index]) if one.index in gpus else one
        driver, runtime = (
            next((getattr(one, name) for one in named if getattr(one, name)), None) for name in _SAID
        )
        return Devices(tuple(one for _, one in sorted(gpus.items())), driver, runtime)


def _quietly(reader: Callable[[str], T], text: str) -> T | None:
    """What a reader makes of a text; None of one that it does not read."""
    try:
        return reader(text)
    except ShardlabError:
        return None


def _devices_said(devices: Devices) -> Remark:
    if devices.failure:
        return remark("doctor.no_devices", said=devices.failure)
    names = Counter(one.name or "?" for one in devices.gpus)
    kinds = ", ".join(f"{count} × {name}" for name, count in names.items())
    return remark(f"doctor.devices{'_driven' if devices.driver else ''}", kinds=kinds, driver=devices.driver)


def _log_said(report: Report) -> Remark:
    name = report.model.name if report.model else None
    counts = {verdict: report.count(verdict) for verdict in ("ok", "off", "unexplained")}
    return remark(
        "doctor.log" if name else "doctor.log_unnamed",
        engine=report.engine,
        name=name,
        tp=report.tp_size,
        crash=report.crash,
        **counts,
    )
