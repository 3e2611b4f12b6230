r"""One regular expression of a query, in RE2's language, and how it is looked for in bytes.

Text is UTF-8. ``^`` and ``$`` stand at the ends of lines. RE2 is linear in the text, so a hostile
pattern costs at most its program's size times the text, and that size is bounded.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Protocol, TypeAlias

import re2

from .required import MIN_LITERAL, Analysis, Literal, Required, analyse

MAX_PROGRAM = 10_000
"""Most RE2 instructions of one pattern; one word is about one instruction a letter."""
_MEMORY = 64 * 1024 * 1024
_MEMORY_EACH = 8 * 1024 * 1024
# A search inside re2 can't be interrupted: the worst program at 64 KB takes about a second.
WINDOW = 64 * 1024
"""Bytes that are searched at once by what can't be interrupted meanwhile."""
_POLL_EVERY = 512
_DENSE_LINES, _DENSE_BYTES = 8, 16 * 1024
_HINTS = {
    "missing ): ": "; write \\( for a parenthesis, and \\\\( between quotes",
    "missing ]: ": "; write \\[ for a bracket, and \\\\[ between quotes",
}

_LINE_FEED = 0x0A
_META = frozenset("\\.+*?()|[]{}^$")
# RE2 refuses a backslash before a letter that is not ASCII.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# RE2 certainly holds a plain string this long, in any case: ten instructions a character at most.
_SURE = 256
_NO_LETTER = re.compile(
    r"\\Q(.*?)(?:\\E|\Z)|\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\.|\(\?P?<\w*>|\(\?[-a-zA-Z]*[:)]",
    re.DOTALL,
)


class Target(StrEnum):
    """Where a pattern is looked for."""

    ANY = "any"
    """In the content, and in the path."""
    CONTENT = "content"
    NAME = "name"
    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression, where it is looked for, and whether case matters."""

    text: str
    target: Target
    sensitive: bool


class PatternProblem(ValueError):
    """RE2 refused a pattern; ``offset`` is the character of it that is to blame."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


Tick = Callable[[], None]
"""Called often; raises when it is time to stop."""


