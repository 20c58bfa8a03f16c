"""What the eye and the finger would measure of a page: type, what is under the foot, what is too small to touch."""

import base64
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from scripts.settled import turn

HERE = Path(__file__).parent

INK = (HERE / "ink.js").read_text(encoding="utf-8")
"""Run before the page: what is written on a canvas leaves its size, place and colour here."""

TYPE = (HERE / "type.js").read_text(encoding="utf-8")
"""The least type in sight, how far the lowest reaches under the foot, how many rows out of sight have lines, which
screen this is of how many, and all that is written: its words, box, colour as red, green, blue and alpha of 255,
and how much it is faded."""

LEAST_ON_A_PHONE_PX = 12

CLEAR = 7.0
"""The contrast that a projector leaves enough of: WCAG's, enhanced, for letters of any size."""


def screens(page) -> list[dict]:
    """The measures of each screen of the projected scene that is open; the first is in sight again after."""
    found = [screen_in_sight(page)]
    most = (re.findall(r"/(\d+)", found[0]["screen"]) or ["1"])[0]
    for _ in range(int(most) - 1):
        turn(page, "next")
        page.wait_for_timeout(60)
        found.append(screen_in_sight(page))
    for _ in found[1:]:
        turn(page, "back")
    return found


def screen_in_sight(page) -> dict:
    """What is measured of what is in sight, and what is too faint to be read: words with their contrast."""
    seen = page.evaluate(TYPE)
    picture = np.asarray(Image.open(io.BytesIO(_shot(page))).convert("RGB"))
    contrasts = [(one["words"], min(_contrasts(picture, one), default=21.0)) for one in seen.pop("letters")]
    return {**seen, "faint": [(words, round(ratio, 2)) for words, ratio in contrasts if ratio < CLEAR]}


def _shot(page) -> bytes:
    """What is in sight as a PNG, packed in haste: half of what a whole `screenshot` takes."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    session.detach()
    return base64.b64decode(shot["data"])


def _contrasts(picture: np.ndarray, written: dict) -> Iterator[float]:
    """The contrast of words with each ground that they stand on: what most of their box is in the picture."""
    left, top, right, bottom = (round(edge) for edge in written["box"])
    box = picture[max(0, top - 1) : bottom + 1, max(0, left - 1) : right + 1].reshape(-1, 3)
    coarse = (box // 4).astype(int) @ (1 << 12, 1 << 6, 1)
    colours, counts = np.unique(coarse, return_counts=True)
    common = [
        (tuple(4 * (int(colours[at]) >> place & 63) + 2 for place in (12, 6, 0)), counts[at])
        for at in np.argsort(-counts)[:2]
    ]
    *ink, alpha = written["rgba"]
    share = written["alpha"] * alpha / 255
    for ground, count in common:
        mixed = [share * over + (1 - share) * under for over, under in zip(ink, ground, strict=True)]
        ratio = _ratio(mixed, ground)
        is_ink = ratio < 1.25  # letters are so bold that they are what is found
        if count > max(0.18 * len(box), 0.5 * common[0][1]) and not (is_ink and len(common) > 1):
            yield ratio


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """WCAG's contrast of two colours."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    shares = [part / 255 for part in colour]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


TOUCH = (HERE / "touch.js").read_text(encoding="utf-8")
"""What a finger would miss: what can be pressed and is under 44 px, but for a link within a sentence.

Where the box is less, a finger 21 px from its middle has to meet it all the same.
"""


def cramped(page) -> list[str]:
    """What is written too small for a phone, in prose, drawings and charts."""
    seen = page.evaluate(TYPE)
    return [f"{seen['smallest']!r} is {seen['least']} px"] if seen["least"] < LEAST_ON_A_PHONE_PX else []


HEADLESS = """() => [...document.querySelectorAll('table')].flatMap((table) => {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => {
        const said = head.cloneNode(true);
        said.querySelectorAll('[role=tooltip]').forEach((tip) => tip.remove());
        return { said: said.textContent.trim(), seen: head.checkVisibility() };
    });
    const told = (cell) => getComputedStyle(cell, '::before').content.replaceAll('"', '').slice(0, 8);
    return [...table.querySelectorAll('tbody td')].filter((cell) => {
        const head = heads[cell.cellIndex];
        if (!head?.said || !cell.textContent.trim() || !cell.checkVisibility()) return false;
        return !head.seen && !(told(cell) && head.said.includes(told(cell)));
    }).map((cell) => `${cell.textContent.trim().slice(0, 40)}: without its column's name`);
})"""
"""The cells of a table whose head is out of sight, and that do not say it themselves."""

WIDER = """Math.max(...[document.documentElement, document.querySelector('[data-testid="stMain"]')]
    .map((place) => place.scrollWidth - Math.min(innerWidth, place.clientWidth)))"""
"""How many px of the page, or of what scrolls in it, are beside the screen."""

MAGNIFIED = """() => {
    const fixed = [...document.querySelectorAll('.st-key-foot, .st-key-bar, [data-testid="stHeader"]')]
        .filter((part) => getComputedStyle(part).position !== 'static' && part.checkVisibility());
    const boxes = fixed.map((part) => part.getBoundingClientRect());
    const rows = Array.from({ length: innerHeight }, (_, y) => y)
        .filter((y) => boxes.some(({ top, bottom }) => top <= y && y < bottom));
    const labels = [...document.querySelectorAll('.st-key-foot p, [data-testid="stPageLink"] p')];
    const cut = labels.filter((label) => label.checkVisibility())
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => `${textContent} is cut`);
    return [...cut, ...(rows.length > 0.25 * innerHeight ? [`${rows.length} of ${innerHeight} px are fixed`] : [])];
}"""
"""What a page that is magnified cuts off, and whether what is fixed leaves room to read."""
