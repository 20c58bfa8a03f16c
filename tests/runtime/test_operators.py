"""What an operator reads: that something happened, how often and how long, and nothing of what a visitor sent."""

import json
import logging
import os
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import ShardlabError
from runtime import operators
from tests.pages.test_every_scene import ROOT

SECRET = "what they pasted"


@pytest.fixture
def lines(monkeypatch):
    """The lines, as they would be written, and a minute that has just begun."""
    found = []

    def written(event, **values):
        if event != "minute":  # of whatever else this process has served
            found.append({"event": event, **values})

    monkeypatch.setattr(operators, "_write", written)
    monkeypatch.setattr(operators, "_counts", {})
    monkeypatch.setattr(operators, "_minute", operators._Minute())
    return found


def test_a_fault_is_a_line_without_its_message_and_goes_on(lines):
    with pytest.raises(KeyError), operators.rerun("comm_cost"):
        raise KeyError(SECRET)
    assert lines == [{"event": "fault", "page": "comm_cost", "kind": "KeyError"}]
    assert operators._minute.told()["faults"] == 1


def test_a_slow_rerun_is_a_line_with_its_times(lines, monkeypatch):
    monkeypatch.setattr(operators, "SLOW_S", 0.0)
    with operators.rerun("placement"):
        pass
    (line,) = lines
    assert (line["event"], line["page"]) == ("slow_rerun", "placement")
    assert line["ms"] >= line["cpu_ms"] >= 0


def test_nobody_fills_a_disk_with_lines(lines, monkeypatch):
    """Thirty of an event in a minute, then how many more there were."""
    for _ in range(1_000):
        operators.note("refusal", page="clinic", kind=ShardlabError.__name__)
    assert len(lines) == operators.MOST
    assert operators._minute.told()["refusals"] == 1_000
    later_s = time.monotonic() + 61
    monkeypatch.setattr(operators.time, "monotonic", lambda: later_s)
    operators.note("refusal", page="clinic", kind="ShardlabError")
    assert lines[-2:] == [
        {"event": "left_out", "of": "refusal", "lines": 970},
        {"event": "refusal", "page": "clinic", "kind": "ShardlabError"},
    ]


def test_what_libraries_log_of_bad_requests_is_bounded_and_shows_no_terminal_anything(lines, request, caplog):
    """Of each place in their code as many lines as of an event; the minute's end says how many more there were."""
    before = logging.getLogRecordFactory()
    request.addfinalizer(lambda: logging.setLogRecordFactory(before))
    for _ in range(2):
        operators.bound_other_logs()
    library = logging.getLogger("a.library")
    for _ in range(1_000):
        library.warning("refused: origin=%s", "\x1b]0;\x9b" + 60_000 * "x")
    library.warning("%d is none of these")
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == operators.MOST + 1
    assert {text[:20] for text in said[:-1]} == {"refused: origin=?]0;"}
    assert max(map(len, said)) == operators.LONGEST
    assert list(operators._left_out(time.monotonic() + 61).values()) == [970]


def test_a_refused_paste_is_a_line_and_no_word_of_it(lines):
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    app.switch_page("pages/6_startup_log.py")
    app.run()
    app.text_area(key="log_text").set_value(f"{SECRET}, which is no log").run()
    assert len(app.error) == 1
    assert [(line["event"], line.get("page")) for line in lines] == [("refusal", "startup_log")]
    assert SECRET not in json.dumps(lines)


def test_the_last_minute_is_its_owners_alone_to_read(tmp_path, lines, capsys):
    with operators.rerun("comm_cost"):
        pass
    tmp_path.chmod(0o700)
    operators._keep(tmp_path / f"shardlab-status-{os.getpid()}.json", operators._minute.told())
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert operators.main(tmp_path) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["pid"], status["reruns"], status["well"]) == (os.getpid(), 1, True)
    assert status["rss_mb"] > 10


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"up_s": -200}, "stuck"),
        ({"p95_ms": 5_000}, "slow"),
        ({"faults": 2}, "2 faults"),
        ({"busy": 1}, "1 busy"),
        ({"full": 3}, "3 full"),
    ],
)
def test_a_server_that_is_not_well_says_what_it_suffers_from(changed, said):
    well = {"up_s": 0, "p95_ms": 90, "faults": 0, "busy": 0, "full": 0}
    assert operators.ailments(well, 60) == []
    (ailment,) = operators.ailments({**well, **changed}, 1)
    assert said in ailment


