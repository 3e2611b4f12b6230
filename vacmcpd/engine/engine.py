"""The seven queries behind one object."""

import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

from ..errors import OperationTimeout, QueryError
from ..ports.budget import CancelFlag
from ..ports.contexts import ContextSource
from ..ports.graph import GraphProvider
from ..ports.search import SearchProvider
from ..ports.source import SourceProvider
from . import (
    compare_calls,
    compare_code,
    get_code,
    list_contexts,
    search_code,
    search_history,
    trace_calls,
)
from .budget import Budgets, Providers
from .requests import (
    CompareCallsRequest,
    CompareCodeRequest,
    GetCodeRequest,
    ListContextsRequest,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from .results import (
    CompareCallsResult,
    CompareCodeResult,
    GetCodeResult,
    ListContextsResult,
    Result,
    SearchCodeResult,
    SearchHistoryResult,
    TraceCallsResult,
)
from .text import clean_error
from .tokens import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS

_Asked = TypeVar("_Asked")
_Answered = TypeVar("_Answered")


class Engine:
    """Answers queries from pinned commits, through whatever providers there are.

    Any provider but ``contexts`` may be None: its queries then fail with their own code and the
    others work. Building an engine starts nothing. It holds no state of its own, so that threads
    may share it as far as its providers let them. Every query raises
    :class:`~vacmcpd.errors.QueryError`, or :class:`~vacmcpd.errors.Cancelled` once ``cancel`` is
    set. Raises ValueError for a ``max_tokens`` outside 256 to 25,000.
    """

    def __init__(
        self,
        contexts: ContextSource,
        search: SearchProvider | None = None,
        graph: GraphProvider | None = None,
        source: SourceProvider | None = None,
        *,
        budgets: Budgets = Budgets(),  # noqa: B008 - frozen
        max_tokens: int = DEFAULT_TOKENS,
    ) -> None:
        if not MIN_TOKENS <= max_tokens <= MAX_TOKENS:
            raise ValueError(f"max_tokens {max_tokens} is outside {MIN_TOKENS}-{MAX_TOKENS}")
        self._providers = Providers(contexts, search, graph, source, budgets, max_tokens)
        self._closing = threading.Lock()
        self._closed = False

    def list_contexts(
        self, request: ListContextsRequest, cancel: CancelFlag | None = None
    ) -> ListContextsResult:
        """Every context that may be queried."""
        return self._run(list_contexts.answer, request, cancel)

    def search_code(
        self, request: SearchCodeRequest, cancel: CancelFlag | None = None
    ) -> SearchCodeResult:
        """The lines that match a query."""
        return self._run(search_code.answer, request, cancel)

    def trace_calls(
        self, request: TraceCallsRequest, cancel: CancelFlag | None = None
    ) -> TraceCallsResult:
        """The callers or callees of a symbol."""
        return self._run(trace_calls.answer, request, cancel)

    def get_code(self, request: GetCodeRequest, cancel: CancelFlag | None = None) -> GetCodeResult:
        """Lines of one file."""
        return self._run(get_code.answer, request, cancel)

    def compare_code(
        self, request: CompareCodeRequest, cancel: CancelFlag | None = None
    ) -> CompareCodeResult:
        """What changed at one path between two contexts."""
        return self._run(compare_code.answer, request, cancel)

    def compare_calls(
        self, request: CompareCallsRequest, cancel: CancelFlag | None = None
    ) -> CompareCallsResult:
        """Which calls around a symbol came and went between two contexts."""
        return self._run(compare_calls.answer, request, cancel)

    def search_history(
        self, request: SearchHistoryRequest, cancel: CancelFlag | None = None
    ) -> SearchHistoryResult:
        """The commits behind a context that pass the filters."""
        return self._run(search_history.answer, request, cancel)

    def answer(self, request: Request, cancel: CancelFlag | None = None) -> Result:
        """Whichever query ``request`` is of."""
        match request:
            case ListContextsRequest():
                return self.list_contexts(request, cancel)
            case SearchCodeRequest():
                return self.search_code(request, cancel)
            case TraceCallsRequest():
                return self.trace_calls(request, cancel)
            case GetCodeRequest():
                return self.get_code(request, cancel)
            case CompareCodeRequest():
                return self.compare_code(request, cancel)
            case CompareCallsRequest():
                return self.compare_calls(request, cancel)
            case SearchHistoryRequest():
                return self.search_history(request, cancel)
        raise TypeError(f"{type(request).__name__} is no request of this engine")

    def close(self) -> None:
        """Close, once each, the providers that have a ``close``; a second call does nothing.

        All of them are closed even when one fails; then the last failure is raised, with those
        before it as its ``__context__``.
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
        providers = self._providers
        each: dict[int, Any] = {
            id(provider): provider
            for provider in (
                providers.contexts,
                providers.search,
                providers.graph,
                providers.source,
            )
        }
        closes = [getattr(provider, "close", None) for provider in each.values()]
        _close_all([close for close in closes if callable(close)])

    def __enter__(self) -> "Engine":
        """The engine itself, closed when the block ends."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def _run(
        self,
        query: Callable[[Providers, _Asked, CancelFlag | None], _Answered],
        request: _Asked,
        cancel: CancelFlag | None,
    ) -> _Answered:
        try:
            return query(self._providers, request, cancel)
        except OperationTimeout:
            raise
        except QueryError as error:
            cleaned = clean_error(error)
            if cleaned is error:
                raise
            raise cleaned from error


def _close_all(closes: Sequence[Callable[[], Any]]) -> None:
    if closes:
        # A failure inside a finally block carries the one that it interrupts as its context.
        try:
            closes[0]()
        finally:
            _close_all(closes[1:])
