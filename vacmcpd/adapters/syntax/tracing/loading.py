"""From the files of a store to columns."""

import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ....paths import to_text
from ...container import Damaged
from ..facts import ScopeKind
from ..languages.registry import Language
from ..linking.records import Edges as StoredEdges
from ..making import language
from ..names import bare
from ..store.coding import unpack_edges
from ..store.generation import Generation
from ..store.items import read_symbols
from ..store.manifests import Manifest
from ..store.segments import NONE, text_of
from .columns import EXTERNAL, Columns, Edges, Files, Ints, Opens
from .ordering import in_order

_POLL_EVERY = 256
_NUMBER = re.compile(r"#\d+")
"""What a second declaration of one name has behind it."""
_NAMELESS = frozenset({ScopeKind.NAMESPACE, ScopeKind.BLOCK, ScopeKind.CLASS, ScopeKind.INTERFACE})
"""Scopes that are no callers of their own; a lambda in one is shown as what is around."""

Poll = Callable[[], None]


def load(generation: Generation, manifest: Manifest, poll: Poll) -> Columns:
    """A version of a store; ``poll`` is called now and then and may raise.

    Raises :class:`...container.Damaged`.
    """
    return _Loading(generation, manifest, poll).columns()


def _language(name: str) -> Language:
    try:
        return language(name)
    except KeyError:
        raise Damaged(f"it has files in {name}, which this version does not know") from None


def _ints() -> "array[int]":
    return array("i")


@dataclass(slots=True)
class _Gathered:
    """Edges and open sites of all files, before they are sorted; numbers of the whole version."""

    source: "array[int]" = field(default_factory=_ints)
    callee: "array[int]" = field(default_factory=_ints)
    kind: "array[int]" = field(default_factory=_ints)
    line: "array[int]" = field(default_factory=_ints)
    counts: "array[int]" = field(default_factory=_ints)
    out_source: "array[int]" = field(default_factory=_ints)
    out_name: "array[int]" = field(default_factory=_ints)
    out_line: "array[int]" = field(default_factory=_ints)
    out_counts: "array[int]" = field(default_factory=_ints)
    open_source: "array[int]" = field(default_factory=_ints)
    open_name: "array[int]" = field(default_factory=_ints)
    open_line: "array[int]" = field(default_factory=_ints)
    open_counts: "array[int]" = field(default_factory=_ints)


