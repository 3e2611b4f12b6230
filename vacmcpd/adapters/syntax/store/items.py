"""What is kept beside facts: a blob's symbols for queries, and a file's record in two halves."""

from collections import Counter
from hashlib import blake2b
from typing import TypeVar

import msgspec

from ...container import Damaged
from ..facts import ScopeKind
from ..linking.records import Bases, Edges, Linked, Outline
from ..linking.units import Unit
from ..names import bare


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
    """A record without its edges: what linking a further version asks for."""

    outline: Outline
    bases: Bases
    pending: list[int]
    given: list[list[tuple[str, list[str]]]]
    reads: list[bytes]


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record as bytes; ``sites`` are its call sites by kind, as in :data:`SITES`."""

    state: bytes
    edges: bytes
    digest: bytes
    sites: tuple[int, ...]


SITES = ("resolved", "dispatch", "inferred", "external", "open")
"""The kinds of call sites that are counted; the surest target of a site is its kind."""

DIGEST_BYTES = 16

NAMED = frozenset({ScopeKind.FUNCTION, ScopeKind.METHOD, ScopeKind.CLASS})
"""What an open call of a bare name may be meant for."""

_T = TypeVar("_T")

_encode = msgspec.msgpack.Encoder().encode
_symbols = msgspec.msgpack.Decoder(Symbols)
_state = msgspec.msgpack.Decoder(_State)
_edges = msgspec.msgpack.Decoder(Edges)


def symbols_of(unit: Unit) -> bytes:
    """The symbols of a file, as bytes."""
    made = unit.declarations
    return _encode(
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
    return _read(_symbols, data)


def record_of(linked: Linked) -> Record:
    """A record as it is stored; equal records give equal bytes."""
    state = _encode(
        _State(linked.outline, linked.bases, linked.pending, linked.given, linked.reads)
    )
    edges = _encode(linked.edges)
    digest = blake2b(len(state).to_bytes(8, "little"), digest_size=DIGEST_BYTES)
    digest.update(state)
    digest.update(edges)
    return Record(state, edges, digest.digest(), _sites(linked.edges))


def linked_of(state: bytes, edges: bytes) -> Linked:
    """The record that :func:`record_of` took apart."""
    found = _read(_state, state)
    return Linked(
        found.outline, found.bases, read_edges(edges), found.pending, found.given, found.reads
    )


def read_edges(data: bytes) -> Edges:
    """A record's edges alone."""
    return _read(_edges, data)


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


def _read(decoder: msgspec.msgpack.Decoder[_T], data: bytes) -> _T:
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise Damaged(f"an item is not what was written: {error}") from None
