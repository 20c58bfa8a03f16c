"""The guided path of a page: scenes on one line, a prediction to commit, Back, Reveal and Next.

A page opens itself, asks, fills its prose, and plays its scenes:

    page = scenes.open_page("comm_cost")
    with page.controls("see", "bench"):
        ask = ...
    page.play(lambda: words.fields(page.scenario, ask), question=question, see=see)

Only the open scene runs. Its name is in the URL, and so is everything asked on the way.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import ShardlabError
from core.scenario import Scenario
from runtime import operators
from runtime.quantities import local
from ui import held_axes, inputs, paths, progress, scenario_bar, shell, tested
from ui.course import pages as course
from ui.figures.prediction import prediction_line, unit_for
from ui.page_parts import PageParts, draw
from ui.prose import escape, prose_of
from ui.prose import label as word
from ui.room import poll
from ui.room.line import Line
from ui.unseen import out_of_sight

Scene = Callable[[], None]
_HELD, _LONGEST_HELD = "held", 300


@dataclass(frozen=True)
class Prediction:
    """What the learner said, if anything, and whether the truth may be shown."""

    said: int | None
    revealed: bool


@dataclass(kw_only=True)
class Page(PageParts):
    """An open page: where its parts go, what it asks and what it may say."""

    scenario: Scenario
    names: Sequence[str]
    head: DeltaGenerator
    body: DeltaGenerator
    foot: DeltaGenerator
    revealed: bool
    asks: bool
    _extra_buttons: list[Callable[[], object]] = field(default_factory=list)

    def controls(self, *shown_in: str, when: bool = True) -> AbstractContextManager[object]:
        """Where the page asks. Runs in every scene, so that the URL keeps it; seen only in those named.

        `when` says whether anything is asked there now: what follows keeps its place where nothing is.
        """
        seen = not shown_in or self.scene in shown_in
        if not seen:
            return out_of_sight()
        key = f"controls_{self.entry.stem}_{'_'.join(shown_in)}"
        place = self.body.container(key=key, horizontal=True, vertical_alignment="bottom", gap="medium")
        return place if when else out_of_sight()

    def play(self, fields: Callable[[], Mapping[str, object]], /, **scenes: Scene) -> None:
        """Fill the prose and run the open scene; one that is not given is its block `<scene>.body`.

        An error a learner can cause stands where the scene would.
        """
        try:
            self.prose = prose_of(self.entry.stem, fields())
            self.head.title(self.prose.text(f"{self.scene}.title"), anchor=False)
            shell.tell(self.entry.scenes[self.scene], self.prose.plain(f"{self.scene}.title"))
            with self.body:
                if self.scene in scenes:
                    scenes[self.scene]()
                else:
                    self.say(f"{self.scene}.body")
                if self.data_sheet and not self.errors:
                    tested.data_sheet(self.data_sheet)
        except ShardlabError as error:
            if not self.prose.blocks:
                self.head.title(self.entry.title, anchor=False)
            operators.note("refusal", page=self.entry.stem, kind=type(error).__name__)
            self.body.error(escape(error))
        self._end()

    def ask(
        self,
        truth: float,
        *,
        high: int,
        unit: str = "",
        step: int = 1,
        digits: int = 0,
        slips: Mapping[str, float] | None = None,
    ) -> bool:
        """The question, the slider that answers it, the number line; whether the truth may be shown.

        A unit of several forms (`GPU,GPUs`) stands on the line; the slider has one form for all numbers, so none.
        Prose: the scene's `ask` and `label`. The slider goes from 0, no answer yet, to `high`. `slips` are wrong
        answers that are known, by their names in room.md: a room that predicts is shown how many made each.
        """
        asked, label = st.container(), self.prose.plain(f"{self.scene}.label")
        line = Line(self.entry.stem, self.scene, lambda: truth, high, unit, step, digits, slips or {})
        guess, polled = self.predict_with_room(
            line, lambda key: inputs.slide(label, key, 0, high, 0, step=step, unit="" if "," in unit else unit)
        )
        if not (guess.revealed and self.look.present):
            with asked:
                self.say(f"{self.scene}.ask")
        shown = truth if guess.revealed else None
        if guess.revealed:
            shell.tell(
                self.entry.scenes[self.scene], f"{label}: {local(f'{truth:.{digits}f}')} {unit_for(truth, unit)}"
            )
        if polled:
            return guess.revealed
        slider = _asked(self.entry, self.scene, "guess")
        chart = prediction_line(guess.said, shown, self.look, high=high, unit=unit, digits=digits, slider=slider)
        draw(chart, label, "figure_prediction")
        return guess.revealed

    def predict_with_room(
        self, line: Line, ask: Callable[[str], int], answer: Callable[[], float] | None = None
    ) -> tuple[Prediction, bool]:
        """A prediction that a room may make too, and whether this wall shows the room's in its place.

        Of a learner in the room it is sent; 0 is no answer yet. `answer` is what the guess is held against, where
        that is more than the number that the line asks for.
        """
        polled = self.look.present and poll.is_asked(line)
        if self.look.present and (button := poll.button(line, self.revealed)):
            self._extra_buttons.append(button)
        guess = self.predict(ask, 0, answer or line.truth, not polled)
        if polled:
            poll.wall(line, self.look, draw, guess.revealed)
        else:
            poll.send(line, guess.said, guess.revealed)
        return guess, polled

    def predict(
        self, ask: Callable[[str], int], untouched: int, truth: Callable[[], float], seen: bool = True
    ) -> Prediction:
        """Ask for a number, then let it be revealed. `ask(key)` draws the widget; `untouched` is no answer yet.

        A presenter may reveal without answering, and needs the room after: the question is then out of sight.
        A guess is held against the truth that was revealed for it; of another, it is said that it was not asked.
        Before the reveal nobody asks for the truth.
        """
        unseen = not seen or (self.revealed and self.look.present)
        with out_of_sight() if unseen else st.container(key="guess"):
            value = ask(_asked(self.entry, self.scene, "guess"))
            committed = value != untouched and not self._asks_anew(value, untouched, truth)
        ready = (committed or self.look.present) and not self.revealed
        hides, shown = self.revealed and self.look.present, _asked(self.entry, self.scene, "revealed")
        self._extra_buttons.append(
            lambda: st.button(
                word("hide" if hides else "reveal"),
                key="hide" if hides else "reveal",
                shortcut=inputs.shortcut("V"),
                type="primary" if ready else "secondary",
                disabled=not (ready or hides),
                on_click=inputs.remember if hides else progress.reveal,
                args=(shown, False) if hides else (self.entry, self.scene, shown),
                help=None if ready or self.revealed else word("reveal.help"),
            )
        )
        return Prediction(value if committed else None, self.revealed)

    def _asks_anew(self, value: int, untouched: int, truth: Callable[[], float]) -> bool:
        """Whether a guess was revealed against another truth than there is now; then it can be made again.

        The address keeps the two, so a copy of it asks as the visit does that it was copied from.
        """
        guess, shown = (_asked(self.entry, self.scene, part) for part in ("guess", "revealed"))
        key = f"{self.entry.prefix}_{_HELD}"
        held = dict(one.split("=", 1) for one in inputs.picked(key, "").split(",") if "=" in one)
        guessed, _, answer = held.pop(self.scene, "").partition(":")
        if self.revealed and value != untouched:
            now = f"{value}:{truth():.6g}".replace("+", "")
            if guessed == str(value) and f"{guessed}:{answer}" != now:
                return self._offer_anew(guess, shown, untouched)
            held[self.scene] = now
        inputs.remember(key, ",".join("=".join(one) for one in held.items()))
        return False

    def _offer_anew(self, guess: str, shown: str, untouched: int) -> bool:
        with st.container(key="anew", horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(word("anew"), width="content")
            st.button(word("anew.button"), key="predict_anew", on_click=_forget, args=(guess, shown, untouched))
        return True

    def _end(self) -> None:
        if self.asks:
            inputs.memo(f"{self.entry.prefix}_{_HELD}", _LONGEST_HELD)
        around = paths.around(self.entry, self.scene, self.names)
        after = around.after
        with self.foot:
            self._step("back", word("back"), around.before, inputs.shortcut("B"), "secondary")
            for draw in self._extra_buttons:
                draw()
            here = after[0] is self.entry
            label = word("next", to=self.entry.scenes[after[1]] if here else after[0].title)
            waits = here and self._extra_buttons and not self.revealed
            self._step("next", label, after, inputs.shortcut("N"), "secondary" if waits else "primary")
            held_axes.button()
            position = word(
                "place", page=self.entry.short, at=around.at, of=around.of, scene=self.entry.scenes[self.scene]
            )
            with st.container(key="place", width="content"):
                st.markdown(around.told or position, width="content")

    def _step(
        self,
        key: str,
        label: str,
        to: tuple[course.Entry, str],
        shortcut: str | None,
        type: Literal["primary", "secondary"],
    ) -> None:
        """A button to another scene, of this page or of another."""
        entry, scene = to
        if entry is self.entry and scene:
            to_scene = (self.key("scene"), scene)
            st.button(label, key=key, shortcut=shortcut, type=type, on_click=inputs.remember, args=to_scene)
        elif st.button(label, key=f"{key}_page", shortcut=shortcut, type=type):
            # without `query_params` Streamlit would refuse, for this page's are bound
            st.switch_page(entry.path, query_params=entry.scene(scene) if scene else {})


def open_page(stem: str, *only: str, asking: Sequence[str] = ("question",)) -> Page:
    """Open a page on the scene its URL names. `only` lists its scenes where it has not all of its entry's.

    `asking` lists the scenes that ask for a prediction: each has one of its own.
    """
    shell.boot()
    entry, look = course.entry(stem), shell.look()
    names = only or entry.names
    head = st.container(key="head")
    titles = {name: entry.scenes[name] for name in names}
    scene = inputs.option(word("scenes"), f"{entry.prefix}_scene", titles, names[0], in_one_line=True)
    shell.entitle(f"{titles[scene]} · {entry.short} · Shardlab")
    body = st.container(key=f"scene_{scene}")
    foot = st.container(key="foot", horizontal=True, vertical_alignment="center")
    revealed = _is_revealed(entry, scene, asking)
    shell.stand(stem, scene)
    held_axes.begin(f"{stem}.{scene}")
    return Page(
        entry=entry,
        look=look,
        scenario=scenario_bar.scenario(),
        scene=scene,
        names=names,
        head=head,
        body=body,
        foot=foot,
        revealed=revealed,
        asks=any(name in names for name in asking),
    )


def _is_revealed(entry: course.Entry, scene: str, asking: Sequence[str]) -> bool:
    """Whether the answer of the open scene may be shown; of one that asks nothing, the first question's.

    Every question keeps its place in the URL while another scene is open.
    """
    with out_of_sight():
        for name in asking:
            if name != scene:
                inputs.keep_number(_asked(entry, name, "guess"))
        answers = {name: inputs.flag(_asked(entry, name, "revealed")) for name in asking}
    return answers.get(scene, answers[asking[0]])


def _asked(entry: course.Entry, scene: str, part: str) -> str:
    """The name in the URL of a scene's prediction; a lab's one question needs no longer name."""
    return f"{entry.prefix}_{part}" if scene == "question" else f"{entry.prefix}_{scene}_{part}"


def _forget(guess: str, shown: str, untouched: int) -> None:
    """Take a guess back, and hide its answer. For a button's `on_click`."""
    inputs.remember(guess, untouched)
    inputs.remember(shown, False)
