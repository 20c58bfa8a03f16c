"""Answers that are kept: for the same arguments, in one language, and known again without looking through them."""

from dataclasses import dataclass

from runtime import content
from runtime.kept import Known, kept, kept_of


@dataclass(frozen=True)
class Counted:
    """A row that counts how often it is looked through."""

    looks: list[int]

    def __hash__(self) -> int:
        self.looks.append(1)
        return 7


def test_an_answer_is_worked_out_once_for_a_language_and_a_list_is_what_it_holds():
    worked = []

    @kept
    def work(rows, times=1):
        worked.append(content.language())
        return len(rows) * times

    assert [work([1, 2]), work([1, 2]), work([1, 2], times=1)] == [2, 2, 2]
    with content.speaking("es"):
        assert work([1, 2]) == 2
    assert worked == ["en", "en", "es"]


def test_many_rows_are_looked_through_once_and_are_a_tuple_like_any():
    row = Counted([])
    rows = Known([row, row])
    assert {hash(rows), hash(rows), hash((row, row))} == {hash(rows)}
    assert len(row.looks) == 4  # twice each, of the two tuples
    assert rows == (row, row)
    assert isinstance(rows, tuple)


def test_a_list_that_is_kept_cannot_be_changed_by_who_is_given_it():
    rows = kept(lambda: [1, 2])()
    assert rows == (1, 2)
    assert hash(rows) == hash((1, 2))


def test_what_is_made_of_a_large_answer_is_kept_with_that_very_one_unseen():
    large, same, worked = Counted([]), Counted([]), []

    @kept_of
    def work(answer, times):
        worked.append(answer)
        return times

    assert [work(large, 2), work(large, 2), work(large, 3), work(same, 2)] == [2, 2, 3, 2]
    assert [one is large for one in worked] == [True, True, False]
    assert not large.looks
