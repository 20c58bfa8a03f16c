"""What leads on from a scene: options that it is walked through, and the line that a lab closes with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from runtime.prose import named
from ui.figures.block import PHONE, SUMS, WALL, WIDE, block
from ui.page_parts import PageParts
from ui.players.still import still
from ui.prose import label as word
from ui.shortcuts import shortcut


@dataclass(kw_only=True)
class Onward(PageParts):
    """A page whose Next may stay in the scene, and that ends in a line to take along."""

    walked: tuple[str, Sequence[Any], Sequence[Any]] = ("", (), ())
    _afresh: Mapping[str, Any] = field(default_factory=dict)
    """Fields that another option of the walk begins anew."""

    def walk(self, name: str, options: Sequence[Any], **afresh: Any) -> None:
        """Have Next and Back go through some options of a field of the page before they leave the scene.

        Each begins with the fields `afresh`.
        """
        self._afresh = afresh
        value = getattr(self.question, name)
        if value in options:
            at = list(options).index(value)
            self.walked = name, options[at - 1 : at] if at else (), options[at + 1 : at + 2]

    def draw_layer(self, ranks: int = 2) -> None:
        """Draw the transformer layer that the labs share, with its two all-reduces lit up."""
        key, alt = f"{self.entry.stem}_{self.scene}_layer", word("block.alt")
        widths = (WALL if self.look.present else WIDE, PHONE)
        wide, narrow = (block(SUMS, ranks, self.look.palette, alt, width) for width in widths)
        with st.container(key=f"drawn_{key}", width=round(self.look.letters(WIDE))):
            still(wide, narrow, key=key)

    def take_along(self) -> None:
        """Say what the lab comes to in a line, with its address: a button copies both."""
        with st.container(key="takeaway"):
            st.markdown(f"##### {word('takeaway')}")
            line, url = self.prose.plain("takeaway"), (st.context.url or "").split("?")[0]
            st.code(f"{line}\n{url}".strip(), language=None, wrap_lines=True)

    def option(self, name: str, option: Any) -> str:
        """Return what a choice of the page calls an option."""
        return named(self.entry.stem, str(option))

    def turn_to(
        self, key: str, label: str, name: str, option: Any, letter: str, type: Literal["primary", "secondary"]
    ) -> None:
        """Draw a button to another option of a field that the scene is walked through."""
        st.button(
            label,
            key=key,
            shortcut=shortcut(letter),
            type=type,
            on_click=self.write,
            kwargs={name: option, **self._afresh},
        )
