r"""What every text that a regular expression matches must hold, read from the expression alone.

RE2 judges what matches; this only says where it is not worth looking, so it may say too little but
never too much. It reads RE2's syntax with Perl classes (``re2/parse.cc``): literals, classes,
groups, flags, alternation, repetition, anchors, ``\Q…\E``. What it does not know makes it say
nothing at all.

A pattern is kept as *exact*, the few strings that it can match, as long as they stay few; from
there on only as what those must hold.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MIN_LITERAL = 3
"""Bytes: shorter ones are not in the index."""
_MOST_STRINGS = 16
_LONGEST = 64
_SMALL_CLASS = 8
_MOST_DEPTH = 100
_COPIES = 4

# RE2 takes a count with a leading zero, or of ten digits, as plain text; so are other braces.
_REPEAT = re.compile(r"(?:([*+?])|\{(0|[1-9][0-9]{0,8})(?:(,)(0|[1-9][0-9]{0,8})?)?\})\??")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<\w+>")
_HEX = re.compile(r"\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))")
_OCTAL = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))")
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
# Categories without control characters; scripts can hold some (Common does).
_NO_CONTROL = re.compile(r"[LMNPSZ][a-z]?")
_SIMPLE = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_POSIX_WITH_FEED = frozenset({"ascii", "cntrl", "space"})
_CUT = re.compile(r"[\r\n]+")
# Letters here have no other case, so they are the same bytes in any.
_CASELESS = re.compile(
    "[\u0590-\u05ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string of at least three bytes, without line ends.

    When ``folded``, ASCII letters are in lower case here and of any case in the text; and a text
    that holds U+212A or U+017F may match without it, since RE2 folds those to k and s.
    """

    data: bytes
    folded: bool


