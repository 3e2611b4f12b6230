"""One file of a scan: its content, read once and only when asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...model import Scope
from ...ports.objects import ObjectReader
from .cache import BlobCache
from .documents import Document, Skip, load
from .languages import HEAD, language_of
from .patterns import Line, Matcher, Tick
from .shown import SNIPPET_LIMIT, neighbours, shown, shown_span
from .tree import Leaf

_STRIDE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Blobs:
    """The blobs of one scan."""

    objects: ObjectReader
    scope: Scope
    max_bytes: int
    cache: BlobCache
    scan: int

    def get(self, oid: str) -> Document | Skip:
        """The blob as a document, from memory when it is there."""
        key = (self.scope.repository, oid)
        kept = self.cache.get(key, self.scan)
        if kept is None:
            kept = load(self.objects, self.scope, oid, self.max_bytes)
            self.cache.put(key, kept, self.scan)
        return kept


class File:
    """One leaf under test, a Candidate of :mod:`.matching`.

    ``skip`` is set once its content turned out not to be searched.
    """

    __slots__ = ("_blobs", "_document", "_normal", "_original", "_split", "_tick", "leaf", "skip")

    def __init__(self, leaf: Leaf, blobs: Blobs, tick: Tick) -> None:
        self.leaf = leaf
        self.skip = leaf.skip
        self._blobs = blobs
        self._tick = tick
        self._document: Document | None = None
        self._normal: bytes | None = None
        self._original: _Cursor | None = None
        self._split: list[bytes] | None = None

    @property
    def name(self) -> bytes:
        """The path as UTF-8."""
        return self.leaf.name

    def language(self) -> str | None:
        """Its language; none for a symlink or submodule."""
        return None if self.leaf.skip else language_of(self.leaf.path, self._head)

    def lines(self, matcher: Matcher) -> Iterator[Line]:
        """The lines of its content that match."""
        document = self._read()
        if document is None:
            return iter(())
        return matcher.lines(self._text(document, matcher), self._tick)

    def snippet(self, line: Line) -> tuple[str, tuple[int, int]]:
        """The line as it is shown, and where its hit is; asked for in ascending order of lines."""
        number, text, start, end, first, last = line
        span = (first - start, last - start)
        document = self._read()
        if document is None or document.original is None:
            return shown(text[start : min(end, start + SNIPPET_LIMIT)]), span
        self._original = self._original or _Cursor(document.original)
        raw = self._original.line(number)
        return shown(raw), shown_span(raw, text[start:end], *span)

    def neighbours(self, line: Line, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Up to ``count`` lines before and after one that matched."""
        document = self._read()
        if document is None or not count:
            return (), ()
        if self._split is None:
            self._split = (document.original or document.text).split(b"\n")
        return neighbours(self._split, line[0], count)

    def _read(self) -> Document | None:
        if self._document is None and self.skip is None:
            blob = self._blobs.get(self.leaf.oid)
            if isinstance(blob, Skip):
                self.skip = blob
            else:
                self._document = blob
        return self._document

    def _head(self) -> bytes:
        document = self._read()
        return b"" if document is None else document.text[:HEAD]

    def _text(self, document: Document, matcher: Matcher) -> bytes:
        if matcher.as_is or not document.crlf:
            return document.text
        if self._normal is None:
            self._normal = matcher.normal(document.text, document.crlf)
        return self._normal


class _Cursor:
    """Walks forward over the lines of bytes that can be long, without splitting them all."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._line = 1
        self._start = 0

    def line(self, number: int) -> bytes:
        """Line ``number`` (1-based), which is not before the one asked for last."""
        while self._line < number:
            self._skip(number - self._line)
        end = self._data.find(b"\n", self._start)
        return self._data[self._start : len(self._data) if end < 0 else end]

    def _skip(self, lines: int) -> None:
        stop = self._start + _STRIDE
        passed = self._data.count(b"\n", self._start, stop)
        if 0 < passed <= lines:
            self._line += passed
            self._start = self._data.rfind(b"\n", self._start, stop) + 1
            return
        for _ in range(lines if passed else 1):
            self._start = self._data.find(b"\n", self._start) + 1
            self._line += 1
