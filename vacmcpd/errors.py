"""Every failure that leaves this package, as one tree.

::

    VacmcpError(code, message, details)
    ├── QueryError            a query that can't be answered      code: WireCode
    │   └── OperationTimeout  its budget ran out                  OPERATION_TIMEOUT
    ├── LifecycleError        a command or a build that failed    code: BuildCode
    │   ├── Locked            somebody else holds the lock        LOCKED
    │   └── IllegalTransition a state may not move that way       INVALID_ARGUMENT
    └── Cancelled             the caller went away                CANCELLED (never on the wire)

Ports raise only this tree. ``message`` says what failed and what to do about it and may be shown
to anybody: it carries no local path of the machine that serves, no secret and no wrapped query.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class WireCode(StrEnum):
    """The closed set of codes that an MCP client can see (``reference/behaviour.md`` 1.2)."""

    CONTEXT_NOT_FOUND = "CONTEXT_NOT_FOUND"
    CONTEXT_AMBIGUOUS = "CONTEXT_AMBIGUOUS"
    REPOSITORY_NOT_FOUND = "REPOSITORY_NOT_FOUND"
    REVISION_NOT_FOUND = "REVISION_NOT_FOUND"
    SYMBOL_NOT_FOUND = "SYMBOL_NOT_FOUND"
    SYMBOL_AMBIGUOUS = "SYMBOL_AMBIGUOUS"
    SEARCH_PROVIDER_UNAVAILABLE = "SEARCH_PROVIDER_UNAVAILABLE"
    GRAPH_PROVIDER_UNAVAILABLE = "GRAPH_PROVIDER_UNAVAILABLE"
    SOURCE_MISMATCH = "SOURCE_MISMATCH"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    SOURCE_DIFF_UNAVAILABLE = "SOURCE_DIFF_UNAVAILABLE"
    SOURCE_HISTORY_UNAVAILABLE = "SOURCE_HISTORY_UNAVAILABLE"
    OPERATION_TIMEOUT = "OPERATION_TIMEOUT"


class BuildCode(StrEnum):
    """The codes of the command line and of a context's ``failure_code``.

    The wire codes, spelled again because an enum can't be extended, and those of the lifecycle.
    """

    CONTEXT_NOT_FOUND = "CONTEXT_NOT_FOUND"
    CONTEXT_AMBIGUOUS = "CONTEXT_AMBIGUOUS"
    REPOSITORY_NOT_FOUND = "REPOSITORY_NOT_FOUND"
    REVISION_NOT_FOUND = "REVISION_NOT_FOUND"
    SYMBOL_NOT_FOUND = "SYMBOL_NOT_FOUND"
    SYMBOL_AMBIGUOUS = "SYMBOL_AMBIGUOUS"
    SEARCH_PROVIDER_UNAVAILABLE = "SEARCH_PROVIDER_UNAVAILABLE"
    GRAPH_PROVIDER_UNAVAILABLE = "GRAPH_PROVIDER_UNAVAILABLE"
    SOURCE_MISMATCH = "SOURCE_MISMATCH"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    SOURCE_DIFF_UNAVAILABLE = "SOURCE_DIFF_UNAVAILABLE"
    SOURCE_HISTORY_UNAVAILABLE = "SOURCE_HISTORY_UNAVAILABLE"
    OPERATION_TIMEOUT = "OPERATION_TIMEOUT"
    INTERRUPTED = "INTERRUPTED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    AUTH_FAILED = "AUTH_FAILED"
    UNSUPPORTED_REPOSITORY = "UNSUPPORTED_REPOSITORY"
    ARTIFACT_MISSING = "ARTIFACT_MISSING"
    NO_SPACE = "NO_SPACE"
    LOCKED = "LOCKED"


class VacmcpError(Exception):
    """The root: a code to branch on, a sentence for a person, details for a program."""

    def __init__(
        self, code: WireCode | BuildCode, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Any] = dict(details or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.code, self.message, self.details)

    def to_wire(self) -> dict[str, Any]:
        """``{"error": {"code", "message", "details"}}``, the one shape of a failure."""
        return {
            "error": {
                "code": str(self.code),
                "message": self.message,
                "details": {key: self.details[key] for key in sorted(self.details)},
            }
        }


class QueryError(VacmcpError):
    """A query that can't be answered from the context that it names."""

    code: WireCode

    def __init__(
        self, code: WireCode, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code, message, details)


class OperationTimeout(QueryError):
    """An operation overran its budget; details are exactly operation, provider, timeout_ms."""

    def __init__(self, operation: str, provider: str, seconds: float) -> None:
        super().__init__(
            WireCode.OPERATION_TIMEOUT,
            f"{provider} {operation} did not finish within {seconds:g} s; "
            "narrow the request or raise the budget",
            {
                "operation": operation,
                "provider": provider,
                "timeout_ms": round(seconds * 1000),
            },
        )
        self._arguments = (operation, provider, seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


class LifecycleError(VacmcpError):
    """A command or a build step that failed, for a reason that is kept and shown."""

    code: BuildCode

    def __init__(
        self, code: BuildCode, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code, message, details)


class Locked(LifecycleError):
    """Somebody else holds a lock; the message names the holder and what to do."""

    def __init__(self, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(BuildCode.LOCKED, message, details)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.details)


class IllegalTransition(LifecycleError):
    """A context was asked to move between two states that no transition joins."""

    def __init__(self, context: str, current: str, wanted: str) -> None:
        super().__init__(
            BuildCode.INVALID_ARGUMENT,
            f'context "{context}" is {current} and cannot become {wanted}',
            {"context": context, "state": current, "wanted": wanted},
        )
        self._arguments = (context, current, wanted)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


class Cancelled(VacmcpError):
    """The caller went away or a signal came; nobody is waiting for the answer."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(BuildCode.CANCELLED, message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message,)


def _rebuild(
    kind: type[VacmcpError], code: Any, message: str, details: dict[str, Any]
) -> VacmcpError:
    return kind(code, message, details)


def invalid_argument(message: str, **details: Any) -> QueryError:
    """An INVALID_ARGUMENT for a query."""
    return QueryError(WireCode.INVALID_ARGUMENT, message, details)


def source_mismatch(
    repository: str, declared: str, actual: str | None, message: str, **details: Any
) -> QueryError:
    """A SOURCE_MISMATCH: what is there is not the pinned commit (``actual`` null: it is gone)."""
    return QueryError(
        WireCode.SOURCE_MISMATCH,
        message,
        {
            "repository": repository,
            "declared_revision": declared,
            "actual_revision": actual,
            **details,
        },
    )
