"""Links a version in rounds, and keeps what an earlier version's files read alike.

A file's record follows from its blob and the leaves it read. A file whose blob is the earlier
version's, none of whose leaves changed, keeps its record; the others are linked again. What a
round passes into parameters are the cells of the next one, never of its own, so that no record
rests on the order of work.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from ..facts import Attr, Call, FileFacts, ScopeKind
from ..languages.registry import Language
from . import members
from .changes import (
    changed_items,
    changed_outline,
    changed_presence,
    changed_table,
    changed_tree,
)
from .implementing import derived, implementers
from .linker import TOO_DEEP, Linker, Node, leaf_of
from .records import Bases, Edges, Linked, Outline
from .sites import Site, is_silent, passed, site_of
from .tree import Tree
from .units import METHODS, Declaration, Unit
from .values import Inst, Klass, Value
from .writing import Row, edges_of, first_rows, row_of

ROUNDS = 3
"""The first follows no parameters, each further one follows them one call deeper."""

Poll = Callable[[], None]
Cells = dict[str, tuple[str, ...]]


@dataclass(slots=True)
class Version:
    """The code of one version: ``languages`` by path, the facts loaded when they are needed."""

    tree: Tree
    languages: Mapping[str, Language]
    load: Callable[[str], FileFacts]
    packages: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)
    members: dict[tuple[str, str], dict[str, list[str]]] = field(default_factory=dict)
    properties: dict[str, dict[str, int]] = field(default_factory=dict)
    _units: dict[str, Unit] = field(default_factory=dict)

    def unit(self, path: str) -> Unit | None:
        """The facts of a code file, loaded when first asked for."""
        found = self._units.get(path)
        if found is None:
            language = self.languages.get(path)
            if language is None:
                return None
            found = self._units[path] = Unit(path, self.load(path), language)
        return found

    def family(self, path: str) -> str:
        """The languages that see each other's names."""
        language = self.languages[path]
        return language.family or language.name


@dataclass(frozen=True, slots=True)
class Previous:
    """A version that was linked already, and its records by path."""

    version: Version
    records: Mapping[str, Linked]


@dataclass(frozen=True, slots=True)
class LinkResult:
    """The records of every code file, by path; how many of them were made anew."""

    records: dict[str, Linked]
    linked: int


def link(
    version: Version, previous: Previous | None = None, poll: Poll = lambda: None
) -> LinkResult:
    """The records of ``version``; ``poll`` is called between files and may raise.

    With a previous version the result is the same, sooner.
    """
    return _Run(version, previous, poll).records()


@dataclass(slots=True)
class _Draft:
    """A file's record while its rounds are made."""

    outline: Outline
    bases: Bases = field(default_factory=Bases)
    old: Linked | None = None
    pending: list[int] = field(default_factory=list)
    given: list[list[tuple[str, list[str]]]] = field(default_factory=list)
    reads: list[bytes] = field(default_factory=list)
    first: Edges | None = None
    last: Edges | None = None
    linked: bool = False
    """Whether any round was made anew."""
    round: int = 0
    """The last that was made anew, after the first."""