Line: TypeAlias = tuple[int, bytes, int, int, int, int]
"""A line that matches: its 1-based number, the text, where it begins and ends in the text, and
where its first hit does; a hit that goes on behind the line ends with it.

A bare tuple, since a common word makes a million of them.
"""
_Find: TypeAlias = Callable[[int], tuple[int, int] | None]


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class Regex(Protocol):
    @property
    def programsize(self) -> int: ...

    def search(
        self, text: bytes, pos: int | None = None, endpos: int | None = None
    ) -> _Match | None: ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A pattern that is one string: at the beginning of a line, at its end, or anywhere."""

    text: bytes
    opens: bool
    closes: bool


@dataclass(slots=True)
class Matcher:
    """A pattern, ready to be looked for. Threads may share one.

    ``literal`` is what it looks for when that is a plain string whose case matters; ``folded``,
    in lower case, when it is a plain ASCII string whose case does not. ``one_line`` says that no
    match can hold a line feed. ``as_is`` says that CRLF must be left as it is, since the pattern
    names a carriage return itself, or may be, since it can't tell the difference. ``anchored``
    says that it asks for the ends of the text, so that it can't be looked for piece by piece.
    ``required`` is what every text that it matches holds, None where nothing is known. ``whole`` is
    the pattern when it is no more than a string and the ends of a line, in lower case where case
    is ignored.
    """

    pattern: Pattern
    memory: int
    literal: bytes
    folded: bytes
    one_line: bool
    as_is: bool
    anchored: bool
    required: Required | None
    whole: Whole | None
    _regex: Regex | None = None
    _inside: Regex | None = None

    @property
    def regex(self) -> Regex:
        """The program, compiled when it is first asked for: a plain string needs none."""
        if self._regex is None:
            self._regex = _compile(f"(?m){self.pattern.text}", self.pattern, self.memory)
        return self._regex

    @property
    def inside_lines(self) -> Regex | None:
        """The same for a text in which a line feed ends what is searched, as in a list of names.

        None where that is too large: a class without the line feed takes more instructions.
        """
        if self._inside is None:
            text = f"(?m){self.pattern.text}"
            with suppress(PatternProblem):
                self._inside = _compile(text, self.pattern, self.memory, never_feed=True)
        return self._inside

    def normal(self, text: bytes, crlf: bool) -> bytes:
        """``text`` as it is searched; ``crlf`` says whether it can hold such line ends."""
        return text.replace(b"\r\n", b"\n") if crlf and not self.as_is else text

    def found_in(self, text: bytes) -> bool:
        """Whether it matches anywhere in a short text, such as a path."""
        if self.literal:
            return self.literal in text
        if self.folded and folds_alone(text):
            return self.folded in text.lower()
        return self.regex.search(text) is not None

    def lines(self, text: bytes, tick: Tick) -> Iterator[Line]:
        """Each matching line once, in order.

        A match that spans lines is reported at the first line that it holds a character of. An
        empty match behind the last line feed stands on no line.
        """
        find, size = self._finder(text, tick), len(text)
        number, begin, end = 1, 0, -1
        position = steps = 0
        while position <= size and (span := find(position)) is not None:
            shown = _first_visible(text, *span)
            if shown == size and (not text or text.endswith(b"\n")):
                return
            if shown > end:
                # -1 where this line is the one that began at "begin".
                start = text.rfind(b"\n", begin, shown) + 1 or begin
                number += text.count(b"\n", begin, start)
                begin, end = start, _line_end(text, shown)
                yield number, text, begin, end, shown, max(shown, min(span[1], end))
            # The line feed itself may begin the next match, as in \s*foo.
            position = end if shown < end else end + 1
            steps += 1
            if steps % _POLL_EVERY == 0:
                tick()

    def spans(self, text: bytes, most: int, tick: Tick) -> list[tuple[int, int, int, int]]:
        """The first lines that match, each as the last four of a :data:`Line`.

        For patterns of one line. Counting line feeds takes longer than finding a hit, and most
        files that match are never shown, so lines have no numbers here.
        """
        if len(text) > WINDOW:
            return [line[2:] for line in islice(self.lines(text, tick), most)]
        found: list[tuple[int, int, int, int]] = []
        search, size, position = self.regex.search, len(text), 0
        while len(found) < most and (match := search(text, position)) is not None:
            first, last = match.span()
            if first == size and (not text or text.endswith(b"\n")):
                break
            start = text.rfind(b"\n", position, first) + 1 or position
            end = _line_end(text, first)
            found.append((start, end, first, last))
            position = end + 1
            if position > size:
                break
        return found

    def _needle(self, text: bytes) -> bytes:
        """What to look for in ``text`` without a regular expression; empty where that won't do."""
        needle = self.literal or self.folded
        if b"\n" in needle or not (self.literal or folds_alone(text)):
            return b""
        return needle

    def count(self, text: bytes, tick: Tick) -> int:
        """How many lines :meth:`lines` gives, of a pattern of one line."""
        if len(text) > WINDOW:
            # Of what re2 reads at once, no more than a window: it can't be interrupted.
            whole = self._needle(text)
            return self._count_plain(text, 0) if whole else sum(1 for _ in self.lines(text, tick))
        count, position = 0, 0
        search, size = self.regex.search, len(text)
        while (match := search(text, position)) is not None:
            first = match.span()[0]
            if first == size and (not text or text.endswith(b"\n")):
                return count
            count += 1
            position = _line_end(text, first) + 1
            if position > size:
                return count
            if count == _DENSE_LINES and position < _DENSE_BYTES and self._needle(text):
                # RE2 reads faster than this loop, but calling it takes longer.
                return count + self._count_plain(text, position)
        return count

    def _count_plain(self, text: bytes, position: int) -> int:
        needle = self.literal or self.folded
        if not self.literal:
            text = text.lower()
        count, find = 0, text.find
        at = find(needle, position)
        while at >= 0:
            count += 1
            at = find(b"\n", at)
            if at < 0:
                break
            at = find(needle, at + 1)
        return count

    def _finder(self, text: bytes, tick: Tick) -> _Find:
        if self.literal:
            return _finder_of_literal(text, self.literal)
        if self.folded and folds_alone(text):
            return _finder_of_literal(text.lower(), self.folded)
        if self.one_line and len(text) > WINDOW:
            return _finder_by_window(text, self.regex, tick)
        return _finder_of_regex(text, self.regex)


def _finder_of_literal(text: bytes, literal: bytes) -> _Find:
    def find(position: int) -> tuple[int, int] | None:
        start = text.find(literal, position)
        return None if start < 0 else (start, start + len(literal))

    return find


def _finder_of_regex(text: bytes, regex: Regex) -> _Find:
    def find(position: int) -> tuple[int, int] | None:
        match = regex.search(text, position)
        return None if match is None else match.span()

    return find


def _finder_by_window(text: bytes, regex: Regex, tick: Tick) -> _Find:
    size = len(text)

    def find(position: int) -> tuple[int, int] | None:
        while True:
            border = position + WINDOW
            stop = size if border >= size else min(_line_end(text, border) + 1, size)
            match = regex.search(text, position, stop)
            if match is not None:
                return match.span()
            if stop == size:
                return None
            position = stop
            tick()

    return find


