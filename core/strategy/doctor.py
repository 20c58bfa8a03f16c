"""One's own machine from what its tools, its engine and its benchmark printed: what was read, and a plan for it.

A text may be of any of these, or of several: the driver's list of GPUs, the table of ways between them, an engine's
startup log, an nccl-tests table. Each figure that a plan rests on is the machine's own or is assumed, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from core.catalog import model as catalog_model
from core.errors import Remark, ShardlabError, remark
from core.links.fitted_tables import FittedTable
from core.placement.asked import UTILISATION, Machine, question_of, usual_cache, usual_width
from core.placement.demand import Demand
from core.placement.devices import Devices, SeenGpu
from core.placement.topology import Topology
from core.specs import GpuSpec, LinkSpec, ModelSpec
from core.startup_log.records import Report
from core.strategy.machine_read import Heard, Reading, Source
from core.strategy.refit import Refit, refit

Origin = Literal["yours", "assumed"]

SHOWN_MODELS = ("llama-3.1-8b", "qwen3-32b", "llama-3.3-70b", "gpt-oss-120b", "deepseek-v3")
"""What is planned for where neither a log nor the asker names a model."""
_ROUNDED = 0.02
_BUSY_FRACTION, _TAKEN_FRACTION = 0.05, 0.5
"""Above the one, others leave an engine less; above the other it is perhaps an engine that is there."""


@dataclass(frozen=True)
class Figure:
    """One figure that a plan rests on, whose it is, and where it is from."""

    name: str
    said: Remark
    origin: Origin
    source: str


@dataclass(frozen=True)
class Wanted:
    """What is asked beside the machine: the model, if any was named, nodes and requests."""

    model: ModelSpec | None = None
    gpu: GpuSpec | None = None
    nodes: int = 1
    network: LinkSpec | None = None
    demand: Demand = field(default_factory=Demand)


@dataclass(frozen=True)
class Diagnosis:
    """A machine as it was read, the figures of its plan, and a refit for each model that was planned.

    `gpu` is None where none is seen or none of the catalog is; `reasons` say why there is no plan.
    """

    heard: tuple[Heard, ...]
    devices: Devices
    gpu: GpuSpec | None
    gpus: int
    topology: Topology | None
    report: Report | None
    tables: tuple[FittedTable, ...]
    figures: tuple[Figure, ...]
    plans: tuple[Refit, ...]
    reasons: tuple[Remark, ...]
    remarks: tuple[Remark, ...]


def examine(sources: Sequence[Source], wanted: Wanted) -> Diagnosis:
    """The machine that the sources are of, and a plan for it."""
    read = Reading()
    for source in sources:
        read.take(source)
    devices = read.all_devices
    alike, remarks = _alike(devices.gpus)
    gpus = len(alike) or (read.topology.gpus if read.topology else 0)
    spec = wanted.gpu or (alike[0].spec if alike else None)
    reasons = _reasons(devices, alike, gpus, spec)
    remarks += _used(alike)
    if read.topology is not None and alike and read.topology.gpus != len(devices.gpus):
        remarks.append(remark("doctor.counts_differ", gpus=len(devices.gpus), table=read.topology.gpus))
    topology = read.topology
    if topology is not None and alike and topology.gpus == len(devices.gpus):
        topology = topology.part([at for at, one in enumerate(devices.gpus) if one in alike])
    elif topology is not None and topology.gpus != gpus:
        topology = None
    models = _models(read, wanted)
    plans, figures = [], []
    if spec is not None and not reasons:
        for placed in models:
            try:
                machine = _machine(spec, gpus, topology, alike, wanted)
                question = question_of(placed, machine, _demand(placed, spec, wanted))
                plans.append(refit(question, read.log if _is_of(read.report, placed) else "", read.table))
            except ShardlabError as error:
                remarks.append(remark("doctor.not_planned", name=placed.name, error=error.remark))
        figures = _figures(read, wanted, plans, alike, spec, gpus, topology)
    return Diagnosis(
        tuple(read.heard), devices, spec, gpus, topology, read.report, read.tables,
        tuple(figures), tuple(plans), tuple(reasons), tuple(remarks),
    )  # fmt: skip


def _alike(gpus: Sequence[SeenGpu]) -> tuple[list[SeenGpu], list[Remark]]:
    """The GPUs that an engine can be over: those of the kind that there are most of, of two the larger."""
    groups: dict[str, list[SeenGpu]] = {}
    for one in gpus:
        groups.setdefault(one.name, []).append(one)
    if len(groups) < 2:
        return list(gpus), []
    main = max(groups.values(), key=lambda group: (len(group), group[0].memory_bytes or 0))
    rest = ", ".join(f"{len(group)} × {name or '?'}" for name, group in groups.items() if group is not main)
    numbers = ",".join(str(one.index) for one in main)
    return main, [remark("doctor.mixed", gpus=len(main), name=main[0].name, rest=rest, numbers=numbers)]


def _used(gpus: Sequence[SeenGpu]) -> list[Remark]:
    """GPUs that others have filled in part, or cut into instances."""
    shares = {one.index: _used_fraction(one) for one in gpus}
    busy = [one for one in gpus if shares[one.index] > _BUSY_FRACTION]
    cut = [one for one in gpus if one.mig]
    remarks = []
    if busy:
        most = max(busy, key=lambda one: one.used_bytes or 0)
        code = "taken" if shares[most.index] > _TAKEN_FRACTION else "busy"
        remarks.append(remark(f"doctor.{code}", gpus=len(busy), index=most.index, used_bytes=most.used_bytes))
    if cut:
        remarks.append(remark("doctor.cut", gpus=len(cut)))
    return remarks


def _used_fraction(one: SeenGpu) -> float:
    return (one.used_bytes or 0) / one.memory_bytes if one.memory_bytes else 0.0


def _utilisation(gpus: Sequence[SeenGpu]) -> float:
    """The share of each GPU that an engine may fill: as usual, or what others leave of the fullest."""
    used = max((_used_fraction(one) for one in gpus), default=0.0)
    return min(UTILISATION, 1 - used) if _BUSY_FRACTION < used <= _TAKEN_FRACTION else UTILISATION


def _reasons(devices: Devices, alike: Sequence[SeenGpu], gpus: int, spec: GpuSpec | None) -> list[Remark]:
    """Why nothing can be planned for what was read."""
    if not gpus:
        return (
            [remark("doctor.no_gpu_because", said=devices.failure)]
            if devices.failure
            else [remark("doctor.no_gpu")]
        )
    if spec is None:
        name = alike[0].name if alike else None
        return [remark("doctor.unknown_gpu", name=name) if name else remark("doctor.unnamed_gpu", gpus=gpus)]
    return []


def _models(read: Reading, wanted: Wanted) -> list[ModelSpec]:
    if wanted.model is not None:
        return [wanted.model]
    if read.report is not None and read.report.model is not None:
        return [read.report.model]
    return [catalog_model(key) for key in SHOWN_MODELS]


def _is_of(report: Report | None, placed: ModelSpec) -> bool:
    return report is not None and (report.model is None or report.model.key == placed.key)


def _machine(
    spec: GpuSpec, gpus: int, topology: Topology | None, alike: Sequence[SeenGpu], wanted: Wanted
) -> Machine:
    """The machine as it was seen. A driver's total is the row's where they are as near as tools round them."""
    memory = alike[0].memory_bytes if alike else None
    near = memory is None or abs(memory / spec.usable_memory_bytes - 1) < _ROUNDED
    own = None if near or memory is None else float(memory)
    share = _utilisation(alike)
    return Machine(
        spec, gpus, wanted.nodes, network=wanted.network, seen=topology, memory_bytes=own, utilisation=share
    )


def _demand(placed: ModelSpec, spec: GpuSpec, wanted: Wanted) -> Demand:
    return replace(wanted.demand, dtype=usual_width(placed, spec), kv_dtype=usual_cache(placed, spec))


def _figures(
    read: Reading,
    wanted: Wanted,
    plans: Sequence[Refit],
    alike: Sequence[SeenGpu],
    spec: GpuSpec,
    gpus: int,
    topology: Topology | None,
) -> list[Figure]:
    """All that the plan rests on, whose each figure is."""
    tools = read.of_kind.get("devices", read.of_kind.get("topology", ""))
    memory = next((one.memory_bytes for one in alike if one.memory_bytes), None)
    rows = [
        _figure("gpus", remark("doctor.figure_gpus", gpus=gpus, gpu=spec), tools, bool(alike)),
        _figure(
            "memory", remark("doctor.figure_memory", size=memory or spec.usable_memory_bytes), tools, bool(memory)
        ),
        _figure("rates", remark("doctor.figure_rates", gpu=spec), ""),
    ]
    if plans:
        after = plans[0].after.question
        fitted = after.cluster.link.measured_ranks is not None
        where = read.of_kind.get("topology", "")
        if gpus > 1:
            way = remark("doctor.figure_way", name=plans[0].before.question.cluster.link.name)
            rows.append(_figure("way", way, where, topology is not None))
            costs = remark("doctor.figure_link", link=after.cluster.link)
            rows.append(_figure("link", costs, read.of_kind.get("table", ""), fitted))
        if wanted.nodes > 1:
            rows.append(_figure("network", remark("doctor.figure_network", link=after.cluster.network), ""))
        taken = after.budget.overhead != plans[0].before.question.budget.overhead
        overhead = remark("doctor.figure_overhead", overhead=after.budget.overhead)
        rows.append(_figure("overhead", overhead, read.of_kind.get("log", ""), taken))
    asked = ("--prompt, --output, --concurrency", True) if wanted.demand != Demand() else ("", False)
    named = wanted.model is not None or (read.report is not None and read.report.model is not None)
    model_from = "--model" if wanted.model is not None else read.of_kind.get("log", "")
    for one in plans[:1] if named else ():
        rows.append(
            _figure("model", remark("doctor.figure_model", name=one.after.question.model.name), model_from, True)
        )
    rows.append(_figure("requests", remark("doctor.figure_requests", demand=wanted.demand), *asked))
    rows.append(_figure("efficiency", remark("doctor.figure_efficiency"), ""))
    return rows


def _figure(name: str, said: Remark, source: str, own: bool = False) -> Figure:
    return Figure(name, said, "yours" if own else "assumed", source if own else "")
