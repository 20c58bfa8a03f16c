"""The clinic in a terminal: the page's figures as one JSON object, and one line for what it cannot do."""

import io
import json

import pytest

from core.clinic import CASES, examine
from core.clinic.hang import CAUSES, own_test
from scripts.clinic import main


def run(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("key", CASES)
def test_a_case_is_the_pages_own(capsys, key):
    case, printed = examine(key), run(capsys, key)
    assert {name: row["value"] for name, row in printed["figures"].items()} == {
        figure.name: figure.value for figure in case.figures
    }
    assert [row["key"] for row in printed["diagnoses"] if row["right"]] == [case.truth]
    assert all(row["says"] and row["why"] and "{{" not in row["why"] for row in printed["diagnoses"])


@pytest.mark.parametrize("key", CASES)
def test_a_case_is_readable_without_json(capsys, key):
    assert main([key]) == 0
    out = capsys.readouterr().out
    assert "{{" not in out
    assert "`" not in out
    assert out.count("\n+ ") == 1


def test_without_a_case_there_is_the_list(capsys):
    assert list(run(capsys)["cases"]) == list(CASES)


def test_the_rule_that_stops_a_kernel_is_named_with_its_release(capsys):
    found = run(capsys, "--custom-all-reduce", "0.9.2", "--ranks", "4", "--pcie")
    assert (found["enabled"], found["stopped_by"], found["since"], found["carried_by"]) == (
        False,
        "nvlink",
        "0.4.1",
        "NCCL",
    )


def test_three_waits_for_one_slow_rank(capsys):
    longer = run(capsys, "--slow", "100", "--pp", "4")["longer_fraction"]
    assert longer["pipeline, full"] == pytest.approx(1)
    assert longer["pipeline, one sequence"] == pytest.approx(0.25)


def test_a_hang_is_read_from_standard_input(capsys, monkeypatch):
    text = "\n".join(examine("silent_init").log).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    found = run(capsys, "--hang", "-")
    assert found["next_test"]["key"] == "p2p"
    assert {row["cause"]: row["standing"] for row in found["causes"]}["p2p_blocked"] == "supported"


@pytest.mark.parametrize(
    "arguments",
    [
        ["flu"],
        ["--custom-all-reduce", "9"],
        ["--custom-all-reduce", "0.9.2", "--ranks", "0"],
        ["--hang", "/nowhere/at/all"],
        ["--hang", "/tmp"],
        ["--slow", "-1"],
        ["--slow", "10", "--tp", "1000"],
    ],
)
def test_what_it_cannot_do_is_one_line_and_status_2(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)


def test_the_cure_stands_beside_a_causes_code(capsys, monkeypatch):
    """Copies that never arrive: ACS or the IOMMU is in the way, and turning P2P off is the test."""
    text = "\n".join(examine("silent_init").log).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    main(["--hang", "-"])
    out = capsys.readouterr().out
    said = out[out.index("p2p_blocked") : out.index("shm_small")]
    assert "(ACS)" in said
    assert "IOMMU" in said
    assert "test: NCCL_P2P_DISABLE=1" in said
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert all({"says", "why", "cure", "try"} <= set(row) for row in run(capsys, "--hang", "-")["causes"])


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_a_test_of_its_own(cause):
    test = own_test(cause)
    assert {cause} in (set(test.on_yes), set(CAUSES) - set(test.on_yes))
