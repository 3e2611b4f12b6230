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

_WRITTEN = np.arange(256, dtype=np.uint32)
_WRITTEN[[10, 13]] = 0
_FOLDED = _WRITTEN.copy()
_FOLDED[65:91] += 32


def keys_of_text(text: bytes) -> Keys:
    """Every key of ``text``, ascending and once each."""
    if len(text) <= _PIECE:
        found = _keys(text)
    else:
        # One line may be the whole of a huge file; two bytes of overlap lose no key.
        pieces = [_keys(text[at : at + _PIECE + 2]) for at in range(0, len(text), _PIECE)]
        found = np.unique(np.concatenate(pieces))
    if any(odd in text for odd in _ODD):
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
    raw = np.frombuffer(text, np.uint8)
    if raw.size < 3:
        return np.empty(0, np.uint32)
    folded, written = _joined(_FOLDED[raw]), _joined(_WRITTEN[raw])
    both = np.concatenate((folded, written[folded != written]))
    both.sort()
    keep = np.empty(both.size, bool)
    keep[0] = True
    np.not_equal(both[1:], both[:-1], out=keep[1:])
    found: Keys = both[keep]
    whole: npt.NDArray[np.bool_] = (found & 0xFF != 0) & (found & 0xFF00 != 0) & (found > 0xFFFF)
    return found[whole]


def _joined(letters: Keys) -> Keys:
    keys = letters[:-2] << np.uint32(16)
    keys |= letters[1:-1] << np.uint32(8)
    keys |= letters[2:]
    return keys
