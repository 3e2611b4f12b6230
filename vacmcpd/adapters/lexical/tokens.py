"""The words of a query, each with the place it came from.

A word ends at white space or at a closing parenthesis that it did not open. Inside double quotes
everything is literal but a backslash, which takes the next character as it is. A parenthesis that
starts a word groups expressions when white space comes before it closes; otherwise it belongs to
the word's regular expression. Facts: ``query/parse.go`` of sourcegraph/zoekt.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from ...errors import QueryError, invalid_argument

FIELDS = {
    "archived": "archived",
    "b": "branch",
    "branch": "branch",
    "c": "content",
    "case": "case",
    "content": "content",
    "f": "file",
    "file": "file",
    "fork": "fork",
    "l": "lang",
    "lang": "lang",
    "meta": "meta",
    "public": "public",
    "r": "repo",
    "regex": "regex",
    "repo": "repo",
    "sym": "sym",
    "t": "type",
    "type": "type",
}
"""Every spelling of a field and the field that it means."""

_SPACE = " \t\n\r"
_NAMES = "|".join(sorted(set(FIELDS) - {"meta"}, key=len, reverse=True))
_FIELD = re.compile(rf"(?:({_NAMES})|meta\.[^:\s\"()]*):")
# Zoekt reads "(file:x)" as a regular expression, which finds nothing and says nothing.
_GROUPED_FIELD = re.compile(rf"\(+-?(?:{_NAMES}):")


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    FIELD = "field"
    OPEN = "("
    CLOSE = ")"
    NOT = "-"
    OR = "or"


@dataclass(frozen=True, slots=True)
class Token:
    """One token. ``text`` is its value without quotes and without the field's name.

    ``start`` and ``end`` are character offsets in the query, ``origins`` that of each character
    of ``text``, so that an error inside a pattern can be pointed at.
    """

    kind: Kind
    text: str
    start: int
    end: int
    field: str = ""
    origins: tuple[int, ...] = ()

    def origin(self, index: int) -> int:
        """Where character ``index`` of the text stands in the query."""
        return self.origins[index] if index < len(self.origins) else self.start


def query_error(query: str, position: int, reason: str) -> QueryError:
    """INVALID_ARGUMENT for ``query``, pointing at character ``position`` (0-based)."""
    shown = query.encode("utf-8", "replace").decode("utf-8")
    return invalid_argument(
        f"query: {reason} (at character {position})", query=shown, position=position
    )


def next_token(query: str, position: int) -> Token | None:
    """The token that starts at or after ``position``; None at the end."""
    start = position
    while start < len(query) and query[start] in _SPACE:
        start += 1
    if start == len(query):
        return None
    if query[start] == "-":
        return Token(Kind.NOT, "-", start, start + 1)
    if query[start] == ")":
        return Token(Kind.CLOSE, ")", start, start + 1)
    if _GROUPED_FIELD.match(query, start):
        return Token(Kind.OPEN, "(", start, start + 1)
    return _word(query, start)


def _word(query: str, start: int) -> Token:
    chars: list[str] = []
    origins: list[int] = []
    at, depth = start, 0
    while at < len(query) and query[at] not in _SPACE and (query[at] != ")" or depth):
        char = query[at]
        if char == '"':
            at = _quoted(query, at, chars, origins)
            continue
        taken = 2 if char == "\\" else 1
        if at + taken > len(query):
            raise query_error(query, at, "a backslash at the end escapes nothing; write \\\\")
        depth += (char == "(") - (char == ")")
        chars.extend(query[at : at + taken])
        origins.extend(range(at, at + taken))
        at += taken
    # Only a space ends a word inside its own parentheses, so this one opens a group.
    if query[start] == "(" and (at == start + 1 or (depth and at < len(query))):
        return Token(Kind.OPEN, "(", start, start + 1)
    return _named(query, start, at, "".join(chars), origins)


def _quoted(query: str, start: int, chars: list[str], origins: list[int]) -> int:
    at = start + 1
    while at < len(query) and query[at] != '"':
        if query[at] == "\\":
            at += 1
        if at < len(query):
            chars.append(query[at])
            origins.append(at)
        at += 1
    if at >= len(query):
        raise query_error(query, start, 'this quote is never closed; add " or write \\"')
    return at + 1


def _named(query: str, start: int, end: int, text: str, origins: list[int]) -> Token:
    if query[start:end] == "or":
        return Token(Kind.OR, "or", start, end)
    field = _FIELD.match(query, start, end)
    if field is None:
        return Token(Kind.WORD, text, start, end, origins=tuple(origins))
    cut = len(field.group())
    name = FIELDS[field.group(1) or "meta"]
    return Token(Kind.FIELD, text[cut:], start, end, name, tuple(origins[cut:]))
