"""The size of an answer in tokens, and how many of its items fit.

A token is counted as three bytes of the answer's compact JSON in UTF-8: a rule that any client
can check, on the safe side of what the tokenizers of 2026 make of source code.
"""

import json
from collections.abc import Iterable
from typing import Any

from ..errors import invalid_argument

BYTES_PER_TOKEN = 3
DEFAULT_TOKENS = 10_000
MIN_TOKENS = 256
MAX_TOKENS = 25_000
DEFAULT_ROWS = 100
MAX_ROWS = 1_000

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_CURSOR_ROOM = 160


def size(value: Any) -> int:
    """The UTF-8 bytes of ``value`` as compact JSON."""
    text = _encode(value)
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def tokens(value: Any) -> int:
    """What ``value`` costs: its bytes by three, rounded up."""
    return -(-size(value) // BYTES_PER_TOKEN)


def budget_of(requested: int, default: int, tool: str) -> int:
    """The token budget of one call; INVALID_ARGUMENT outside 256 to 25,000."""
    if requested == 0:
        return default
    if not MIN_TOKENS <= requested <= MAX_TOKENS:
        raise invalid_argument(
            f"{tool}: max_tokens {requested} is outside {MIN_TOKENS}-{MAX_TOKENS}; "
            "leave it out for the default",
            max_tokens=requested,
        )
    return requested


def rows_of(requested: int, tool: str) -> int:
    """How many rows one call may return; INVALID_ARGUMENT outside 1 to 1,000."""
    if requested == 0:
        return DEFAULT_ROWS
    if not 1 <= requested <= MAX_ROWS:
        raise invalid_argument(
            f"{tool}: limit {requested} is outside 1-{MAX_ROWS}; "
            f"leave it out for the default of {DEFAULT_ROWS}",
            limit=requested,
        )
    return requested


def holds(max_tokens: int, whole: Any) -> bool:
    """Whether an answer with all its items fits, and a cursor too.

    Most do, and one pass over the whole costs a fraction of one for each item.
    """
    return size(whole) <= max_tokens * BYTES_PER_TOKEN - _CURSOR_ROOM


def room(max_tokens: int, empty: Any, *, paged: bool = True) -> int:
    """The bytes left for items beside the answer without them and, when ``paged``, a cursor."""
    return max_tokens * BYTES_PER_TOKEN - size(empty) - (_CURSOR_ROOM if paged else 0)


def fitting(sizes: Iterable[int], available: int) -> int:
    """How many of the leading items fit into ``available`` bytes.

    The first one is always taken: an answer that holds nothing could never be paged past it.
    """
    taken = used = 0
    for item in sizes:
        used += item
        if used > available and taken:
            break
        taken += 1
    return taken
