"""Where a number in prose is dragged: it is there, it is what the address asks, by the control's own name."""

import re

import pytest

from tests.pages.test_every_scene import visit
from ui.course.pages import entry


@pytest.mark.parametrize(
    ("stem", "asked", "names"),
    [
        ("comm_cost", {"bill_scene": "see", "tp": "4", "batch": "3"}, {"tp": "4", "batch": "3"}),
        ("comm_cost", {"bill_scene": "see", "bill_phase": "prefill"}, {"prompt": "2048"}),
        ("pipeline_bubble", {"pipe_flow": "4"}, {"pipe_flow": "4"}),
        ("pipeline_bubble", {"pipe_scene": "count", "pipe_m": "63"}, {"pipe_p": "8", "pipe_m": "63"}),
        ("sharding_math", {"shard_scene": "count", "batch": "8"}, {"batch": "8"}),
    ],
)
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_scene_lets_its_sizes_be_dragged_in_its_sentences(stem, asked, names, language):
    app = visit(entry(stem), **asked, lang=language)
    assert not app.exception
    prose = "\n".join(element.value for element in app.markdown)
    sliders = re.findall(r'<span class="dragged"[^>]*data-drag="(\w+)"[^>]*aria-valuenow="(\d+)"', prose)
    assert dict(sliders) == names
    assert "](drag:" not in prose
