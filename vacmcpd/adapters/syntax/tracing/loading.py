"""From the files of a store to columns."""

import re
from array import array
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from ....paths import to_text
from ...container import Damaged
from ..facts import ScopeKind
from ..languages.registry import Language
from ..making import language
from ..names import bare
from ..store.coding import edges_in_steps
from ..store.generation import Generation
from ..store.items import read_symbols
from ..store.manifests import Manifest
from ..store.segments import NONE, text_of
from .columns import EXTERNAL, Columns, Edges, Files, Ints, Opens
from .gathering import COLUMNS, Gathered, Indices, as_array
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
        self._texts: dict[str, int] = {}
        self._outside: list[str] = []
        self._open: list[str] = []

    def columns(self) -> Columns:
        counts, kinds, lines, parents = self._symbols()
        first = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=first[1:])
        file = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        parent = as_array(parents) + first[file]
        kind = np.frombuffer(bytes(kinds), np.uint8)
        first_of = self._first_of_namesakes(file)
        named = first_of[self._named(kind, parent)]
        edges, opens = self._edges(first, named, first_of)
        made = Columns(
            self._files,
            first,
            self._names + self._outside,
            self._locals,
            kind,
            as_array(lines),
            parent,
            file,
            named,
            first_of,
            edges,
            opens,
            self._open,
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
        inside, outside, opened = (Gathered(names) for names in COLUMNS)
        symbols, names = Indices(), Indices()
        for at, record in enumerate(self._records):
            if at % _POLL_EVERY == 0:
                self._poll()
            stored = edges_in_steps(self._generation.edges(record))
            for each in (inside, outside, opened):
                each.add(stored)
            symbols.add(self._numbers_of(stored.symbols))
            names.add(self._texts.setdefault(name, len(self._texts)) for name in stored.names)
        callees = first_of[symbols.of(inside.numbers("callee"), inside.counts)]
        out_names = names.of(outside.numbers("external_name"), outside.counts)
        open_names = names.of(opened.numbers("open_name"), opened.counts)
        self._outside, out_names = self._only(out_names)
        self._open, open_names = self._only(open_names)
        files = np.arange(len(self._records), dtype=np.int32)
        bases = first[:-1]
        source = np.concatenate(
            (
                inside.numbers("caller") + np.repeat(bases, inside.counts),
                outside.numbers("external_caller") + np.repeat(bases, outside.counts),
            )
        ).astype(np.int32)
        edges = Edges(
            source,
            named[source],
            np.concatenate((callees, out_names + np.int32(len(self._names)))),
            np.concatenate((np.repeat(files, inside.counts), np.repeat(files, outside.counts))),
            np.concatenate((inside.numbers("line"), outside.numbers("external_line"))).astype(
                np.int32
            ),
            np.concatenate(
                (
                    inside.column("kind").astype(np.uint8),
                    np.full(len(out_names), EXTERNAL, np.uint8),
                )
            ),
        )
        opens = Opens(
            named[opened.numbers("open_caller") + np.repeat(bases, opened.counts)],
            np.repeat(files, opened.counts),
            opened.numbers("open_line").astype(np.int32),
            open_names,
        )
        return edges, opens

    def _numbers_of(self, symbols: Iterable[str]) -> list[int]:
        try:
            return [self._keys[key] for key in symbols]
        except KeyError:
            raise Damaged("a call of something that no file declares") from None

    def _only(self, numbers: Ints) -> tuple[list[str], Ints]:
        """The texts that ``numbers`` name, and their numbers among these."""
        used = np.unique(numbers)
        texts = list(self._texts)
        return [texts[number] for number in used.tolist()], np.searchsorted(used, numbers).astype(
            np.int32
        )
