"""What a ref that somebody typed means: looked up by exact name, never given to rev syntax."""

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

import pygit2

from ...errors import BuildCode, LifecycleError
from ...ports.repository_store import FetchReport, RefKind, ResolvedRef
from .raw import READ_ERRORS
from .runner import GitCall, Watch, run

BRANCHES = "refs/remotes/origin/"
TAGS = "refs/tags/"
HEADS = "refs/heads/"

_ID = re.compile(r"[0-9A-Fa-f]{7,40}")
_LONGEST = 300
_WHAT = (
    "a ref is a branch, a tag, a full name (refs/heads/… or refs/tags/…) or a commit id of at "
    "least 7 hex digits"
)


def resolve(
    repository: pygit2.Repository, git_dir: Path, name: str, ref: str, watch: Watch
) -> ResolvedRef:
    """``ref`` in the clone of ``name``; raises REVISION_NOT_FOUND or INVALID_ARGUMENT."""
    if not ref.strip():
        raise LifecycleError(BuildCode.INVALID_ARGUMENT, f"a ref is missing; {_WHAT}")
    names = frozenset(repository.raw_listall_references())
    found = [
        (full, kind, target) for full, kind, target in _candidates(ref) if _encode(target) in names
    ]
    commits = _commits(repository, git_dir, ref.lower(), watch) if _ID.fullmatch(ref) else []
    choices = [full for full, _, _ in found] + commits
    if len(choices) > 1:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'"{ref}" means more than one thing in repository "{name}": '
            f"{', '.join(choices)}; write the one that you mean in full",
            {"repository": name, "ref": ref, "candidates": choices},
        )
    if commits:
        return ResolvedRef(ref, RefKind.COMMIT, commits[0])
    revision = _peel(repository, _target(repository, found[0][2])) if found else None
    if revision is None:
        raise _not_found(name, ref, names, existing=bool(found))
    return ResolvedRef(ref, found[0][1], revision)


def count(repository: pygit2.Repository) -> FetchReport:
    """How many fetched branches and tags there are."""
    names = repository.raw_listall_references()
    return FetchReport(
        sum(name.startswith(BRANCHES.encode()) for name in names),
        sum(name.startswith(TAGS.encode()) for name in names),
    )


def _candidates(ref: str) -> Iterable[tuple[str, RefKind, str]]:
    """Full name, kind and our own ref's name for each thing that ``ref`` could be."""
    if ref.startswith("refs/"):
        if ref.startswith(HEADS):
            yield ref, RefKind.BRANCH, BRANCHES + ref.removeprefix(HEADS)
        elif ref.startswith(TAGS):
            yield ref, RefKind.TAG, ref
        return
    yield HEADS + ref, RefKind.BRANCH, BRANCHES + ref
    yield TAGS + ref, RefKind.TAG, TAGS + ref


def _commits(repository: pygit2.Repository, git_dir: Path, prefix: str, watch: Watch) -> list[str]:
    """The commits that an id or an abbreviation names; an annotated tag's id counts as its own."""
    if len(prefix) == 40:
        ids = [prefix]
    else:
        call = GitCall(("rev-parse", f"--disambiguate={prefix}"), git_dir)
        ids = run(call, watch).decode("ascii").split()
    peeled = (_peel(repository, oid) for oid in ids)
    return sorted({commit for commit in peeled if commit is not None})


def _target(repository: pygit2.Repository, name: str) -> str | None:
    try:
        return str(repository.lookup_reference(name).resolve().target)
    except READ_ERRORS:
        return None


def _peel(repository: pygit2.Repository, oid: str | None) -> str | None:
    """The commit behind an object id, through any number of annotated tags."""
    seen: set[str] = set()
    while oid is not None and oid not in seen:
        seen.add(oid)
        try:
            kind, data = repository.odb.read(pygit2.Oid(hex=oid))
        except READ_ERRORS:
            return None
        if kind == pygit2.enums.ObjectType.COMMIT:
            return oid
        tagged = re.match(rb"object ([0-9a-f]{40})\n", data)
        is_tag = kind == pygit2.enums.ObjectType.TAG and tagged is not None
        oid = tagged.group(1).decode("ascii") if is_tag and tagged else None
    return None


def _not_found(
    repository: str, ref: str, names: frozenset[bytes], existing: bool
) -> LifecycleError:
    near = _near(ref, names)
    reason = (
        f'"{_shown(ref)}" in repository "{repository}" names no commit'
        if existing
        else f'repository "{repository}" has no ref "{_shown(ref)}"'
    )
    hint = f" (near: {', '.join(near)})" if near else ""
    return LifecycleError(
        BuildCode.REVISION_NOT_FOUND,
        f"{reason}{hint}; {_WHAT}, among what was fetched",
        {"repository": repository, "ref": _shown(ref), "near": near},
    )


def _near(ref: str, names: frozenset[bytes]) -> list[str]:
    known = {_short(name.decode("utf-8", "replace")) for name in names}
    return difflib.get_close_matches(ref[:_LONGEST], sorted(known - {""}), n=5, cutoff=0.6)


def _short(name: str) -> str:
    for prefix in (BRANCHES, TAGS):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return ""


def _shown(ref: str) -> str:
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in ref)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _encode(name: str) -> bytes:
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return b""
