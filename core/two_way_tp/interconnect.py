"""A machine as an interconnect: α and β of the link between its ranks, by lab 03's fit of the run's own sweep."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from core.comm_cost.bill import all_reduces_per_step, allreduce_payload_bytes
from core.links.fit import LinkFit, fit_link
from core.links.nccl_tests.records import Row, Table
from core.specs import ModelSpec
from core.two_way_tp.run_log import RunLog


def fitted_link(log: RunLog) -> LinkFit | None:
    """The fit of the medians of an idle sweep; None where it has too few sizes."""
    return fitted_sweep({point.payload_bytes: point.median_s for point in log.sweep}, log.tp_size)


def fitted_sweep(median_s: Mapping[int, float], ranks: int) -> LinkFit | None:
    """The fit of all-reduces timed at several payloads in bytes; None where they are too few."""
    return _fit(tuple(median_s.items()), ranks)


@lru_cache(maxsize=256)
def _fit(median_s: tuple[tuple[int, float], ...], ranks: int) -> LinkFit | None:
    rows = tuple(Row(number, size, 1e6 * time_s, None) for number, (size, time_s) in enumerate(median_s, 1))
    return fit_link(Table("all_reduce", ranks, rows))


def sums_s(fit: LinkFit, payloads_bytes: Iterable[int]) -> float:
    """What all-reduces of these payloads pay the link, one after another.

    Σ t̂(n)
    """
    return sum(1e-6 * fit.time_us(payload) for payload in payloads_bytes)


def step_comm_s(fit: LinkFit, model: ModelSpec) -> float:
    """What the layers of a model would pay this link in a step of one token: lab 03's bill.

    2L · t̂(d · 2 B)
    """
    ranks = fit.ranks or 1
    payload_bytes = allreduce_payload_bytes(1, model.hidden_size)
    return all_reduces_per_step(model, ranks) * 1e-6 * fit.time_us(payload_bytes)
