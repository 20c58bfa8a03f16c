"""The guided path of a page: scenes on one line, a prediction to commit, Back, Reveal and Next.

A page is its question and a function a scene, which draws its own controls and its figure:

    def see(page: Page[Question]) -> None:
        page.controls("view", "phase")
        page.figure(...)

    scenes.play("comm_cost", Question, fields, see=see)

Only the open scene runs, in a fragment of its own: a press in it leaves the shell and the scenario as they are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from ui import address, dragged, held_axes, question, shell
from ui.course import pages as course
from ui.page import HELD, Fields, Page, Scene, prediction_name
from ui.prose import label as word
from ui.question import Choice, Kind, QuestionField, RefusedError, Switch, Text, Whole, refusal
from ui.visit import read_visit

Q = TypeVar("Q")
LONGEST_HELD, MOST_GUESSED = 300, 10**9


def play(
    stem: str,
    asks: type[Q],
    fields: Fields[Q],
    /,
    *,
    asking: Sequence[str] = (),
    only: Sequence[str] = (),
    watches: bool = False,
    **scenes: Scene[Q],
) -> None:
    """Open a page on the scene that its address names, and draw it. `fields` fills the numbers of its prose.

    `asking` lists the scenes that ask for a prediction: each has one of its own. `only` lists the page's scenes
    where it has not all of its entry's. `watches` says that a scene may watch a process, which a press must be able
    to end: Streamlit lets a fragment finish before it takes a press in it, and leaves a run of the whole app.
    """
    shell.boot()
    (_play if watches else st.fragment(_play))(stem, asks, fields, tuple(asking), tuple(only), scenes)


def _play(
    stem: str,
    asks: type[Q],
    fields: Fields[Q],
    asking: Sequence[str],
    only: Sequence[str],
    scenes: Mapping[str, Scene[Q]],
) -> None:
    entry = course.entry(stem)
    with shell.scene(stem) as told:
        page = _open(entry, asks, asking, only or entry.names)
        address.put(question.respelled(asks, entry.prefix, stem, address.current()))
        parts = _parts(entry, asks, asking, page.names)
        ignored = address.remarks(
            stem,
            [one.address for one in parts],
            lambda came: {**read_visit(came)[1], **question.refused(parts, stem, came)},
        )
        shell.entitle(f"{entry.scenes[page.scene]} · {entry.short} · Shardlab")
        page.run(fields, scenes.get(page.scene))
        dragged.mount()
        shell.say_what_was_ignored(told.notice, [*ignored, *_not_offered(page)])
        told.said, told.view = page.said, f"{stem}_{page.scene}"
        address.leave(entry)


def _open(entry: course.Entry, asks: type[Q], asking: Sequence[str], names: Sequence[str]) -> Page[Q]:
    """Read what is asked, and lay out the page: the head, the scenes, the body and the foot."""
    asked, _ = question.read(asks, entry.prefix, entry.stem, address.current())
    head = st.container(key="head")
    scene = _scene(entry, names)
    body = st.container(key=f"scene_{scene}")
    foot = st.container(key="foot", horizontal=True, vertical_alignment="center")
    held_axes.begin(f"{entry.stem}.{scene}")
    dragged.begin()
    return Page(
        entry=entry,
        look=shell.look(),
        scene=scene,
        question=asked,
        scenario=address.scenario(),
        names=names,
        head=head,
        body=body,
        foot=foot,
        asking=asking,
    )


def _scene(entry: course.Entry, names: Sequence[str]) -> str:
    """Draw the page's scenes as a row of buttons, and return the open one."""
    name, kind = f"{entry.prefix}_scene", Choice(names, words="tab")
    asked = address.current().get(name, "")
    scene = asked if asked in names else names[0]
    titles = entry.scenes
    address.control(
        name,
        kind,
        word("scenes"),
        scene,
        names[0],
        entry.stem,
        key=f"scenes_{entry.prefix}",
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        wrap=False,
    )
    return scene


def _parts(entry: course.Entry, asks: type, asking: Sequence[str], names: Sequence[str]) -> list[QuestionField]:
    """Return the parts of the address that a page reads: its question's, its scene, and its predictions."""

    def part(name: str, default: object, kind: Kind[Any]) -> QuestionField:
        return QuestionField(name, name, default, kind, "", "")

    predictions = [
        one
        for scene in asking
        for one in (
            part(prediction_name(entry, scene, "guess"), 0, Whole(0, MOST_GUESSED)),
            part(prediction_name(entry, scene, "revealed"), False, Switch()),
        )
    ]
    held = [part(f"{entry.prefix}_{HELD}", "", Text(LONGEST_HELD))] if asking else []
    scene = part(f"{entry.prefix}_scene", names[0], Choice(names, words="tab"))
    return [*question.asked(asks, entry.prefix).values(), scene, *predictions, *held]


def _not_offered(page: Page[Any]) -> list[str]:
    """Return a sentence for each value that the visit came with and that only the page could refuse."""
    came, now = address.came_with(page.entry.stem), address.current()
    still = sorted(name for name in page.not_offered if name in came and came[name] == now.get(name))
    return [refusal(name, came[name], RefusedError("listed")) for name in still]