def _first_visible(text: bytes, start: int, end: int) -> int:
    if start == end or text[start] != _LINE_FEED:
        return start
    at = start + 1
    while at < end and text[at] == _LINE_FEED:
        at += 1
    return at if at < end else start


def _line_end(text: bytes, position: int) -> int:
    found = text.find(b"\n", position)
    return len(text) if found < 0 else found


def memory_share(patterns: int) -> int:
    """RE2's memory in bytes for each of ``patterns``, so that one query stays bounded."""
    return min(_MEMORY_EACH, _MEMORY // max(1, patterns))


def folds_alone(text: bytes) -> bool:
    """Whether lower-casing ASCII letters alone finds what RE2 finds for an ASCII pattern.

    Two letters beyond ASCII fold into it: U+212A is a k and U+017F an s.
    """
    return text.isascii() or (b"\xe2\x84\xaa" not in text and b"\xc5\xbf" not in text)


def compile_pattern(pattern: Pattern, memory: int) -> Matcher:
    """A matcher for ``pattern``; PatternProblem when RE2 can't read it or it grows too large."""
    text, literal = pattern.text, _literal(pattern.text)
    regex = None if 0 < len(literal) <= _SURE else _checked(pattern, memory)
    folded = literal.lower() if literal.isascii() and not pattern.sensitive else ""
    found = _of_literal(literal, pattern) or analyse(text, pattern.sensitive)
    return Matcher(
        pattern,
        memory,
        literal.encode("utf-8") if pattern.sensitive else b"",
        folded.encode("ascii"),
        not found.crosses_lines,
        found.names_return or (bool(literal) and "\n" not in literal),
        found.anchored,
        found.required,
        _whole(pattern),
        regex,
    )


def _whole(pattern: Pattern) -> Whole | None:
    text = pattern.text
    opens = text.startswith("^")
    closes = text.endswith("$") and not text.endswith("\\$")
    literal = _literal(text[opens : len(text) - closes])
    if not literal or not (pattern.sensitive or literal.isascii()):
        return None
    shown = literal if pattern.sensitive else literal.lower()
    return Whole(shown.encode("utf-8"), opens, closes)


def _of_literal(literal: str, pattern: Pattern) -> Analysis | None:
    """What is known of a plain ASCII word, without reading it as an expression."""
    if not literal.isascii() or "\n" in literal or "\r" in literal or len(literal) < MIN_LITERAL:
        return None
    data = literal if pattern.sensitive else literal.lower()
    required = Literal(data.encode("ascii"), not pattern.sensitive)
    return Analysis(required, False, False, False)


def _checked(pattern: Pattern, memory: int) -> Regex:
    try:
        return _compile(f"(?m){pattern.text}", pattern, memory)
    except PatternProblem:
        # Once more by itself, so that what is wrong is told as the caller wrote it.
        _compile(pattern.text, pattern, memory)
        raise


def _compile(text: str, pattern: Pattern, memory: int, never_feed: bool = False) -> Regex:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.never_nl = never_feed
    options.case_sensitive = pattern.sensitive
    options.max_mem = memory
    try:
        regex: Regex = re2.compile(text.encode("utf-8"), options)
    except re2.error as error:
        raise _problem(error, pattern.text) from None
    finally:
        # The package keeps the last 128 programs, up to 8 MB each; callers choose those.
        re2.purge()
    # A plain string is bounded by the query's own length.
    if regex.programsize > MAX_PROGRAM and not _literal(pattern.text):
        raise PatternProblem("it is too complicated; use smaller repetitions", 0)
    return regex


def _problem(error: Exception, text: str) -> PatternProblem:
    raw = error.args[0] if error.args else b""
    reason = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    blamed = reason.partition(": ")[2]
    hint = _HINTS.get(reason[: -len(blamed)], "") if blamed else ""
    return PatternProblem(reason + hint, max(0, text.find(blamed)) if blamed else 0)


def escaped(text: str) -> str:
    """A pattern that matches exactly ``text``."""
    return "".join(f"\\{char}" if char in _META else char for char in text)


def _literal(text: str) -> str:
    plain = _ESCAPED.sub("", text)
    return "" if _META & set(plain) else _ESCAPED.sub(r"\1", text)


def has_capital(text: str) -> bool:
    r"""Whether a pattern asks for a capital; ``\S``, ``\pL`` and ``(?P<N>`` do not."""
    return any(char.isupper() for char in _NO_LETTER.sub(lambda found: found[1] or "", text))
