"""What carries a request to an engine and its answer back, whichever process it runs in."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..engine import (
    Budgets,
    CompareCallsRequest,
    CompareCodeRequest,
    GetCodeRequest,
    ListContextsRequest,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from ..errors import OperationTimeout
from .wire import encode

QUEUE_LIMIT = 256
"""Requests that may wait for a worker or thread; the next one is answered BUSY."""

GRACE_SECONDS = 5.0
"""How much longer than its budgets a request may take before it is given up."""

CANCEL_SECONDS = 3.0
"""How long an engine may take to notice that nobody waits, and to end a git that resists for 2."""


class ReplyKind(StrEnum):
    """How a request ended."""

    ANSWER = "A"
    """``body`` is the result, as compact JSON."""
    ERROR = "E"
    """``body`` is the error envelope, as compact JSON."""
    CANCELLED = "X"
    """Nobody waits for the answer any more."""
    FAULT = "F"
    """A defect of ours, already logged; nothing of it is shown."""
    BUSY = "B"
    """Too many requests wait already."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The end of one request; ``body`` is UTF-8 JSON, empty for all but ANSWER and ERROR."""

    kind: ReplyKind
    body: bytes = b""


class Runner(Protocol):
    """Runs requests beside the event loop. Cancelling ``run`` cancels the work."""

    async def run(self, request: Request) -> Reply:
        """The reply to one request; never raises but for cancellation."""
        ...

    async def healthy(self) -> bool:
        """Whether somebody is there to answer; part of the watchdog's check."""
        ...

    async def close(self) -> None:
        """End the work and close the engines."""
        ...


@dataclass(frozen=True, slots=True)
class Allowance:
    """The most that one request may take: the sum of its budgets, without the grace."""

    operation: str
    seconds: float

    def overrun(self) -> Reply:
        """The OPERATION_TIMEOUT for an engine that did not keep to its own budgets."""
        failure = OperationTimeout(self.operation, "engine", self.seconds)
        return Reply(ReplyKind.ERROR, encode(failure.to_wire()))


def allowance(request: Request, budgets: Budgets, members: int) -> Allowance:
    """What ``request`` may take over a context of at most ``members`` members."""
    one, several = budgets.resolve, max(members, 1)
    match request:
        case ListContextsRequest():
            return Allowance("resolve", one)
        case SearchCodeRequest():
            return Allowance("search", one + several * budgets.search)
        case SearchHistoryRequest():
            return Allowance("history", one + several * budgets.history)
        case GetCodeRequest():
            return Allowance("read", one + budgets.read)
        case CompareCodeRequest():
            return Allowance("diff", 2 * one + budgets.diff)
        case TraceCallsRequest():
            return Allowance("trace", one + budgets.trace)
        case CompareCallsRequest():
            return Allowance("trace", 2 * (one + budgets.trace))
