"""The query language: Zoekt's, as a small tree (``docs/query-language.md``).

::

    Query(text, root)
      root: Pattern | Language | Repository | Branch | NamesOnly | Not | And | Or

``parse`` reads any text: it returns a Query or raises INVALID_ARGUMENT with ``query`` and
``position`` (a 0-based character offset) in the details, and nothing else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from ...errors import QueryError
from ...ports.search import QueryMode
from .languages import canonical, near
from .patterns import (
    Matcher,
    Pattern,
    PatternProblem,
    Target,
    compile_pattern,
    escaped,
    has_capital,
    memory_share,
)
from .tokens import Kind, Token, next_token, query_error

MAX_LENGTH = 4096
"""Longest query, in UTF-8 bytes."""
MAX_ATOMS = 64
"""Most words and fields in one query."""
MAX_DEPTH = 32
"""Deepest nesting of parentheses and negations."""

_NOTHING = "there is nothing to search for here; add a word or a filter"
_LONELY_OR = '"or" needs something on both sides; put it in quotes to search for the word'
_LONELY_CLOSE = "this parenthesis closes nothing; write \\) to search for it"


@dataclass(frozen=True, slots=True)
class Language:
    """Files of one language, by its canonical name."""

    name: str


@dataclass(frozen=True, slots=True)
class Repository:
    """True when the regular expression matches the member's repository name, case and all."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Branch:
    """True when the ref that the member was asked by holds ``text``; ``HEAD`` is always true."""

    text: str


@dataclass(frozen=True, slots=True)
class NamesOnly:
    """The files that the child matches, each reported by its name alone."""

    child: "Node"


@dataclass(frozen=True, slots=True)
class Not:
    """The files that the child does not match."""

    child: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """The files that every child matches; there are at least two."""

    children: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The files that any child matches; there are at least two."""

    children: tuple["Node", ...]


Node: TypeAlias = Pattern | Language | Repository | Branch | NamesOnly | Not | And | Or


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read. ``matchers`` has each of its patterns, ready to be looked for."""

    text: str
    root: Node
    matchers: Mapping[Pattern, Matcher] = field(compare=False, repr=False)


def parse(text: str, mode: QueryMode = QueryMode.ZOEKT) -> Query:
    """Read ``text``; INVALID_ARGUMENT with ``query`` and ``position`` when it can't be."""
    _check_text(text)
    parser = _Parser(text)
    root = parser.whole() if mode is QueryMode.ZOEKT else parser.one_pattern(mode)
    return Query(text, root, parser.matchers)


