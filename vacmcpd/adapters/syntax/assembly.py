"""One version from what a store holds and what is new: rows, facts, links, and their manifest."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...model import Scope
from ...ports.budget import Budget
from ...ports.graph import LanguageCoverage
from ...ports.objects import ObjectReader, TreeEntry
from ...ports.repository_store import OnProgress
from .contents import text_of
from .linkage import Linkage, Linking
from .making import home_of, made_by
from .skips import Skip
from .sorting import Known, Sorting, Wanted
from .store.held import Held
from .store.layered import Layered
from .store.manifests import Manifest, proof_of
from .store.segments import BlobFacts, Draft, Row
from .worker import Job, Parsed
from .workers import Workers

_REPORT_EVERY = 50


class Assembly:
    """Makes a version; what no other had is in ``draft`` then.

    ``again`` says that the version was built before, so that what failed is tried again.
    """

    def __init__(
        self,
        objects: ObjectReader,
        scope: Scope,
        held: Held,
        *,
        again: bool,
        max_file_bytes: int,
        budget: Budget,
        progress: OnProgress,
    ) -> None:
        self._objects = objects
        self._scope = scope
        self._held = held
        self._budget = budget
        self._progress = progress
        self._sorting = Sorting(objects, scope, held, again=again, max_file_bytes=max_file_bytes)
        self.draft = Draft(held.generation.next)

    def manifest(self, tree: str, leaves: Sequence[TreeEntry], workers: Workers) -> Manifest:
        """The version of these leaves."""
        waiting = self._sorting.rows(leaves)
        self._parse(workers)
        rows = [self._sorting.settled(row) for row in waiting]
        store = Layered(self._held.generation, self.draft)
        linking = Linking(self._objects, self._scope, store, self._sorting, self._budget)
        self._progress("link", 0, 1)
        made = linking.link(rows)
        self._progress("link", 1, 1)
        ordinals = _Ordinals(self._held, self._sorting, self.draft)
        return Manifest(
            tree,
            made_by(),
            proof_of((row.path, row.oid) for row in made.rows),
            np.array([ordinals.of(row) for row in made.rows], np.uint32),
            tuple(_covered(made)),
            made.sites,
        )

    def _parse(self, workers: Workers) -> None:
        """Read and parse the blobs that no version had."""
        total = len(self._sorting.wanted)
        read: list[tuple[Wanted, int]] = []
        left_out: list[tuple[Wanted, Skip]] = []
        self._progress("parse", 0, total)
        for number, parsed in enumerate(workers.parse(self._jobs(read, left_out))):
            self._add(*read[number], parsed)
            if number % _REPORT_EVERY == 0:
                self._progress("parse", number, total)
        for blob, skip in left_out:
            self._add(blob, 0, Parsed(skip=skip))
        self._progress("parse", total, total)

    def _jobs(
        self, read: list[tuple[Wanted, int]], left_out: list[tuple[Wanted, Skip]]
    ) -> Iterator[Job]:
        for blob in self._sorting.wanted:
            self._budget.check_cancelled()
            raw = self._objects.blob(self._scope, blob.oid)
            text = text_of(raw)
            if isinstance(text, Skip):
                left_out.append((blob, text))
            else:
                read.append((blob, len(raw)))
                yield Job(blob.language, home_of(blob.language), text)

    def _add(self, blob: Wanted, size: int, parsed: Parsed) -> None:
        skip = Skip(parsed.skip) if parsed.skip else None
        facts = BlobFacts(blob.oid, blob.maker, skip, size, parsed.errors, parsed.namespace)
        ordinal = self.draft.add_blob(facts)
        self.draft.facts.add(parsed.facts)
        self._sorting.found(blob.oid, blob.maker, Known(ordinal, skip))


class _Ordinals:
    """The ordinals of rows: those of equal ones in any version, else new ones."""

    def __init__(self, held: Held, sorting: Sorting, draft: Draft) -> None:
        self._generation = held.generation
        self._before = sorting.before
        self._draft = draft
        self._all: dict[Row, int] | None = None

    def of(self, row: Row) -> int:
        ordinal, old = self._before.get(row.path, (0, None))
        if old is row or old == row:
            return ordinal
        if self._all is None:
            self._all = self._generation.all_rows()
        found = self._all.get(row)
        return self._draft.add_row(row) if found is None else found


def _covered(made: Linkage) -> Iterator[LanguageCoverage]:
    for language in made.languages:
        files, errors = made.files[language.name]
        yield LanguageCoverage(language.name, language.tier, files, errors)