SPOILED = {
    "a link to another's": lambda path: path.symlink_to("/etc/passwd"),
    "a pipe that nobody writes to": os.mkfifo,
    "a folder": Path.mkdir,
    "without an end": lambda path: path.write_text('{"pid": 1, "at_s": ' + "9" * 10_000_000),
    "nested": lambda path: path.write_text("[" * 4_000),
    "no text": lambda path: path.write_bytes(b"\xff\x00"),
    "a list": lambda path: path.write_text("[1]"),
    "a text for a number": lambda path: path.write_text(json.dumps({**MINUTE, "pid": "/../../etc"})),
    "a mapping": lambda path: path.write_text(json.dumps({**MINUTE, "faults": {"a": "\x1b]0;"}})),
    "of infinity": lambda path: path.write_text(json.dumps({**MINUTE, "pid": float("inf")})),
    "nothing": Path.touch,
}
MINUTE = {"pid": os.getpid(), "up_s": -1e9, "p95_ms": 0, "faults": 0, "busy": 0, "full": 0}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_file_of_any_kind_where_a_servers_minute_stands_is_no_server(tmp_path, kind, capsys):
    tmp_path.chmod(0o700)
    SPOILED[kind](tmp_path / "shardlab-status-1.json")
    assert operators.main(tmp_path) == 1
    assert capsys.readouterr().out == ""


def test_a_folder_that_others_may_write_or_that_is_a_link_is_neither_read_nor_written(
    tmp_path, monkeypatch, capsys
):
    """Whoever may write into the temporary folder once had the operator read what it liked."""
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    (folder / f"shardlab-status-{os.getpid()}.json").write_text(json.dumps(MINUTE))
    link.symlink_to(folder)
    for place, mode in ((folder, 0o777), (folder, 0o750), (folder, 0o705), (link, 0o700)):
        folder.chmod(mode)
        assert operators.main(place) == 1
        monkeypatch.setattr(operators, "_watched", [])
        operators.watch(place)
    assert capsys.readouterr().out == ""
    assert len([*folder.iterdir()]) == 1
    folder.chmod(0o700)
    operators.main(folder)
    assert "stuck" in capsys.readouterr().out


@pytest.mark.parametrize("jump_s", [-1e7, 1e7])
def test_a_clock_that_is_set_makes_no_server_stuck_and_no_stuck_one_well(tmp_path, monkeypatch, capsys, jump_s):
    path, began_s, up_s = tmp_path / f"shardlab-status-{os.getpid()}.json", time.time(), time.monotonic()
    tmp_path.chmod(0o700)
    operators._keep(path, MINUTE_TOLD)
    monkeypatch.setattr(operators.time, "time", lambda: began_s + jump_s)
    assert operators.main(tmp_path) == 0
    monkeypatch.setattr(operators.time, "monotonic", lambda: up_s + 200)
    assert operators.main(tmp_path) == 1
    assert "stuck" in capsys.readouterr().out


MINUTE_TOLD = {"p95_ms": 0, "faults": 0, "busy": 0, "full": 0}


def test_the_folder_is_made_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(operators, "temporary_folder", lambda: tmp_path)
    monkeypatch.setattr(operators, "_watched", [])
    operators.watch(minute_s=3_600.0)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_a_server_health_is_no_yes(tmp_path):
    assert operators.main(tmp_path) == 1


def test_a_server_that_can_write_no_file_of_its_minute_serves_all_the_same(monkeypatch, tmp_path):
    """As on a full or a read-only disk: every first page of such a server was a fault."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", list)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    monkeypatch.setattr(operators, "_watched", [])
    operators.watch(minute_s=3_600.0)
    assert operators.main(tmp_path) == 1
