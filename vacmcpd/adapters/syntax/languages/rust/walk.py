"""The state of one walk over a Rust tree: scopes, local variables, the impl block around."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder
from ...facts import Attr, Expr, Import, Name, TypeParam

DEEPEST = 150
"""Expressions and types nested deeper are left out."""

_DECLARES = frozenset(
    {
        "mod_item",
        "struct_item",
        "enum_item",
        "union_item",
        "trait_item",
        "type_item",
        "function_item",
        "const_item",
        "static_item",
    }
)


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    declared: frozenset[str]
    """The names that any module of the file declares; others are crates and what globs bring."""
    items: "Callable[[Walk, list[Node]], None]"
    """Lowers the items that stand in a block."""
    modules: list[str] = field(default_factory=list)
    """The inline modules around."""
    locals: dict[str, str] = field(default_factory=dict)
    """The variables in sight, by what the linker calls them."""
    versions: dict[str, int] = field(default_factory=dict)
    own_type: Expr | None = None
    """What ``Self`` is."""
    type_params: list[TypeParam] = field(default_factory=list)
    """Those of the impl block around."""
    depth: int = 0

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def fresh(self, name: str) -> str:
        """Declare a variable; the name by which the linker knows this one."""
        number = self.versions[name] = self.versions.get(name, 0) + 1
        made = name if number == 1 else f"{name}@{number}"
        self.locals = {**self.locals, name: made}
        return made

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: variables that it declares end with it."""
        before = self.locals
        yield
        self.locals = before

    @contextmanager
    def function(self, *, closure: bool = False) -> Iterator[None]:
        """The body of a function; only closures see the variables around."""
        before = self.locals, self.versions
        if not closure:
            self.locals, self.versions = {}, {}
        yield
        self.locals = before[0]
        if not closure:
            self.versions = before[1]

    def module(self, up: int = 0) -> Expr:
        """The module that is being walked, or one ``up`` from it."""
        if up > len(self.modules):
            return Import("super", level=up - len(self.modules))
        made: Expr = Import("self")
        for name in self.modules[: len(self.modules) - up]:
            made = Attr(made, name)
        return made

    def root(self, name: str) -> Expr:
        """What the first part of a path names."""
        if name in self.locals:
            return Name(self.locals[name])
        if name in self.declared or any(param.name == name for param in self.type_params):
            return Name(name)
        return Import(name)


def walk_of(source: bytes, root: Node, items: Callable[[Walk, list[Node]], None]) -> Walk:
    """A walk at the start of a file; ``items`` lowers items."""
    build = Builder("rust", root.end_point.row + 1)
    return Walk(source, build, frozenset(_declared(source, root)), items=items)


def _declared(source: bytes, root: Node) -> Iterator[str]:
    stack = [root]
    while stack:
        for child in stack.pop().named_children:
            if child.type not in _DECLARES:
                continue
            name = child.child_by_field_name("name")
            if name is not None:
                yield source[name.start_byte : name.end_byte].decode("utf-8", "replace")
            body = child.child_by_field_name("body")
            if child.type == "mod_item" and body is not None:
                stack.append(body)
