"""A language of the tests: programs as nested tuples, lowered into facts without a grammar.

Expressions: ``("name", x)``, ``("attr", e, x)``, ``("read", e, x)``, ``("call", e, [e …])``,
``("list", [e …])``, ``("item", e, 0)``, ``("any", [e …])``, ``("text",)``. Statements:
``("bind", x, e)``, ``("store", e, x, e)``, ``("put", e, 0, e)``, ``("return", e)``, ``("do", e)``,
``("import", path, name, x)``, ``("def", x, [param …], [statement …])``,
``("property", x, [statement …])``, ``("class", x, [e …], [statement …])``.
"""

from collections.abc import Mapping
from hashlib import sha1
from typing import Any

from vacmcpd.adapters.syntax.building import Builder
from vacmcpd.adapters.syntax.facts import (
    AnyOf,
    Attr,
    Expr,
    FileFacts,
    Import,
    Item,
    Lit,
    Name,
    Param,
    ScopeKind,
    Seq,
)
from vacmcpd.adapters.syntax.languages.registry import Language
from vacmcpd.adapters.syntax.linking import members
from vacmcpd.adapters.syntax.linking.link import Version
from vacmcpd.adapters.syntax.linking.linker import Linker
from vacmcpd.adapters.syntax.linking.tree import Tree
from vacmcpd.adapters.syntax.linking.units import Unit
from vacmcpd.adapters.syntax.linking.values import NOTHING, Values
from vacmcpd.adapters.syntax.rules import Rules
from vacmcpd.ports.graph import Tier

Program = list[Any]


def _module_name(tree: Tree, path: str, namespace: str) -> str:
    del tree, namespace
    return path.removesuffix(".t").replace("/", ".")


def _import(linker: Linker, unit: Unit, expr: Import) -> Values:
    del unit
    if not linker.exists(expr.module):
        return frozenset({linker.ext(f"{expr.module}.{expr.name}".rstrip("."))})
    other = linker.unit(expr.module)
    if other is None:
        return NOTHING
    if not expr.name:
        return frozenset({linker.module(other)})
    return members.of_module(linker, other, expr.name)


def _global(linker: Linker, unit: Unit, name: str) -> Values:
    del unit
    return frozenset({linker.ext(f"<builtin>.{name}")}) if name == "print" else NOTHING


TOY = Language(
    "toy",
    Tier.SCOPED,
    (".t",),
    "",
    "",
    lambda source, root: lower([]),
    Rules(
        _module_name,
        _import,
        _global,
        constructors=("init",),
        receiver_param=True,
        call_member="call",
    ),
)


def lower(program: Program) -> FileFacts:
    """The facts of a file; its lines count statements."""
    build = Builder("toy", 1)
    _Lowering(build).body(program)
    return build.finish()


class _Lowering:
    def __init__(self, build: Builder) -> None:
        self.build = build
        self.line = 0

    def body(self, program: Program) -> None:
        for statement in program:
            self.line += 1
            self._statement(statement)

    def _statement(self, statement: Any) -> None:
        here = self.build.here
        match statement:
            case ("bind", name, value):
                here.bind(name, self._expr(value))
            case ("store", of, name, value):
                here.store(self._expr(of), name, self._expr(value))
            case ("put", of, key, value):
                here.store(self._expr(of), key, self._expr(value), attr=False)
            case ("return", value):
                here.give(self._expr(value))
            case ("do", value):
                here.do(self._expr(value))
            case ("import", path, name, local):
                here.bind(local, Import(path, name))
            case ("def", name, params, body):
                inside = here.kind is ScopeKind.CLASS
                kind = ScopeKind.METHOD if inside else ScopeKind.FUNCTION
                if inside and name == "init":
                    kind = ScopeKind.CONSTRUCTOR
                self._scope(kind, name, ["self", *params] if inside else params, [], body)
            case ("property", name, body):
                kind = ScopeKind.PROPERTY if here.kind is ScopeKind.CLASS else ScopeKind.FUNCTION
                self._scope(kind, name, ["self"], [], body)
            case ("class", name, bases, body):
                self._scope(ScopeKind.CLASS, name, [], [self._expr(base) for base in bases], body)

    def _scope(
        self, kind: ScopeKind, name: str, params: list[str], bases: list[Expr], body: Program
    ) -> None:
        here = self.build.here
        with self.build.scope(kind, name, self.line, self.line) as (draft, reference):
            draft.params.extend(Param(param) for param in params)
            draft.bases.extend(bases)
            self.body(body)
        here.bind(name, reference)

    def _expr(self, expr: Any) -> Expr:
        match expr:
            case ("name", name):
                return Name(name)
            case ("attr", of, name):
                return Attr(self._expr(of), name)
            case ("read", of, name):
                return self.build.read(self._expr(of), name, line=self.line)
            case ("call", fn, args):
                line = self.line
                return self.build.call(self._expr(fn), [self._expr(arg) for arg in args], line=line)
            case ("list", items):
                return Seq("list", [self._expr(item) for item in items])
            case ("item", of, key):
                return Item(self._expr(of), key)
            case ("any", several):
                return AnyOf([self._expr(item) for item in several])
            case _:
                return Lit("str")


class _NoSources:
    def read(self, path: str) -> bytes | None:
        del path
        return None


def version_of(programs: Mapping[str, Program], other: Mapping[str, str] | None = None) -> Version:
    """A version of toy files, by path; ``other`` are blob ids of files that hold no code."""
    blobs = {path: sha1(repr(text).encode()).hexdigest() for path, text in programs.items()}
    languages = dict.fromkeys(programs, TOY)
    facts: dict[str, FileFacts] = {}

    def load(path: str) -> FileFacts:
        if path not in facts:
            facts[path] = lower(programs[path])
        return facts[path]

    return Version(Tree({**blobs, **(other or {})}, _NoSources()), languages, load)
