"""One test of many cases goes through them all, and names those that fail."""

import pytest

from tests.each import each


def test_every_case_is_tried_and_each_that_fails_is_named():
    tried = []

    @each("one", [1, 2])
    @each("two, three", [(2, 3), (4, 5)])
    def sums(one, two, three):
        tried.append((one, two, three))
        assert one == 2

    with pytest.raises(BaseExceptionGroup) as failed:
        sums()
    assert tried == [(1, 2, 3), (1, 4, 5), (2, 2, 3), (2, 4, 5)]
    assert failed.value.__notes__ == ["of one=1"]
    assert [error.__notes__ for error in failed.value.exceptions] == [["of two=2, three=3"], ["of two=4, three=5"]]


def test_a_case_that_is_refused_or_asked_for_in_vain_is_named_too():
    @each("text", ["1", "one", "2"])
    def refused(text):
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(BaseExceptionGroup) as failed:
        refused()
    assert [error.__notes__ for error in failed.value.exceptions] == [["of text='1'"], ["of text='2'"]]


def test_no_cases_are_a_failure():
    with pytest.raises(AssertionError):
        each("none", [])(lambda none: None)()
