"""Addresses made up by a seed, all hostile parts at once: the page that was asked for opens, and shows no fault."""

import random
import re

import pytest

from tests.pages.test_every_scene import visit
from ui.course.pages import PAGES

PARTS = ("path", "lang", "notes", "room", "chair", "present", "keys", "embed", "place_race_load", "puzzles_done")
VALUES = (
    *(
        "",
        "50",
        "80",
        "--5",
        "es",
        "en",
        "../../etc/passwd",
        "true",
        "rush",
        "9" * 400,
        "1e999",
        "nan",
        "\x00",
        "\u202e",
    ),
    *("<script>alert(1)</script>", "[a](javascript:alert(1))", "{{plan}}", "CDFGHJ", "a" * 5_000, "%00", "🙂", "٣"),
)
ROUNDS = 3
LIVE = re.compile(r"(?<!\\)\]\(javascript:|(?<!\\)<script")
"""Markup of the address's that would be more than text."""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_address_makes_a_page_fail(page):
    """Parts that every page knows, and the page's own scene and controls, each with a value of any kind."""
    rng = random.Random(page.stem)
    names = [*PARTS, f"{page.prefix}_scene", f"{page.prefix}_guess", f"{page.prefix}_plan", "model", "tp", "batch"]
    for _ in range(ROUNDS):
        query = {name: rng.choice(VALUES) for name in rng.sample(names, 8)}
        app = visit(page, **query)
        assert not app.exception, query
        said = "\n".join(one.value for one in app.markdown)
        assert not LIVE.search(said), query
