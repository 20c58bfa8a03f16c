"""How far a visit has come: which questions were revealed, in the address on every page and nowhere else."""

from ui import address
from ui.course import pages as course
from ui.visit import visit


def reveal(entry: course.Entry, scene: str, shown: str) -> None:
    """Reveal a question, whose name in the address is `shown`, and count it. For a button's `on_click`."""
    names = dict.fromkeys([*_done(), f"{entry.prefix}.{scene}"])
    address.write({shown: "true", "done": ",".join(names)})


def answered(entry: course.Entry) -> int:
    """Return how many questions of a page have been revealed."""
    scenes = {f"{entry.prefix}.{scene}" for scene in entry.scenes}
    return len(scenes & set(_done()))


def _done() -> list[str]:
    return [name for name in visit().done.split(",") if name]
