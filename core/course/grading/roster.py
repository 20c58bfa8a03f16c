"""A class list: who is in it, by which names each is known, and the identity that decides a student's questions.

A roster comes from anywhere: a list of names, or what Canvas, Moodle, Gradescope or GitHub Classroom export. Its
columns are known by their heads. Handouts, the key, grades and Gradescope all ask it who somebody is.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from core.errors import OutOfRangeError, remark

MOST_STUDENTS = 10_000

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "student": ("student", "estudiante", "alumno", "alumna"),
        "login": ("sislogin", "sisloginid", "login", "loginid", "username", "user", "uid", "usuario", "netid"),
        "email": ("email", "emailaddress", "mail", "correo", "correoelectronico", "direcciondecorreo"),
        "sis": ("sisuserid", "sisid", "studentid", "sid", "idnumber", "numerodeid", "matricula"),
        "id": ("id", "userid", "canvasid", "canvasuserid"),
        "github": ("github", "githubusername", "githubuser"),
        "name": ("name", "fullname", "nombrecompleto", "nombreyapellidos"),
        "first": ("firstname", "givenname", "nombre", "nombres"),
        "last": ("lastname", "surname", "familyname", "apellido", "apellidos"),
        "group": ("group", "team", "grupo", "equipo"),
    }
)
"""What a column holds, by its head in small letters without marks and spaces."""

_CANVAS = re.compile(r"\A([^\W_]+)_(?:late_)?(\d++)_\d+_")
"""How Canvas names a file: the student's name and number, the file's number."""

_KEYS = ("student", "login", "email", "sis", "id", "github", "name")
"""In this order the first that the roster has is what a student is called in what we write."""


def folded(text: str) -> str:
    """A name as two spellings of it are the same: composed, in small letters, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def bare(text: str) -> str:
    """A name in small letters and digits alone, as Canvas names files."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in plain if one.isalnum())


@dataclass(frozen=True)
class Student:
    """A student by the roster's own name, and what else its row says. `group` is shared by partners, else empty."""

    key: str
    row: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    """The row under the heads of the file, for a gradebook that wants them back."""

    @property
    def group(self) -> str:
        return self.row.get("group", "")

    @property
    def identity(self) -> str:
        """What decides the inputs and the questions: the group's name, or the student's own key."""
        return folded(self.group or self.key)

    @property
    def name(self) -> str:
        """The name to be read: the one in words where the roster has one."""
        both = f"{self.row.get('first', '')} {self.row.get('last', '')}".strip()
        return self.row.get("name") or both or self.key

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything that names this student and no other thing, folded."""
        said = [self.key, self.name, *(self.row.get(kind, "") for kind in _KEYS)]
        first, last = self.row.get("first", ""), self.row.get("last", "")
        if first and last:
            said += [f"{first} {last}", f"{last}, {first}", f"{last} {first}"]
        for one in list(said):
            before, comma, behind = one.partition(",")
            if comma:
                said += [f"{behind} {before}", f"{before} {behind}"]
        return tuple(dict.fromkeys(filter(None, map(folded, said))))

    @cached_property
    def short_names(self) -> tuple[str, ...]:
        """What may name this student: an address before its @, and names as Canvas writes them into files."""
        said = [name.partition("@")[0] for name in self.names if "@" in name]
        parts = self.name.replace(",", " ").split()
        said += [bare(name) for name in self.names]
        if "," not in self.name and len(parts) > 1:
            said.append(bare(parts[-1] + "".join(parts[:-1])))
        return tuple(dict.fromkeys(name for name in said if name and name not in self.names))


@dataclass(frozen=True)
class Roster:
    """The students of a class, in the roster's order."""

    students: tuple[Student, ...]

    @cached_property
    def _known(self) -> Mapping[str, Student | None]:
        """Who is meant by each name; nobody where two are, and by a short one nobody whom a full one means."""
        known: dict[str, Student | None] = {}
        for student in self.students:
            for name in student.names:
                known[name] = None if name in known else student
        short: dict[str, Student | None] = {}
        for student in self.students:
            for name in student.short_names:
                short[name] = None if name in short else student
        return MappingProxyType(short | known)

    @property
    def shared_names(self) -> tuple[str, ...]:
        """Names that mean two students, and so nobody."""
        return tuple(sorted(name for name, student in self._known.items() if student is None))

    def find(self, said: str) -> Student | None:
        """The student whom a name, an address or a number means; None where it means nobody, or two."""
        return self._known.get(folded(said)) or self._known.get(bare(said))

    def of_file(self, name: str) -> Student | None:
        """The student whom a file's or a folder's name means, from what Canvas, Moodle or GitHub make of it too.

        A name of theirs that stands whole in it decides, if it is no part of another's; two of two students do not.
        A number decides where nothing else does: systems put numbers of their own into names.
        """
        stem = re.sub(r"\.[A-Za-z0-9]{1,8}$", "", name)
        canvas = _CANVAS.match(folded(stem))
        parts = (name, stem, *((canvas[2], canvas[1]) if canvas else ()))
        if found := next(filter(None, map(self.find, parts)), None):
            return found
        text = folded(stem)
        near = {
            part: student
            for part, student in self._known.items()
            if student and len(part) > 1 and re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", text)
        }
        whole = [part for part in near if not any(part in other and part != other for other in near)]
        words = [part for part in whole if not part.isdecimal()] or whole
        meant = {near[part].key: near[part] for part in words}
        return next(iter(meant.values())) if len(meant) == 1 else None


