"""What a message of a run draws, as far as one has to know that to tell it from another."""

from dataclasses import dataclass

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

Place = tuple[int, ...]
"""Where an element or a block stands, as Streamlit counts: the number of each block that it is in, and its own."""

_OPENED = frozenset({"dialog"})
"""What a visitor closes without a word to the server, which opens it each time; folds go by a value."""


_FIGURES = frozenset({"vega_lite_chart", "bidi_component"})
"""What a press is about: where it stands in its place, it waits for nothing."""

SHELL = "shardlab_shell"
"""A component that draws nothing: what the page tells the browser's own scripts."""


@dataclass(frozen=True)
class Content:
    """What stands at a place: of what sort, its hash, and the widget or the named block that it is."""

    sort: str = ""
    hash: str = ""
    widget: str = ""
    acts: bool = False
    """It does something each time it comes, whatever came before."""
    script: str = ""
    """The page that it is of, or the shell."""

    def is_as(self, other: "Content") -> bool:
        """Whether it may take the other's place: it is of its sort, and that widget or named block."""
        return (self.sort, self.widget) == (other.sort, other.widget)


def drawn_by(message: ForwardMsg) -> str:
    """What sort of element it draws; none where it is a block, or says something else."""
    return message.delta.new_element.WhichOneof("type") or ""


def is_figure(message: ForwardMsg) -> bool:
    """Whether it draws what a press is about."""
    return drawn_by(message) in _FIGURES and message.delta.new_element.bidi_component.component_name != SHELL


def content_of(message: ForwardMsg) -> Content:
    """What it puts at its place."""
    delta, script = message.delta, message.metadata.active_script_hash
    sort = delta.WhichOneof("type")
    if sort == "add_block":
        block = delta.add_block.WhichOneof("type")
        return Content(f"block {block}", message.hash, delta.add_block.id, block in _OPENED, script)
    if sort == "new_transient":
        return Content(sort)
    element = delta.new_element
    drawn = getattr(element, element.WhichOneof("type") or "", None)
    acts = element.has_one_shot_effect or getattr(drawn, "set_value", False)
    return Content("element", message.ref_hash or message.hash, str(getattr(drawn, "id", "")), acts, script)
