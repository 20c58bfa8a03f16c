"""Which paths there are: the pages' own, Streamlit's files, and what a page of ours asks of it. All else is 404.

A path is held to the list as Streamlit itself reads it, decoded once; one that would be read in another way by
whoever decodes it again, or takes its dots and slashes away, is not in the list.
"""

import re

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.course.pages import OVERVIEW, PAGES
from ui.lab_files import FILES as LAB_FILES
from ui.lab_files import PLACE as LAB_PLACE
from ui.uploads import PLACE, within

STEMS = [page.stem for page in PAGES if page is not OVERVIEW]
NAME = r"[\w@~-][\w.@~-]*"
OPEN = re.compile(
    rf"/|/(?:{'|'.join(map(re.escape, STEMS))})/?"
    rf"|/favicon\.png|/manifest\.json|/static/(?:css|js|media)/{NAME}|/media/{NAME}"
    rf"|{LAB_PLACE}[0-9a-f]{{16}}/(?:{'|'.join(map(re.escape, LAB_FILES))})"
    rf"|/_stcore/(?:health|host-config|stream)|{PLACE.pattern}",
    re.ASCII,
)
"""Streamlit's own, by its second level: what a browser was seen to ask for over all scenes, and for files."""


def is_open(path: str) -> bool:
    """Whether the app has such a path."""
    below = within(path)
    return below is not None and bool(OPEN.fullmatch(below))


class OpenPaths:
    """Middleware that lets through what is open."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or is_open(scope["path"]):
            await self.app(scope, receive, send)
        else:
            page = '<!doctype html><title>404</title><p>404 <a href="/">Shardlab</a></p>'
            await HTMLResponse(page, 404)(scope, receive, send)
