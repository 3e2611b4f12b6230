"""Which rows of a tree a query can match, before any text is read."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...model import Scope
from .candidates import Hits
from .patterns import Pattern, Target
from .query import And, Branch, Language, NamesOnly, Node, Not, Or, Query, Repository
from .views import Mask, View


@dataclass(frozen=True, slots=True)
class Plan:
    """``possible``: no other row matches.

    ``hits`` has where each matcher can match, by its identity; ``named`` the rows whose path holds
    a word of the query. ``masks`` has what is possible for each part of the query.
    """

    possible: Mask
    hits: Mapping[int, Hits]
    named: Mask
    masks: Mapping[Node, Mask]
    names: Mapping[Pattern, Mask]


def reads_text(node: Node) -> bool:
    """Whether any pattern of it looks into files."""
    match node:
        case Pattern(target=target):
            return target in (Target.ANY, Target.CONTENT)
        case And(children) | Or(children):
            return any(map(reads_text, children))
        case Not(child) | NamesOnly(child):
            return reads_text(child)
        case _:
            return False


@dataclass(slots=True)
class _Planner:
    query: Query
    scope: Scope
    view: View
    hits: dict[int, Hits]
    named: Mask
    masks: dict[Node, Mask]
    names: dict[Pattern, Mask]

    def of(self, node: Node) -> tuple[Mask, Mask]:
        """The rows that match ``node`` for sure, and those that may."""
        found = self._of(node)
        self.masks[node] = found[1]
        return found

    def _of(self, node: Node) -> tuple[Mask, Mask]:
        match node:
            case Pattern():
                return self._pattern(node)
            case Language(name):
                return _both(self.view.in_language(name))
            case Repository(pattern):
                matcher = self.query.matchers[pattern]
                return self._all(matcher.found_in(self.scope.repository.encode("utf-8")))
            case Branch(text):
                return self._all(text == "HEAD" or text in self.scope.member.branch)
            case NamesOnly(child):
                return self.of(child)
            case Not(child):
                sure, possible = self.of(child)
                return ~possible, ~sure
            case And(children):
                masks = [self.of(child) for child in children]
                return (
                    np.logical_and.reduce([sure for sure, _ in masks]),
                    np.logical_and.reduce([possible for _, possible in masks]),
                )
            case Or(children):
                masks = [self.of(child) for child in children]
                return (
                    np.logical_or.reduce([sure for sure, _ in masks]),
                    np.logical_or.reduce([possible for _, possible in masks]),
                )

    def _pattern(self, pattern: Pattern) -> tuple[Mask, Mask]:
        if pattern.target is Target.NAME:
            return _both(self._in_names(pattern))
        matcher = self.query.matchers[pattern]
        found = self.hits.setdefault(id(matcher), Hits(self.view, matcher)).rows
        if pattern.target is Target.CONTENT:
            return np.zeros(len(self.view), bool), found
        named = self._in_names(pattern)
        return named, named | found

    def _in_names(self, pattern: Pattern) -> Mask:
        found = self.names[pattern] = self.view.names.matching(self.query.matchers[pattern])
        self.named |= found
        return found

    def _all(self, holds: bool) -> tuple[Mask, Mask]:
        return _both(np.full(len(self.view), holds))


def plan_query(query: Query, scope: Scope, view: View) -> Plan:
    """The rows that ``query`` can match in ``view``."""
    planner = _Planner(query, scope, view, {}, np.zeros(len(view), bool), {}, {})
    _, possible = planner.of(query.root)
    return Plan(possible, planner.hits, planner.named, planner.masks, planner.names)


def _both(mask: Mask) -> tuple[Mask, Mask]:
    return mask, mask
