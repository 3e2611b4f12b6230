"""Which blocks can hold a match of a pattern, as far as their keys tell."""

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .patterns import Matcher, folds_alone
from .postings import Index
from .required import AllOf, AnyOf, Literal, Required
from .trigrams import ODD_FOLD, keys_of_literal
from .views import Mask, Part, Rows, View

_Blocks = npt.NDArray[np.intp]

# Looking into so few blocks is quicker than reading one more list.
_FEW = 2


class Hits:
    """Where one pattern can match: every row outside :attr:`rows` can be left unread."""

    def __init__(self, view: View, matcher: Matcher) -> None:
        self._view = view
        self._by_block = matcher.one_line and not matcher.anchored
        self._required = matcher.required
        self._parts = [self._in_part(part) for part in view.parts]
        self._lists: list[list[int] | None] = [None] * len(view.parts)
        self._probe = None if self._by_block else _probe(self._required)
        self._probed: dict[int, list[int] | None] = {}

    @cached_property
    def rows(self) -> Mask:
        """The rows with a block that can match."""
        if self._required is None:
            return self._view.text
        found = np.zeros(len(self._view), bool)
        for part, blocks in zip(self._view.parts, self._parts, strict=True):
            if blocks is None:
                found[part.rows] = True
            elif blocks.size:
                found[part.rows_of(_blobs(part, blocks))] = True
        return found

    def blocks(self, part: int, first: int, count: int) -> list[int]:
        """Those of ``count`` blocks from ``first`` on that can match; none when no row can.

        All of them where a match may go over from one block to the next.
        """
        blocks = self._parts[part]
        if blocks is None:
            return list(range(first, first + count))
        numbers = self._lists[part]
        if numbers is None:
            numbers = self._lists[part] = blocks.tolist()
        low = bisect_left(numbers, first)
        high = bisect_left(numbers, first + count, low)
        if self._by_block or low == high:
            return numbers[low:high]
        return list(range(first, first + count))

    def likely(self, part: int, first: int, count: int, text: Callable[[int], bytes]) -> bool:
        """Whether a string that a match must have really is in one of these blocks.

        Where a match may go over block ends, its keys may all be there without it, and a look at
        the few blocks that have them costs less than joining all of them.
        """
        if self._probe is None:
            return True
        if part not in self._probed:
            blocks = _blocks(self._view.parts[part], self._probe, True)
            self._probed[part] = None if blocks is None else blocks.tolist()
        numbers = self._probed[part]
        if numbers is None:
            return True
        low = bisect_left(numbers, first)
        high = bisect_left(numbers, first + count, low)
        return any(_holds(self._probe, text(block)) for block in numbers[low:high])

    def blocks_among(self, part: int, blobs: Mask) -> _Blocks:
        """The blocks of these blobs that can match."""
        segment = self._view.parts[part].segment
        blocks = self._parts[part]
        if blocks is None:
            return np.flatnonzero(np.repeat(blobs, segment.block_count))
        return blocks[blobs[segment.block_blob[blocks]]]

    def _in_part(self, part: Part) -> _Blocks | None:
        if self._required is None:
            return None
        return _blocks(part, self._required, self._by_block)


def _probe(required: Required | None) -> Required | None:
    """The longest string of what is required, or the strings of which one is."""
    match required:
        case AllOf(parts):
            probes = [probe for part in parts if (probe := _probe(part)) is not None]
            return max(probes, key=_shortest, default=None)
        case AnyOf(parts):
            return required if all(isinstance(part, Literal) for part in parts) else None
    return required


def _shortest(probe: Required) -> int:
    match probe:
        case Literal(data):
            return len(data)
        case AllOf(parts) | AnyOf(parts):
            return min(map(_shortest, parts))


def _holds(probe: Required, text: bytes) -> bool:
    match probe:
        case Literal(data, folded):
            if not folded:
                return data in text
            return data in text.lower() or not folds_alone(text)
        case AllOf(parts):
            return all(_holds(part, text) for part in parts)
        case AnyOf(parts):
            return any(_holds(part, text) for part in parts)


def _blobs(part: Part, blocks: _Blocks) -> Rows:
    blobs = part.segment.block_blob[blocks]
    return blobs[np.concatenate(([True], blobs[1:] != blobs[:-1]))]


def _blocks(part: Part, required: Required, together: bool) -> _Blocks | None:
    """The blocks that can hold what is required; None when the keys tell nothing.

    Without ``together``, parts of it may stand in different blocks of one blob: then it is the
    blocks of those blobs that have some for each.
    """
    match required:
        case Literal():
            return _of_literal(part, required)
        case AnyOf(parts):
            return _union(part, [_blocks(part, each, together) for each in parts])
        case AllOf(parts):
            return _common(part, [_blocks(part, each, together) for each in parts], together)


def _union(part: Part, found: list[_Blocks | None]) -> _Blocks | None:
    mask = np.zeros(part.segment.blocks, bool)
    for blocks in found:
        if blocks is None:
            return None
        mask[blocks] = True
    return np.flatnonzero(mask)


def _common(part: Part, found: list[_Blocks | None], together: bool) -> _Blocks | None:
    known = [blocks for blocks in found if blocks is not None]
    if not known:
        return None
    counts = np.zeros(part.segment.blocks if together else len(part.segment), np.int32)
    for blocks in known:
        if not blocks.size:
            return blocks
        counts[blocks if together else _blobs(part, blocks)] += 1
    if together:
        return np.flatnonzero(counts == len(known))
    return np.flatnonzero((counts == len(known))[part.segment.block_blob])


def _of_literal(part: Part, literal: Literal) -> _Blocks | None:
    keys = keys_of_literal(literal.data)
    if not keys:
        return None
    index = part.segment.index
    places = index.places(keys)
    found = np.empty(0, np.intp) if places is None else _intersection(index, places, part.live)
    odd = index.places([ODD_FOLD]) if literal.folded else None
    if odd is None:
        return found
    return np.union1d(found, _intersection(index, odd, part.live))


def _intersection(index: Index, places: list[int], live: npt.NDArray[np.uint8]) -> _Blocks:
    """The live blocks that stand in all these lists, shortest first."""
    dense = [place for place in places if index.is_dense(place)]
    sparse = [place for place in places if not index.is_dense(place)]
    if not sparse:
        bits = live.copy()
        for place in dense:
            bits &= index.bits(place)
        return np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    numbers = _with_bits(index.numbers(sparse[0]).astype(np.intp), live)
    for place in sparse[1:]:
        if numbers.size <= _FEW:
            return numbers
        other = index.numbers(place)
        at = np.searchsorted(other, numbers.astype(np.uint16))
        at[at == other.size] = 0
        numbers = numbers[other[at] == numbers]
    for place in dense:
        if numbers.size <= _FEW:
            return numbers
        numbers = _with_bits(numbers, index.bits(place))
    return numbers


def _with_bits(numbers: _Blocks, bits: npt.NDArray[np.uint8]) -> _Blocks:
    found: npt.NDArray[np.bool_] = (bits[numbers >> 3] >> (numbers & 7)) & 1 != 0
    return numbers[found]
