"""Lines as answers show them."""

from collections.abc import Sequence

SNIPPET_LIMIT = 100_000
"""Bytes of a line that a snippet holds at most: more than an answer may have in all."""


def shown(line: bytes) -> str:
    """A line without its end; bytes that are not UTF-8 as U+FFFD."""
    return line[:SNIPPET_LIMIT].removesuffix(b"\r").decode("utf-8", "replace")


def shown_span(original: bytes, text: bytes, first: int, last: int) -> tuple[int, int]:
    """Where bytes ``first`` to ``last`` of ``text`` stand in what is shown of ``original``.

    ``original`` is the line that ``text`` was made of (:func:`.documents.as_utf8`): both have the
    same characters, but bytes that are not UTF-8 are of other lengths in each and where shown.
    """
    chars = original.decode("utf-8", "surrogateescape")

    def place(at: int) -> int:
        count = len(text[:at].decode("utf-8", "ignore"))
        before = chars[:count].encode("utf-8", "surrogateescape")
        return len(before.decode("utf-8", "replace").encode("utf-8"))

    return place(first), place(last)


def neighbours(
    lines: Sequence[bytes], number: int, count: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Up to ``count`` lines before and after line ``number`` (1-based) of a text that was split.

    What stands behind the last line feed is no line when it is empty.
    """
    last = len(lines) if lines[-1] else len(lines) - 1
    before = lines[max(0, number - 1 - count) : number - 1]
    after = lines[number : min(last, number + count)]
    return tuple(map(shown, before)), tuple(map(shown, after))
