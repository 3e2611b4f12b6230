"""Looks into one file after the other, for the files that match and their first lines."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from .candidates import Hits
from .counting import Single
from .indexed import IndexedFile
from .matching import Found, Test, merged
from .patterns import Line, Tick
from .views import Rows, Texts, View

SCORED_LINES = 8
"""Lines of a file that decide its place in an answer."""
_AT_ONCE = 256


class Matching:
    """A file that matches: its first lines, and the others when they are asked for, once.

    The first ones may have as their number only how many lines stand before their text.
    """

    __slots__ = ("_numbered", "_rest", "file", "head", "score")

    def __init__(
        self, file: IndexedFile, head: list[Line], rest: Iterator[Line], numbered: bool
    ) -> None:
        self.file = file
        self.head = head
        self.score = 0
        self._rest = rest
        self._numbered = numbered

    @property
    def known(self) -> int:
        """How many matches it has at least: its name is one where no line is."""
        return len(self.head) or 1

    def take(self, low: int, stop: int, *, whole: bool) -> tuple[list[Line], int]:
        """The lines from ``low`` on and below ``stop``, and how many matches there are.

        Without ``whole`` it is enough to know that there are more than ``stop``.
        """
        found, count = [], 0
        # What is only counted is not kept: a file can have millions.
        for line in chain(self.head, self._rest):
            if count > stop and not whole:
                break
            if low <= count < stop:
                numbered = self._numbered or count >= len(self.head)
                found.append(line if numbered else _numbered(line))
            count += 1
        return found, count or 1


def _numbered(line: Line) -> Line:
    before, text, start = line[:3]
    return (before + text.count(b"\n", 0, start) + 1, *line[1:])


Finder = Callable[[Rows], Iterator[Matching | None]]
"""Gives for each row what matches there, or None."""


@dataclass(frozen=True, slots=True)
class Testing:
    """Finds with the test of a whole query."""

    view: View
    test: Test
    hits: Mapping[int, Hits]
    texts: Texts
    tick: Tick

    def __call__(self, rows: Rows) -> Iterator[Matching | None]:
        for row in rows.tolist():
            self.tick()
            file = IndexedFile(self.view, row, self.hits, self.texts, self.tick)
            found: Found = []
            if not self.test.check(file, found):
                yield None
                continue
            lines = merged(found) if found else iter(())
            yield Matching(file, list(islice(lines, SCORED_LINES)), lines, True)


@dataclass(frozen=True, slots=True)
class Alone:
    """Finds where one pattern reads text, block by block: what most queries are, made quick."""

    view: View
    single: Single
    hits: Mapping[int, Hits]
    texts: Texts
    tick: Tick

    def __call__(self, rows: Rows) -> Iterator[Matching | None]:
        for start in range(0, rows.size, _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            parts, blobs = self.view.part[some].tolist(), self.view.blob[some].tolist()
            reads, named = self.view.text[some].tolist(), self.single.named[some].tolist()
            for at, row in enumerate(some.tolist()):
                self.tick()
                head = self._head(parts[at], blobs[at]) if reads[at] else []
                if not head and not named[at]:
                    yield None
                    continue
                file = IndexedFile(self.view, row, self.hits, self.texts, self.tick)
                yield Matching(file, head, self._rest(file, head), False)

    def _head(self, part: int, blob: int) -> list[Line]:
        segment = self.view.parts[part].segment
        matcher, get = self.single.matcher, self.texts.get
        first, count = int(segment.first_block[blob]), int(segment.block_count[blob])
        crlf = bool(segment.crlf[blob])
        found: list[Line] = []
        for block in self.hits[id(matcher)].blocks(part, first, count):
            text = matcher.normal(get(segment, block), crlf)
            spans = matcher.spans(text, SCORED_LINES - len(found), self.tick)
            if spans:
                before = int(segment.block_line[block])
                found += [(before, text, *span) for span in spans]
                if len(found) == SCORED_LINES:
                    break
        return found

    def _rest(self, file: IndexedFile, head: list[Line]) -> Iterator[Line]:
        """The lines after the first ones, found again: most files are never asked for them."""
        if len(head) == SCORED_LINES:
            yield from islice(file.lines(self.single.matcher), SCORED_LINES, None)