class _Loading:
    def __init__(self, generation: Generation, manifest: Manifest, poll: Poll) -> None:
        self._generation = generation
        self._poll = poll
        paths = generation.texts(manifest, "paths")
        modules = generation.texts(manifest, "modules")
        languages = generation.languages(manifest)
        blobs = generation.column(manifest, "blob")
        code = (blobs != NONE) & (generation.column(manifest, "skip") == 0)
        chosen = np.flatnonzero(code).tolist()
        self._blobs = blobs[code].tolist()
        self._records = generation.column(manifest, "record")[code].tolist()
        families: dict[str, int] = {}
        mine = [_language(languages[at]) for at in chosen]
        names = [each.family or each.name for each in mine]
        numbers = [families.setdefault(name, len(families)) for name in names]
        self._files = Files(
            [to_text(paths[at]) for at in chosen],
            [text_of(modules[at]) for at in chosen],
            mine,
            np.array(numbers, np.int32),
        )
        self._names: list[str] = []
        self._locals: list[str] = []
        self._keys: dict[str, int] = {}
        self._outside: dict[str, int] = {}
        self._open: dict[str, int] = {}

    def columns(self) -> Columns:
        counts, kinds, lines, parents = self._symbols()
        first = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=first[1:])
        file = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        parent = _array(parents) + first[file]
        kind = np.frombuffer(bytes(kinds), np.uint8)
        first_of = self._first_of_namesakes(file)
        named = first_of[self._named(kind, parent)]
        edges, opens = self._edges(first, named, first_of)
        made = Columns(
            self._files,
            first,
            self._names + list(self._outside),
            self._locals,
            kind,
            _array(lines),
            parent,
            file,
            named,
            first_of,
            edges,
            opens,
            list(self._open),
        )
        made.edges = in_order(made, made.edges)
        return made

    def _symbols(self) -> tuple[list[int], bytearray, "array[int]", "array[int]"]:
        counts: list[int] = []
        kinds, lines, parents = bytearray(), _ints(), _ints()
        for at, blob in enumerate(self._blobs):
            if at % _POLL_EVERY == 0:
                self._poll()
            found = read_symbols(self._generation.symbols(blob))
            start, count = len(self._names), len(found.names)
            prefix = f"{self._files.paths[at]}\0"
            self._keys.update(
                zip(map(prefix.__add__, found.locals), range(start, start + count), strict=True)
            )
            self._names.extend(found.names)
            self._names[start] = bare(found.names[0], self._files.modules[at])
            self._locals.extend(found.locals)
            kinds += found.kinds
            lines.extend(found.lines)
            lines[start] = 1
            parents.extend(found.parents)
            counts.append(count)
        return counts, kinds, lines, parents

    def _named(self, kinds: npt.NDArray[np.uint8], parents: Ints) -> Ints:
        """For each symbol the innermost named function around it."""
        found = np.arange(len(kinds), dtype=np.int32)
        lambdas = np.flatnonzero(kinds == int(ScopeKind.LAMBDA)).tolist()
        nameless = np.zeros(len(kinds), bool)
        nameless[[at for at in lambdas if self._names[at].startswith("<")]] = True
        # Nothing but what is in a nameless function is shown as something else.
        inner = nameless.copy()
        skipped = nameless | np.isin(kinds, sorted(int(kind) for kind in _NAMELESS))
        while inner.any():
            found[inner] = parents[found[inner]]
            inner &= skipped[found]
        return found

    def _first_of_namesakes(self, file: Ints) -> Ints:
        """For each symbol the first of its qualified name in its file, itself for most."""
        found = np.arange(len(self._locals), dtype=np.int32)
        for number, local in enumerate(self._locals):
            if "#" in local:
                path = self._files.paths[file[number]]
                first = self._keys.get(f"{path}\0{_NUMBER.sub('', local)}")
                if first is not None:
                    found[number] = first
        return found

    def _edges(self, first: Ints, named: Ints, first_of: Ints) -> tuple[Edges, Opens]:
        found = _Gathered()
        for at, record in enumerate(self._records):
            if at % _POLL_EVERY == 0:
                self._poll()
            stored = unpack_edges(self._generation.edges(record))
            self._add(found, int(first[at]), stored)
        files = np.arange(len(self._records), dtype=np.int32)
        inside = np.repeat(files, found.counts)
        outside = np.repeat(files, found.out_counts)
        source = np.concatenate((_array(found.source), _array(found.out_source)))
        count = len(self._names)
        edges = Edges(
            source,
            named[source],
            np.concatenate(
                (first_of[_array(found.callee)], _array(found.out_name) + np.int32(count))
            ),
            np.concatenate((inside, outside)),
            np.concatenate((_array(found.line), _array(found.out_line))),
            np.concatenate(
                (
                    _array(found.kind).astype(np.uint8),
                    np.full(len(found.out_name), EXTERNAL, np.uint8),
                )
            ),
        )
        opens = Opens(
            named[_array(found.open_source)],
            np.repeat(files, found.open_counts),
            _array(found.open_line),
            _array(found.open_name),
        )
        return edges, opens

    def _add(self, found: _Gathered, first: int, stored: StoredEdges) -> None:
        """The edges of one file, with numbers of the whole version."""
        try:
            targets = [self._keys[key] for key in stored.symbols]
        except KeyError:
            raise Damaged("a call of something that no file declares") from None
        outside, opened = self._outside, self._open
        names = stored.names
        found.source.extend(map(first.__add__, stored.caller))
        found.callee.extend(map(targets.__getitem__, stored.callee))
        found.kind.extend(stored.kind)
        found.line.extend(stored.line)
        found.counts.append(len(stored.site))
        found.out_source.extend(map(first.__add__, stored.external_caller))
        found.out_name.extend(
            outside.setdefault(names[number], len(outside)) for number in stored.external_name
        )
        found.out_line.extend(stored.external_line)
        found.out_counts.append(len(stored.external_site))
        found.open_source.extend(map(first.__add__, stored.open_caller))
        found.open_name.extend(
            opened.setdefault(names[number], len(opened)) for number in stored.open_name
        )
        found.open_line.extend(stored.open_line)
        found.open_counts.append(len(stored.open_site))


def _array(values: "array[int]") -> Ints:
    return np.frombuffer(values, np.int32) if len(values) else np.zeros(0, np.int32)
