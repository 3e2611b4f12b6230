"""Which contexts there are."""

from collections.abc import Sequence
from typing import Protocol

from ..model import Context
from .budget import Budget


class ContextSource(Protocol):
    """Lists the contexts and resolves an id to one; what it does not list is not there."""

    name: str
    """What a budget's overrun is blamed on, e.g. ``catalogue``."""

    def contexts(self, budget: Budget) -> Sequence[Context]:
        """Every context that may be queried, in any order."""
        ...

    def resolve(self, context: str, budget: Budget) -> Context:
        """The context of exactly this id; CONTEXT_NOT_FOUND otherwise, never a near one."""
        ...
