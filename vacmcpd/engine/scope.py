"""From a caller's words to pinned members, and the proof that an answer stayed inside them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import (
    OperationTimeout,
    QueryError,
    WireCode,
    invalid_argument,
    source_mismatch,
)
from ..model import Context, Member, MemberCoverage, Scope
from ..ports.budget import CancelFlag
from .budget import Providers
from .text import askable, clean

_COMMIT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def resolve(providers: Providers, context: str, cancel: CancelFlag | None) -> Context:
    """The context of exactly this id, every member named and pinned to a full commit id.

    Raises CONTEXT_NOT_FOUND, and INVALID_ARGUMENT with ``context`` and ``field`` for a context
    that its source left incomplete.
    """
    source = providers.contexts
    budget = providers.budgets.start("resolve", source, cancel)
    # A surrogate or NUL can't be part of an id, and a database would choke on it.
    if not askable(context):
        raise _unknown(context)
    with told(context=context):
        found = source.resolve(context, budget)
    budget.check_cancelled()
    if found.id != context:
        raise _unknown(context)
    _check_members(found)
    return found


def select(context: Context, repository: str, tool: str, **details: Any) -> Context:
    """``context`` with the one member that is asked for.

    Raises INVALID_ARGUMENT with the selectable ``repositories`` when ``repository`` names none
    of several members, or one that is not there; ``details`` are added to the former.
    """
    narrowed = narrow(context, repository, tool)
    if len(narrowed.members) == 1:
        return narrowed
    names = repositories(context)
    raise invalid_argument(
        f'{tool}: context "{context.id}" has several repositories; name one of {", ".join(names)}',
        context=context.id,
        repositories=names,
        **details,
    )


def narrow(context: Context, repository: str, tool: str) -> Context:
    """``context`` as it is, or with the one member that ``repository`` names."""
    if not repository.strip():
        return context
    chosen = tuple(member for member in context.members if member.repository == repository)
    if chosen:
        return Context(context.id, chosen)
    names = repositories(context)
    raise invalid_argument(
        f'{tool}: context "{context.id}" has no repository "{repository}"; '
        f"it has {', '.join(names)}",
        context=context.id,
        repository=repository,
        repositories=names,
    )


def select_sides(
    tool: str, contexts: tuple[Context, Context], repository: str, **details: Any
) -> tuple[Context, Context]:
    """The same repository on both sides of a comparison.

    Raises INVALID_ARGUMENT: with ``side`` where a side is not one member, with
    ``from_repository`` and ``to_repository`` where they differ.
    """
    before = select(contexts[0], repository, f"{tool}: from", side="from")
    after = select(contexts[1], repository, f"{tool}: to", side="to")
    left, right = before.members[0].repository, after.members[0].repository
    if left != right:
        raise invalid_argument(
            f'{tool}: "{before.id}" is of repository "{left}" and "{after.id}" of "{right}"; '
            "compare two contexts of one repository",
            from_context=before.id,
            to_context=after.id,
            from_repository=left,
            to_repository=right,
            **details,
        )
    return before, after


def repositories(context: Context) -> list[str]:
    """The names that ``repository`` may select."""
    return [member.repository for member in context.members]


def scope_of(context: Context, member: Member) -> Scope:
    """What a provider is handed."""
    return Scope(context.id, member)


def check_revision(scope: Scope, actual: str, what: str) -> None:
    """Raise SOURCE_MISMATCH unless ``what`` is of the pinned commit."""
    if actual != scope.revision:
        raise mismatch(scope, actual, f"{what} is of another commit than the one pinned")


def check_coverage(scope: Scope, coverage: MemberCoverage) -> None:
    """Raise SOURCE_MISMATCH unless a provider counted the files of the pinned commit."""
    check_revision(scope, coverage.revision, "the coverage of the answer")
    if coverage.repository != scope.repository:
        raise mismatch(scope, coverage.revision, "the coverage is of another repository")
    counts = (coverage.files, coverage.searched, *coverage.skipped.values())
    if min(counts) < 0 or coverage.searched + sum(coverage.skipped.values()) > coverage.files:
        raise mismatch(scope, coverage.revision, "the coverage counts more files than there are")


def check_place(
    scope: Scope, actual: str, path: str, line: int, *, name_only: bool = False
) -> None:
    """Raise SOURCE_MISMATCH for a place that no file of a tree can be at.

    A file's name has line 0 (``name_only``), and nothing else has.
    """
    if (line != 0 if name_only else line < 1) or not inside(path):
        raise mismatch(scope, actual, "the provider cites a place outside the tree", path=path)


def inside(path: str) -> bool:
    """Whether ``path`` stays below the root of a tree."""
    # Most paths have no dot segment at all; splitting each of 1,000 rows would show.
    if not path or path[0] == "/":
        return False
    return ".." not in path or ".." not in path.split("/")


def mismatch(scope: Scope, actual: str | None, reason: str, **details: Any) -> QueryError:
    """A SOURCE_MISMATCH of one member."""
    return source_mismatch(
        scope.repository,
        scope.revision,
        actual,
        f'context "{scope.context}", repository "{scope.repository}": {reason}; '
        f'run "vacmcp context verify {scope.context}" and rebuild the context',
        context=scope.context,
        **details,
    )


@contextmanager
def told(**facts: Any) -> Iterator[None]:
    """Add to a provider's failure what only the engine knows; its own details win.

    OPERATION_TIMEOUT keeps exactly the three details it has.
    """
    try:
        yield
    except OperationTimeout:
        raise
    except QueryError as error:
        raise QueryError(error.code, error.message, {**facts, **error.details}) from error


def _check_members(context: Context) -> None:
    if not context.members:
        raise invalid_argument(
            f'context "{context.id}" names no repository; create it again', context=context.id
        )
    if len(set(repositories(context))) < len(context.members):
        raise _incomplete(context, "repository", "names a repository twice")
    for member in context.members:
        for field in ("repository", "branch"):
            if not getattr(member, field):
                raise _incomplete(context, field, f"has a member without {field}")
        if not _COMMIT_ID.match(member.revision):
            raise _incomplete(context, "revision", "is not pinned to a full commit id")


def _incomplete(context: Context, field: str, reason: str) -> QueryError:
    return invalid_argument(f'context "{context.id}" {reason}', context=context.id, field=field)


def _unknown(context: str) -> QueryError:
    return QueryError(
        WireCode.CONTEXT_NOT_FOUND,
        f'no context "{clean(context)}" is served; list_contexts names those that are',
        {"context": clean(context)},
    )
