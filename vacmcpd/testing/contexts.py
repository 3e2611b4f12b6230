"""Contexts in memory."""

from collections.abc import Iterable, Sequence

from ..errors import QueryError, WireCode
from ..model import Context, Member
from ..ports.budget import Budget


class MemoryContexts:
    """A :class:`~vacmcpd.ports.contexts.ContextSource` over the contexts it was given."""

    def __init__(self, contexts: Iterable[Context] = (), *, name: str = "memory") -> None:
        self.name = name
        self._contexts = {context.id: context for context in contexts}

    def contexts(self, budget: Budget) -> Sequence[Context]:
        """Every context, in the order it was given."""
        budget.check()
        return tuple(self._contexts.values())

    def resolve(self, context: str, budget: Budget) -> Context:
        """The context of exactly this id; CONTEXT_NOT_FOUND otherwise."""
        budget.check()
        found = self._contexts.get(context)
        if found is None:
            raise QueryError(
                WireCode.CONTEXT_NOT_FOUND,
                f'no context "{context}" is served',
                {"context": context},
            )
        return found


def pinned(context: str, *members: tuple[str, str, str]) -> Context:
    """A context of (repository, branch, revision) triples."""
    return Context(context, tuple(Member(*member) for member in members))
