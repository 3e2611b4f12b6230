"""Commits and trees as the bytes that git stores.

libgit2's own parsers refuse some old, harmless objects (an author without an address) and hand
out names in the file system's encoding; the formats are a few lines each.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import pygit2

FULL_ID: Final = re.compile(r"[0-9a-f]{40}")
TREE: Final = 0o040000
SYMLINK: Final = 0o120000
SUBMODULE: Final = 0o160000
KEEP_PREFIX: Final = "refs/vacmcp/keep/"

READ_ERRORS: Final = (KeyError, ValueError, OSError, pygit2.GitError)
"""What libgit2 raises for an object that is missing, damaged or not what it is taken for."""

_TREE_LINE = re.compile(rb"tree ([0-9a-f]{40})\n")
_PERSON = re.compile(rb"(.*?)[ ]*(?:<([^>\n]*)>)?[ ]*(-?[0-9]+)?(?: [+-]?[0-9]+)?\Z", re.DOTALL)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CommitText:
    """Author as ``Name <mail>``, the author's time in UTC, and the whole message."""

    author: str
    timestamp: datetime
    message: str


def open_repository(path: str) -> pygit2.Repository:
    """The repository at exactly this path; raises GitError, and searches nowhere else."""
    return pygit2.Repository(path, pygit2.enums.RepositoryOpenFlag.NO_SEARCH)


def tree_of(commit: bytes) -> str:
    """The id of a raw commit's tree; ValueError when there is none."""
    found = _TREE_LINE.match(commit)
    if found is None:
        raise ValueError("a commit without a tree")
    return found.group(1).decode("ascii")


def entries_of(tree: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Mode, name and id of each entry of a raw tree, in git's order; ValueError when damaged."""
    at = 0
    while at < len(tree):
        space = tree.index(b" ", at)
        end = tree.index(b"\0", space)
        yield int(tree[at:space], 8), tree[space + 1 : end], tree[end + 1 : end + 21].hex()
        at = end + 21


def text_of(commit: bytes) -> CommitText:
    """Author, time and message, converted from the encoding that the commit declares."""
    head, _, message = commit.partition(b"\n\n")
    headers = dict(reversed([line.partition(b" ")[::2] for line in head.split(b"\n")]))
    encoding = headers.get(b"encoding", b"utf-8").decode("ascii", "replace")
    found = _PERSON.match(headers.get(b"author", b""))
    name, address, seconds = found.groups() if found else (b"", b"", None)
    author = f"{_decode(name, encoding)} <{_decode(address or b'', encoding)}>"
    return CommitText(author.strip(), _moment(seconds), _decode(message, encoding))


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeError):
        return data.decode("utf-8", "replace")


def _moment(seconds: bytes | None) -> datetime:
    # Old history has dates that overflow; an entry without a usable one is still an entry.
    try:
        return datetime.fromtimestamp(int(seconds or b"0"), UTC)
    except (ValueError, OverflowError, OSError):
        return EPOCH
