"""The blobs that a build has to read, and reading them one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...model import Scope
from ...ports.budget import Budget
from ...ports.objects import ObjectReader
from ...ports.repository_store import OnProgress
from .documents import Skip, load
from .held import Held
from .languages import HEAD, language_of, sign_of
from .manifests import NO_BLOB
from .segments import BlobFacts
from .tiers import is_generated
from .tree import Leaf

_SAMPLE = 4 * 1024
_REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class NewBlob:
    """A blob to read, under the first path that it has."""

    oid: str
    ordinal: int
    path: bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """The ordinal of each leaf, and the blobs that no segment holds yet."""

    ordinals: tuple[int, ...]
    blobs: tuple[NewBlob, ...]
    next_ordinal: int


class Fillable(Protocol):
    """A segment in the making."""

    @property
    def full(self) -> bool:
        """Whether it takes no further blob."""
        ...


class Reader:
    """Reads blobs as what a segment keeps of them, and reports how far it is."""

    def __init__(
        self,
        objects: ObjectReader,
        scope: Scope,
        max_bytes: int,
        progress: OnProgress,
        budget: Budget,
    ) -> None:
        self._objects = objects
        self._scope = scope
        self._max_bytes = max_bytes
        self._progress = progress
        self._budget = budget
        self._done = self._total = 0

    def begin(self, total: int) -> None:
        """Report that ``total`` blobs are to be read."""
        self._done, self._total = 0, total
        self._progress("index", 0, total)

    def read(self, blob: NewBlob) -> tuple[BlobFacts, bytes]:
        """What is known of a blob, and its text, empty where it has none."""
        self._budget.check()
        found = load(self._objects, self._scope, blob.oid, self._max_bytes)
        self._done += 1
        if self._done % _REPORT_EVERY == 0 or self._done == self._total:
            self._progress("index", self._done, self._total)
        if isinstance(found, Skip):
            return BlobFacts(blob.oid, blob.ordinal, found), b""
        sign = sign_of(blob.path)
        text = found.text
        return BlobFacts(
            blob.oid,
            blob.ordinal,
            None,
            found.crlf,
            found.original is not None,
            is_generated(text),
            sign,
            (language_of(blob.path, lambda: text[:HEAD]) or "") if sign else "",
        ), text

    def sample(self, blob: NewBlob) -> bytes:
        """The beginning of a blob's text."""
        found = load(self._objects, self._scope, blob.oid, self._max_bytes)
        return b"" if isinstance(found, Skip) else found.text[:_SAMPLE]

    def fits(self, oid: str) -> bool:
        """Whether a blob is not too large any more."""
        return self._objects.size(self._scope, oid) <= self._max_bytes


class Supply:
    """Gives blobs to one segment after the other."""

    def __init__(self, blobs: Sequence[NewBlob], reader: Reader) -> None:
        self._blobs = blobs
        self._reader = reader
        self._next = 0

    @property
    def empty(self) -> bool:
        """Whether every blob was taken."""
        return self._next >= len(self._blobs)

    def fill(self, draft: Fillable) -> Iterator[tuple[BlobFacts, bytes]]:
        """Blobs until ``draft`` is full."""
        while not self.empty and not draft.full:
            blob = self._blobs[self._next]
            self._next += 1
            yield self._reader.read(blob)


def wanted(held: Held, leaves: Sequence[Leaf], reader: Reader) -> Wanted:
    """Give each leaf its blob's ordinal, new ones in the order of paths."""
    known, following = dict(held.known), held.next_ordinal
    blobs = [NewBlob(lost.oid, lost.ordinal, lost.path) for lost in held.lost]
    reread: set[str] = set()
    ordinals = []
    for leaf in leaves:
        if leaf.skip is not None:
            ordinals.append(NO_BLOB)
            continue
        ordinal = known.get(leaf.oid)
        if ordinal is None:
            ordinal = known[leaf.oid] = following
            following += 1
            blobs.append(NewBlob(leaf.oid, ordinal, leaf.path))
        elif leaf.oid in held.too_large and leaf.oid not in reread and reader.fits(leaf.oid):
            reread.add(leaf.oid)
            blobs.append(NewBlob(leaf.oid, ordinal, leaf.path))
        ordinals.append(ordinal)
    return Wanted(tuple(ordinals), tuple(blobs), following)
