"""The parts a scene is made of: its prose, its figures with their readings and tables, its notes in the margin."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from itertools import count
from typing import Any, Literal, TypeAlias, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from runtime.prose import said
from ui import address, dragged, held_axes, theme
from ui.course import glossary
from ui.course.pages import Entry
from ui.figures.frames import Sheet, sheet
from ui.figures.style import Figure
from ui.figures.turned import turned
from ui.guarded import guarded
from ui.players.save_png import save_png
from ui.prose import Prose, breakable, joined
from ui.prose import label as word
from ui.question import Choice, asked
from ui.tested import Kind, marked

T = TypeVar("T")
Table: TypeAlias = Sequence[object]
"""The rows of a figure or of a table."""
Term = tuple[str, str] | str
"""Of an equation: a number or a word; a pair is a numerator and a denominator."""


@dataclass(kw_only=True)
class PageParts:
    """A page as what it asks and shows, in the look of the visit.

    A control's name in the address has the page's prefix, and its label is out of the page's own words.
    """

    entry: Entry
    look: theme.Look
    scene: str
    question: Any = None
    """What the page is asked: the frozen dataclass that the address was read as."""
    prose: Prose = field(default_factory=lambda: Prose({}))
    errors: Mapping[str, float] = field(default_factory=dict)
    """What a table of predicted times takes along as it is saved: how far such times were off."""
    data_sheet: Kind = ""
    """Of what the open scene's times are, where they are no prediction: said under it."""
    not_offered: set[str] = field(default_factory=set)
    """Names in the address of fields that ask for what there is not now."""
    _splits: Iterator[int] = field(default_factory=count)
    _rows: Iterator[int] = field(default_factory=count)
    _charts: Iterator[int] = field(default_factory=count)
    _tables: Iterator[int] = field(default_factory=count)

    def key(self, name: str) -> str:
        """A control's name in the URL: the page's prefix and its own."""
        return f"{self.entry.prefix}_{name}"

    def label(self, name: str, /, **fields: object) -> str:
        """A block of the page's own file as a label."""
        return said(self.entry.stem, name, **fields)

    def control(
        self,
        name: str,
        label: str = "",
        *,
        help: str | None = None,
        usual: Any = None,
        options: Sequence[Any] | None = None,
        **given: Any,
    ) -> None:
        """Draw the control of one field of the page's question, which shows what is asked and writes the address.

        `usual` is the value of a field whose default is None; `options` are those that a choice offers now.
        """
        one = asked(type(self.question), self.entry.prefix)[name]
        kind = one.kind if options is None else replace(cast("Choice[Any]", one.kind), options=options)
        default = one.default if one.default is not None else usual
        value = getattr(self.question, name)
        if value is None or (options is not None and value not in options):
            value = default
        helped = help or (self.label(one.help) if one.help else None)
        address.control(
            one.address,
            kind,
            label or self.label(one.label),
            value,
            default,
            self.entry.stem,
            **({"help": helped} if helped else {}),
            **given,
        )

    def controls(self, *names: str) -> DeltaGenerator:
        """Draw the controls of these fields in a row, and return the row: `with page.controls(...)` adds to it."""
        key = f"controls_{self.entry.stem}_{self.scene}_{next(self._rows)}"
        row = st.container(key=key, horizontal=True, vertical_alignment="bottom", gap="medium")
        with row:
            for name in names:
                self.control(name)
        return row

    def write(self, **values: Any) -> None:
        """Put values of the page's question into the address. For a button's `on_click`."""
        fields = asked(type(self.question), self.entry.prefix)
        ones = [(fields[name], value) for name, value in values.items()]
        address.write(
            {
                one.address: None if value == one.default else one.kind.write(value, self.entry.stem)
                for one, value in ones
            }
        )

    def offered(self, name: str, options: Sequence[T], usual: T) -> T:
        """Return what a field asks for where it is one of these, else the usual one."""
        value = getattr(self.question, name)
        if value not in options and value is not None:
            self.not_offered.add(asked(type(self.question), self.entry.prefix)[name].address)
        return value if value in options else usual

    def figure_of(self, first: Sequence[str], more: Sequence[str]) -> str:
        """Draw the choice of a bench's figure and return it: of the first ones, and with *More* of all.

        The question has the fields `figure` and `more`; an address that names one of the others has *More* on.
        """
        figure: str = self.question.figure
        self.control("more")
        has_more = self.question.more or figure in more
        self.control("figure", options=[*first, *more] if has_more else first)
        return figure

    def fill(self, fields: Mapping[str, object]) -> None:
        """Give the prose more fields: those of the figure that is open, which no other scene needs."""
        self.prose = replace(self.prose, fields={**self.prose.fields, **fields})

    def say(self, block: str, width: Literal["auto", "stretch"] = "auto") -> None:
        """A block of prose as body text, its terms with their definitions, its dragged numbers as sliders."""
        text = breakable(glossary.marked(self.prose.text(block), block))
        if dragged.LINK.search(text):
            text = dragged.marked(text, asked(type(self.question), self.entry.prefix), self.entry.stem)
        st.markdown(text, width=width, unsafe_allow_html=True)

    def reading(self, block: str) -> None:
        """The one sentence under a figure, in the serif that says."""
        with st.container(key=f"reading_{block}"):
            self.say(block)

    def note(self, *blocks: str) -> None:
        """Notes in the margin, each under its own hairline."""
        for block in blocks:
            with st.container(key=f"note_{block}"):
                self.say(block)

    def notes_beside(self, key: str, *blocks: str, gap: Literal["medium", "large"] = "large") -> None:
        """Notes one beside the other, under a figure; `key` is what the style sheet knows them by."""
        with st.container(key=key):
            for column, block in zip(st.columns(len(blocks), gap=gap), blocks, strict=True):
                with column:
                    self.note(block)

    def verdict(self, sign: str, block: str) -> None:
        """`ok`, `off` or `open`; the block's first paragraph is the claim, the rest the assumption it needs.

        The claim holds whatever the sign: bad news has a warning, for a cross would call it untrue.
        """
        mark = {"ok": ":green[:material/check:]", "off": ":red[:material/warning:]"}.get(sign, ":gray[**?**]")
        with st.container(key=f"verdict_{block}", horizontal=True, gap="small"):
            st.markdown(mark, width="content")
            self.say(block, width="stretch")

    def figure(self, chart: Figure, reading: str, table: Table | Callable[[], Table], name: str) -> None:
        """A chart, its reading, its table as CSV and itself as PNG.

        `reading` is a block of prose; `name` is the files', and what axes are held by. The chart is known by where
        it stands: a browser draws another figure there into the chart that it has, and only its rows where both are
        of one specification. The reading is the chart's name for who hears it (`ui/browser/access.js`): as `alt` it
        would be a part of the specification, and the chart made anew with each number in it.
        """
        alt, drawn = self.prose.plain(reading), f"chart_{self.scene}_{next(self._charts)}"
        with st.container(key=drawn):
            draw(chart, word("figure.alt"), f"figure_{name}")
        self.reading(reading)
        self.as_table(table, name, alt, drawn)

    def turning(self, figures: Sequence[Figure], shown: int, control: str, first: int = 0) -> Figure:
        """The one of several that a control, by its key, has open; the browser turns to the others by itself.

        The control says `first` of the first one. While axes are held each is drawn alone, along them.
        """
        if held_axes.are_held():
            return figures[shown]
        return turned(figures, shown, f"live_{control}", first)

    def as_table(self, table: Table | Callable[[], Table], name: str, alt: str, drawn: str = "") -> None:
        """A figure's numbers, for who cannot see it and for a spreadsheet; of a chart in `drawn` a picture.

        Closed it is a line: its rows are made and sent once it is open.
        """
        folded = _fold(word("figure.table"), f"table_{self.scene}_{next(self._tables)}")
        if not folded.open:
            return
        rows = sheet(table() if callable(table) else table)
        with folded:
            tabulate(rows, alt)
            with st.container(horizontal=True, gap="small"):
                st.download_button(
                    word("figure.csv"),
                    marked(rows.csv, self.errors),
                    f"{name}.csv",
                    "text/csv",
                    key=f"csv_{name}",
                    on_click="ignore",
                )
                if drawn:
                    save_png(drawn, name, self.look.palette.ground)

    def folded(self, label: str, name: str, draw: Callable[[], object]) -> None:
        """What is worked out and sent once its fold is open."""
        fold = _fold(label, f"fold_{self.scene}_{name}")
        if fold.open:
            with fold:
                draw()

    def table(self, rows: Table, block: str) -> None:
        """A table that stands by itself, under a block that says what it holds."""
        tabulate(sheet(rows), self.prose.plain(block))

    def equation(self, *terms: Term) -> None:
        """Stacked fractions joined by equals signs; a bare string stands as it is. Text, not markup."""
        st.html(_fractions(terms))

    def guarded(self) -> AbstractContextManager[None]:
        """A part of a scene that bad input may refuse: the message stands in its place, the rest goes on."""
        return guarded(self.entry.stem)

    def split(self) -> tuple[DeltaGenerator, DeltaGenerator]:
        """The figure and its margin: 852 and 264 of 1160, one under the other on a phone and a low wall."""
        with st.container(key=f"split_{next(self._splits)}"):
            figure, margin = st.columns([852, 264], gap="large")
        return figure, margin

    @contextmanager
    def beside(self, *notes: str, **aside: Sequence[str]) -> Iterator[None]:
        """A figure with notes in its margin; those of an `aside_…` stand there only where it has room."""
        figure, margin = self.split()
        with figure:
            yield
        with margin:
            self.note(*notes)
            for key, blocks in aside.items():
                with st.container(key=f"aside_{key}"):
                    self.note(*blocks)


