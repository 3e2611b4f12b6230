"""What is kept beside facts: a blob's symbols for queries, and a file's record in parts."""

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from ..facts import ScopeKind
from ..linking.records import Bases, Edges, Linked, Outline
from ..linking.units import Unit
from ..names import bare
from .coding import encoded, pack_edges, read, unpack_edges
from .leaves import Reads, reads_of


class Symbols(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The scopes of a blob by number, column by column: all that a query shows of them.

    ``locals`` are the dotted local names, ``names`` the bare ones, ``kinds`` a byte each.
    """

    names: list[str]
    locals: list[str]
    kinds: bytes
    lines: list[int]
    parents: list[int]


class _State(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A record without its edges and reads; ``rounds`` counts those that read."""

    outline: Outline
    bases: Bases
    pending: list[int]
    given: list[list[tuple[str, list[str]]]]
    rounds: int


@dataclass(frozen=True, slots=True)
class Record:
    """A record in the parts that it is stored as.

    ``sites`` are its call sites by kind, as in :data:`SITES`.
    """

    state: bytes
    edges: bytes
    reads: Reads
    digest: bytes
    sites: tuple[int, ...]


SITES = ("resolved", "dispatch", "inferred", "external", "open")
"""The kinds of call sites that are counted; the surest target of a site is its kind."""

DIGEST_BYTES = 16

NAMED = frozenset({ScopeKind.FUNCTION, ScopeKind.METHOD, ScopeKind.CLASS})
"""What an open call of a bare name may be meant for."""

NAMED = frozenset({ScopeKind.FUNCTION, ScopeKind.METHOD, ScopeKind.CLASS})
"""What an open call of a bare name may be meant for."""

_symbols = msgspec.msgpack.Decoder(Symbols)
_state = msgspec.msgpack.Decoder(_State)


def symbols_of(unit: Unit) -> bytes:
    """The symbols of a file, as bytes."""
    made = unit.declarations
    return encoded(
        Symbols(
            [bare(each.name, "") for each in made],
            [each.qual for each in made],
            bytes(int(each.kind) for each in made),
            [each.place.line for each in made],
            [max(each.place.parent, 0) for each in made],
        )
    )


def read_symbols(data: bytes) -> Symbols:
    """What :func:`symbols_of` wrote."""
    return read(_symbols, data)


def record_of(linked: Linked) -> Record:
    """A record as it is stored; equal records have the same digest."""
    bases = Bases(linked.bases.classes, linked.bases.methods)
    state = _State(linked.outline, bases, linked.pending, linked.given, len(linked.reads))
    return Record(
        encoded(state),
        pack_edges(linked.edges),
        reads_of(linked),
        blake2b(encoded(linked), digest_size=DIGEST_BYTES).digest(),
        _sites(linked.edges),
    )


def linked_of(state: bytes, edges: bytes, reads: Reads) -> Linked:
    """The record that :func:`record_of` took apart."""
    found = read(_state, state)
    of_bases, *rounds = reads.sets(found.rounds + 1)
    bases = Bases(found.bases.classes, found.bases.methods, of_bases)
    return Linked(found.outline, bases, unpack_edges(edges), found.pending, found.given, rounds)


def _sites(edges: Edges) -> tuple[int, ...]:
    kinds: dict[int, int] = {}
    for site, kind in zip(edges.site, edges.kind, strict=True):
        kinds[site] = min(kind, kinds.get(site, kind))
    external = SITES.index("external")
    for site in edges.external_site:
        kinds.setdefault(site, external)
    found = Counter(kinds.values())
    found[SITES.index("open")] = len(edges.open_site)
    return tuple(found[at] for at in range(len(SITES)))
