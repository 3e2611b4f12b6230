"""A query turned into a test of one file, which gathers the lines that match as it goes."""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, TypeAlias

from ...model import Scope
from .patterns import Line, Matcher, Pattern, Target
from .query import And, Branch, Language, NamesOnly, Node, Not, Or, Query, Repository


class Candidate(Protocol):
    """A file as the tests see it; its content is read when first asked for."""

    @property
    def name(self) -> bytes:
        """The path as UTF-8."""
        ...

    def language(self) -> str | None:
        """Its language, where it has one."""
        ...

    def lines(self, matcher: Matcher) -> Iterator[Line]:
        """The lines of its content that match; none when the content is not searched."""
        ...


Found: TypeAlias = list[Iterator[Line]]
Check: TypeAlias = Callable[[Candidate, Found | None], bool]
"""Whether a file matches. With a list, the matching lines are added to it if and only if so."""


@dataclass(frozen=True, slots=True)
class Test:
    """A check and how dear it is: 0 reads no content, 2 runs a regular expression over it."""

    check: Check
    cost: int


def compile_query(query: Query, scope: Scope) -> Test:
    """The test of ``query`` for files of the scope's member."""
    return _compile(query.root, scope, query.matchers)


def merged(found: Found) -> Iterator[Line]:
    """Each line once, in order."""
    if len(found) == 1:
        yield from found[0]
        return
    last = 0
    for line in heapq.merge(*found, key=_place):
        if line[0] != last:
            last = line[0]
            yield line


def _place(line: Line) -> tuple[int, int]:
    # By where the hit stands in its line: two texts of a line can differ, CRLF in one of them.
    return line[0], line[4] - line[2]


def _compile(node: Node, scope: Scope, matchers: Mapping[Pattern, Matcher]) -> Test:
    match node:
        case Pattern():
            return _pattern(node, matchers[node])
        case Language(name):
            return Test(lambda file, _: file.language() == name, 0)
        case Repository(pattern):
            return _constant(matchers[pattern].found_in(scope.repository.encode("utf-8")))
        case Branch(text):
            return _constant(text == "HEAD" or text in scope.member.branch)
        case NamesOnly(child):
            return _without_lines(_compile(child, scope, matchers), lambda holds: holds)
        case Not(child):
            return _without_lines(_compile(child, scope, matchers), lambda holds: not holds)
        case And(children):
            return _all([_compile(child, scope, matchers) for child in children])
        case Or(children):
            return _any([_compile(child, scope, matchers) for child in children])


def _constant(holds: bool) -> Test:
    return Test(lambda _file, _found: holds, 0)


def _without_lines(test: Test, outcome: Callable[[bool], bool]) -> Test:
    return Test(lambda file, _: outcome(test.check(file, None)), test.cost)


def _pattern(pattern: Pattern, matcher: Matcher) -> Test:
    if pattern.target is Target.NAME:
        return Test(lambda file, _: matcher.found_in(file.name), 0)
    cost = 1 if matcher.literal else 2
    if pattern.target is Target.CONTENT:
        return Test(lambda file, found: _in_content(file, matcher, found), cost)
    return Test(lambda file, found: _anywhere(file, matcher, found), cost)


def _in_content(file: Candidate, matcher: Matcher, found: Found | None) -> bool:
    lines = file.lines(matcher)
    first = next(lines, None)
    if first is None:
        return False
    if found is not None:
        found.append(chain((first,), lines))
    return True


def _anywhere(file: Candidate, matcher: Matcher, found: Found | None) -> bool:
    # Whoever wants lines needs the content even where the name matches already.
    if found is None and matcher.found_in(file.name):
        return True
    return _in_content(file, matcher, found) or matcher.found_in(file.name)


def _all(tests: list[Test]) -> Test:
    ordered = sorted(tests, key=lambda test: test.cost)

    def check(file: Candidate, found: Found | None) -> bool:
        gathered: Found | None = None if found is None else []
        for test in ordered:
            if not test.check(file, gathered):
                return False
        if found is not None and gathered:
            found.extend(gathered)
        return True

    return Test(check, ordered[-1].cost)


def _any(tests: list[Test]) -> Test:
    ordered = sorted(tests, key=lambda test: test.cost)

    def check(file: Candidate, found: Found | None) -> bool:
        holds = False
        for test in ordered:
            # Whoever wants lines asks them all, since each that holds adds its own.
            holds = test.check(file, found) or holds
            if holds and found is None:
                return True
        return holds

    return Test(check, ordered[-1].cost)