def roster_of(rows: Sequence[Sequence[str]], where: object = "") -> Roster:
    """A roster from the rows of its file, the first of which are the columns' heads.

    Raises OutOfRangeError where no column names a student, or nobody or somebody twice stands in it.
    """
    heads = [head.strip() for head in rows[0]] if rows else []
    kinds = {place: kind for place, head in enumerate(heads) if (kind := _kind(head))}
    named = [kind for kind in _KEYS if kind in kinds.values()]
    if not named and not {"first", "last"} <= set(kinds.values()):
        found = ", ".join(filter(None, heads)) or remark("errors.nothing")
        raise OutOfRangeError("roster", where, "no_column", found=found)
    students = tuple(filter(None, (_student(heads, kinds, named, row) for row in rows[1:])))
    keys = [folded(student.key) for student in students]
    twice = sorted({student.key for student in students if keys.count(folded(student.key)) > 1}, key=str)
    if not 0 < len(students) <= MOST_STUDENTS or twice:
        told = ", ".join(twice) or remark("errors.none")
        raise OutOfRangeError("roster", where, "students", students=len(students), twice=told)
    if unsafe := [key for key in (student.key for student in students) if not _safe(key)]:
        raise OutOfRangeError("student", repr(unsafe[0]), "no_file_name")
    return Roster(students)


def _kind(head: str) -> str:
    plain = bare(head)
    return next((kind for kind, heads in COLUMNS.items() if plain in heads), "")


def _student(
    heads: Sequence[str], kinds: Mapping[int, str], named: Iterable[str], row: Sequence[str]
) -> Student | None:
    """A row's student; None for an empty row, and for the line of a Canvas gradebook that holds the points."""
    cells = [unicodedata.normalize("NFC", cell).strip() for cell in row]
    said: dict[str, str] = {}
    for place, kind in kinds.items():
        if place < len(cells) and cells[place]:
            said.setdefault(kind, cells[place])
    if bare(said.get("student", "")) in ("pointspossible", "studenttest", "teststudent"):
        return None
    both = f"{said.get('first', '')} {said.get('last', '')}".strip()
    key = next((said[kind] for kind in named if said.get(kind)), both)
    return Student(key, said, dict(zip(heads, cells, strict=False))) if key else None


def _safe(key: str) -> bool:
    """Whether a key can be a file's name everywhere."""
    return key not in (".", "..") and not set(key) & set('/\\\0:*?"<>|') and key.isprintable() and len(key) < 120
