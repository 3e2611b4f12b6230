"""A small repository with two releases, the same commits on every machine.

Made with libgit2 alone, so that neither a user's git configuration nor the platform's line ends,
file modes or symbolic links can change an id. Nothing is checked out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pygit2

_FILE, _LINK = pygit2.enums.FileMode.BLOB, pygit2.enums.FileMode.LINK
_AUTHOR = ("Demo Author", "demo@example.invalid")
_DAY = 24 * 60 * 60
_FIRST_OF_JANUARY_2026 = 1_767_225_600
_VERSION = """package demo

// Version is the release this branch carries.
const Version = "{}"
"""
_HANDLER = """package demo

// {name}Handler serves a request the way {who}.
func {name}Handler(req string) string {{
	return "{word}: " + req
}}
"""
_PROCESSOR = """package demo

// Process handles one request.
func Process(req string) string {{
	return {}Handler(req)
}}
"""
_SHARED = """package demo

// SharedHandler is the same on every release.
func SharedHandler(req string) string {
	return "shared: " + req
}

// Keep delegates to SharedHandler.
func Keep(req string) string {
	return SharedHandler(req)
}
"""
_ONLY = """package demo

// {name}Only is only on {release}.
func {name}Only(req string) string {{
	return "{word} only: " + req
}}
"""
_HOTFIX = """package demo

// HotfixOnly is only on the hotfix branch.
func HotfixOnly() {}
"""
_DEEP = """package sub

// Deep is nested.
func Deep() int { return 1 }
"""

_BASE: Mapping[str, str | bytes] = {
    "go.mod": "module example.com/demo\n\ngo 1.26\n",
    "README.md": "# demo\n\nTwo releases, two handlers.\n",
    "handler.go": _HANDLER.format(name="Legacy", who="releases up to v1 do", word="legacy"),
    "processor.go": _PROCESSOR.format("Legacy"),
}
# One file of every kind that a reader has to get right.
_KINDS: Mapping[str, str | bytes] = {
    "shared.go": _SHARED,
    "pkg/sub/deep.go": _DEEP,
    "nonl.txt": "no newline at end",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "latin1.txt": b"caf\xe9 latin1\nsecond\n",
    "blob.bin": b"\x00\x01\x02binary\x00\n",
    "empty.txt": "",
    "a file.txt": "spaces here\n",
    # The first holds its backslashes; only the second has a letter beyond ASCII.
    r"na\xc3\xafve.txt": "unicode name\n",
    "na\N{LATIN SMALL LETTER I WITH DIAERESIS}ve.txt": "unicode name\n",
}
_SECOND: Mapping[str, str | bytes] = {
    "handler.go": _HANDLER.format(name="New", who="v2 does", word="new"),
    "processor.go": _PROCESSOR.format("New"),
    "version.go": _VERSION.format("v2"),
    "blob.bin": b"\x00\x01\x03binary2\x00\n",
    "crlf.txt": "one\r\nTWO\r\nthree\r\n",
    "nonl.txt": "no newline changed",
}


@dataclass(frozen=True, slots=True)
class DemoRepository:
    """Where the demo repository is, and the commit of each of its branches."""

    path: Path
    branches: Mapping[str, str]
    tags: Mapping[str, str]

    @property
    def url(self) -> str:
        """What ``vacmcp repo add --url`` takes."""
        return self.path.absolute().as_uri()

    @property
    def v1(self) -> str:
        """The newest commit of release/v1."""
        return self.branches["release/v1"]

    @property
    def v2(self) -> str:
        """The newest commit of release/v2."""
        return self.branches["release/v2"]


@dataclass(slots=True)
class _Line:
    """A line of history under construction: the newest tree's leaves and the newest commit."""

    repository: pygit2.Repository
    leaves: dict[str, tuple[pygit2.Oid, pygit2.enums.FileMode]] = field(default_factory=dict)
    tip: pygit2.Oid | None = None

    def fork(self) -> "_Line":
        return _Line(self.repository, dict(self.leaves), self.tip)

    def commit(
        self, day: int, message: str, files: Mapping[str, str | bytes], zone_hours: int = 0
    ) -> "_Line":
        for path, content in files.items():
            data = content.encode("utf-8") if isinstance(content, str) else content
            self.leaves[path] = (self.repository.create_blob(data), _FILE)
        moment = _FIRST_OF_JANUARY_2026 + (day - 1) * _DAY - zone_hours * 3600
        who = pygit2.Signature(*_AUTHOR, moment, zone_hours * 60)
        parents = [self.tip] if self.tip else []
        self.tip = self.repository.create_commit(
            None, who, who, message, self._tree(self.leaves), parents
        )
        return self

    def link(self, path: str, target: str) -> "_Line":
        self.leaves[path] = (self.repository.create_blob(target.encode("utf-8")), _LINK)
        return self

    def _tree(self, leaves: Mapping[str, tuple[pygit2.Oid, pygit2.enums.FileMode]]) -> pygit2.Oid:
        builder = self.repository.TreeBuilder()
        folders: dict[str, dict[str, tuple[pygit2.Oid, pygit2.enums.FileMode]]] = {}
        for path, (oid, mode) in leaves.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = (oid, mode)
            else:
                builder.insert(name, oid, mode)
        for name, inside in folders.items():
            builder.insert(name, self._tree(inside), pygit2.enums.FileMode.TREE)
        return builder.write()


