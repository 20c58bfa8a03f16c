"""QR codes of an address: text to modules, in byte mode, with 15 % of it repairable (level M), up to 106 letters.

Source: ISO/IEC 18004:2015, by its sections: 7.4.5 byte mode, 7.5 error correction, 7.7 placement, 7.8 masks,
7.9 format.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.errors import OutOfRangeError

Modules: TypeAlias = NDArray[np.bool_]
"""A square of modules, dark where True; row 0 is the top."""

QUIET = 4
"""Modules of ground that a reader needs on every side."""


@dataclass(frozen=True)
class _Version:
    """A size, by its number: how many blocks of data, of how many codewords, with how many to repair each."""

    number: int
    blocks: int
    data: int
    repair: int

    @property
    def size(self) -> int:
        return 17 + 4 * self.number

    @property
    def longest(self) -> int:
        """Bytes of text: four bits say the mode and eight the length."""
        return self.blocks * self.data - 2


_VERSIONS = (
    _Version(1, 1, 16, 10),
    _Version(2, 1, 28, 16),
    _Version(3, 1, 44, 26),
    _Version(4, 2, 32, 18),
    _Version(5, 2, 43, 24),
    _Version(6, 4, 27, 16),
)
"""Table 9, level M. From version 7 on a code also says its version."""

LONGEST = _VERSIONS[-1].longest
_MASKS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda y, x: (y + x) % 2 == 0,
    lambda y, x: y % 2 == 0,
    lambda y, x: x % 3 == 0,
    lambda y, x: (y + x) % 3 == 0,
    lambda y, x: (y // 2 + x // 3) % 2 == 0,
    lambda y, x: (y * x) % 2 + (y * x) % 3 == 0,
    lambda y, x: ((y * x) % 2 + (y * x) % 3) % 2 == 0,
    lambda y, x: ((y + x) % 2 + (y * x) % 3) % 2 == 0,
)
_FINDER_LIKE = re.compile("(?<=0000)1011101|1011101(?=0000)")


def qr_code(text: str, mask: int | None = None) -> Modules:
    """The smallest code that holds `text`, without its quiet border; of eight masks the one that is read best.

    Raises OutOfRangeError for more than `LONGEST` bytes of UTF-8.
    """
    data = text.encode()
    version = next((one for one in _VERSIONS if len(data) <= one.longest), None)
    if version is None:
        raise OutOfRangeError("bytes", len(data), "code_holds", room=LONGEST, version=6)
    modules, taken = _function_patterns(version)
    _place(modules, taken, _codewords(data, version))
    masked = [_masked(modules, taken, pattern) for pattern in (range(len(_MASKS)) if mask is None else (mask,))]
    return min(masked, key=penalty)


def _codewords(data: bytes, version: _Version) -> list[int]:
    """Data and repair, a codeword of each block in turn."""
    bits = f"0100{len(data):08b}" + "".join(f"{byte:08b}" for byte in data) + "0000"
    room = version.blocks * version.data
    held = [int(bits[at : at + 8].ljust(8, "0"), 2) for at in range(0, len(bits), 8)][:room]
    held += [(0xEC, 0x11)[at % 2] for at in range(room - len(held))]
    blocks = [held[at : at + version.data] for at in range(0, room, version.data)]
    repairs = [_repair(block, version.repair) for block in blocks]
    return [word for words in (blocks, repairs) for turn in zip(*words, strict=True) for word in turn]


def _times(a: int, b: int) -> int:
    """The product in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1."""
    product = 0
    while b:
        product ^= a * (b & 1)
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


def _repair(block: list[int], count: int) -> list[int]:
    """The Reed-Solomon codewords of a block: the remainder by (x - 1)(x - 2)(x - 4) …, `count` factors."""
    generator, root = [1], 1
    for _ in range(count):
        times_root = [0, *(_times(term, root) for term in generator)]
        generator = [a ^ b for a, b in zip([*generator, 0], times_root, strict=True)]
        root = _times(root, 2)
    rest = [*block, *[0] * count]
    for at in range(len(block)):
        lead = rest[at]
        for power, term in enumerate(generator):
            rest[at + power] ^= _times(term, lead)
    return rest[-count:]


def _function_patterns(version: _Version) -> tuple[Modules, Modules]:
    """What every code of a version has, and which modules that takes, those of the format among them."""
    size = version.size
    modules, taken = np.zeros((size, size), bool), np.zeros((size, size), bool)
    modules[6, ::2] = modules[::2, 6] = True
    taken[6, :] = taken[:, 6] = True
    for y, x in ((3, 3), (3, size - 4), (size - 4, 3)):
        _rings(modules, taken, y, x, 4, {0, 1, 3})
    if version.number > 1:
        _rings(modules, taken, size - 7, size - 7, 2, {0, 2})
    taken[8, :9] = taken[:9, 8] = taken[8, -8:] = taken[-8:, 8] = True
    return modules, taken


def _rings(modules: Modules, taken: Modules, y: int, x: int, reach: int, dark: set[int]) -> None:
    """Squares around a middle, dark or light by their distance from it."""
    size = len(modules)
    for row in range(max(0, y - reach), min(size, y + reach + 1)):
        for column in range(max(0, x - reach), min(size, x + reach + 1)):
            modules[row, column] = max(abs(row - y), abs(column - x)) in dark
            taken[row, column] = True


def _place(modules: Modules, taken: Modules, codewords: list[int]) -> None:
    """Bits in pairs of columns, from the right, up and down in turn; what is left over stays light."""
    bits = (word >> bit & 1 for word in codewords for bit in range(7, -1, -1))
    size, upwards = len(modules), True
    for right in (*range(size - 1, 6, -2), 5, 3, 1):
        for row in range(size - 1, -1, -1) if upwards else range(size):
            for column in (right, right - 1):
                if not taken[row, column]:
                    modules[row, column] = bool(next(bits, 0))
        upwards = not upwards


def _masked(modules: Modules, taken: Modules, mask: int) -> Modules:
    """The code under a mask, which its format names twice."""
    y, x = np.indices(modules.shape)
    masked: Modules = modules ^ (_MASKS[mask](y, x) & ~taken)
    rest = mask << 10
    for bit in range(14, 9, -1):
        rest ^= (0x537 << bit - 10) * (rest >> bit & 1)
    format_bits = (mask << 10 | rest) ^ 0x5412  # level M is 00
    told = [bool(format_bits >> bit & 1) for bit in range(14, -1, -1)]
    masked[8, [0, 1, 2, 3, 4, 5, 7, 8]] = told[:8]
    masked[[7, 5, 4, 3, 2, 1, 0], 8] = told[8:]
    masked[[-1, -2, -3, -4, -5, -6, -7], 8] = told[:7]
    masked[8, -8:] = told[7:]
    masked[-8, 8] = True
    return masked


def penalty(modules: Modules) -> int:
    """How hard a code is to read (7.8.3): runs, blocks, what looks like a finder, an uneven share."""
    lines = ["".join("01"[dark] for dark in line) for line in (*modules.astype(int), *modules.T.astype(int))]
    runs = (len(run) for line in lines for run in re.findall("0+|1+", line))
    corner = modules[1:, 1:]
    blocks = (corner == modules[:-1, 1:]) & (corner == modules[1:, :-1]) & (corner == modules[:-1, :-1])
    finders = sum(len(_FINDER_LIKE.findall(f"0000{line}0000")) for line in lines)
    uneven = int(abs(100 * float(modules.mean()) - 50) / 5)
    return sum(run - 2 for run in runs if run >= 5) + 3 * int(blocks.sum()) + 40 * finders + 10 * uneven
