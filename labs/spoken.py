"""What a lab says, in the language that `LAB_LANG` names: `es` for Spanish, English where it names none.

A test hands over a block of `content/<language>/labs.md` and its values. A copy without `runtime/` speaks English.
"""

import os
from typing import NoReturn

import pytest

from core.course.grading.remarks import say
from core.errors import Remark
from core.specs import LinkSpec


def words(said: Remark) -> str:
    """A remark in the language that is named."""
    if (name := language()) == "en":
        return str(said)
    from runtime import content, prose  # what English does without

    with content.speaking(name):
        return prose.sentence(said)


def fail(block: str | Remark, /, **values: object) -> NoReturn:
    """Fail a test in words: a block of the labs' words and its values, or a remark."""
    __tracebackhide__ = True
    pytest.fail(words(block if isinstance(block, Remark) else say(block, **values)), pytrace=False)


def link_named(link: LinkSpec) -> Remark | str:
    """A link's name; that its figures are rough is a word of a language."""
    name, rough, _ = link.name.partition(", rough")
    return say("part.rough", link=name) if rough else name


def language() -> str:
    """The folder of the language that is named.

    Raises UsageError for one that there is not.
    """
    named = os.environ.get("LAB_LANG", "").strip().lower()
    if named in ("", "en"):
        return "en"
    try:
        from runtime.content import languages
    except ImportError:
        return "en"
    if named not in languages():
        raise pytest.UsageError(f"LAB_LANG={named}: there is no such language; one of: {', '.join(languages())}")
    return named