def make_demo_repository(folder: Path) -> DemoRepository:
    """Make, or make again, the demo repository in ``folder``, which is created when missing.

    Branches main, release/v1, release/v1-hotfix and release/v2; tags v1.0.0 (light) and
    v1.0.0-annotated.
    """
    repository = pygit2.init_repository(str(folder), initial_head="main")
    main = _Line(repository).commit(1, "Add Process delegating to LegacyHandler\n", _BASE)
    main.link("link.go", "processor.go").commit(
        2,
        "Add Keep delegating to SharedHandler\n\nBody line one.\nBody line two.\n",
        _KINDS,
        zone_hours=9,
    )
    first = main.fork().commit(3, "Cut release/v1\n", {"version.go": _VERSION.format("v1")})
    old = _ONLY.format(name="Old", release="v1", word="old")
    first.commit(4, "Add OldOnly to release/v1\n", {"oldonly.go": old})
    second = main.fork().commit(5, "Switch Process to the v2 handler\n", _SECOND)
    new = _ONLY.format(name="New", release="v2", word="new")
    second.commit(6, "Add NewOnly to release/v2\n", {"newonly.go": new})
    hotfix = first.fork().commit(7, "Hotfix\n", {"hotfix.go": _HOTFIX})
    lines = {
        "main": main,
        "release/v1": first,
        "release/v1-hotfix": hotfix,
        "release/v2": second,
    }
    return _named(folder, repository, {name: line.tip for name, line in lines.items() if line.tip})


def _named(
    folder: Path, repository: pygit2.Repository, tips: Mapping[str, pygit2.Oid]
) -> DemoRepository:
    for name, tip in tips.items():
        repository.references.create(f"refs/heads/{name}", tip, force=True)
    tagged = tips["release/v1"]
    repository.references.create("refs/tags/v1.0.0", tagged, force=True)
    if "refs/tags/v1.0.0-annotated" not in repository.references:
        tagger = pygit2.Signature(*_AUTHOR, _FIRST_OF_JANUARY_2026 + 3 * _DAY, 0)
        repository.create_tag(
            "v1.0.0-annotated",
            tagged,
            pygit2.enums.ObjectType.COMMIT,
            tagger,
            "annotated v1\n",
        )
    tags = {"v1.0.0": str(tagged), "v1.0.0-annotated": str(tagged)}
    return DemoRepository(folder, {name: str(tip) for name, tip in tips.items()}, tags)
