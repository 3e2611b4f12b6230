"""The outer form of every file of a store: named sections, each with a checksum, then a table.

::

    section … section | table (JSON) | length of the table, CRC-32 of it, magic (16 bytes)

The table stands last, so that a file can be written as it comes. Whoever opens one gets sections
that are whole or an error, never something else: what a section holds is checked when it is asked
for, but for those that are checked piece by piece by who reads them.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_MAGIC = b"vacmcp\x00\x01"
_TAIL = struct.Struct("<II8s")
_ALIGNMENT = 8
_MAX_TABLE = 1 << 24


class Damaged(ValueError):
    """A file is not what was written."""


@dataclass
class Writer:
    """Keeps the table while the sections are written; every method yields what to write."""

    kind: str
    format: int
    facts: dict[str, Any] = field(default_factory=dict)
    _sections: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _position: int = 0

    def section(
        self, name: str, parts: Iterator[bytes | memoryview]
    ) -> Iterator[bytes | memoryview]:
        """Write ``parts`` as one section, aligned to 8 bytes."""
        padding = -self._position % _ALIGNMENT
        if padding:
            yield bytes(padding)
        start = size = self._position + padding
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(part, checksum)
            size += len(part)
            yield part
        self._sections[name] = (start, size - start, checksum)
        self._position = size

    def end(self) -> Iterator[bytes]:
        """Write the table."""
        table = json.dumps(
            {
                "kind": self.kind,
                "format": self.format,
                "facts": self.facts,
                "sections": self._sections,
            },
            separators=(",", ":"),
        ).encode("ascii")
        yield table
        yield _TAIL.pack(len(table), zlib.crc32(table), _MAGIC)


class Container:
    """A file that was opened. Raises :class:`Damaged` for anything that was not written so."""

    def __init__(self, data: memoryview, kind: str, format: int) -> None:
        table = _table(data)
        if table.get("kind") != kind or table.get("format") != format:
            raise Damaged(f"not a {kind} of format {format}")
        self._data = data
        self.facts: Mapping[str, Any] = table["facts"]
        self._sections: Mapping[str, tuple[int, int, int]] = table["sections"]

    def section(self, name: str) -> bytes:
        """A copy of a section whose checksum holds: a mapped file can change under its reader."""
        found = bytes(self.unchecked(name))
        if zlib.crc32(found) != self._sections[name][2]:
            raise Damaged(f"section {name} is not what was written")
        return found

    def unchecked(self, name: str) -> memoryview:
        """A section whose reader checks every piece that it uses."""
        if name not in self._sections:
            raise Damaged(f"no section {name}")
        start, size, _ = self._sections[name]
        if start + size > len(self._data):
            raise Damaged(f"section {name} is cut")
        return self._data[start : start + size]


def _table(data: memoryview) -> dict[str, Any]:
    if len(data) < _TAIL.size:
        raise Damaged("too short")
    size, checksum, magic = _TAIL.unpack(data[-_TAIL.size :])
    end = len(data) - _TAIL.size
    if magic != _MAGIC or size > min(end, _MAX_TABLE):
        raise Damaged("the end is not what was written")
    raw = data[end - size : end]
    if zlib.crc32(raw) != checksum:
        raise Damaged("the table is not what was written")
    table: dict[str, Any] = json.loads(bytes(raw))
    return table
