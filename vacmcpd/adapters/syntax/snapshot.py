"""The call graph of a handful of files, in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha1

from ...ports.graph import CallEdge, EdgeKind, Symbol
from .deep import with_room
from .facts import FileFacts
from .languages import language_of
from .languages.registry import Language
from .linking.link import Version, link
from .linking.records import KINDS, Linked
from .linking.tree import Tree
from .linking.units import Declaration
from .names import bare, kind_of, qualified
from .parsing import parse


@dataclass(frozen=True, slots=True)
class _Sources:
    files: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)


def version_of(files: Mapping[str, bytes]) -> Version:
    """The files as a version to link; ``ModuleNotFoundError`` when a grammar is missing."""
    found: dict[str, Language] = {}
    for path, content in files.items():
        language = language_of(path, lambda content=content: content[:256])  # type: ignore[misc]
        if language is not None:
            found[path] = language
    blobs = {path: sha1(content).hexdigest() for path, content in files.items()}  # noqa: S324
    facts: dict[str, FileFacts] = {}

    def load(path: str) -> FileFacts:
        if path not in facts:
            facts[path] = parse(found[path], files[path])
        return facts[path]

    return Version(Tree(blobs, _Sources(files)), found, load)


def graph_of(files: Mapping[str, bytes]) -> list[CallEdge]:
    """Every edge of ``files`` (path to content), by path, site and callee.

    Resolved, dispatch, inferred and external ones; callers may be lambdas.
    """
    return with_room(lambda: _graph_of(files))


def _graph_of(files: Mapping[str, bytes]) -> list[CallEdge]:
    version = version_of(files)
    records = link(version).records
    return [edge for path in sorted(records) for edge in edges_of(version, path, records[path])]


def edges_of(version: Version, path: str, record: Linked) -> Iterator[CallEdge]:
    """The edges of one file's record."""
    unit = version.unit(path)
    assert unit is not None
    edges = record.edges
    targets = []
    for key in edges.symbols:
        where, _, local = key.partition("\0")
        other = version.unit(where)
        assert other is not None
        targets.append(symbol_of(version, other.quals[local]))
    callers: dict[int, Symbol] = {}

    def caller(number: int) -> Symbol:
        if number not in callers:
            callers[number] = symbol_of(version, unit.declarations[number])
        return callers[number]

    columns = (edges.caller, edges.callee, edges.kind, edges.line)
    for number, callee, kind, line in zip(*columns, strict=True):
        source, target = caller(number), targets[callee]
        yield CallEdge(source.name, target.name, path, line, KINDS[kind], source, target)
    outside = (edges.external_caller, edges.external_name, edges.external_line)
    for number, name, line in zip(*outside, strict=True):
        source, text = caller(number), edges.names[name]
        target = Symbol(text.rpartition(".")[2], text, "", 0, "external")
        yield CallEdge(source.name, text, path, line, EdgeKind.EXTERNAL, source, target)


def symbol_of(version: Version, made: Declaration) -> Symbol:
    """A scope as a symbol."""
    unit = made.unit
    module = unit.rules.module_name(version.tree, unit.path, unit.facts.namespace)
    name = qualified(module, unit.rules, made.qual)
    line = made.place.line if made.parent is not None else 1
    return Symbol(bare(made.name, module), name, unit.path, line, kind_of(made.kind))
