"""What a page asks, as a person tells it: labels, what is picked and typed, and the address beside it."""

import re
from urllib.parse import parse_qsl, urlsplit

from tests.browser.conftest import arrive, settle, until

TP = "TP, ranks that cut a layer"
ENDS = re.compile(r"(?<=\d)\.0$")


def query(page) -> dict[str, str]:
    """What the address says, a number without what does not change it: `20.0` is `20`."""
    return {name: ENDS.sub("", value) for name, value in parse_qsl(urlsplit(page.url).query)}


def asks(page, **parts: str) -> None:
    """Wait until the address says these, and nothing of those that are to be absent."""
    until(page, lambda: {name: query(page).get(name, "") for name in parts} == parts)


def row(page, name: str):
    """A row of buttons, by its label."""
    return page.get_by_role("radiogroup", name=name, exact=True, include_hidden=True)


def chosen(page, name: str) -> str:
    """What is picked in a row of buttons."""
    return row(page, name).get_by_role("radio", checked=True, include_hidden=True).text_content()


def shows(page, **rows: str) -> None:
    """Wait until each of these rows of buttons has this one picked."""
    until(page, lambda: all(row(page, name).count() == 1 for name in rows))
    until(page, lambda: {name: chosen(page, name) for name in rows} == rows)


def pick(page, name: str, option: str) -> None:
    """Press one of a row, once a scene that is on its way out has taken its own row of the name along."""
    until(page, lambda: row(page, name).count() == 1)
    row(page, name).get_by_role("radio", name=option, exact=True).click()


def go_to(page, scene: str) -> None:
    """Open a scene by its name, and wait until it is there."""
    pick(page, "Scenes", scene)
    shows(page, Scenes=scene)
    settle(page)


def field(page, label: str):
    """A field that is typed into."""
    return page.get_by_label(label, exact=True).and_(page.locator("input, textarea"))


def holds(page, label: str, value: str) -> None:
    """Wait until a field holds this."""
    until(page, lambda: field(page, label).count() == 1 and field(page, label).input_value() == value)


def select(page, label: str, option: str) -> None:
    """Pick from a list by typing, as it is long."""
    page.get_by_role("combobox", name=label, exact=True).fill(option)
    page.get_by_role("option", name=option, exact=True).click()


def follow(page, name: str, stem: str) -> None:
    """Follow a link of the header to another page."""
    page.get_by_role("link", name=name, exact=True).click()
    arrive(page, stem)


def from_tools(page, name: str, stem: str) -> None:
    page.get_by_role("button", name="Tools").click()
    follow(page, name, stem)


def open_scenario(page) -> None:
    page.get_by_role("button", name=re.compile("TP=")).click()
    field(page, TP).wait_for()
    settle(page)