@dataclass(frozen=True, slots=True)
class AllOf:
    """Each of these; there are at least two."""

    parts: tuple["Required", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these; there are at least two."""

    parts: tuple["Required", ...]


Required: TypeAlias = Literal | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Analysis:
    r"""What is known of a pattern that is matched with ``^`` and ``$`` at the ends of lines.

    ``required`` is None where nothing is. ``crosses_lines``: a match may hold a line feed.
    ``anchored``: it asks for the ends of the text (``\A``, ``\z``). ``names_return``: it asks for a
    carriage return by name, so that CRLF must not be folded.
    """

    required: Required | None
    crosses_lines: bool
    anchored: bool
    names_return: bool


def analyse(text: str, sensitive: bool) -> Analysis:
    """What is known of ``text``, which RE2 accepts; never raises."""
    reader = _Reader(text, _Flags(fold=not sensitive))
    try:
        found = reader.whole()
    except _UnknownError:
        returns = "\r" in text or re.search(r"\\[rx0-7]", text) is not None
        return Analysis(None, True, True, returns)
    return Analysis(found.needed(), found.feed, reader.anchored, reader.names_return)


class _UnknownError(Exception):
    """Something that this module does not read."""


@dataclass(frozen=True, slots=True)
class _Flags:
    fold: bool
    lines: bool = True
    dot_all: bool = False

    def changed(self, on: str, off: str) -> "_Flags":
        def value(letter: str, now: bool) -> bool:
            return letter not in off and (letter in on or now)

        return _Flags(value("i", self.fold), value("m", self.lines), value("s", self.dot_all))


_Strings: TypeAlias = frozenset[tuple[str, bool]]
"""Strings, each with whether the case of its ASCII letters is folded; then they are lower."""
_EMPTY: _Strings = frozenset({("", False)})


@dataclass(frozen=True, slots=True)
class _Found:
    """``exact``: all that it can match; or else ``required``. ``feed``: it can match one."""

    exact: _Strings | None
    required: Required | None
    feed: bool

    def needed(self) -> Required | None:
        return self.required if self.exact is None else _of_strings(self.exact)


_NOTHING = _Found(_EMPTY, None, False)


def _something(feed: bool) -> _Found:
    return _Found(None, None, feed)


class _Reader:
    """One pass over the pattern, by recursive descent."""

    def __init__(self, text: str, flags: _Flags) -> None:
        self._text = text
        self._at = 0
        self._flags = flags
        self._depth = 0
        self.anchored = False
        self.names_return = False

    def whole(self) -> _Found:
        found = self._alternatives()
        if self._at < len(self._text):
            raise _UnknownError
        return found

    def _alternatives(self) -> _Found:
        choices = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            choices.append(self._sequence())
        return _either(choices)

    def _sequence(self) -> _Found:
        items, newest = list[_Found](), list[_Found]()
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            repeat = _REPEAT.match(self._text, self._at)
            if repeat is not None and items:
                # Behind flags, RE2 repeats what stands before them, all that a repeat made of it.
                if not newest:
                    raise _UnknownError
                self._at = repeat.end()
                items[-1:] = _repeated(items[-1], *_bounds(repeat))
            else:
                newest = self._item()
                items += newest
        return _in_sequence(items)

    def _item(self) -> list[_Found]:
        char = self._text[self._at]
        match char:
            case "(":
                return self._group()
            case "[":
                return [self._class()]
            case "\\":
                return self._escape()
            case ".":
                self._at += 1
                return [_something(self._flags.dot_all)]
            case "^" | "$":
                self._at += 1
                self.anchored = self.anchored or not self._flags.lines
                return [_NOTHING]
        self._at += 1
        return [self._char(char)]

    def _group(self) -> list[_Found]:
        before = self._flags
        flags = _FLAGS.match(self._text, self._at)
        if flags is not None:
            self._flags = before.changed(flags[1], flags[2] or "")
            self._at = flags.end()
            if flags[3] == ")":
                return []
        elif named := _NAMED.match(self._text, self._at):
            self._at = named.end()
        elif self._text.startswith("(?", self._at):
            raise _UnknownError
        else:
            self._at += 1
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise _UnknownError
        found = self._alternatives()
        if not self._text.startswith(")", self._at):
            raise _UnknownError
        self._at += 1
        self._depth -= 1
        self._flags = before
        return [found]

    def _char(self, char: str) -> _Found:
        self.names_return = self.names_return or char == "\r"
        strings = self._strings(char)
        return _Found(strings, None, char == "\n") if strings else _something(False)

    def _strings(self, char: str) -> _Strings:
        """The character as the one string it can be; none when its case is not ASCII's."""
        if not self._flags.fold:
            return frozenset({(char, False)})
        if char.isascii():
            return frozenset({(char.lower(), char.isalpha())})
        return frozenset({(char, False)}) if _CASELESS.match(char) else frozenset()

    def _escape(self) -> list[_Found]:
        text, at = self._text, self._at
        if text.startswith("\\Q", at):
            end = text.find("\\E", at + 2)
            quoted = text[at + 2 :] if end < 0 else text[at + 2 : end]
            self._at = len(text) if end < 0 else end + 2
            return [self._char(char) for char in quoted]
        feed = self._perl_class()
        if feed is not None:
            return [_something(feed)]
        kind = text[at + 1 : at + 2]
        if kind in ("b", "B", "A", "z"):
            self._at += 2
            self.anchored = self.anchored or kind in "Az"
            return [_NOTHING]
        return [self._char(self._escaped_char())]

    def _perl_class(self, inverted: bool = False) -> bool | None:
        r"""Step over ``\d``, ``\pL`` and the like; whether it can match a line feed.

        When ``inverted``, whether what it does not match can be one.
        """
        found = _PROPERTY.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            if not _NO_CONTROL.fullmatch(found[3] or found[4]):
                return True
            return (found[1] == "P") ^ bool(found[2]) ^ inverted
        kind = self._text[self._at + 1 : self._at + 2]
        if kind and kind in "dwSsDW":
            self._at += 2
            return (kind in "sDW") != inverted
        return None

    def _escaped_char(self) -> str:
        text, at = self._text, self._at
        if found := _HEX.match(text, at):
            self._at = found.end()
            return _char_of(int(found[1] or found[2], 16))
        if found := _OCTAL.match(text, at):
            self._at = found.end()
            return _char_of(int(found[1], 8))
        char = text[at + 1 : at + 2]
        self._at += 2
        if char in _SIMPLE:
            return _SIMPLE[char]
        if not char or not char.isascii() or char.isalnum():
            raise _UnknownError
        return char

    def _class(self) -> _Found:
        self._at += 1
        negated = self._text.startswith("^", self._at)
        self._at += negated
        chars: set[str] = set()
        feeds: list[bool] = []
        small = first = True
        while first or not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                raise _UnknownError
            first = False
            broad = self._broad_item(negated)
            if broad is not None:
                small = False
                feeds.append(broad)
                continue
            low, high = self._range()
            feeds.append((low <= "\n" <= high) != negated)
            if ord(high) - ord(low) >= _SMALL_CLASS:
                small = False
            else:
                chars.update(map(chr, range(ord(low), ord(high) + 1)))
        self._at += 1
        if negated:
            return _something(all(feeds))
        return self._one_of(chars, any(feeds)) if small else _something(any(feeds))

    def _broad_item(self, inverted: bool) -> bool | None:
        posix = _POSIX.match(self._text, self._at)
        if posix is not None:
            self._at = posix.end()
            return (posix[2] in _POSIX_WITH_FEED) ^ bool(posix[1]) ^ inverted
        return self._perl_class(inverted) if self._text.startswith("\\", self._at) else None

    def _range(self) -> tuple[str, str]:
        low = self._class_char()
        if not self._text.startswith("-", self._at) or self._text.startswith("-]", self._at):
            return low, low
        self._at += 1
        high = self._class_char()
        if high < low:
            raise _UnknownError
        return low, high

    def _class_char(self) -> str:
        if self._text.startswith("\\", self._at):
            char = self._escaped_char()
        else:
            char = self._text[self._at : self._at + 1]
            self._at += 1
        if not char:
            raise _UnknownError
        self.names_return = self.names_return or char == "\r"
        return char

    def _one_of(self, chars: Iterable[str], feed: bool) -> _Found:
        strings: set[tuple[str, bool]] = set()
        for char in chars:
            found = self._strings(char)
            if not found:
                return _something(feed)
            strings |= found
        if not 0 < len(strings) <= _SMALL_CLASS:
            return _something(feed)
        return _Found(frozenset(strings), None, feed)


def _char_of(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise _UnknownError
    return chr(code)


def _bounds(repeat: "re.Match[str]") -> tuple[int, int | None]:
    """The least and the most times; None for any number."""
    if repeat[1]:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[repeat[1]]
    low = int(repeat[2])
    if not repeat[3]:
        return low, low
    return low, int(repeat[4]) if repeat[4] else None


def _repeated(item: _Found, low: int, high: int | None) -> list[_Found]:
    """What stands in the sequence for ``item`` so many times."""
    if high == 0:
        return [_NOTHING]
    if low == 0:
        if high == 1:
            return [_either([item, _NOTHING])]
        return [_something(item.feed)]
    copies = [item] * min(low, _COPIES)
    return copies if low == high and low <= _COPIES else [*copies, _something(item.feed)]


def _either(choices: Sequence[_Found]) -> _Found:
    feed = any(choice.feed for choice in choices)
    strings: set[tuple[str, bool]] = set()
    for choice in choices:
        if choice.exact is None or len(strings | choice.exact) > _MOST_STRINGS:
            needed = [each.needed() for each in choices]
            return _Found(None, _any_of(needed), feed)
        strings |= choice.exact
    return _Found(frozenset(strings), None, feed)


def _in_sequence(items: Sequence[_Found]) -> _Found:
    feed = any(item.feed for item in items)
    run, parts, exact = _EMPTY, [], True
    for item in items:
        if item.exact is not None:
            longer = _crossed(run, item.exact)
            if longer is not None:
                run = longer
                continue
            parts.append(_of_strings(run))
            run = item.exact
        else:
            parts += [_of_strings(run), item.required]
            run = _EMPTY
        exact = False
    if exact:
        return _Found(run, None, feed)
    return _Found(None, _all_of([*parts, _of_strings(run)]), feed)


def _crossed(left: _Strings, right: _Strings) -> _Strings | None:
    """Every string of one with every string of the other; None when those are too many."""
    if len(left) * len(right) > _MOST_STRINGS:
        return None
    found = frozenset(_together(one, other) for one in left for other in right)
    return None if max(len(text) for text, _ in found) > _LONGEST else found


def _together(left: tuple[str, bool], right: tuple[str, bool]) -> tuple[str, bool]:
    if left[1] == right[1]:
        return left[0] + right[0], left[1]
    return _lowered(left[0]) + _lowered(right[0]), True


def _lowered(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _of_strings(strings: _Strings) -> Required | None:
    return _any_of([_of_string(*each) for each in sorted(strings)])


def _of_string(text: str, folded: bool) -> Required | None:
    pieces = [piece.encode("utf-8") for piece in _CUT.split(text)]
    return _all_of([Literal(data, folded) for data in pieces if len(data) >= MIN_LITERAL])


def _all_of(parts: Iterable[Required | None]) -> Required | None:
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    if len(known) < 2:
        return known[0] if known else None
    return AllOf(known)


def _any_of(parts: Sequence[Required | None]) -> Required | None:
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    if not known or None in parts:
        return None
    return known[0] if len(known) == 1 else AnyOf(known)
