"""What a lab says, in the language that `LAB_LANG` names: `es` for Spanish, English where it names none.

The tests say it in English; `content/<language>/labs.md` has the words of another language, and numbers are written
as it writes them. A copy without `runtime/` speaks English.
"""

import os

import pytest


def told(message: str) -> str:
    """A message in the language that is named; as it is where that has no words for it."""
    if (name := language()) == "en":
        return message
    from runtime import content, refusals  # what English does without

    with content.speaking(name):
        return refusals.translated(message, *refusals.LABS)


def worded(block: str, english: str, **fields: object) -> str:
    """A block of a lab's words with its fields put in; `english` where nothing else is spoken."""
    if (name := language()) == "en":
        return english
    from runtime import content, refusals

    with content.speaking(name):
        return refusals.filled("labs", block, {field: str(value) for field, value in fields.items()})


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