def _check_text(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_LENGTH:
        reason = f"{size} bytes are more than the {MAX_LENGTH} that a query may have"
        raise query_error(text[:200], 0, reason)
    for position, char in enumerate(text):
        if "\ud800" <= char <= "\udfff":
            raise query_error(text, position, "this is half a character (a lone surrogate)")


# A part waits for the case that its scope turns out to have: "case:" may come after it.
_Part: TypeAlias = Callable[[str], Node]


@dataclass(slots=True)
class _Scope:
    """What one pair of parentheses, or the whole query, holds."""

    start: int
    parts: list[list[_Part]]
    case: str = ""
    types: tuple[str, ...] = ()
    last_or: int = -1

    def build(self, inherited: str) -> Node:
        case = self.case or inherited
        node = _join(Or, [_join(And, [part(case) for part in parts]) for parts in self.parts])
        return NamesOnly(node) if self.types and "filematch" not in self.types else node


def _join(kind: type[And] | type[Or], nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else kind(tuple(nodes))


class _Parser:
    """One pass over the tokens, then one over the parts, when every scope's case is known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._atoms = 0
        self._patterns = 0
        self.matchers: dict[Pattern, Matcher] = {}

    def whole(self) -> Node:
        return self._scope(0, 0).build("auto")

    def one_pattern(self, mode: QueryMode) -> Node:
        """The whole text as one word, with nothing special but what its mode says."""
        if not self._text:
            self._fail(0, _NOTHING)
        text = escaped(self._text) if mode is QueryMode.LITERAL else self._text
        self._patterns = 1
        origins = tuple(range(len(text)))
        return self._checked(
            Token(Kind.WORD, text, 0, len(self._text), origins=origins), Target.ANY, "auto"
        )

    def _scope(self, start: int, depth: int) -> _Scope:
        scope = _Scope(start, [[]])
        while (token := next_token(self._text, self._position)) is not None:
            if token.kind is Kind.CLOSE:
                if depth == 0:
                    self._fail(token.start, _LONELY_CLOSE)
                break
            self._position = token.end
            self._take(scope, token, depth)
        if scope.parts == [[]]:
            self._fail(start, _NOTHING)
        if not scope.parts[-1]:
            self._fail(scope.last_or, _LONELY_OR)
        return scope

    def _take(self, scope: _Scope, token: Token, depth: int) -> None:
        if token.kind is Kind.OR:
            if not scope.parts[-1]:
                self._fail(token.start, _LONELY_OR)
            scope.parts.append([])
            scope.last_or = token.start
        elif token.field == "case":
            scope.case = self._choice(token, ("yes", "no", "auto"))
        elif token.field == "type":
            scope.types += (self._type(token),)
        else:
            scope.parts[-1].append(self._part(token, depth))

    def _part(self, token: Token, depth: int) -> _Part:
        if depth >= MAX_DEPTH:
            self._fail(token.start, f"more than {MAX_DEPTH} levels of parentheses and negations")
        if token.kind is Kind.NOT:
            return self._negated(token, depth)
        if token.kind is Kind.OPEN:
            return self._group(token, depth)
        return self._atom(token)

    def _negated(self, minus: Token, depth: int) -> _Part:
        token = next_token(self._text, self._position)
        if token is None or token.kind in (Kind.CLOSE, Kind.OR) or token.field in ("case", "type"):
            self._fail(minus.start, "- excludes what follows it; quote it to search for a hyphen")
        self._position = token.end
        part = self._part(token, depth + 1)
        return lambda case: Not(part(case))

    def _group(self, opening: Token, depth: int) -> _Part:
        scope = self._scope(opening.start, depth + 1)
        token = next_token(self._text, self._position)
        if token is None:
            self._fail(
                opening.start, "this parenthesis is never closed; write \\( to search for it"
            )
        self._position = token.end
        return scope.build

    def _atom(self, token: Token) -> _Part:
        self._atoms += 1
        if self._atoms > MAX_ATOMS:
            self._fail(token.start, f"more than {MAX_ATOMS} words and fields")
        if not token.text:
            self._fail(token.start, "this is empty; give it a value")
        match token.field:
            case "" | "regex":
                return self._pattern(token, Target.ANY)
            case "content":
                return self._pattern(token, Target.CONTENT)
            case "file":
                return self._pattern(token, Target.NAME)
            case "repo":
                self._patterns += 1
                return lambda _: Repository(self._checked(token, Target.REPOSITORY, "yes"))
            case "branch":
                branch = Branch(token.text)
                return lambda _: branch
            case "lang":
                language = Language(self._language(token))
                return lambda _: language
        raise self._refusal(token)

    def _pattern(self, token: Token, target: Target) -> _Part:
        self._patterns += 1
        return lambda case: self._checked(token, target, case)

    def _checked(self, token: Token, target: Target, case: str) -> Pattern:
        sensitive = case == "yes" or (case == "auto" and has_capital(token.text))
        pattern = Pattern(token.text, target, sensitive)
        if pattern in self.matchers:
            return pattern
        try:
            self.matchers[pattern] = compile_pattern(pattern, memory_share(self._patterns))
        except PatternProblem as problem:
            place = token.origin(problem.offset)
            self._fail(place, f"not a regular expression: {problem}")
        return pattern

    def _choice(self, token: Token, allowed: tuple[str, ...]) -> str:
        if token.text not in allowed:
            wanted = ", ".join(allowed)
            self._fail(
                token.start,
                f"{token.field}: takes one of {wanted}; to search for this text, quote it",
            )
        return token.text

    def _type(self, token: Token) -> str:
        if token.text == "repo":
            self._fail(token.start, "type:repo is not possible: a context names its repositories")
        return self._choice(token, ("filematch", "filename", "file"))

    def _language(self, token: Token) -> str:
        name = canonical(token.text)
        if name is None:
            hint = ", ".join(near(token.text))
            more = f"; did you mean {hint}?" if hint else ""
            self._fail(token.start, f"lang: does not know this language{more}")
        return name

    def _refusal(self, token: Token) -> QueryError:
        reason = (
            "sym: is not possible yet: it asks the call graph for definitions, and none is built; "
            "search for the word, files that define it come first"
            if token.field == "sym"
            else f"{token.field}: is not possible here: it selects repositories, and the context "
            "has named them; to search for this text, quote it"
        )
        return query_error(self._text, token.start, reason)

    def _fail(self, position: int, reason: str) -> NoReturn:
        raise query_error(self._text, position, reason)
