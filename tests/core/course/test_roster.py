"""A class list: whatever exports it, one identity a student, found by every name that a file may bear."""

import unicodedata

import pytest

from core.course.grading.roster import roster_of
from core.errors import OutOfRangeError

CANVAS = [
    ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "lab-03 (77)"],
    ["    Points Possible", "", "", "", "", "100"],
    ["Doe, Jane", "1234", "s90", "jdoe@x.edu", "A", ""],
    ["Núñez, Ana María", "1235", "s91", "anun@x.edu", "A", ""],
    ["Li, Wei", "1236", "s92", "wli@x.edu", "A", ""],
]
MOODLE = [["First name", "Surname", "ID number", "Email address"], ["Jane", "Doe", "s90", "jdoe@x.edu"]]
GRADESCOPE = [["Full Name", "Email", "SID"], ["Jane Doe", "jdoe@x.edu", "s90"]]
PLAIN = [["Student "], ["jane"], ["", ""], ["wei"]]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("doejane_1234_88123_starter.py", "Doe, Jane"),
        ("doejane_LATE_1234_88123_answers-2.txt", "Doe, Jane"),
        ("nunezanamaria_1235_9_starter.py", "Núñez, Ana María"),
        ("Jane Doe_55_assignsubmission_file_", "Doe, Jane"),
        ("Jane Doe_1236_assignsubmission_file_", "Doe, Jane"),
        ("lab-03-jdoe", "Doe, Jane"),
        ("JDOE@x.edu", "Doe, Jane"),
        ("wei li", "Li, Wei"),
        ("s92.py", "Li, Wei"),
        (unicodedata.normalize("NFD", "Ana María Núñez"), "Núñez, Ana María"),
        (unicodedata.normalize("NFD", "NÚÑEZ, ana maría.py"), "Núñez, Ana María"),
        ("janedoer", None),
        ("stranger", None),
        ("jdoe+wli", None),
    ],
)
def test_a_students_name_is_found_in_what_exports_make_of_it(name, key):
    found = roster_of(CANVAS).of_file(name)
    assert (found.key if found else None) == key


@pytest.mark.parametrize("rows", [CANVAS, MOODLE, GRADESCOPE], ids=["canvas", "moodle", "gradescope"])
def test_every_exports_names_mean_the_same_student_in_every_route(rows):
    roster = roster_of(rows)
    found = [roster.find(said) for said in ("jdoe@x.edu", "JDoe@X.edu ", "s90", "Jane  Doe", "doe, jane")]
    assert len({one.identity for one in found}) == 1


def test_a_header_is_known_in_any_case_and_an_empty_row_is_nobody():
    assert [student.key for student in roster_of(PLAIN).students] == ["jane", "wei"]


def test_partners_of_a_group_have_one_identity():
    ada, bob, cy = roster_of([["student", "group"], ["ada", "g1"], ["bob", "g1"], ["cy", ""]]).students
    assert ada.identity == bob.identity != cy.identity


def test_a_name_that_means_two_means_nobody_and_is_told():
    roster = roster_of([["student", "email"], ["ann", "a.b@x.org"], ["abe", "a.b@y.org"], ["ann b", "ann@x.org"]])
    assert roster.find("a.b") is None
    assert roster.find("ann").key == "ann", "a full name is before an address's beginning"
    assert roster.shared_names == ("a.b",)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "nothing"),
        ([["x", "y"], ["ada", "1"]], "no column that names a student, such as `student`: x, y"),
        ([["student"]], "names 0 students"),
        ([["student"], ["ada"], ["ADA"]], "twice: ADA, ada"),
        ([["student"], ["../ada"]], "is no name of a file"),
        ([["student"], ["a\x1bb"]], "is no name of a file"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused(rows, said):
    with pytest.raises(OutOfRangeError, match=said):
        roster_of(rows, "roster.csv")
