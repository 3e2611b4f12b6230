"""The embedded search over an index: Zoekt's language, one pinned tree, and its blobs' blocks."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from ...errors import LifecycleError, QueryError, WireCode, source_mismatch
from ...model import MemberCoverage, Scope
from ...ports.artifacts import ArtifactStore, StoredFile
from ...ports.budget import Budget
from ...ports.objects import ObjectReader
from ...ports.search import SearchPage, SearchQuery
from ..container import Damaged
from . import manifests
from .embedded_build import ENGINE, EmbeddedBuilder
from .generations import Files, Located, Opener, reason, sorted_out
from .matching import compile_query
from .planning import plan_query
from .query import parse
from .views import Texts, View
from .walking import Walk

__all__ = ["EmbeddedBuilder", "EmbeddedSearch"]

_CACHE_BYTES = 32 * 1024 * 1024
_MOST_ROWS = 250_000

Served = Callable[[str], Sequence[StoredFile]]
"""The files of the generation that is served of a repository."""


class EmbeddedSearch:
    """A SearchProvider over the stores that :class:`EmbeddedBuilder` makes.

    Matches come ranked (:mod:`.ranking`). ``cache_bytes`` bounds the texts that are kept between
    searches; answers are not. Safe in several threads.
    """

    name = ENGINE

    def __init__(
        self,
        objects: ObjectReader,
        artifacts: ArtifactStore,
        files: Served,
        *,
        cache_bytes: int = _CACHE_BYTES,
    ) -> None:
        self._objects = objects
        self._files = files
        self._texts = Texts(cache_bytes)
        self._stores = _Stores(artifacts)

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        """One window of the matches; see :class:`vacmcpd.ports.search.SearchProvider`."""
        parsed = parse(query.text, query.mode)
        tree = self._objects.prove(scope)
        budget.check_cancelled()
        try:
            view = self._stores.view(scope, tree, self._files(scope.repository))
            walk = Walk(
                view,
                plan_query(parsed, scope, view),
                compile_query(parsed, scope),
                parsed,
                query,
                budget,
                self._texts,
                lambda oid: self._objects.blob(scope, oid),
            )
            walk.run()
        except (Damaged, LifecycleError) as error:
            raise _unavailable(scope, reason(error)) from error
        return _page(scope, walk)


_Key = tuple[str, str, str, tuple[StoredFile, ...]]
"""A repository, a tree, its manifest's digest and the segments of its generation."""


class _Stores:
    """The generations and trees that were asked for last."""

    def __init__(self, artifacts: ArtifactStore) -> None:
        self._artifacts = artifacts
        self._lock = threading.Lock()
        self._located: dict[str, tuple[tuple[StoredFile, ...], Located]] = {}
        self._sorted: dict[str, tuple[tuple[StoredFile, ...], Files]] = {}
        self._views: OrderedDict[_Key, View] = OrderedDict()
        self._rows = 0

    def view(self, scope: Scope, tree: str, files: Sequence[StoredFile]) -> View:
        """The pinned tree, ready to be walked.

        Raises SEARCH_PROVIDER_UNAVAILABLE, SOURCE_MISMATCH, ARTIFACT_MISSING and Damaged.
        """
        found = self._sorted_out(scope.repository, files)
        stored = found.manifests.get(tree)
        if stored is None:
            raise _unavailable(scope, "it has no manifest of the pinned tree")
        key = (scope.repository, tree, stored.digest, found.segments)
        with self._lock:
            if key in self._views:
                self._views.move_to_end(key)
                return self._views[key]
            view = self._open(scope, tree, stored, found)
            self._keep(key, view)
            return view

    def _open(self, scope: Scope, tree: str, stored: StoredFile, files: Files) -> View:
        manifest = manifests.read(self._artifacts.open(scope.repository, stored))
        if manifest.tree != tree:
            raise source_mismatch(
                scope.repository,
                scope.revision,
                None,
                f'context "{scope.context}": the search index of "{scope.repository}" is of '
                f"another tree; run `vacmcp context rebuild {scope.context}`",
                context=scope.context,
                declared_tree=tree,
                actual_tree=manifest.tree,
            )
        located = self._locate(scope.repository, files)
        if located.missing(manifest.ordinals):
            raise Damaged("a file of the tree is in no segment")
        if manifests.proof_of(located.oids(manifest.ordinals)) != manifest.proof:
            raise Damaged("a path of the tree stands for another file")
        return View(manifest, located)

    def _sorted_out(self, repository: str, files: Sequence[StoredFile]) -> Files:
        # A server gives the same tuple at every call, and a generation can have many files.
        given, kept = tuple(files), self._sorted.get(repository)
        if kept is None or kept[0] is not given:
            kept = self._sorted[repository] = (given, sorted_out(given))
        return kept[1]

    def _locate(self, repository: str, found: Files) -> Located:
        kept = self._located.get(repository)
        if kept is not None and kept[0] == found.segments:
            return kept[1]
        opener = Opener(self._artifacts, repository, found)
        located = Located([opener.segment(file) for file in found.segments])
        self._located[repository] = (found.segments, located)
        self._forget(repository)
        return located

    def _forget(self, repository: str) -> None:
        """Drop the trees of an older generation: they keep files open that were deleted."""
        for key in [key for key in self._views if key[0] == repository]:
            self._rows -= len(self._views.pop(key))

    def _keep(self, key: _Key, view: View) -> None:
        self._views[key] = view
        self._rows += len(view)
        while self._rows > _MOST_ROWS and len(self._views) > 1:
            _, dropped = self._views.popitem(last=False)
            self._rows -= len(dropped)


def _page(scope: Scope, walk: Walk) -> SearchPage:
    files, skipped = len(walk.view), walk.view.skipped
    searched = files - sum(skipped.values())
    if walk.late:
        searched = max(0, searched - walk.unread)
    return SearchPage(
        scope.revision,
        tuple(walk.matches),
        walk.total,
        walk.exact,
        MemberCoverage(scope.repository, scope.revision, files, searched, dict(skipped)),
    )


def _unavailable(scope: Scope, reason: str) -> QueryError:
    return QueryError(
        WireCode.SEARCH_PROVIDER_UNAVAILABLE,
        f'context "{scope.context}": the search index of "{scope.repository}" can\'t be used: '
        f"{reason}; run `vacmcp context rebuild {scope.context}`",
        {"context": scope.context, "repository": scope.repository},
    )
