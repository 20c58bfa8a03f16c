"""One reader of what students send, whatever their machine made of it: the encoding, its mark, its line ends.

UTF-8 and UTF-16 with a mark or without, Latin-1 as Windows has it; composed or decomposed letters. What is none of
these is no text, and is said to be none.
"""

import io
import tokenize
import unicodedata

from core.errors import UnreadableTextError

_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def text_from(data: bytes, name: str) -> str:
    """The text of a student's file.

    Raises UnreadableTextError for a file that holds no text.
    """
    encoding = next((known for mark, known in _MARKS if data.startswith(mark)), _without_mark(data))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text or sum(not one.isprintable() and not one.isspace() for one in text) > len(text) // 20:
        raise UnreadableTextError("file.no_text", name=name)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def answers_from(data: bytes, name: str) -> str:
    """The text of a sheet of answers, its letters composed: `µ` is one sign and `é` one letter."""
    return unicodedata.normalize("NFC", text_from(data, name))


def code_from(data: bytes, name: str) -> bytes:
    """A Python file as Python reads it: as it is where it says its encoding or is UTF-8, else as UTF-8.

    Raises UnreadableTextError for a file that holds no text.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if b"\0" not in data:
            data.decode(encoding)
            return data
    except (SyntaxError, UnicodeDecodeError):
        pass
    return text_from(data, name).encode("utf-8")


def _without_mark(data: bytes) -> str:
    """UTF-16 where every other byte is empty, as of a text that is mostly ASCII; else UTF-8."""
    head = data[:400]
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(head) > 3 and head[first::2].count(0) > 0.8 * len(head[first::2]):
            return encoding
    return "utf-8"
