"""Text on its way in and out: JSON and UTF-8 hold no lone surrogates, and no query needs NUL."""

import re
from typing import Any

from ..errors import QueryError, invalid_argument

MAX_NAME = 500

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNASKABLE = re.compile("[\ud800-\udfff\0]")


def clean(text: str) -> str:
    """``text`` with lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def shown_name(name: str) -> str:
    """A name from source code, cleaned; cut where no person wrote it."""
    return clean(name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…")


def askable(text: str) -> bool:
    """Whether ``text`` can be handed to git, a database or a matcher at all."""
    return not _UNASKABLE.search(text)


def require_askable(text: str, argument: str, tool: str) -> None:
    """Raise INVALID_ARGUMENT for NUL and lone surrogates in ``argument``."""
    if not askable(text):
        raise invalid_argument(
            f"{tool}: {argument} holds a NUL or a character that is not valid Unicode",
            argument=argument,
        )


def clean_error(error: QueryError) -> QueryError:
    """``error`` itself, or a copy that can be sent when a caller's text can't."""
    message, details = clean(error.message), _clean_value(error.details)
    if message == error.message and details == error.details:
        return error
    return QueryError(error.code, message, details)


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean_value(item) for item in value]
    return value
