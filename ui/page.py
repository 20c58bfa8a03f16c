"""An open page: its parts, the prediction that a scene asks for, and Back, Reveal and Next in its foot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import ShardlabError
from core.scenario import Scenario
from runtime import operators
from runtime.one_process import ALONE
from runtime.quantities import local
from ui import address, held_axes, paths, progress, shell, tested
from ui.course import pages as course
from ui.figures.pictured import Picture
from ui.figures.prediction import prediction_line, unit_for
from ui.onward import Onward
from ui.page_parts import draw
from ui.prose import escape, prose_of
from ui.prose import label as word
from ui.question import Kind, RefusedError, Whole
from ui.room import poll
from ui.room.line import Line
from ui.shortcuts import shortcut

Q = TypeVar("Q", covariant=True)
T = TypeVar("T")
HELD, _LONGESTHELD, _MOST_GUESSED = "held", 300, 10**9


@dataclass(frozen=True)
class Nothing:
    """The question of a page that asks nothing."""


@dataclass(frozen=True)
class Prediction:
    """The learner's number, if there is one, and whether the truth may be shown."""

    said: int | None
    revealed: bool


@dataclass(kw_only=True)
class Page(Onward, Generic[Q]):
    """An open page: what it is asked, where its parts go and what it may say."""

    question: Q
    scenario: Scenario
    names: Sequence[str]
    head: DeltaGenerator
    body: DeltaGenerator
    foot: DeltaGenerator
    asking: Sequence[str] = ()
    said: str = ""
    """What a screen reader is told when it changes: where the visitor is, and the answer if it is shown."""
    _extra_buttons: list[Callable[[], object]] = field(default_factory=list)
    _worked_out: dict[Callable[..., Any], Any] = field(default_factory=dict)

    def once(self, work: Callable[["Page[Q]"], T]) -> T:
        """Return what a function makes of this page, worked out at the first call of a run."""
        if work not in self._worked_out:
            self._worked_out[work] = work(self)
        return self._worked_out[work]  # type: ignore[no-any-return]

    @property
    def revealed(self) -> bool:
        """Whether the answer of the open scene may be shown; of one that asks nothing, the first question's."""
        if not self.asking:
            return False
        name = self.scene if self.scene in self.asking else self.asking[0]
        return address.current().get(prediction_name(self.entry, name, "revealed")) == "true"

    def run(self, fields: "Fields[Q]", scene: "Scene[Q] | None") -> None:
        """Fill the prose and draw the open scene; one that is not given is its block `<scene>.body`.

        An error a learner can cause stands where the scene would.
        """
        try:
            self.prose = prose_of(self.entry.stem, fields(self))
            self.head.title(self.prose.text(f"{self.scene}.title"), anchor=False)
            self.tell(self.entry.scenes[self.scene], self.prose.plain(f"{self.scene}.title"))
            with self.body:
                if scene:
                    scene(self)
                else:
                    self.say(f"{self.scene}.body")
                if self.scene == self.names[-1] and self.prose.has("takeaway"):
                    self.take_along()
                if self.data_sheet and not self.errors:
                    tested.data_sheet(self.data_sheet)
        except ShardlabError as error:
            if not self.prose.blocks:
                self.head.title(self.entry.title, anchor=False)
            operators.note("refusal", page=self.entry.stem, kind=type(error).__name__)
            self.body.error(escape(error))
        self._end()

    def tell(self, *sentences: str) -> None:
        """Have a screen reader told this when it changes."""
        self.said = ". ".join(sentences)

    def ask(
        self,
        truth: float,
        *,
        high: int,
        unit: str = "",
        step: int = 1,
        digits: int = 0,
        slips: Mapping[str, float] | None = None,
        picture: Picture | None = None,
    ) -> bool:
        """Ask for the scene's number with a slider, which draws `picture`; return whether the truth may be shown.

        A unit of several forms (`GPU,GPUs`) stands on the line and beside the field that is typed.
        Prose: the scene's `ask` and `label`, and `picture`, which says what is drawn. The slider goes from 0, no
        answer yet, to `high`. `slips` are wrong answers that are known, by their names in room.md: a room that
        predicts is shown how many made each.
        """
        above, label = st.container(), self.prose.plain(f"{self.scene}.label")
        line = Line(self.entry.stem, self.scene, lambda: truth, high, unit, step, digits, slips or {})
        slider = Whole(0, high, slid=True, step=step, unit=unit)
        guess, polled = self.predict_with_room(line, slider, label)
        if not (guess.revealed and self.look.present):
            with above:
                self.say(f"{self.scene}.ask")
        shown = truth if guess.revealed else None
        if guess.revealed:
            answer = f"{label}: {local(f'{truth:.{digits}f} {unit_for(truth, unit)}')}"
            self.tell(self.entry.scenes[self.scene], answer)
        if polled:
            return guess.revealed
        name = prediction_name(self.entry, self.scene, "guess")
        line_of: dict[str, Any] = {"high": high, "unit": unit, "digits": digits, "slider": name, "picture": picture}
        chart = prediction_line(guess.said, shown, self.look, **line_of)
        seen = self.prose.plain(f"{self.scene}.picture") if picture else label
        with st.container(key="predicted"):
            draw(chart, seen, "figure_prediction")
        return guess.revealed

    def predict_with_room(
        self, line: Line, kind: Kind[int], label: str, answer: Callable[[], float] | None = None
    ) -> tuple[Prediction, bool]:
        """Return a prediction that a room may make too, and whether this wall shows the room's in its place.

        Of a learner in the room it is sent; 0 is no answer yet. `answer` is what the guess is held against, where
        that is more than the number that the line asks for.
        """
        polled = self.look.present and poll.is_asked(line)
        # a room is in the memory of the server that its devices share
        if self.look.present and not ALONE and (button := poll.button(line, self.revealed)):
            self._extra_buttons.append(button)
        guess = self.predict(kind, label, answer or line.truth, not polled)
        if polled:
            poll.wall(line, self.look, draw, guess.revealed)
        else:
            poll.send(line, guess.said, guess.revealed)
        return guess, polled

    def predict(self, kind: Kind[int], label: str, truth: Callable[[], float], seen: bool = True) -> Prediction:
        """Ask for a number, 0 for no answer yet, then let it be revealed.

        A presenter may reveal without answering, and needs the room after: the question is then out of sight.
        A guess is held against the truth that was revealed for it; of another, it is said that it was not asked.
        Before the reveal nobody asks for the truth.
        """
        name = prediction_name(self.entry, self.scene, "guess")
        value = self._guessed(kind, name)
        with st.container(key="guess", horizontal=True, vertical_alignment="bottom", gap="small"):
            if seen and not (self.revealed and self.look.present):
                address.control(name, kind, label, value, 0, self.entry.stem)
                if isinstance(kind, Whole) and kind.slid:
                    self._type(name, kind, label, value)
            committed = value != 0 and not self._asks_anew(value, truth)
        ready = (committed or self.look.present) and not self.revealed
        hides, shown = self.revealed and self.look.present, prediction_name(self.entry, self.scene, "revealed")
        self._extra_buttons.append(
            lambda: st.button(
                word("hide" if hides else "reveal"),
                key="hide" if hides else "reveal",
                shortcut=shortcut("V"),
                type="primary" if ready else "secondary",
                disabled=not (ready or hides),
                on_click=address.write if hides else progress.reveal,
                args=({shown: None},) if hides else (self.entry, self.scene, shown),
                help=None if ready or self.revealed else word("reveal.help"),
            )
        )
        return Prediction(value if committed else None, self.revealed)

    def _type(self, name: str, kind: Whole, label: str, value: int) -> None:
        """Draw a field for the same number, which is typed, and its unit beside it."""
        unit, of_many = unit_for(value, kind.unit), unit_for(kind.high, kind.unit)
        said = word("figure.typed_in", label=label, unit=of_many) if unit else word("figure.typed", label=label)
        shown: dict[str, Any] = {"key": f"{name}_typed", "width": 140, "label_visibility": "collapsed"}
        with st.container(key="typed", horizontal=True, vertical_alignment="center", gap="small"):
            address.control(name, replace(kind, slid=False), said, value, 0, self.entry.stem, **shown)
            if unit:
                st.markdown(unit, width="content")

    def guess(self, most: int) -> int:
        """Return the number up to `most` that the open scene's prediction says, 0 where it says none yet."""
        return self._guessed(Whole(0, most), prediction_name(self.entry, self.scene, "guess"))

    def _guessed(self, kind: Kind[int], name: str) -> int:
        """Return the guess that the address names, 0 where it names none that may be made."""
        try:
            return kind.read(address.current().get(name, "0"), self.entry.stem)
        except RefusedError:
            return 0

    def _asks_anew(self, value: int, truth: Callable[[], float]) -> bool:
        """Return whether a guess was revealed against another truth than there is now; it then can be made again.

        The address keeps the two, so a copy of it asks as the visit does that it was copied from.
        """
        key = f"{self.entry.prefix}_{HELD}"
        held = dict(one.split("=", 1) for one in address.current().get(key, "").split(",") if "=" in one)
        guessed, _, _ = held.pop(self.scene, "").partition(":")
        before = address.current().get(key, "")
        if self.revealed:
            now = f"{value}:{truth():.6g}".replace("+", "")
            if guessed == str(value) and f"{self.scene}={now}" not in before.split(","):
                return self._offer_anew()
            held[self.scene] = now
        address.put({key: ",".join("=".join(one) for one in held.items()) or None})
        return False

    def _offer_anew(self) -> bool:
        guess, shown = (prediction_name(self.entry, self.scene, part) for part in ("guess", "revealed"))
        with st.container(key="anew", horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(word("anew"), width="content")
            st.button(
                word("anew.button"), key="predict_anew", on_click=address.write, args=({guess: None, shown: None},)
            )
        return True

    def _end(self) -> None:
        around = paths.around(self.entry, self.scene, self.names)
        after = around.after
        name, backward, onward = self.walked
        if around.is_last and not onward:
            self._extra_buttons.append(paths.end_button)
        with self.foot:
            if backward:
                self.turn_to("back", word("back"), name, backward[0], "B", "secondary")
            else:
                self._step("back", word("back"), around.before, shortcut("B"), "secondary")
            for draw in self._extra_buttons:
                draw()
            here = after[0] is self.entry
            label = word("next", to=self.entry.scenes[after[1]] if here else after[0].title)
            waits = here and self._extra_buttons and not self.revealed
            if onward:
                label = word("next", to=self.option(name, onward[0]))
                self.turn_to("next", label, name, onward[0], "N", "primary")
            elif not around.is_last:
                self._step("next", label, after, shortcut("N"), "secondary" if waits else "primary")
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
        """Draw a button to another scene, of this page or of another."""
        entry, scene = to
        if entry is self.entry and scene:
            opened = {self.key("scene"): None if scene == self.names[0] else scene}
            st.button(label, key=key, shortcut=shortcut, type=type, on_click=address.write, args=(opened,))
        else:
            st.button(
                label, key=f"{key}_page", shortcut=shortcut, type=type, on_click=shell.go, args=(entry, scene)
            )


def prediction_name(entry: course.Entry, scene: str, part: str) -> str:
    """Return the name in the address of a scene's prediction; a lab's one question needs no longer name."""
    return f"{entry.prefix}_{part}" if scene == "question" else f"{entry.prefix}_{scene}_{part}"


Fields: TypeAlias = Callable[[Page[Q]], Mapping[str, object]]
Scene: TypeAlias = Callable[[Page[Q]], None]
