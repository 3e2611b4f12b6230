"""Which contexts there are."""

from ..ports.budget import CancelFlag
from .budget import Providers
from .requests import ListContextsRequest
from .results import ListContextsResult


def answer(
    providers: Providers, request: ListContextsRequest, cancel: CancelFlag | None
) -> ListContextsResult:
    """What is configured, even where it can't be read: no repository is opened for this."""
    budget = providers.budgets.start("resolve", providers.contexts, cancel)
    found = providers.contexts.contexts(budget)
    budget.check_cancelled()
    # The order of code points is the byte order of UTF-8.
    return ListContextsResult(tuple(sorted(found, key=lambda context: context.id)))
