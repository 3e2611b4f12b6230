"""One file of an indexed tree under test: a Candidate of :mod:`.matching` that reads blocks."""

from collections.abc import Callable, Iterator, Mapping

from .candidates import Hits
from .documents import UTF8_MARK
from .patterns import Line, Matcher, Tick
from .segments import Segment
from .views import Texts, View

Original = Callable[[str], bytes]
"""A blob's own bytes, by its id."""


class IndexedFile:
    """A row of a view. ``hits`` has where each matcher of the query can match, by identity."""

    __slots__ = ("_hits", "_lines", "_part", "_texts", "_tick", "row", "view")

    def __init__(
        self, view: View, row: int, hits: Mapping[int, Hits], texts: Texts, tick: Tick
    ) -> None:
        self.view = view
        self.row = row
        self._hits = hits
        self._texts = texts
        self._tick = tick
        self._part = int(view.part[row])
        self._lines: list[bytes] | None = None

    @property
    def name(self) -> bytes:
        """The path as UTF-8."""
        return self.view.utf8[self.row]

    @property
    def path(self) -> bytes:
        return self.view.paths[self.row]

    def language(self) -> str | None:
        """Its language, as the build found it."""
        manifest = self.view.manifest
        return manifest.languages[manifest.language[self.row]] or None

    def lines(self, matcher: Matcher) -> Iterator[Line]:
        """The lines of its content that match."""
        if not self.view.text[self.row]:
            return iter(())
        first, count = self._range()
        blocks = self._hits[id(matcher)].blocks(self._part, first, count)
        if matcher.one_line and not matcher.anchored:
            return self._by_block(matcher, blocks)
        # Without a block there is no match, but for a file without any: ^$ is not there either.
        if not blocks or not self._is_likely(matcher, first, count):
            return iter(())
        return matcher.lines(self._joined(matcher, blocks), self._tick)

    def _is_likely(self, matcher: Matcher, first: int, count: int) -> bool:
        segment, get = self._segment(), self._texts.get
        hits = self._hits[id(matcher)]
        return hits.likely(self._part, first, count, lambda block: get(segment, block))

    def _range(self) -> tuple[int, int]:
        segment, blob = self._segment(), self.view.blob[self.row]
        return int(segment.first_block[blob]), int(segment.block_count[blob])

    def _segment(self) -> Segment:
        return self.view.parts[self._part].segment

    def _by_block(self, matcher: Matcher, blocks: list[int]) -> Iterator[Line]:
        segment = self._segment()
        for block in blocks:
            text = self._normal(matcher, self._texts.get(segment, block))
            before = int(segment.block_line[block])
            if not before:
                yield from matcher.lines(text, self._tick)
                continue
            for line in matcher.lines(text, self._tick):
                yield (line[0] + before, *line[1:])

    def _joined(self, matcher: Matcher, blocks: list[int]) -> bytes:
        segment = self._segment()
        texts = [self._texts.get(segment, block) for block in blocks]
        return self._normal(matcher, texts[0] if len(texts) == 1 else b"".join(texts))

    def _normal(self, matcher: Matcher, text: bytes) -> bytes:
        return matcher.normal(text, bool(self._segment().crlf[self.view.blob[self.row]]))

    def is_lossy(self) -> bool:
        """Whether its lines are shown from the blob itself."""
        return bool(self._segment().lossy[self.view.blob[self.row]])

    def text_lines(self, original: Original) -> list[bytes]:
        """Every line of the file, as it is shown."""
        if self._lines is None:
            self._lines = self._whole(original).split(b"\n")
        return self._lines

    def _whole(self, original: Original) -> bytes:
        segment = self._segment()
        if self.is_lossy():
            raw = original(segment.oid(int(self.view.blob[self.row])))
            return raw.removeprefix(UTF8_MARK)
        first, count = self._range()
        return b"".join(self._texts.get(segment, block) for block in range(first, first + count))
