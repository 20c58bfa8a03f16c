"""The reading rooms' numbers: the releases that were read."""

from collections.abc import Mapping

from core.course.reading_rooms import ROOMS


def fields() -> Mapping[str, str]:
    """The release of each room."""
    return {f"{room.key}_release": room.release for room in ROOMS}
