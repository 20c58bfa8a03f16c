"""What empties the places of a page that a browser shows and a run no longer draws."""

from collections.abc import Iterable

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ui.drawn_content import Content, Place

Known = dict[Place, Content]
Drawn = dict[Place, ForwardMsg]

_IN = frozenset({"flex_container", "column", "expandable", "popover", "form", None})
"""Blocks that may have an element in the place of any block in them."""
_MAIN = 0
"""The part of a page that its elements stand in; others have a sidebar, dialogs and toasts."""


def emptied(known: Known, drawn: Drawn) -> list[ForwardMsg] | None:
    """What empties the places at which nothing is drawn any more; None where only a whole run does.

    A block with nothing in it takes no room, and one with an empty element does: that then takes its place. Of what
    is emptied nothing is known from then on.
    """
    gone, above = known.keys() - drawn.keys(), {place[:-1] for place in drawn}
    told: dict[Place, ForwardMsg] = {}
    for place in sorted(gone):
        over = place[:-1]
        while over in drawn and over not in above and not drawn[over].delta.add_block.allow_empty:
            place, over = over, over[:-1]
        if over in gone or place in told:
            continue
        if not _may_be_empty(place, drawn):
            return None
        told[place] = _empty(place, known[place].script)
    _forget(known, told)
    return list(told.values())


def cleared(known: Known, drawn: Drawn, contents: Known) -> dict[Place, tuple[ForwardMsg]]:
    """What empties the blocks that are others now and lose a part: what was in them would be mounted in these.

    Of what is in them nothing is known from then on. A block in which a field or a fold stays is left as it is.
    """
    fields = {at.widget for at in contents.values() if at.sort == "element" and at.widget}

    def stays(place: Place) -> bool:
        at = known[place]
        return bool(at.widget) and (at.widget in fields or contents.get(place, Content()).is_as(at))

    told: dict[Place, tuple[ForwardMsg]] = {}
    for place in sorted(place for place in known.keys() & contents.keys() if _is_another(known, contents, place)):
        below = [one for one in known if one[: len(place)] == place]
        loses = any(one not in contents for one in below)
        if loses and not any(map(stays, below)) and _may_be_empty(place, drawn):
            told[place] = (_empty(place, known[place].script),)
    outermost = {place: empty for place, empty in told.items() if not any(_is_in(place, top) for top in told)}
    _forget(known, outermost)
    return outermost


def _is_another(known: Known, contents: Known, place: Place) -> bool:
    """Whether a block stands there in the place of one that was of another sort or name."""
    before, now = known[place], contents[place]
    return before.sort.startswith("block") and now.sort.startswith("block") and not now.is_as(before)


def _is_in(place: Place, block: Place) -> bool:
    return len(place) > len(block) and place[: len(block)] == block


def _may_be_empty(place: Place, drawn: Drawn) -> bool:
    """Whether an element may stand there, in the place of whatever does."""
    over = place[:-1]
    block = drawn[over].delta.add_block.WhichOneof("type") if over in drawn else None
    return place[0] == _MAIN and bool(over) and block in _IN


def _empty(place: Place, script: str) -> ForwardMsg:
    """An element that draws nothing."""
    empty = ForwardMsg()
    empty.delta.new_element.empty.SetInParent()
    empty.metadata.delta_path.extend(place)
    empty.metadata.active_script_hash = script
    return empty


def _forget(known: Known, told: Iterable[Place]) -> None:
    for place in [one for one in known if any(one[: len(top)] == top for top in told)]:
        del known[place]
