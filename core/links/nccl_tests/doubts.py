"""What is to be said of a section as a whole: rows missing, a run that failed, ranks that share a GPU."""

from collections import Counter
from collections.abc import Callable

from core.links.nccl_tests.figures import mean_busbw
from core.links.nccl_tests.streams import Section, asked_rows


def section_warnings(section: Section) -> list[str]:
    """Rows missing, a run that failed, ranks that share a GPU."""
    checks: tuple[Callable[[Section], str | None], ...] = (_failure, _cut, _elided, _missing, _average, _shared_gpu)
    return [said for check in checks if (said := check(section)) is not None]


def _failure(section: Section) -> str | None:
    if section.wrong_values:
        return "the run's own check failed: values out of bounds, so its times are of a wrong result"
    return f"the run failed: {section.failure}" if section.failure else None


def _cut(section: Section) -> str | None:
    return (
        None if section.cut_line is None else f"the table is cut in the middle of a row (line {section.cut_line})"
    )


def _elided(section: Section) -> str | None:
    if not section.elisions:
        return None
    return f"rows were left out by whoever pasted this ('...' in line {section.elisions[0]})"


def _missing(section: Section) -> str | None:
    """Rows that the run was asked for and that are not here."""
    asked, found = asked_rows(section), len(section.rows) + len(section.dropped)
    if asked is None or not section.rows or found >= asked or section.elisions:
        return None
    return f"rows are missing: the run was asked for {asked} sizes, {found} are here"


def _average(section: Section) -> str | None:
    """Whether the footer's average is the mean of what is here, to its digits; rougher where a half is missing."""
    mean, printed = mean_busbw(section.rows), section.average_busbw
    if mean is None or printed is None or section.elisions:
        return None
    halved = any(row.in_place is None or row.out_of_place is None for row in section.rows)
    if abs(mean - printed) <= (0.05 if halved else 0.002) * printed + 0.006:
        return None
    return f"rows are missing or edited: the footer's average is {printed:g} GB/s, that of the rows here {mean:.4g}"


def _shared_gpu(section: Section) -> str | None:
    """Ranks on one device. A bus without its domain, as older versions print it, may stand for several GPUs."""
    ranks = Counter(device.place for device in section.devices if device.host)
    twice = [place for place, count in ranks.items() if count > 1]
    if not twice:
        return None
    if any(":" in place.split()[-1] for place in twice):
        return "two ranks share one GPU and take turns: what is measured is their turns, no link"
    return (
        "two ranks are listed on one device and bus, without its PCI domain: if that is one GPU and not one in "
        "each domain, what is measured is their turns, no link"
    )
