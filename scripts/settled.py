"""When a page of the app has come to rest: what a picture of it waits for, and every browser test."""

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""What Chromium is started with: no GPU, and nothing asked of any other host."""

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell is the same Blink and V8 without a window's other processes: a sixth less to compute."""

PATIENCE_MS = 180_000
"""How long a page is waited for: a machine that others use answers late, and that is no fault of the page."""

ASKED = """(() => {
    const send = WebSocket.prototype.send;
    window.asked = -Infinity;
    WebSocket.prototype.send = function (...data) {
        window.asked = performance.now();
        return send.apply(this, data);
    };
    const listen = WebSocket.prototype.addEventListener;
    WebSocket.prototype.addEventListener = function (name, hear, ...rest) {
        const heard = event => { window.asked = -Infinity; return hear.call(this, event); };
        return listen.call(this, name, name === 'message' ? heard : hear, ...rest);
    };
})()"""
"""Run before the page: since when the server has owed an answer."""

AT_REST = """([restMs, longestMs, owedMs, patienceMs]) => new Promise((resolve, reject) => {
    const began = performance.now();
    let since = began;
    const watch = new MutationObserver(() => {
        if (performance.now() - began < longestMs) since = performance.now();
    });
    watch.observe(document, { childList: true, subtree: true });
    const look = () => {
        const now = performance.now();
        const app = document.querySelector('[data-testid="stApp"]');
        const waits = app?.dataset.testScriptState === 'notRunning'
            && app.dataset.testConnectionState === 'CONNECTED' && app.querySelector('h1')
            && !app.querySelector('[data-testid="stSkeleton"]') && now - window.asked > owedMs
            && document.documentElement.dataset.laid === 'true';
        if (!waits) since = now;
        if (now - since < restMs && now - began < patienceMs) return setTimeout(look, 20);
        watch.disconnect();
        return now - since < restMs ? reject(new Error('the page never came to rest')) : resolve(true);
    };
    look();
})"""
REST_MS, LONGEST_MS, OWED_MS = 250, 3000, 1500
"""How long nothing may be added to the page; what is still added after three seconds is an animation.

What the server has not answered after a second and a half was no request for a run.
"""

_HEIGHT = "Math.ceil(Math.max(innerHeight, document.querySelector('[data-testid=\"stMain\"]').scrollHeight))"
SCREEN = "document.documentElement.style.getPropertyValue('--screen')"
"""Which screen of how many a projected scene shows, as the foot says it: none where it has one."""
_TRIES, _BETWEEN_MS = 40, 150


def find_chromium() -> str | None:
    """Return the path of the browser that this machine has, or that `CHROMIUM` names; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUMS)), None)


def settle(page: Any, rest_ms: int = REST_MS) -> None:
    """Wait until the app is connected, has run, and has drawn what it was told, with all widgets mounted."""
    page.evaluate(AT_REST, [rest_ms, LONGEST_MS, OWED_MS, PATIENCE_MS])


def visit(browser: Any, address: str, size: tuple[int, int], theme: str, fine: float = 1.0) -> Any:
    """A settled page in a visit of its own, of a width and a height in px, light or dark; nothing moves in it.

    `fine` is how many dots of the screen a px has, along a line.
    """
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=fine,
        color_scheme=theme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.add_init_script(ASKED)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(address)
    settle(page)
    return page


def picture(page: Any, *, whole: bool = False) -> bytes:
    """A page as a PNG once two pictures of it are alike: letters, figures and players are drawn by then.

    `whole` gives the window the height of what it scrolls. What never comes to rest is given as it is at last.
    """
    if whole:
        page.set_viewport_size({"width": page.viewport_size["width"], "height": page.evaluate(_HEIGHT)})
        settle(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    before: bytes = b""
    for _ in range(_TRIES):
        now: bytes = page.screenshot()
        if now == before:
            break
        before = now
        page.wait_for_timeout(_BETWEEN_MS)
    return before


def turn(page: Any, to: str) -> None:
    """Turn a projected scene's screens by the foot's button, `next` or `back`: a key would step a figure first."""
    page.locator(f".st-key-{to} button, .st-key-{to}_page button").first.dispatch_event("click")


def screens(page: Any, most: int = 0) -> Iterator[bytes]:
    """Every screen of a projected scene, as a PNG each; of its players up to `most` stops, where that is given."""
    count = re.search(r"/(\d+)", page.evaluate(SCREEN))
    for at in range(int(count[1]) if count else 1):
        if at:
            before = page.evaluate(SCREEN)
            turn(page, "next")
            page.wait_for_function(f"before => {SCREEN} !== before", arg=before)
        if most:
            yield from frames(page, most)
        else:
            yield picture(page)


PLAYERS = 'figure[data-controls="true"][data-stop]'
STEP = """(figure, by) => {
    figure.querySelector(by < 0 ? 'button.back' : 'button.on').click();
    return Number(figure.dataset.stop);
}"""
MOST_STOPS = 400


def frames(page: Any, most: int) -> Iterator[bytes]:
    """A screen as a PNG a stop of each of its players, in turn; of one with more than `most` stops, both its ends.

    `most` of 1 is the last stop alone.
    """
    playing = [player for player in page.locator(PLAYERS).all() if _is_on_screen(page, player)]
    last = [_stepped(player, 1, MOST_STOPS) for player in playing]
    if most == 1 or not playing:
        yield picture(page)
        return
    for player in playing:
        _stepped(player, -1, MOST_STOPS)
    yield picture(page)
    for player, end in zip(playing, last, strict=True):
        by = 1 if end < most else MOST_STOPS
        for _ in range(end if end < most else 1):
            _stepped(player, 1, by)
            yield picture(page)


def _stepped(player: Any, by: int, times: int) -> int:
    """The stop where a player stands after so many steps, fewer where it has come to its end."""
    at = -1
    for _ in range(times):
        before, at = at, player.evaluate(STEP, by)
        if at == before:
            break
    return int(at)


def _is_on_screen(page: Any, player: Any) -> bool:
    box = player.bounding_box() if player.is_visible() else None
    return box is not None and box["y"] < page.viewport_size["height"] and box["y"] + box["height"] > 0
