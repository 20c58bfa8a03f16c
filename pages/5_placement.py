"""Place a model on a cluster: every plan judged, one taken, and why."""

from collections.abc import Mapping

from core.errors import ShardlabError
from ui import scenes, tested
from ui.page import Page
from ui.placement import accuracy as placement_accuracy
from ui.placement import bench, words
from ui.placement import load as placement_load
from ui.placement import race as placement_race
from ui.placement import scenes as placement_scenes
from ui.placement.scenes import Question


def fields(page: Page[Question]) -> Mapping[str, object]:
    """Return what the prose names. A config that is refused stands alone: no other model's figures under it."""
    has_row = page.scene in ("plan", "compare", "load")
    try:
        asked = bench.asked_of(page)
        if asked.refused_config is not None and (has_row or page.scene == "race"):
            raise asked.refused_config
    except ShardlabError:
        if has_row:
            with page.body:  # so that something else can be asked
                bench.draw_controls(page, None)
        raise
    page.errors = tested.columns((asked.question.cluster.gpu, asked.question.model))
    return words.fields(asked.placement, asked.plan, asked.topology)


def load(page: Page[Question]) -> None:
    asked = bench.asked_of(page)
    bench.draw_controls(page, asked)
    placement_load.draw_controls(page)
    placement_load.under_load(page, asked.question, asked.plan)


def race(page: Page[Question]) -> None:
    placement_race.scene(page, bench.asked_of(page).placement)


def accuracy(page: Page[Question]) -> None:
    asked = bench.asked_of(page)
    placement_accuracy.accuracy(page, asked.question, asked.plan)


scenes.play(
    "placement",
    Question,
    fields,
    asking=("race",),
    plan=placement_scenes.plan,
    compare=placement_scenes.compare,
    cases=placement_scenes.cases,
    load=load,
    race=race,
    accuracy=accuracy,
)