class _Run:
    """The state of one link."""

    def __init__(self, version: Version, previous: Previous | None, poll: Poll) -> None:
        self.version = version
        self.previous = previous
        self.poll = poll
        self.paths = sorted(version.languages)
        self.same = self._same_paths()
        self.changed = self._changed()
        self.drafts: dict[str, _Draft] = {}
        self.moved: set[int] = set()
        """The leaves of what the last round passed on anew."""

    def _same_paths(self) -> set[str]:
        """The code files that the earlier version has with the same content and language."""
        if self.previous is None:
            return set()
        old, new = self.previous.version, self.version
        return {
            path
            for path in self.paths
            if path in self.previous.records
            and old.tree.blobs.get(path) == new.tree.blobs.get(path)
            and old.languages.get(path) is new.languages[path]
        }

    def _changed(self) -> set[int]:
        if self.previous is None:
            return set()
        old, new = self.previous.version, self.version
        languages = [*old.languages.values(), *new.languages.values()]
        essences = {
            name: essence
            for language in {language.name: language for language in languages}.values()
            for name, essence in language.rules.essences.items()
        }
        leaves = {leaf_of(TOO_DEEP), *changed_tree(old.tree, new.tree, essences)}
        for path in sorted((old.languages.keys() | new.languages.keys()) - self.same):
            leaves |= changed_items(old.unit(path), new.unit(path))
        return leaves

    def records(self) -> LinkResult:
        """Outlines, bases, then the rounds."""
        self._outlines()
        below = self._bases()
        linker: Linker | None = None
        cells: Cells = {}
        for round_ in range(1, ROUNDS + 1):
            linker = Linker(self.version, round_=round_, cells=cells, below=below, earlier=linker)
            self._round(linker, round_)
            passed_before, cells = cells, self._cells(round_)
            self.moved = changed_table("cell", passed_before, cells)
            before = self._old_cells(round_)
            if before is not None:
                self.changed |= changed_table("cell", before, cells)
        made = {path: self._record(path) for path in self.paths}
        return LinkResult(made, sum(draft.linked for draft in self.drafts.values()))

    # Outlines

    def _outlines(self) -> None:
        version = self.version
        for path in self.paths:
            old = self._old(path)
            outline = self._kept(path, old.outline) if old is not None else self._outline(path)
            self.drafts[path] = _Draft(outline, old=old)
            family = version.family(path)
            names = version.packages.setdefault((family, outline.package), {})
            for name in outline.names:
                names.setdefault(name, []).append(path)
            attached = version.members.setdefault((family, outline.package), {})
            for name in outline.members:
                attached.setdefault(name, []).append(path)
            properties = version.properties.setdefault(family, {})
            for name in outline.properties:
                properties[name] = properties.get(name, 0) + 1
        if self.previous is not None:
            self._changed_outlines(self.previous)

    def _old(self, path: str) -> Linked | None:
        return self.previous.records[path] if self.previous and path in self.same else None

    def _kept(self, path: str, old: Outline) -> Outline:
        """The outline of a file that did not change; its package may be another one now."""
        rules = self.version.languages[path].rules
        if rules.package is None:
            return old
        package = rules.package(self.version.tree, path, old.namespace)
        return old if package == old.package else replace(old, package=package)

    def _outline(self, path: str) -> Outline:
        unit = self._unit(path)
        rules = unit.rules
        properties = sorted(
            {
                made.name.rpartition(".")[2]
                for made in unit.declarations
                if made.kind is ScopeKind.PROPERTY or _is_implicit(made)
            }
        )
        if rules.package is None:
            return Outline(properties=properties)
        namespace = unit.facts.namespace
        package = rules.package(self.version.tree, path, namespace)
        return Outline(
            namespace, package, sorted(unit.module.binds), sorted(unit.attached), properties
        )

    def _changed_outlines(self, previous: Previous) -> None:
        old = previous.version
        self.changed |= changed_presence(
            ((old.family(path), record.outline) for path, record in previous.records.items()),
            ((self.version.family(path), draft.outline) for path, draft in self.drafts.items()),
        )
        for path in sorted(old.languages.keys() | self.version.languages.keys()):
            record, draft = previous.records.get(path), self.drafts.get(path)
            before = record.outline if record is not None else None
            after = draft.outline if draft is not None else None
            if before is after:
                continue
            families = {
                version.family(path) for version in (old, self.version) if path in version.languages
            }
            for family in sorted(families):
                self.changed |= changed_outline(family, before, after)
            if len(families) > 1:
                for family in sorted(families):
                    self.changed |= changed_outline(family, before, None)
                    self.changed |= changed_outline(family, None, after)

    # Bases

    def _bases(self) -> dict[str, tuple[str, ...]]:
        linker = Linker(self.version)
        for path, draft in self.drafts.items():
            old = draft.old
            if old is not None and self._holds(old.bases.reads):
                draft.bases = old.bases
            else:
                draft.bases = self._bases_of(linker, path)
        below = self._below({path: draft.bases for path, draft in self.drafts.items()})
        if self.previous is not None:
            records = self.previous.records.items()
            before = self._below({path: record.bases for path, record in records})
            self.changed |= changed_table("below", before, below)
        return below

    def _bases_of(self, linker: Linker, path: str) -> Bases:
        unit = self._unit(path)
        linker.top = Node(-1)
        classes, methods = [], []
        reads: set[int] = set()
        for made in unit.declarations:
            if not made.is_class:
                continue
            reads |= linker.top.reads
            keys = [
                value.decl.key
                for values in self._bases_in(linker, made)
                for value in values
                if isinstance(value, Klass | Inst)
            ]
            if keys:
                classes.append((made.key, keys))
            if unit.rules.structural:
                names = self._method_names(linker, made)
                methods.append((made.key, names, made.kind == 2))
        return Bases(classes, methods, _pack(reads | linker.top.reads))

    def _unit(self, path: str) -> Unit:
        unit = self.version.unit(path)
        assert unit is not None
        return unit

    @staticmethod
    def _bases_in(linker: Linker, made: Declaration) -> list[list[Value]]:
        return linker.within(lambda: members.bases(linker, made), [])

    def _method_names(self, linker: Linker, made: Declaration) -> list[str]:
        unit = made.unit
        own = {child.name for child in made.children.values() if child.kind in METHODS}
        package_of = unit.rules.package
        if package_of is not None:
            package = package_of(self.version.tree, unit.path, unit.facts.namespace)
            family = self.version.family(unit.path)
            prefix = f"{made.name}."
            attached = self.version.members.get((family, package), {})
            own |= {name[len(prefix) :] for name in attached if name.startswith(prefix)}
            linker.read(f"methods\0{family}\0{package}\0{made.name}")
        return sorted(own)

    @staticmethod
    def _below(records: Mapping[str, Bases]) -> dict[str, tuple[str, ...]]:
        below = derived(records.values())
        return {**below, **implementers(records.values())}

    # Rounds

    def _round(self, linker: Linker, round_: int) -> None:
        for path, draft in self.drafts.items():
            old = draft.old
            fresh = round_ > 1 and draft.first is not None
            if old is not None and not fresh and self._holds(old.reads[round_ - 1]):
                draft.given.append(old.given[round_ - 1])
                draft.reads.append(old.reads[round_ - 1])
                draft.last = None
                if round_ == 1:
                    draft.pending = old.pending
            elif round_ == 1:
                self._first(linker, path, draft)
            elif draft.pending and draft.round == round_ - 1 > 1 and self._stands(draft.reads[-1]):
                # What it rests on is what the round before had, so it comes to the same.
                draft.given.append(draft.given[-1])
                draft.reads.append(draft.reads[-1])
                draft.round = round_
            elif draft.pending:
                self._later(linker, path, draft)
            else:
                draft.given.append([])
                draft.reads.append(b"")

    def _first(self, linker: Linker, path: str, draft: _Draft) -> None:
        rows, given, reads, tainted = self._sites(linker, path, None)
        draft.linked = True
        unit = self._unit(path)
        draft.first = edges_of(unit, rows, {})
        unit.forget_sites()
        draft.pending = tainted
        draft.given.append(given)
        draft.reads.append(reads)

    def _later(self, linker: Linker, path: str, draft: _Draft) -> None:
        rows, given, reads, _ = self._sites(linker, path, set(draft.pending))
        draft.linked = True
        draft.round = linker.round
        before = draft.first
        if before is None:
            assert draft.old is not None
            before = draft.old.edges
        unit = self._unit(path)
        draft.last = edges_of(unit, first_rows(before), rows)
        unit.forget_sites()
        draft.given.append(given)
        draft.reads.append(reads)

    def _sites(
        self, linker: Linker, path: str, only: set[int] | None
    ) -> tuple[dict[int, Row], list[tuple[str, list[str]]], bytes, list[int]]:
        """Evaluate the sites of a file: rows, what they pass, what was read, which are tainted."""
        self.poll()
        unit = self._unit(path)
        rows: dict[int, Row] = {}
        given: dict[str, set[str]] = defaultdict(set)
        reads: set[int] = set()
        tainted = []
        sites = unit.sites
        family = self.version.family(path)
        plain = Node(-1)
        for number in range(len(sites)) if only is None else sorted(only):
            scope, call, _ = sites[number]
            if type(call) is Attr:
                linker.top = plain
                if not linker.has_property(family, call.name):
                    continue
            linker.top = Node(-1)
            site, told = linker.within(partial(_told, linker, scope, call), _Told(Site(), []))
            for cell, keys in told:
                given[cell] |= keys
            if site.targets or not is_silent(call):
                rows[number] = row_of(site)
            reads |= linker.top.reads
            if linker.top.tainted:
                tainted.append(number)
        linker.forget_calls()
        reads |= plain.reads
        passed_on = [(cell, sorted(given[cell])) for cell in sorted(given)]
        return rows, passed_on, _pack(reads), tainted

    def _cells(self, round_: int) -> Cells:
        return _merged(draft.given[:round_] for draft in self.drafts.values())

    def _old_cells(self, round_: int) -> Cells | None:
        if self.previous is None:
            return None
        return _merged(record.given[:round_] for record in self.previous.records.values())

    def _holds(self, reads: bytes) -> bool:
        """Whether none of ``reads`` changed."""
        return not self.changed or self.changed.isdisjoint(np.frombuffer(reads, "<u4").tolist())

    def _stands(self, reads: bytes) -> bool:
        """Whether the last round passed nothing new to what was read."""
        return self.moved.isdisjoint(np.frombuffer(reads, "<u4").tolist())

    def _record(self, path: str) -> Linked:
        draft = self.drafts[path]
        old = draft.old
        same = old is not None and draft.bases is old.bases and draft.outline is old.outline
        if old is not None and same and not draft.linked:
            return old
        edges = draft.last or draft.first
        if edges is None:
            assert old is not None
            edges = old.edges
        return Linked(draft.outline, draft.bases, edges, draft.pending, draft.given, draft.reads)


def _is_implicit(made: Declaration) -> bool:
    """Whether it is a method that syntax calls without naming it, as in Python."""
    return made.kind is ScopeKind.METHOD and made.name[:2] == "__" == made.name[-2:]


class _Told(NamedTuple):
    site: Site
    passed: list[tuple[str, set[str]]]


def _told(linker: Linker, scope: Declaration, call: Call | Attr) -> _Told:
    site = site_of(linker, scope, call)
    return _Told(site, list(passed(linker, scope, call, site)))


def _merged(given: Iterable[list[list[tuple[str, list[str]]]]]) -> Cells:
    cells: dict[str, set[str]] = defaultdict(set)
    for rounds in given:
        for items in rounds:
            for cell, keys in items:
                cells[cell].update(keys)
    return {cell: tuple(sorted(keys)) for cell, keys in cells.items()}


def _pack(reads: set[int]) -> bytes:
    return np.array(sorted(reads), "<u4").tobytes()
