"""What can be asked, one frozen and picklable value a query.

``0`` and ``""`` mean "not given, use the default". Nothing is checked here: ranges and spellings
are the query's to refuse, so that every refusal arrives in the one error model.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ListContextsRequest:
    """Every context that may be queried."""


@dataclass(frozen=True, slots=True)
class SearchCodeRequest:
    """The lines that match ``query`` in one context, or in one ``repository`` of it.

    ``mode`` says how the query is read (zoekt, literal or regex), ``context_lines`` how many
    lines before and after each match are wanted (0 to 10), ``exact_total`` that all are counted.
    """

    context: str
    query: str
    repository: str = ""
    limit: int = 0
    max_tokens: int = 0
    cursor: str = ""
    mode: str = ""
    context_lines: int = 0
    exact_total: bool = False


@dataclass(frozen=True, slots=True)
class TraceCallsRequest:
    """The ``callers`` or ``callees`` of a symbol, ``depth`` calls deep (1 to 5).

    ``kinds`` are the kinds of calls to walk, resolved and dispatch when there are none.
    """

    context: str
    symbol: str
    direction: str
    depth: int
    repository: str = ""
    limit: int = 0
    max_tokens: int = 0
    cursor: str = ""
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GetCodeRequest:
    """Lines ``start_line`` to ``end_line`` (1-based, inclusive) of one file."""

    context: str
    path: str
    start_line: int
    end_line: int
    repository: str = ""
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CompareCodeRequest:
    """What changed at ``path`` between two contexts of one repository."""

    from_context: str
    to_context: str
    path: str
    repository: str = ""
    max_tokens: int = 0
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class CompareCallsRequest:
    """Which calls around a symbol came and went between two contexts of one repository.

    ``kinds`` are those of :class:`TraceCallsRequest`.
    """

    from_context: str
    to_context: str
    symbol: str
    direction: str
    depth: int
    repository: str = ""
    limit: int = 0
    max_tokens: int = 0
    cursor: str = ""
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHistoryRequest:
    """The commits behind a context that pass every filter given.

    ``query`` is a case-insensitive substring of the message, ``symbol`` a string whose number of
    occurrences changed, ``path`` a file or a directory.
    """

    context: str
    query: str = ""
    symbol: str = ""
    path: str = ""
    repository: str = ""
    limit: int = 0
    max_tokens: int = 0
    cursor: str = ""


Request: TypeAlias = (
    ListContextsRequest
    | SearchCodeRequest
    | TraceCallsRequest
    | GetCodeRequest
    | CompareCodeRequest
    | CompareCallsRequest
    | SearchHistoryRequest
)
