"""What students send, however it is packed, named and encoded: each file is read or named, and links are not."""

import json
import os
import unicodedata
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.course.grading.questions import answers_in
from core.course.grading.roster import roster_of
from core.course.grading.tasks import LABS
from core.errors import OutOfRangeError, UnreadableTextError
from runtime.files import ROOT
from runtime.sent_files import MOST_BYTES, sent_files
from runtime.students_text import answers_from, code_from
from runtime.submissions import cells_of, collected

BILL = LABS["lab-03"]
CODE = (Path(__file__).parent / "answers" / "lab_03.py").read_text(encoding="utf-8")
STARTER = (ROOT / "labs" / BILL.folder / "starter.py").read_text(encoding="utf-8")
SHEET = "q1 = 270 KiB\nq2 = 434,98 µs\nq3: 55.7 ms\nQ4) 94.5 %\n"
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252")
RITA = "Rita Díaz"
ROSTER = roster_of([["student", "id"], [RITA, "77"], ["bob", "78"]])


def sent(folder, **files):
    """Files by path, with `__` for a slash and `_dot_` for a point, as bytes or text."""
    for name, held in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held if isinstance(held, bytes) else held.encode("utf-8"))
    return collected(sent_files(folder), ROSTER, BILL)


def of_rita(folder, **files):
    found = sent(folder, **files)
    assert found.strangers == ()
    return found.submissions[0]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_sheet_of_answers_is_read_in_any_encoding(encoding, ends, form):
    text = unicodedata.normalize(form, SHEET.replace("KiB", "KiB ")) if encoding.startswith("utf") else SHEET
    read = answers_in(answers_from(text.replace("\n", ends).encode(encoding), "answers.txt"))
    assert dict(read) == {"q1": "270 KiB", "q2": "434,98 µs", "q3": "55.7 ms", "q4": "94.5 %"}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_code_is_read_in_any_encoding(encoding):
    code = code_from(("x = 'µ é'\n" + CODE).encode(encoding), "starter.py")
    space = {}
    exec(compile(code, "starter.py", "exec"), space)
    assert space["x"] == "µ é"


def test_code_that_says_its_encoding_is_left_as_it_is():
    code = "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1")
    assert code_from(code, "starter.py") == code


@given(st.binary(max_size=300))
def test_any_bytes_are_a_text_or_are_said_to_be_none(data):
    for read in (answers_from, code_from):
        with suppress(UnreadableTextError):
            assert isinstance(read(data, "x"), str | bytes)


@pytest.mark.parametrize(
    "files",
    [
        {f"{RITA}/starter.py": CODE, f"{RITA}/answers.txt": SHEET},
        {unicodedata.normalize("NFD", f"{RITA}/starter.py"): CODE, f"{RITA}/Answers.TXT": SHEET},
        {f"{RITA}/lab-03/Starter.PY": CODE, f"{RITA}/lab-03/answers (1).txt": SHEET},
        {f"{RITA}.py": CODE, f"{RITA}.txt": SHEET},
        {f"{RITA}/mine.py": CODE, f"{RITA}/starter.py": STARTER, f"{RITA}/my answers.md": SHEET},
        {f"{RITA}/starter.py": CODE, f"{RITA}/helper.py": "x = 1\n", f"{RITA}/answers": SHEET},
        {"ritadiaz_77_901_starter-1.py": CODE, "ritadiaz_77_900_starter.py": STARTER,
         "ritadiaz_77_902_answers-2.txt": SHEET, "ritadiaz_77_899_answers.txt": "q1 = 1 KiB"},
        {"Rita Díaz_5_assignsubmission_file_/starter.py": CODE,
         "Rita Díaz_5_assignsubmission_file_/answers.txt": SHEET},
        {f"lab-03-rita-díaz/labs/{BILL.folder}/starter.py": CODE, "lab-03-rita-díaz/answers.txt": SHEET,
         f"lab-03-rita-díaz/labs/{BILL.folder}/test_lab.py": CODE, "lab-03-rita-díaz/README.md": SHEET},
        {f"class/{RITA}/starter.py": CODE, f"class/{RITA}/answers.txt": SHEET, "class/bob/starter.py": STARTER},
        {f"{RITA}/starter.py": CODE, f"{RITA}/answers.txt": SHEET, f"{RITA}/__MACOSX/._starter.py": b"\0\1",
         f"{RITA}/.DS_Store": b"\0"},
    ],
    ids=["folder", "decomposed", "nested", "flat", "another name", "a helper", "canvas", "moodle", "github",
         "wrapped", "junk"],
)  # fmt: skip
def test_however_it_is_packed_code_and_answers_are_found(tmp_path, files):
    if any("rita-d" in name for name in files):
        files = {name.replace("rita-díaz", "77"): held for name, held in files.items()}
    rita = of_rita(tmp_path, **files)
    assert rita.fault == ""
    assert rita.code.decode() == CODE
    assert len(answers_in(rita.answers)) == 4
    assert answers_in(rita.answers)["q1"] == "270 KiB"


