"""What a blob is to a parser: text as UTF-8, or a reason why it is none."""

from .skips import Skip

_NUL_WINDOW = 8192
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LFS_VERSION = b"version https://git-lfs.github.com/spec/"
_LFS_LIMIT = 1024
_LATIN_1 = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}


def text_of(raw: bytes) -> bytes | Skip:
    """The text, of the same lines, without a byte order mark.

    Bytes that are not UTF-8 are read as latin-1, so that a name stays a name.
    """
    if raw.startswith(_UTF16):
        text = raw.decode("utf-16", "replace")
        return Skip.BINARY if "\0" in text[:_NUL_WINDOW] else text.encode("utf-8", "replace")
    if b"\0" in raw[:_NUL_WINDOW]:
        return Skip.BINARY
    if len(raw) < _LFS_LIMIT and raw.startswith(_LFS_VERSION) and b"\noid sha256:" in raw:
        return Skip.LFS_POINTER
    raw = raw.removeprefix(_UTF8_MARK)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape").translate(_LATIN_1).encode("utf-8")
    return raw