def _fold(label: str, key: str) -> Any:
    """Draw a fold that tells the server whether it is open."""
    return st.expander(label, key=key, on_change=address.press)


def draw(chart: Figure, alt: str, key: str) -> None:
    """A chart in the page: our own look, its alternative for who does not see it; along its held axes, if any."""
    spec = held_axes.along(chart.spec, key)
    drawn = chart if spec is chart.spec else replace(chart, spec=spec)
    st.vega_lite_chart({**drawn.sent}, theme=None, alt=alt, key=key)


def tabulate(rows: Sheet, alt: str) -> None:
    """A table as tall as its rows, or as a screen has room for."""
    st.dataframe(rows.shown, hide_index=True, alt=alt)


def _fractions(terms: Iterable[Term]) -> str:
    """HTML of `terms` joined by equals signs; a pair is a numerator and a denominator. Text is escaped."""
    terms = tuple(terms)
    drawn = '<span aria-hidden="true">=</span>'.join(_drawn(term) for term in terms)
    spoken = escape(f" {word('math.equals')} ".join(_spoken(term) for term in terms), quote=True)
    return f'<div class="fraction-row" role="math" aria-label="{spoken}">{drawn}</div>'


def _drawn(term: Term) -> str:
    if isinstance(term, str):
        return f"<span>{escape(joined(term))}</span>"
    above, below = (escape(joined(part)) for part in term)
    return f'<span class="fraction"><span>{above}</span><span>{below}</span></span>'


def _spoken(term: Term) -> str:
    return term if isinstance(term, str) else word("math.over", above=term[0], below=term[1])
