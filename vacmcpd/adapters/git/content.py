"""What the bytes of a blob are, and a range of its lines without splitting the whole."""

import re
from dataclasses import dataclass
from typing import Final

from ...ports.budget import Budget
from ...ports.objects import TreeEntry
from ...ports.source import EntryKind, LfsPointer
from .raw import SUBMODULE, SYMLINK, TREE

_BINARY_WITHIN = 8000
_LFS_LONGEST = 1024
_LFS = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*?"
    rb"oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,19})\n"
)
# Small enough to be split into lines without noticing, big enough for few rounds.
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Lines:
    """The bytes of the lines asked for and how many lines the whole has."""

    content: bytes
    count: int


def kind_of(entry: TreeEntry | None) -> EntryKind | None:
    """What an entry of a tree is; None when there is none."""
    if entry is None:
        return None
    special = {
        TREE: EntryKind.DIRECTORY,
        SUBMODULE: EntryKind.SUBMODULE,
        SYMLINK: EntryKind.SYMLINK,
    }
    return special.get(entry.mode, EntryKind.FILE)


def is_binary(data: bytes) -> bool:
    """Whether a NUL stands in the first 8,000 bytes, which is how git decides it."""
    return b"\0" in data[:_BINARY_WITHIN]


def decode(data: bytes) -> tuple[str, bool]:
    """Text, and whether U+FFFD had to stand for bytes that are not UTF-8."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def pointer_of(data: bytes) -> LfsPointer | None:
    """What a Git LFS pointer file stands for."""
    found = _LFS.fullmatch(data) if len(data) <= _LFS_LONGEST else None
    return LfsPointer(found[1].decode("ascii"), int(found[2])) if found else None


def lines_of(data: bytes, start: int, end: int, budget: Budget) -> Lines:
    """Lines ``start`` to ``end`` with their ends, cut where a newline ends one and nowhere else.

    A last line need not end in one. Polls the budget.
    """
    before = begin = 0
    finish = len(data)
    for at in range(0, len(data), _CHUNK):
        budget.check()
        chunk = data[at : at + _CHUNK]
        after = before + chunk.count(b"\n")
        if before < start - 1 <= after:
            begin = at + _after_newline(chunk, start - 1 - before)
        if before < end <= after:
            finish = at + _after_newline(chunk, end - before)
        before = after
    count = before + (not data.endswith(b"\n") and bool(data))
    return Lines(data[begin:finish] if start <= count else b"", count)


def _after_newline(chunk: bytes, number: int) -> int:
    """The offset behind the ``number``-th newline of ``chunk``."""
    return len(chunk) - len(chunk.split(b"\n", number)[number])
