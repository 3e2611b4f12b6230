"""A generation and what a build adds to it, as one: by ordinal, wherever it stands."""

from .generation import Generation
from .items import SITES
from .packs import Pack
from .segments import BlobFacts, Draft, blob_of


class Layered:
    """Reads blobs and records of ``generation`` and of ``draft``; all blobs were added to it."""

    def __init__(self, generation: Generation, draft: Draft) -> None:
        self.generation = generation
        self.draft = draft
        self.first_blob = generation.next.blob
        self._first_record = generation.next.record
        self._facts = draft.facts.pack()
        self._symbols: Pack | None = None

    @property
    def new_blobs(self) -> int:
        """How many blobs the build added."""
        return len(self._facts)

    def facts(self, blob: int) -> bytes:
        """The facts of a blob."""
        if blob >= self.first_blob:
            return self._facts.item(blob - self.first_blob)
        return self.generation.facts(blob)

    def symbols(self, blob: int) -> bytes:
        """The symbols of a blob; those of all new ones must have been added."""
        if blob < self.first_blob:
            return self.generation.symbols(blob)
        if self._symbols is None:
            self._symbols = self.draft.symbols.pack()
        return self._symbols.item(blob - self.first_blob)

    def blob(self, blob: int) -> BlobFacts:
        """What is known of a blob."""
        if blob >= self.first_blob:
            return self.draft.blobs[blob - self.first_blob]
        number, at = self.generation.blobs.place(blob)
        return blob_of(self.generation.segments[number], at)[0]

    def sites(self, record: int) -> tuple[int, ...]:
        """The call sites of a record by kind, as :data:`.items.SITES`."""
        if record >= self._first_record:
            return self.draft.sites[record - self._first_record]
        number, at = self.generation.records.place(record)
        row = self.generation.segments[number].records[at]
        return tuple(int(row[name]) for name in SITES)