def zipped(path, members, mode=0):
    with zipfile.ZipFile(path, "w") as archive:
        for name, held in members.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, held)
    return path


def test_a_zip_of_the_class_and_a_zip_in_a_folder_are_read_as_folders_are(tmp_path):
    members = {f"{RITA}/starter.py": CODE, f"{RITA}/answers.txt": SHEET}
    archive = zipped(tmp_path / "class.zip", members)
    whole = collected(sent_files(archive), ROSTER, BILL).submissions[0]
    inner = tmp_path / "class" / RITA
    inner.mkdir(parents=True)
    zipped(inner / "mine.zip", {"lab/starter.py": CODE, "lab/answers.txt": SHEET})
    nested = collected(sent_files(tmp_path / "class"), ROSTER, BILL).submissions[0]
    for found in (whole, nested):
        assert (found.code.decode(), found.answers, found.fault) == (CODE, SHEET, "")


def test_a_link_is_named_and_followed_nowhere(tmp_path):
    secret = tmp_path / "seed.txt"
    secret.write_text("q1 = 1 KiB")
    home = tmp_path / "class" / RITA
    home.mkdir(parents=True)
    (home / "answers.txt").symlink_to(secret)
    (home / "folder").symlink_to(tmp_path)
    (home / "starter.py").write_text(CODE)
    rita = collected(sent_files(tmp_path / "class"), ROSTER, BILL).submissions[0]
    assert rita.answers == ""
    assert "answers.txt is a link, and is not followed" in rita.remarks
    linked = zipped(tmp_path / "linked.zip", {f"{RITA}/starter.py": "../../seed.txt"}, mode=0o120777)
    out = zipped(tmp_path / "out.zip", {f"{RITA}/../../x.py": CODE, f"{RITA}/a.py": "x"})
    for archive in (linked, out):
        rita = collected(sent_files(archive), ROSTER, BILL).submissions[0]
        assert "not followed" in " ".join([rita.fault, *rita.remarks])
        assert CODE.encode() != rita.code


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names where there are files of POSIX")
def test_a_pipe_or_a_file_without_end_holds_nobody_up(tmp_path):
    home = tmp_path / RITA
    home.mkdir()
    os.mkfifo(home / "starter.py")
    (home / "mine.py").write_bytes(b"#" * (MOST_BYTES + 1))
    rita = collected(sent_files(tmp_path), ROSTER, BILL).submissions[0]
    assert "starter.py is no file" in rita.fault
    assert "mine.py is longer than" in rita.fault


def test_what_cannot_be_read_is_said_and_what_is_nobodys_is_told(tmp_path):
    found = sent(tmp_path, **{f"{RITA}/answers.docx": b"PK\3\4\0\0", "zed/starter.py": CODE, "notes.txt": "x"})
    rita, bob = found.submissions
    assert "no Python file and no notebook that defines a task; found: answers.docx" in rita.fault
    assert not rita.empty
    assert bob.empty
    assert set(found.strangers) == {"zed", "notes.txt"}


def test_a_notebook_is_both_files_and_another_notebook_is_named(tmp_path):
    def notebook(name):
        cells = [("submission", CODE), ("answers", f'ANSWERS = """\n{SHEET}"""')]
        told = [{"cell_type": "code", "source": text.splitlines(keepends=True),
                 "metadata": {"nbgrader": {"grade_id": name + cell}}} for cell, text in cells]  # fmt: skip
        return json.dumps({"cells": told, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    rita = of_rita(tmp_path / "one", **{f"{RITA}/lab.ipynb": notebook("")})
    assert (rita.code.decode(), len(answers_in(rita.answers))) == (CODE, 4)
    other = of_rita(tmp_path / "two", **{f"{RITA}/lab.ipynb": notebook("my_")})
    assert "has no cell named `submission`" in other.fault


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["cells", "metadata", "nbgrader", "grade_id", "source"]), inner)))  # fmt: skip
def test_any_json_is_a_notebook_or_is_said_to_be_none(value):
    with suppress(UnreadableTextError):
        assert "submission" in cells_of(json.dumps(value).encode(), "x.ipynb")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutOfRangeError, match="is no folder and no zip"):
        sent_files(tmp_path / "nowhere")


def test_what_was_left_of_several_files_is_told(tmp_path):
    rita = of_rita(tmp_path, **{f"{RITA}/mine.py": CODE, f"{RITA}/old.py": CODE + "\n#\n", f"{RITA}/a.txt": SHEET})
    assert any("also found" in remark for remark in rita.remarks)
