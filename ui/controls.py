"""A page's own controls: a name in the address with the page's prefix, a label out of the page's own words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

from runtime import content
from runtime.prose import said
from ui import inputs
from ui.course.pages import Entry

T = TypeVar("T")
P = ParamSpec("P")


@dataclass
class Controls:
    """What the page of an entry asks with."""

    entry: Entry

    def key(self, name: str) -> str:
        """A control's name in the URL: the page's prefix and its own."""
        return f"{self.entry.prefix}_{name}"

    def label(self, name: str, /, **fields: object) -> str:
        """A block of the page's own file as a label."""
        return said(self.entry.stem, name, **fields)

    def control(
        self, widget: Callable[Concatenate[str, str, P], T], name: str, label: str, *args: P.args, **asked: P.kwargs
    ) -> T:
        """A widget of `ui.inputs` by its name, labelled with a block of the page's file."""
        return widget(self.label(label), self.key(name), *args, **asked)

    def figure_of(self, first: Sequence[str], more: Sequence[str]) -> str:
        """Which figure a bench shows: one of the first, and with *More* or by an address that names one, of all."""
        has_more = self.control(inputs.toggle, "more", "says.more", help=self.label("says.all_bench_s_figures"))
        has_more |= inputs.picked(self.key("figure"), "", [*first, *more]) in more
        offered = [*first, *more] if has_more else first
        return self.control(inputs.choice, "figure", "says.figure", offered, first[0])

    def choose(self, name: str, options: Sequence[str], default: str, *, listed: bool = False) -> str:
        """One of a few, by its key: the blocks `name.label`, `name.help` if there is one, and `name.<option>`."""
        words = content.load(self.entry.stem)
        return inputs.option(
            words[f"{name}.label"],
            self.key(name),
            {option: words[f"{name}.{option}"] for option in options},
            default,
            help=words.get(f"{name}.help"),
            listed=listed,
        )
