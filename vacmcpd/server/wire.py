"""JSON that any client can read: compact, UTF-8, without lone surrogates, NaN or Infinity."""

import json
import re
from typing import Any

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")
_SHOWN = 100


def encode(value: Any) -> bytes:
    """``value`` as one line of compact JSON.

    Lone surrogates, which no UTF-8 reader accepts, become U+FFFD. Raises ValueError for NaN and
    Infinity and TypeError for what JSON can't hold.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return clean(text).encode("utf-8")


def clean(text: str) -> str:
    """``text`` with each lone surrogate replaced by U+FFFD."""
    return _LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def is_clean(text: str) -> bool:
    """Whether ``text`` can be written as UTF-8."""
    return _LONE_SURROGATES.search(text) is None


def shown(text: str) -> str:
    """A caller's word fit for a message: cleaned, and cut when it is long."""
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return clean(cut)
