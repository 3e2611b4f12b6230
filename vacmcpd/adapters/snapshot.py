"""The contexts that a server read when it started, as a ContextSource."""

from collections.abc import Iterable, Sequence

from ..errors import QueryError, WireCode
from ..model import Context
from ..ports.budget import Budget


class SnapshotContexts:
    """A fixed set of contexts; an id it does not hold is not there."""

    name = "catalogue"

    def __init__(self, contexts: Iterable[Context]) -> None:
        self._contexts = {context.id: context for context in contexts}

    def contexts(self, budget: Budget) -> Sequence[Context]:
        """All of them."""
        budget.check()
        return list(self._contexts.values())

    def resolve(self, context: str, budget: Budget) -> Context:
        """The context of exactly this id, CONTEXT_NOT_FOUND otherwise."""
        budget.check()
        try:
            return self._contexts[context]
        except KeyError:
            raise QueryError(
                WireCode.CONTEXT_NOT_FOUND,
                f'context "{context}" is not served; list_contexts names those that are',
                {"context": context},
            ) from None
