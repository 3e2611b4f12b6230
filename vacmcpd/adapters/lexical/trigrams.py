"""The three-byte strings of a text, as the index keeps them and as a query asks for them.

A key is three bytes as one number, first byte highest. Each text is kept twice: with A-Z folded
to a-z, and as written where that holds a capital; the two can't collide. So a search that ignores
case is one lookup a key, and one for ``GET`` does not read every ``get``. No key holds a line
feed, a carriage return or a NUL: a query never asks across line ends, and blocks end at them.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint32]

ODD_FOLD = 1 << 24
"""The key under which blocks stand that hold U+212A or U+017F, which RE2 folds to k and s."""

_ODD = (b"\xe2\x84\xaa", b"\xc5\xbf")
_PIECE = 1 << 20

# Line ends become NUL, which no key holds.
_WRITTEN = bytes(0 if byte in b"\r\n" else byte for byte in range(256))
_FOLDED = _WRITTEN.lower()


def keys_of_text(text: bytes) -> Keys:
    """Every key of ``text``, ascending and once each."""
    if len(text) <= _PIECE:
        found = _keys(text)
    else:
        # One line may be the whole of a huge file; two bytes of overlap lose no key.
        pieces = [_keys(text[at : at + _PIECE + 2]) for at in range(0, len(text), _PIECE)]
        found = np.unique(np.concatenate(pieces))
    if not text.isascii() and any(odd in text for odd in _ODD):
        return np.append(found, np.uint32(ODD_FOLD))
    return found


@lru_cache(maxsize=256)
def keys_of_literal(literal: bytes) -> tuple[int, ...]:
    """The keys that a text with ``literal`` in it must have, once each.

    Of one whose case is ignored, give it in lower case: what it finds then are the folded keys.
    Of any other, a key without a capital finds the folded ones too, which are more than it needs.
    """
    keys = dict.fromkeys(
        int.from_bytes(literal[at : at + 3], "big") for at in range(len(literal) - 2)
    )
    return tuple(key for key in keys if not _is_cut(key))


def _is_cut(key: int) -> bool:
    return any(key >> shift & 0xFF in (0, 10, 13) for shift in (0, 8, 16))


def _keys(text: bytes) -> Keys:
    if len(text) < 3:
        return np.empty(0, np.uint32)
    folded = np.frombuffer(text.translate(_FOLDED), np.uint8).astype(np.uint32)
    keys = _distinct(_joined(folded[:-2], folded[1:-1], folded[2:]))
    raw = np.frombuffer(text.translate(_WRITTEN), np.uint8)
    capital = (raw - np.uint8(65)) < 26
    at = np.flatnonzero(capital[:-2] | capital[1:-1] | capital[2:])
    if at.size:
        letters = raw.astype(np.uint32)
        written = _distinct(_joined(letters[at], letters[at + 1], letters[at + 2]))
        keys = np.concatenate((keys, written))
        keys.sort()
    whole = (keys & 0xFF != 0) & (keys & 0xFF00 != 0) & (keys > 0xFFFF)
    return keys[np.flatnonzero(whole)]


def _joined(first: Keys, second: Keys, third: Keys) -> Keys:
    keys = first << np.uint32(16)
    keys |= second << np.uint32(8)
    keys |= third
    return keys


def _distinct(keys: Keys) -> Keys:
    keys.sort()
    keep = np.empty(keys.size, bool)
    keep[0] = True
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys[np.flatnonzero(keep)]
