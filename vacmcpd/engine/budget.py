"""How long each operation may take, and what the queries are answered from."""

import math
from dataclasses import dataclass, fields
from typing import Protocol

from ..ports.budget import Budget, CancelFlag
from ..ports.contexts import ContextSource
from ..ports.graph import GraphProvider
from ..ports.search import SearchProvider
from ..ports.source import SourceProvider


class Named(Protocol):
    """What a budget's overrun can be blamed on."""

    name: str


@dataclass(frozen=True, slots=True)
class Budgets:
    """Seconds for one operation each; they follow one another and are not shared.

    ``resolve`` covers one context, ``search`` and ``history`` one member, ``trace`` one
    traversal. Raises ValueError for anything that is not a finite number above 0.
    """

    resolve: float = 30.0
    read: float = 30.0
    diff: float = 30.0
    history: float = 120.0
    search: float = 30.0
    trace: float = 120.0

    def __post_init__(self) -> None:
        for option in fields(self):
            seconds = getattr(self, option.name)
            if not (math.isfinite(seconds) and seconds > 0):
                raise ValueError(f"budget {option.name} is more than 0 seconds, not {seconds!r}")

    def start(self, operation: str, provider: Named, cancel: CancelFlag | None) -> Budget:
        """The clock of one operation, started now. Raises Cancelled when nobody waits any more."""
        budget = Budget(operation, provider.name, getattr(self, operation), cancel)
        budget.check_cancelled()
        return budget


@dataclass(frozen=True, slots=True)
class Providers:
    """What an engine was built over."""

    contexts: ContextSource
    search: SearchProvider | None
    graph: GraphProvider | None
    source: SourceProvider | None
    budgets: Budgets
    max_tokens: int
