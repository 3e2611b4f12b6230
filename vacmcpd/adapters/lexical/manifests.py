"""Manifests: what stands at each path of one tree, as ordinals of a store's blobs.

A manifest is named by its tree's id, so two commits with the same tree share it, and a merge of
segments changes none.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from ..container import Container, Damaged, Writer
from .documents import Skip

KIND, FORMAT = "manifest", 1
ROLE = "manifest."
NO_BLOB = (1 << 32) - 1
_LEVEL = 9
_ROW = np.dtype([("ordinal", "<u4"), ("kind", "u1"), ("tier", "u1"), ("language", "<u2")])
_NAMES = tuple(_ROW.names or ())
_KINDS: tuple[Skip | None, ...] = (None, Skip.SYMLINK, Skip.SUBMODULE)


@dataclass(frozen=True, slots=True)
class Row:
    """One path. ``kind`` is set where the entry's kind alone says that it has no text.

    ``language`` is "" for none. ``tier`` says how far back a match of it stands
    (:mod:`.ranking`).
    """

    path: bytes
    ordinal: int
    kind: Skip | None
    language: str
    tier: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """A tree's rows as arrays, by path in byte order. ``languages`` names the numbers.

    ``proof`` is what :func:`proof_of` makes of the ids of the rows' blobs.
    """

    tree: str
    proof: str
    paths: tuple[bytes, ...]
    ordinals: npt.NDArray[np.uint32]
    kinds: npt.NDArray[np.uint8]
    tiers: npt.NDArray[np.uint8]
    language: npt.NDArray[np.uint16]
    languages: tuple[str, ...]

    def kind(self, row: int) -> Skip | None:
        """Why the entry of this row has no text, as far as its kind tells."""
        return _KINDS[int(self.kinds[row])]


def proof_of(oids: bytes) -> str:
    """A digest of the blobs' ids, in the order of the rows that have one.

    It ties a manifest's ordinals to blobs: where segments give others for them, whatever the
    reason, they are not those of the tree.
    """
    return hashlib.sha256(oids).hexdigest()


def write(tree: str, proof: str, rows: Sequence[Row]) -> Iterator[bytes | memoryview]:
    """The file of a manifest."""
    names = {"": 0}
    table = np.array(
        [
            (
                row.ordinal,
                _KINDS.index(row.kind),
                row.tier,
                names.setdefault(row.language, len(names)),
            )
            for row in rows
        ],
        _ROW,
    )
    facts = {"tree": tree, "proof": proof, "rows": len(rows), "languages": list(names)}
    writer = Writer(KIND, FORMAT, facts)
    compress = zstandard.ZstdCompressor(level=_LEVEL).compress
    paths = b"\0".join(row.path for row in rows)
    # Column by column: like stands beside like.
    columns = b"".join(np.ascontiguousarray(table[name]).tobytes() for name in _NAMES)
    yield from writer.section("paths", iter([compress(paths)]))
    yield from writer.section("rows", iter([compress(columns)]))
    yield from writer.end()


def read(data: memoryview) -> Manifest:
    """A manifest; :class:`..container.Damaged` when it is not whole."""
    held = Container(data, KIND, FORMAT)
    count = int(held.facts["rows"])
    expand = zstandard.ZstdDecompressor().decompress
    paths = tuple(expand(held.section("paths")).split(b"\0")) if count else ()
    columns = expand(held.section("rows"))
    if len(paths) != count or len(columns) != count * _ROW.itemsize:
        raise Damaged("paths and rows contradict each other")
    found = dict(_columns(columns, count))
    return Manifest(
        str(held.facts["tree"]),
        str(held.facts["proof"]),
        paths,
        found["ordinal"],
        found["kind"],
        found["tier"],
        found["language"],
        tuple(held.facts["languages"]),
    )


def _columns(data: bytes, count: int) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    start = 0
    for name in _NAMES:
        kind = _ROW[name]
        yield name, np.frombuffer(data, kind, count, start)
        start += count * kind.itemsize
