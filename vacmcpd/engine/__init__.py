"""The seven queries, over ports and values only.

:class:`Engine` is built from providers of :mod:`vacmcpd.ports` and asked with the requests of
:mod:`vacmcpd.engine.requests`; :mod:`vacmcpd.testing` has in-memory providers to try it with.
"""

from .budget import Budgets
from .engine import Engine
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

__all__ = [
    "Budgets",
    "CompareCallsRequest",
    "CompareCallsResult",
    "CompareCodeRequest",
    "CompareCodeResult",
    "Engine",
    "GetCodeRequest",
    "GetCodeResult",
    "ListContextsRequest",
    "ListContextsResult",
    "Request",
    "Result",
    "SearchCodeRequest",
    "SearchCodeResult",
    "SearchHistoryRequest",
    "SearchHistoryResult",
    "TraceCallsRequest",
    "TraceCallsResult",
]
