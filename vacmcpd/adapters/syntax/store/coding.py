"""Facts and edges as bytes that compress well: numbers that grow as their steps."""

from itertools import accumulate, chain
from operator import sub
from typing import TypeVar

import msgspec

from ...container import Damaged
from ..facts import FileFacts, Place, Scope
from ..linking.records import Edges

_T = TypeVar("_T")

_encode = msgspec.msgpack.Encoder().encode


class _Stored(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Facts with their places column by column."""

    language: str
    scopes: list[Scope]
    namespace: str
    errors: int
    parents: list[int]
    lines: list[int]
    lengths: list[int]
    counts: list[int]
    calls: list[int]


_facts = msgspec.msgpack.Decoder(_Stored)
_edges = msgspec.msgpack.Decoder(Edges)

_TEXTS = ("symbols", "names")
_AS_THEY_ARE = frozenset({*_TEXTS, "kind", "external_kind", "open_reason"})
_STEPPED = [name not in _AS_THEY_ARE for name in Edges.__struct_fields__]


def pack_facts(facts: FileFacts) -> bytes:
    """The facts of a file as bytes, equal for equal facts."""
    places = facts.places
    return _encode(
        _Stored(
            facts.language,
            facts.scopes,
            facts.namespace,
            facts.errors,
            [place.parent for place in places],
            steps([place.line for place in places]),
            [place.end_line - place.line for place in places],
            [len(place.calls) for place in places],
            [step for place in places for step in steps(place.calls, place.line)],
        )
    )


def unpack_facts(data: bytes) -> FileFacts:
    """What :func:`pack_facts` packed."""
    stored = read(_facts, data)
    lines = accumulate(stored.lines)
    columns = (stored.parents, lines, stored.lengths, stored.counts)
    places, start = [], 0
    for parent, line, length, count in zip(*columns, strict=True):
        calls = list(accumulate(stored.calls[start : start + count], initial=line))[1:]
        places.append(Place(parent, line, line + length, calls))
        start += count
    return FileFacts(stored.language, stored.scopes, places, stored.namespace, stored.errors)


def pack_edges(edges: Edges) -> bytes:
    """The edges of a record as bytes."""
    columns = (getattr(edges, name) for name in Edges.__struct_fields__)
    pairs = zip(columns, _STEPPED, strict=True)
    return _encode([steps(column) if stepped else column for column, stepped in pairs])


def edges_in_steps(data: bytes) -> Edges:
    """What :func:`pack_edges` packed, as it is: all numbers but kinds and reasons are steps."""
    return read(_edges, data)


def unpack_edges(data: bytes) -> Edges:
    """What :func:`pack_edges` packed."""
    found = read(_edges, data)
    columns = (getattr(found, name) for name in Edges.__struct_fields__)
    pairs = zip(columns, _STEPPED, strict=True)
    return Edges(*(list(accumulate(column)) if stepped else column for column, stepped in pairs))


def steps(values: list[int], before: int = 0) -> list[int]:
    """By how much each is more than the one before it."""
    return list(map(sub, values, chain((before,), values)))


def read(decoder: "msgspec.msgpack.Decoder[_T]", data: bytes) -> _T:
    """A value, or Damaged."""
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise Damaged(f"an item is not what was written: {error}") from None


def encoded(value: object) -> bytes:
    """A value of this store as bytes."""
    return _encode(value)
