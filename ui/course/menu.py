"""The course's navigation: one string of HTML, which a browser takes in whole and does not go over again.

Streamlit's own is some hundred components, and a browser goes over all of them at each change of a page. Routing is
still Streamlit's. A link's address is relative; `browser/shell.js` adds what all pages share and follows it softly.
"""

from functools import lru_cache
from html import escape

from ui.course.pages import OVERVIEW, PAGES, TOOLS, Entry
from ui.prose import label


@lru_cache(maxsize=64)
def navigation(language: str, here: str) -> str:
    """The pages as links in a language, which is the visit's; `here` is the stem of the one that is open.

    Where the row has no room for all of them they are a menu, as the tools are always: `menu.css`.
    """
    ways = "".join(_link(page, here) for page in PAGES if page not in TOOLS)
    tools = "".join(_link(page, here) for page in TOOLS)
    called = escape(label("tools"))
    return (
        f'<nav class="course" aria-label="{escape(label("course"))}">'
        f'<button type="button" popovertarget="course-pages" aria-label="{escape(label("pages"))}"></button>'
        f'<ul id="course-pages" popover>{ways}<li>'
        f'<button type="button" popovertarget="course-tools">{called}</button><span>{called}</span>'
        f'<ul id="course-tools" popover aria-label="{called}">{tools}</ul>'
        "</li></ul></nav>"
    )


def _link(page: Entry, here: str) -> str:
    address = "./" if page is OVERVIEW else page.stem
    title = escape(page.title)
    current = ' aria-current="page"' if page.stem == here else ""
    return f'<li><a href="{address}" data-title="{title}"{current}>{title}</a></li>'
