"""Runs one request on an engine and turns whatever comes of it into a reply."""

import json
import logging
import threading
import traceback
from collections.abc import Iterator

from ..engine import Engine, ListContextsRequest, Request
from ..errors import Cancelled, VacmcpError
from ..ports.budget import CancelFlag
from .runner import Reply, ReplyKind
from .wire import encode

_log = logging.getLogger(__name__)


def perform(engine: Engine, request: Request, cancel: CancelFlag) -> Reply:
    """The reply to ``request``; every failure becomes one, so that no request ends a worker."""
    try:
        return Reply(ReplyKind.ANSWER, encode(engine.answer(request, cancel).to_wire()))
    except Cancelled:
        return Reply(ReplyKind.CANCELLED)
    except VacmcpError as failure:
        return Reply(ReplyKind.ERROR, encode(failure.to_wire()))
    except Exception as fault:  # the tool wrapper: a defect is logged and never shown
        _log.error("%s failed\n%s", type(request).__name__, describe(fault))
        return Reply(ReplyKind.FAULT)


def largest_context(engine: Engine) -> int:
    """How many members the largest context has, for the allowances; 1 when nobody can say."""
    reply = perform(engine, ListContextsRequest(), threading.Event())
    if reply.kind is not ReplyKind.ANSWER:
        return 1
    contexts = json.loads(reply.body)["contexts"]
    return max((len(context.get("members", ())) for context in contexts), default=1) or 1


def describe(fault: BaseException) -> str:
    """The traceback of ``fault`` without its messages, which may quote arguments or source text."""
    return "\n".join(_chain(fault))


def _chain(fault: BaseException) -> Iterator[str]:
    seen: BaseException | None = fault
    while seen is not None:
        yield f"{type(seen).__module__}.{type(seen).__qualname__}"
        for frame in traceback.extract_tb(seen.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
