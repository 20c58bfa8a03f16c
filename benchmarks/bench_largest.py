"""What the largest inputs cost the server: CPU of the script's own thread, each scene with all it may hold.

    python -m benchmarks.bench_largest [--only STEM] [--over MS]

Every number of a page stands at its largest; then, beside that, every option of each of its choices in turn (of
those that all pages share in its first scene), and each number at its least. All other visitors wait while this
thread has the interpreter, so what takes more than `MOST_S` belongs to the workers. What Python's collector takes
for all that this process holds is no setting's and is left out. Printed: each setting that took more, and the
largest of each page.
"""

import argparse
import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamlit.testing.v1 import AppTest

from benchmarks.bench_pages import ROOT, _spent, _watch
from ui.address import SCENARIO_NAMES
from ui.course.pages import LABS, PAGES, Entry

MOST_S = 0.2
CHOICES = ("selectbox", "radio", "button_group", "toggle", "checkbox", "select_slider")
NUMBERS = ("number_input", "slider")


@dataclass(frozen=True)
class Cost:
    """A scene, what was moved last, and the seconds of CPU that the rerun took; `fault` where it raised."""

    scene: str
    moved: str
    seconds: float
    fault: str = ""


class Scene:
    """A scene of a page, its question answered, and its widgets by kind and key."""

    def __init__(self, page: Entry, name: str) -> None:
        self.name = name
        self.app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=300)
        answered = {f"{page.prefix}_guess": "15", f"{page.prefix}_revealed": "true"} if page in LABS else {}
        for field, value in {**page.scene(name), **answered}.items():
            self.app.query_params[field] = value
        self.app.switch_page(page.path)
        self.app.run()

    def widgets(self, kinds: tuple[str, ...]) -> list[tuple[str, str]]:
        """The kind and key of each widget that is drawn; the scene's own tabs are none of its inputs."""
        drawn = [(kind, one.key) for kind in kinds for one in getattr(self.app, kind, ())]
        return [(kind, key) for kind, key in drawn if key and not key.endswith("_scene") and key != "present"]

    def widget(self, kind: str, key: str) -> Any:
        """The widget as the last run drew it; None where it did not."""
        return next((one for one in getattr(self.app, kind) if one.key == key), None)

    def enlarge(self) -> None:
        """Put every number at its largest."""
        for kind, key in self.widgets(NUMBERS):
            widget = self.widget(kind, key)
            if widget.max is not None and not isinstance(widget.value, tuple | list):
                widget.set_value(widget.max)

    def rerun(self, moved: str) -> Cost:
        """Run once more, and what it took."""
        del _spent[:]
        gc.disable()
        self.app.run()
        gc.enable()
        fault = self.app.exception[0].value[:90] if self.app.exception else ""
        return Cost(self.name, moved, max(_spent, default=0.0), fault)


def surveyed(page: Entry, name: str) -> Iterator[Cost]:
    """Every setting of a scene that is tried."""
    scene = Scene(page, name)
    scene.enlarge()
    yield scene.rerun("all largest")
    for kind, key in scene.widgets(CHOICES):
        if key not in SCENARIO_NAMES or name == page.names[0]:
            yield from _each_option(scene, kind, key)
    scene.enlarge()
    yield scene.rerun("all largest again")
    for kind, key in scene.widgets(NUMBERS):
        widget = scene.widget(kind, key)
        if widget is None or widget.min is None or isinstance(widget.value, tuple | list):
            continue
        widget.set_value(widget.min)
        yield scene.rerun(f"{key} least")
        scene.enlarge()


def _each_option(scene: Scene, kind: str, key: str) -> Iterator[Cost]:
    if (widget := scene.widget(kind, key)) is None:
        return
    before = widget.value
    options = [not before] if kind in ("toggle", "checkbox") else list(widget.options)
    for option in options:
        if (widget := scene.widget(kind, key)) is None:
            return
        widget.set_value(option)
        scene.enlarge()
        yield scene.rerun(f"{key}={option}")
    if (widget := scene.widget(kind, key)) is not None:
        widget.set_value(before)


def main() -> int:
    """Print what took too long; 1 where anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="a page's stem")
    parser.add_argument("--over", type=float, default=1e3 * MOST_S, metavar="MS")
    asked = parser.parse_args()
    _watch(False)
    Scene(PAGES[0], PAGES[0].names[0])  # the first run of a process settles what all others share
    worst_s = []
    for page in PAGES:
        if asked.only not in (None, page.stem):
            continue
        costs = [cost for name in page.names for cost in surveyed(page, name)]
        for cost in costs:
            if cost.fault or 1e3 * cost.seconds > asked.over:
                print(f"  {cost.scene}: {cost.moved}: {1e3 * cost.seconds:.0f} ms {cost.fault}")
        worst_s.append(max(cost.seconds for cost in costs))
        print(f"{page.stem:20} {len(costs):4} tried, worst {1e3 * worst_s[-1]:5.0f} ms", flush=True)
    return int(max(worst_s) > MOST_S)


if __name__ == "__main__":
    sys.exit(main())
