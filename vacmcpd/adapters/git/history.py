"""The history of a pinned commit, streamed from ``git log`` and ended as soon as a page is full."""

import re
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from ...errors import LifecycleError, QueryError, WireCode, invalid_argument
from ...model import Scope
from ...paths import to_bytes, to_text
from ...ports.budget import Budget
from ...ports.source import HistoryEntry, HistoryPage, HistoryQuery
from .failures import GitFailed
from .objects import GitObjects
from .raw import EPOCH, FULL_ID, CommitText, text_of
from .runner import GitCall, records

# Ids and paths alone: an id is between two NULs and a path is never empty, so nothing that a
# commit says can pass for a record. The words come from the commit object itself.
_FORMAT = "--format=tformat:%x00%H"
_OPTIONS = (
    "-z",
    "--name-only",
    _FORMAT,
    "--no-merges",
    # Without it git leaves side branches out whose changes to the path were undone at the merge.
    "--full-history",
    "--no-renames",
    "--no-follow",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-decorate",
    "--no-mailmap",
    "--no-notes",
    "--no-show-signature",
    "--no-relative",
    "--ignore-submodules=none",
    "--encoding=UTF-8",
)
# An embedder's repository has a configuration of its own; these keys would change the answer.
_CONFIG = (
    "log.showRoot=true",
    "log.follow=false",
    "diff.orderFile=/dev/null",
    "diff.renames=false",
)
_LONGEST_SYMBOL = 64 * 1024
_DAMAGED = re.compile(
    r"bad (?:object|tree|revision)|unable to (?:read|parse)|missing|corrupt|could not"
)


def walk(objects: GitObjects, scope: Scope, query: HistoryQuery, budget: Budget) -> HistoryPage:
    """One page; see :class:`vacmcpd.ports.source.SourceHistory`.

    Raises SOURCE_MISMATCH when the pin does not hold before or after, or an object is missing on
    the way, SOURCE_HISTORY_UNAVAILABLE without git, OPERATION_TIMEOUT and Cancelled by the budget.
    """
    objects.prove(scope)
    call = _call(objects.git_dir(scope), scope, query)
    try:
        page = _page(objects, scope, query, call, budget)
    except GitFailed as failed:
        raise _failure(scope, failed) from failed
    except LifecycleError as error:
        raise QueryError(
            WireCode.SOURCE_HISTORY_UNAVAILABLE, error.message, {"context": scope.context}
        ) from error
    objects.prove(scope)
    return page


def _call(git_dir: Path, scope: Scope, query: HistoryQuery) -> GitCall:
    words = [f"-S{_checked(query.symbol)}"] if query.symbol else []
    # "." would be a pathspec for the root, which is every path; no pathspec says the same.
    path = to_bytes(query.path) if query.path not in {"", "."} else b""
    paths = [_argument(path)] if path else []
    return GitCall(
        ("log", *_OPTIONS, *words, "--end-of-options", scope.revision, "--", *paths),
        git_dir,
        options=("--literal-pathspecs", *(word for key in _CONFIG for word in ("-c", key))),
    )


def _checked(symbol: str) -> str:
    if "\0" in symbol or len(symbol) > _LONGEST_SYMBOL:
        raise invalid_argument("search_history: symbol holds a NUL or is too long")
    try:
        symbol.encode("utf-8")
    except UnicodeEncodeError:
        raise invalid_argument("search_history: symbol is not valid Unicode text") from None
    return symbol


def _argument(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _page(
    objects: GitObjects, scope: Scope, query: HistoryQuery, call: GitCall, budget: Budget
) -> HistoryPage:
    entries: list[HistoryEntry] = []
    examined = passed = 0
    wanted = query.message.casefold()
    commit, text, matches = "", CommitText("", EPOCH, ""), False
    with closing(_changes(call, budget)) as changes:
        for found, path in changes:
            if len(entries) >= query.limit:
                return HistoryPage(scope.revision, tuple(entries), examined, more=True)
            if found != commit:
                commit, text = found, text_of(objects.commit(scope, found))
                matches = wanted in text.message.casefold()
            examined += 1
            passed += matches
            if matches and passed > query.offset:
                entries.append(_entry(commit, path, text))
    return HistoryPage(scope.revision, tuple(entries), examined, more=False)


def _changes(call: GitCall, budget: Budget) -> Generator[tuple[str, bytes], None, None]:
    """Commit and path, in git's order."""
    commit, starting = "", False
    with closing(records(call, budget.check)) as stream:
        for record in stream:
            if not record:
                starting = True
            elif starting:
                commit, starting = _id(record), False
                first = True
            else:
                # A line break stands between a commit's format and its first path.
                yield commit, record.removeprefix(b"\n") if first else record
                first = False


def _id(record: bytes) -> str:
    text = record.decode("ascii", "replace")
    if not FULL_ID.fullmatch(text):
        raise GitFailed("log", 0, ["error: a record that is no commit id"])
    return text


def _entry(commit: str, path: bytes, text: CommitText) -> HistoryEntry:
    return HistoryEntry(
        commit, to_text(path), text.author, text.timestamp, text.message.rstrip("\n")
    )


def _failure(scope: Scope, failed: GitFailed) -> QueryError:
    """What git's end means; its own words name local paths and stay here."""
    facts = {"context": scope.context, "repository": scope.repository}
    if any(_DAMAGED.search(line.lower()) for line in failed.lines):
        return QueryError(
            WireCode.SOURCE_MISMATCH,
            f'search_history: an object of the history of repository "{scope.repository}" is '
            "missing or damaged; run vacmcp repo sync",
            {
                **facts,
                "declared_revision": scope.revision,
                "actual_revision": None,
                "check": "history",
            },
        )
    return QueryError(
        WireCode.REPOSITORY_NOT_FOUND,
        f'search_history: git could not walk the history of repository "{scope.repository}"; '
        "run vacmcp doctor",
        {**facts, "revision": scope.revision},
    )
