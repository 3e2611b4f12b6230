"""What a blob is to a search: text, or a reason why it is none."""

from dataclasses import dataclass
from enum import StrEnum

from ...model import Scope
from ...ports.objects import ObjectReader


class Skip(StrEnum):
    """Why a leaf's content is not searched; the keys of a coverage's ``skipped``."""

    BINARY = "binary"
    """A NUL among the first 8,192 bytes, or characters when it is UTF-16."""
    TOO_LARGE = "too_large"
    LFS_POINTER = "lfs_pointer"
    SUBMODULE = "submodule"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class Document:
    """A blob's text as UTF-8, without a byte order mark.

    ``original`` is None but for a blob that is not UTF-8. Its bytes that are not were read as
    latin-1 into ``text``, so that they can be found; its lines are shown from ``original``, as
    every other answer shows them. Both have the same lines.
    """

    text: bytes
    original: bytes | None = None
    crlf: bool = False

    @property
    def cost(self) -> int:
        """About how many bytes of memory it takes."""
        return len(self.text) + len(self.original or b"") + 256


_NUL_WINDOW = 8192
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
UTF8_MARK = b"\xef\xbb\xbf"
_LFS_VERSION = b"version https://git-lfs.github.com/spec/"
_LFS_LIMIT = 1024
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def load(objects: ObjectReader, scope: Scope, oid: str, max_bytes: int) -> Document | Skip:
    """The blob as a document; one larger than ``max_bytes`` is not read."""
    if objects.size(scope, oid) > max_bytes:
        return Skip.TOO_LARGE
    return read(objects.blob(scope, oid))


def read(raw: bytes) -> Document | Skip:
    """What these bytes are."""
    if raw.startswith(_UTF16):
        return _read_utf16(raw)
    if b"\0" in raw[:_NUL_WINDOW]:
        return Skip.BINARY
    if _is_lfs_pointer(raw):
        return Skip.LFS_POINTER
    raw = raw.removeprefix(UTF8_MARK)
    text = as_utf8(raw)
    return Document(text, None if text is raw else raw, b"\r\n" in raw)


def as_utf8(raw: bytes) -> bytes:
    """``raw`` itself when it is UTF-8, else with each offending byte read as latin-1."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape").translate(_LATIN_1).encode("utf-8")
    return raw


def _read_utf16(raw: bytes) -> Document | Skip:
    text = raw.decode("utf-16", "replace")
    if "\0" in text[:_NUL_WINDOW]:
        return Skip.BINARY
    return Document(text.encode("utf-8"), None, "\r\n" in text)


def _is_lfs_pointer(raw: bytes) -> bool:
    return (
        len(raw) < _LFS_LIMIT
        and raw.startswith(_LFS_VERSION)
        and b"\noid sha256:" in raw
        and b"\nsize " in raw
    )
