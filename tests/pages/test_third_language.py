"""A third language in the running app: a folder with two files in it, and English for all that it has not."""

import shutil

import pytest

from runtime import content
from tests.pages.test_every_scene import visit
from tests.test_contributing import FOLDER
from ui.course.pages import LABS

pytestmark = pytest.mark.slow


@pytest.fixture
def french(tmp_path, monkeypatch):
    """`french(finished)`: the guide's folder, put beside the two that there are."""
    root = tmp_path / "content"
    for name in ("en", "es"):  # however many there are
        shutil.copytree(content.CONTENT / name, root / name)
    (root / "fr").mkdir()

    def begun(finished: str) -> None:
        for name, text in FOLDER.items():
            path = tmp_path / name
            path.write_text(text.replace("## finished\nno", f"## finished\n{finished}"), encoding="utf-8")
        content.forget()

    monkeypatch.setattr(content, "CONTENT", root)
    yield begun
    monkeypatch.undo()
    content.forget()


def bar(app) -> list[str]:
    """What the header offers besides the scenario, each language by how it is written there."""
    return [button.label for button in app.button if str(button.key).startswith("speak_")]


def test_a_begun_language_is_spoken_where_it_can_be_and_is_not_yet_offered(french):
    """Its marks in numbers; English words."""
    french("no")
    english, app = visit(LABS[1]), visit(LABS[1], lang="fr")
    assert not app.exception
    assert app.title[0].value == english.title[0].value
    assert (bar(english), bar(app)) == (["ES"], ["English", "Español"])
    assert [any("5,61\u00a0µs" in part.value for part in page.markdown) for page in (english, app)] == [False, True]


def test_however_many_languages_there_are_the_header_has_one_control_for_them(french):
    """Two buttons of it took the room of the scenario on a phone: several languages open from one."""
    french("yes")
    app = visit(LABS[1], lang="fr")
    assert not app.exception
    opener = next(part for part in app.get("popover") if part.proto.popover.label == "FR")
    assert [button.label for button in opener.button] == ["English", "Español"] == bar(app)
    opener.button[1].click()
    app.run()
    assert app.query_params["lang"] == "es"
