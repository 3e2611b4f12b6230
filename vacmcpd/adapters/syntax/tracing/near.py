"""Names that are spelled alike."""

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

_MOST = 5
_LOOKED_AT = 200
_ALIKE = 0.6


class Near:
    """Finds names like one that nothing has.

    Each name is 64 bits, one for each of its pairs of neighbouring characters; only those that
    share most bits are compared as texts.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        folded = [name.casefold() for name in names]
        joined = np.frombuffer(("\n" + "".join(f"{each}\n" for each in folded)).encode(), np.uint8)
        bits = _bits(joined)
        ends = np.cumsum([len(each.encode()) + 1 for each in folded], dtype=np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), ends[:-1])) if len(ends) else ends
        self._masks = np.bitwise_or.reduceat(bits, starts) if len(starts) else bits[:0]

    def to(self, name: str) -> list[str]:
        """At most five names, the likest first."""
        folded = name.casefold()
        asked = np.frombuffer(f"\n{folded}\n".encode("utf-8", "replace"), np.uint8)
        mask = np.bitwise_or.reduce(_bits(asked))
        shared = np.bitwise_count(self._masks & mask).astype(np.float64)
        alike = shared / np.maximum(np.bitwise_count(self._masks | mask), 1)
        best = np.argsort(-alike, kind="stable")[:_LOOKED_AT].tolist()
        matcher = SequenceMatcher(b=folded, autojunk=False)
        found = []
        for number in best:
            matcher.set_seq1(self._names[number].casefold())
            if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
                ratio = matcher.ratio()
                if ratio >= _ALIKE:
                    found.append((-ratio, self._names[number]))
        return [each for _, each in sorted(found)[:_MOST]]


def _bits(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A bit for each pair of neighbours."""
    first, second = text[:-1].astype(np.uint64), text[1:].astype(np.uint64)
    mixed = (first * np.uint64(31) + second * np.uint64(17)) % np.uint64(61)
    return np.left_shift(np.uint64(1), mixed)
