"""In which order matches are given: the best of each window of files first.

Files are looked at in an order that is known before any is read (:attr:`.views.View.order`, with
files that are called like a word of the query before all others). Those that match are gathered
into windows; a window's files are sorted by their score, and a file's lines stand together. So the
order depends on the query and the tree alone, pages of any size join to the whole, and the first
page costs one window.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .patterns import Line, Pattern, Target
from .query import And, NamesOnly, Node, Or, Query
from .tiers import Tier

WINDOW_FILES = 24
_BEFORE = 160

WHOLE_WORD, HALF_WORD, DEFINITION = 100, 40, 250
CALLED_SO, NAME_HOLDS, PATH_HOLDS = 150, 60, 20
TIER = {Tier.SOURCE: 0, Tier.TEST: -120, Tier.VENDORED: -160, Tier.GENERATED: -200}

_WORD = re.compile(rb"[0-9A-Za-z_]")
# What stands before the name in a definition. The lines of a hostile file cost linear time.
_DEFINES = re.compile(
    rb"(?:^|[^0-9A-Za-z_.])"
    rb"(?:def|class|func|function|fn|fun|sub|type|struct|interface|enum|trait|union|module"
    rb"|namespace|package|record|protocol|extension|object|macro|define|const|typedef|proc)"
    rb"[ \t]+(?:\([^()]{0,80}\)[ \t]*|[*&]+)?$"
)

# Languages that name no keyword: a type or modifiers, the name, its parameters, and no statement.
_TYPED = re.compile(rb"[ \t]*(?:[A-Za-z_][^ \t\"'=(){};,]*[ \t]+)+[*&]*$")
_STATEMENT = re.compile(
    rb"\b(?:return|else|new|throw|throws|await|yield|case|goto|in|not|and|or|if|while|for|delete"
    rb"|assert|raise|print|echo|import|from|include|call|do|try|defer|go|of|is|as)\b"
)


@dataclass(frozen=True, slots=True)
class Words:
    """The plain words of a query, in lower case, that a file's name may be or hold."""

    words: tuple[bytes, ...]

    def called_so(self, name: bytes) -> bool:
        """Whether a file is called like one of them, whatever its extension."""
        stem = name.rpartition(b"/")[2].partition(b".")[0].lower()
        return stem in self.words

    def score(self, name: bytes) -> int:
        """What a file's path adds."""
        lowered = name.lower()
        base = lowered.rpartition(b"/")[2]
        return max(
            (
                CALLED_SO
                if base.partition(b".")[0] == word
                else NAME_HOLDS
                if word in base
                else PATH_HOLDS
                if word in lowered
                else 0
                for word in self.words
            ),
            default=0,
        )


def words_of(query: Query) -> Words:
    """The words of a query that are looked for, not those that are excluded."""
    return Words(tuple(dict.fromkeys(_words(query.root, query))))


def _words(node: Node, query: Query) -> Iterable[bytes]:
    match node:
        case Pattern(target=Target.ANY | Target.CONTENT | Target.NAME):
            matcher = query.matchers[node]
            word = (matcher.literal or matcher.folded).lower()
            if word:
                yield word
        case And(children) | Or(children):
            for child in children:
                yield from _words(child, query)
        case NamesOnly(child):
            yield from _words(child, query)
        case _:
            return


def score_of_lines(lines: Iterable[Line]) -> int:
    """What the best of these lines is worth."""
    return max(map(_score, lines), default=0)


def _score(line: Line) -> int:
    _, text, start, end, first, last = line
    if first == last:
        return 0
    opens = first == start or not _WORD.match(text, first - 1) or not _WORD.match(text, first)
    closes = last >= end or not _WORD.match(text, last) or not _WORD.match(text, last - 1)
    if not (opens and closes):
        return HALF_WORD if opens or closes else 0
    return WHOLE_WORD + (DEFINITION if _is_definition(text, start, first, last, end) else 0)


def _is_definition(text: bytes, start: int, first: int, last: int, end: int) -> bool:
    before = text[max(start, first - _BEFORE) : first]
    if _DEFINES.search(before):
        return True
    after = text[last : min(end, last + _BEFORE)].rstrip()
    if first - start > _BEFORE or not after.startswith(b"(") or after.endswith(b";"):
        return False
    return _TYPED.match(before) is not None and not _STATEMENT.search(before)
