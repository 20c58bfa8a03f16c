"""Slides or a handout of a lecture, as one PDF: every screen of every scene of a path, or of a page.

python -m scripts.slides --path 50 --out talk.pdf
python -m scripts.slides --page comm_cost --out bill.pdf [--handout room|desk] [--lang es] [--theme dark]

A question has two slides, before the answer and after, and a figure that is stepped has one a step. A handout is on
paper, light, each figure at its last step: the room's without answers, with lines to write on; the desk's with the
answers, and with what to say.
"""

import argparse
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from runtime import content
from runtime.prose import said
from scripts.screenshots import SIZES, THEMES, browsing
from scripts.settled import screens, settle, visit
from ui.course.pages import PAGES, entry
from ui.paths import PATHS

WIDTH, HEIGHT = SIZES["projector"]
ROOM, DESK = "room", "desk"
MOST_STEPS = 16
"""A figure of more steps, as a long schedule, is shown at both ends."""
VARIANTS = {("sharding_math", "see"): tuple({"shard_layer": layer} for layer in ("column", "row", "mlp_pair"))}
"""What a lecture turns a scene to, one after another, beside what it opens with."""
PAPER = (1280, 720)
"""The screen that a handout shows, twice as fine: across A4 its least type is 9.7 points."""
SLIDES = f"""@page {{ size: {WIDTH}px {HEIGHT}px; margin: 0 }} body {{ margin: 0 }} p {{ display: none }}
figure {{ height: {HEIGHT - 1}px; overflow: hidden; break-inside: avoid }}
img {{ width: {WIDTH}px; display: block }}"""
HANDOUT = """@page { size: A4; margin: 14mm } body { margin: 0; font: 11pt/1.4 serif }
figure { margin: 0 0 8mm; break-inside: avoid }
img { width: 100%; box-sizing: border-box; border: 0.3mm solid #999; filter: brightness(1.04) }
.lines { height: 24mm; background: repeating-linear-gradient(transparent 0 7.7mm, #999 7.7mm 8mm) }"""
"""The filter leaves the light theme's ground to the paper's white."""


@dataclass(frozen=True)
class Slide:
    """A picture of a screen; of a scene's last, what is said of the scene, or lines to write on."""

    png: bytes
    note: str = ""
    lines: bool = False


def scenes(path: str | None, page: str | None) -> list[tuple[str, str]]:
    """The scenes to be shown, each by its page's stem and its name."""
    if page:
        return [(page, scene) for scene in entry(page).names]
    return [(stop.stem, stop.scene) for stop in PATHS[path or "50"]]


def note(stem: str, scene: str) -> str:
    """What a presenter says of a scene, if there is a note for it."""
    return said("notes", f"{stem}.{scene}") if f"{stem}.{scene}" in content.load("notes") else ""


def slides(browser: Any, url: str, stem: str, scene: str, asked: argparse.Namespace) -> Iterator[Slide]:
    """Every screen of a scene, and step of its figures; of a question, then every screen of its answer."""
    shown = [
        png
        for turned in VARIANTS.get((stem, scene), ({},))
        for png in _pictures(browser, url, stem, scene, turned, asked)
    ]
    yield from map(Slide, shown[:-1])
    yield Slide(shown[-1], note(stem, scene) if asked.handout == DESK else "", asked.handout == ROOM)


def _pictures(
    browser: Any, url: str, stem: str, scene: str, turned: Mapping[str, str], asked: argparse.Namespace
) -> Iterator[bytes]:
    size, theme, fine = (PAPER, "light", 2.0) if asked.handout else ((WIDTH, HEIGHT), asked.theme, 1.0)
    query = {**entry(stem).scene(scene), **turned, "present": "true", "lang": asked.lang}
    page = visit(browser, f"{url}/{stem}?{urlencode(query)}", size, theme, fine)
    page.add_style_tag(content=".st-key-foot button { opacity: 0 }")
    most = 1 if asked.handout else MOST_STEPS
    yield from screens(page, most)
    reveal = page.locator(".st-key-reveal button:enabled:visible")
    if asked.handout != ROOM and reveal.count():
        reveal.first.click()
        settle(page)
        yield from screens(page, most)
    page.context.close()


def document(shown: list[Slide], style: str) -> str:
    """The pages that are printed, with nothing outside of them."""
    figures = (
        f'<figure><img src="data:image/png;base64,{b64encode(slide.png).decode()}" alt="">'
        f"<p>{escape(slide.note)}</p>{'<div class=lines></div>' if slide.lines else ''}</figure>"
        for slide in shown
    )
    head = f'<!doctype html><html lang="{content.language()}"><style>figure {{ margin: 0 }} {style}</style>'
    return head + "".join(figures)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of = parser.add_mutually_exclusive_group()
    of.add_argument("--path", choices=PATHS, help="an instructor's path, by its minutes; 50 where nothing is asked")
    of.add_argument("--page", choices=[page.stem for page in PAGES[1:]], help="a page's scenes, by its stem")
    parser.add_argument("--out", type=Path, default=Path("talk.pdf"))
    parser.add_argument(
        "--handout",
        choices=(ROOM, DESK),
        nargs="?",
        const=ROOM,
        help="on A4: for the room, without answers, or for the desk, with them and the presenter's notes",
    )
    parser.add_argument("--lang", choices=content.languages(), default=content.ENGLISH)
    parser.add_argument("--theme", choices=THEMES, default="light", help="of slides; a handout is light")
    return parser.parse_args()


def main() -> None:
    """Photograph the scenes, and print the pictures into one PDF."""
    asked = _asked()
    content.speak(asked.lang)
    shown: list[Slide] = []
    with browsing() as (browser, url):
        for stem, scene in scenes(asked.path, asked.page):
            shown += slides(browser, url, stem, scene, asked)
            print(f"{len(shown):3} {stem} {scene}")
        printed = browser.new_page()
        printed.set_content(document(shown, HANDOUT if asked.handout else SLIDES))
        printed.pdf(path=asked.out, prefer_css_page_size=True, print_background=True)
    print(asked.out)


if __name__ == "__main__":
    main()
