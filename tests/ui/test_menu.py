"""The course's navigation as it is written: which pages, where they are, and which of them is open."""

import re

from runtime import content
from tests.each import each
from ui.course.menu import navigation
from ui.course.pages import OVERVIEW, PAGES


@each("language", content.languages())
def test_it_has_all_pages_in_their_order_and_marks_the_one_that_is_open(language):
    with content.speaking(language):
        written = navigation(language, "quiz")
        assert re.findall(r'<a href="([^"]+)" data-title="([^"]+)"', written) == [
            ("./" if page is OVERVIEW else page.stem, page.title) for page in PAGES
        ]
    assert re.findall(r'<a href="([^"]+)"[^>]* aria-current="page"', written) == ["quiz"]
