"""How many learners a server holds, and what more of them need, as docs/scale.md has it from measurements."""

import re
from math import ceil

from tests.deploy.connections import ROOT

SCALE = ROOT / "docs" / "scale.md"


def halls() -> list[dict[str, str]]:
    """The rows of benchmarks/bench_hall that stand in docs/scale.md; a bare page has no `servers`."""
    names = ("learners", "answers", "p50", "p95", "open", "CPU", "MiB", "lost", "own")
    columns = " +".join(rf"(?P<{name}>[\d.]+)" for name in names)
    row = re.compile(rf"^(?:bare|servers: (?P<servers>\d+)) +{columns}$", re.MULTILINE)
    return [found.groupdict() for found in row.finditer(SCALE.read_text(encoding="utf-8"))]


def test_how_many_learners_are_held_is_what_was_measured():
    """The most of whom 95 in 100 were answered within a second and nothing was lost, on one server and on two."""
    said = " ".join(SCALE.read_text(encoding="utf-8").split())
    (told,) = re.findall(r"\*\*One server holds (\d+) learners within a second .*? two .*? hold (\d+)\.\*\*", said)
    rows = [row for row in halls() if float(row["p95"]) <= 1000 and row["lost"] == "0"]
    held = [max(int(row["learners"]) for row in rows if row["servers"] == servers) for servers in ("1", "2")]
    assert list(map(int, told)) == held


def test_what_a_thousand_and_a_hundred_thousand_need_follows_from_what_was_measured():
    """L learners who ask every T seconds and take C seconds each need L · C / T cores, half of them busy."""
    said = SCALE.read_text(encoding="utf-8")
    sum_of_it = r"At (\d+) ms an answer and (\d+) seconds .*? for (\d+) learners; .*? a core for (\d+)"
    (found,) = re.findall(sum_of_it, " ".join(said.split()))
    answer_ms, every_s, a_core, half = map(int, found)
    measured_ms = [float(row["CPU"]) for row in halls() if row["servers"]]
    assert min(measured_ms) <= answer_ms <= max(measured_ms)
    assert a_core == every_s * 1000 // answer_ms
    assert half == a_core // 2
    rows = re.findall(r"^\| ([\d,]+) \| ([\d.,]+) \| ([\d,]+).*? \| ([\d.]+) GiB", said, re.MULTILINE)
    assert [learners for learners, *_ in rows] == ["30", "150", "1,000", "100,000"]
    for learners, cores, servers, memory in rows:
        needed = 2 * number(learners) / a_core
        assert number(cores) == max(1, round(needed, 1))
        assert number(servers) == ceil(number(cores))
        assert number(memory) == 0.25 * number(servers)


def number(said: str) -> float:
    """A number with its commas."""
    return float(said.replace(",", ""))
