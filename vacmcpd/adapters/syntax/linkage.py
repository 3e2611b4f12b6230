"""Links a version, with the records of the nearest stored one whose files read alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event

from ...model import Scope
from ...paths import to_text
from ...ports.budget import Budget
from ...ports.objects import ObjectReader
from .deep import with_room
from .facts import FileFacts
from .languages.registry import Language
from .linking.link import Previous, Version, link
from .linking.records import Linked
from .linking.tree import Tree
from .making import language
from .sorting import Sorting
from .store.coding import unpack_facts
from .store.items import NAMED, SITES, read_symbols, record_of, symbols_of
from .store.layered import Layered
from .store.segments import Row

_SOURCE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Linkage:
    """A linked version: its rows with records, its languages, how many files and errors each."""

    rows: list[Row]
    languages: list[Language]
    files: dict[str, tuple[int, int]]
    sites: dict[str, int]


@dataclass(frozen=True, slots=True)
class Sources:
    """Reads the few files of a version that say how modules are found."""

    objects: ObjectReader
    scope: Scope
    oids: Mapping[str, str]

    def read(self, path: str) -> bytes | None:
        """A file's content; None for one that is too large to be read for this."""
        oid = self.oids.get(path)
        if oid is None or self.objects.size(self.scope, oid) > _SOURCE_BYTES:
            return None
        return self.objects.blob(self.scope, oid)


class Linking:
    """Links the rows of a version, and adds what is new of records and symbols to the draft."""

    def __init__(
        self,
        objects: ObjectReader,
        scope: Scope,
        store: Layered,
        sorting: Sorting,
        budget: Budget,
    ) -> None:
        self._objects = objects
        self._scope = scope
        self._store = store
        self._generation = store.generation
        self._sorting = sorting
        self._budget = budget
        self._stop = Event()

    def link(self, rows: Sequence[Row]) -> Linkage:
        """The rows with their records and modules; raises what the budget raises."""
        try:
            return with_room(lambda: self._link(rows))
        finally:
            # The thread goes on when this one is interrupted, unless it is told.
            self._stop.set()

    def _link(self, rows: Sequence[Row]) -> Linkage:
        version = self._version(rows)
        previous, ordinals = self._previous()
        records = link(version, previous, self._poll).records
        self._add_symbols(rows, version)
        stored = self._stored(records, ordinals)
        made = [self._made(row, version, stored) for row in rows]
        return Linkage(
            made,
            [language(name) for name in sorted({row.language for row in made if _is_code(row)})],
            self._counted(made),
            self._sites(made, records, version),
        )

    def _poll(self) -> None:
        self._budget.check_cancelled()
        if self._stop.is_set():
            raise InterruptedError("nobody waits for this link any more")

    # The two versions

    def _version(self, rows: Sequence[Row]) -> Version:
        oids = {_path(row): row.oid for row in rows}
        code = {_path(row): row for row in rows if _is_code(row)}
        languages = {path: language(row.language) for path, row in code.items()}
        sources = Sources(self._objects, self._scope, oids)
        return Version(Tree(oids, sources), languages, lambda path: self._facts(code[path].blob))

    def _previous(self) -> tuple[Previous | None, dict[int, int]]:
        """The nearest version, and the ordinals of its records by their identity."""
        if self._sorting.nearest is None:
            return None, {}
        rows = [row for _, row in self._sorting.before.values()]
        code = [row for row in rows if _is_code(row)]
        records = {_path(row): self._generation.linked(row.record) for row in code}
        ordinals = {id(records[_path(row)]): row.record for row in code}
        return Previous(self._version(rows), records), ordinals

    def _facts(self, blob: int) -> FileFacts:
        return unpack_facts(self._store.facts(blob))

    # What is kept

    def _add_symbols(self, rows: Sequence[Row], version: Version) -> None:
        """The symbols of every new blob, in the order in which the blobs were added."""
        first = self._store.first_blob
        paths = {row.blob: _path(row) for row in rows if _is_code(row) and row.blob >= first}
        for blob in range(first, first + self._store.new_blobs):
            unit = version.unit(paths[blob]) if blob in paths else None
            self._store.draft.symbols.add(symbols_of(unit) if unit is not None else b"")

    def _stored(self, records: Mapping[str, Linked], before: Mapping[int, int]) -> dict[str, int]:
        """The ordinals of all records by path: of equal ones in any version, or new ones."""
        found: dict[str, int] = {}
        digests: dict[bytes, int] = {}
        for path in sorted(records):
            known = before.get(id(records[path]))
            if known is None:
                if not digests:
                    digests = self._generation.digests()
                record = record_of(records[path])
                known = digests.get(record.digest)
                if known is None:
                    known = digests[record.digest] = self._store.draft.add_record(record)
            found[path] = known
        return found

    def _made(self, row: Row, version: Version, stored: Mapping[str, int]) -> Row:
        if not _is_code(row):
            return row
        path = _path(row)
        language = version.languages[path]
        module = language.rules.module_name(
            version.tree, path, self._store.blob(row.blob).namespace
        )
        if row.record == stored[path] and row.module == module:
            return row
        return replace(row, record=stored[path], module=module)

    # What it comes to

    def _counted(self, rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
        files: Counter[str] = Counter()
        errors: Counter[str] = Counter()
        for row in rows:
            if _is_code(row):
                files[row.language] += 1
                errors[row.language] += self._store.blob(row.blob).errors > 0
        return {name: (files[name], errors[name]) for name in files}

    def _sites(
        self, rows: Sequence[Row], records: Mapping[str, Linked], version: Version
    ) -> dict[str, int]:
        """The call sites by kind; an open one is a candidate when a function has its name."""
        found: Counter[str] = Counter()
        named: dict[str, set[str]] = {}
        opened: dict[str, Counter[str]] = {}
        for row in rows:
            if not _is_code(row):
                continue
            path = _path(row)
            family = version.family(path)
            named.setdefault(family, set()).update(self._names(row.blob))
            edges = records[path].edges
            names = opened.setdefault(family, Counter())
            names.update(edges.names[number] for number in edges.open_name)
            found.update(dict(zip(SITES, self._store.sites(row.record), strict=True)))
        candidates = sum(
            count
            for family, names in opened.items()
            for name, count in names.items()
            if name in named[family]
        )
        unresolved = found.pop("open", 0) - candidates
        made = {**found, "candidate": candidates, "unresolved": unresolved}
        return {kind: made[kind] for kind in sorted(made) if made[kind]}

    def _names(self, blob: int) -> set[str]:
        symbols = read_symbols(self._store.symbols(blob))
        pairs = zip(symbols.names, symbols.kinds, strict=True)
        return {name for name, kind in pairs if kind in NAMED}


def _is_code(row: Row) -> bool:
    return row.skip is None and bool(row.language)


def _path(row: Row) -> str:
    # Not the bytes as they are: records are UTF-8, and every path has one spelling in it.
    return to_text(row.path)
