"""C types and declarators. Pointers and arrays stand for what they point to."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ...facts import Expr, Function, Name, ScopeKind
from .walk import DEEPEST, Walk, line_of

_TAGGED = frozenset({"struct_specifier", "union_specifier"})
_AROUND = frozenset(
    {"pointer_declarator", "array_declarator", "parenthesized_declarator", "init_declarator"}
    | {"attributed_declarator"}
)


@dataclass(frozen=True, slots=True)
class Declared:
    """A declarator: the name, its parameters where it is a function, whether by a pointer."""

    name: Node
    parameters: Node | None
    pointer: bool


def type_of(walk: Walk, node: Node | None) -> Expr | None:
    """A type specifier; a struct that it defines is declared on the way."""
    if node is None:
        return None
    if node.type == "type_identifier":
        return Name(walk.text(node))
    if node.type not in _TAGGED or walk.depth > DEEPEST:
        return None
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is None:
        return Name(f"struct {walk.text(name)}") if name is not None else None
    tag = walk.text(name) if name is not None else walk.build.here.anonymous()
    walk.depth += 1
    with walk.build.scope(ScopeKind.CLASS, tag, line_of(node), node.end_point.row + 1) as (_, ref):
        _fields(walk, body)
    walk.depth -= 1
    walk.build.here.bind(f"struct {tag}", ref)
    return Name(f"struct {tag}")


def _fields(walk: Walk, body: Node) -> None:
    for child in body.named_children:
        if child.type.startswith("preproc_"):
            _fields(walk, child)
        if child.type != "field_declaration":
            continue
        of = type_of(walk, child.child_by_field_name("type"))
        for item in child.children_by_field_name("declarator"):
            found = declared(item)
            if found is not None:
                walk.build.here.bind(walk.text(found.name), None, shaped(of, found))


def shaped(of: Expr | None, found: Declared) -> Expr | None:
    """The type of what is declared to be of the type ``of``."""
    return Function(of) if found.parameters is not None else of


def declared(node: Node | None) -> Declared | None:
    """The name in a declarator; None for one without."""
    parameters: Node | None = None
    pointer = False
    for _ in range(DEEPEST):
        if node is None:
            return None
        kind = node.type
        if kind in ("identifier", "field_identifier", "type_identifier"):
            return Declared(node, parameters, pointer)
        if kind == "function_declarator":
            parameters, pointer = node.child_by_field_name("parameters"), False
        elif kind in ("pointer_declarator", "array_declarator"):
            pointer = parameters is not None
        elif kind not in _AROUND:
            return None
        inner = node.child_by_field_name("declarator")
        node = inner if inner is not None else next(_declarators(node), None)
    return None


def _declarators(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type.endswith("declarator") or child.type.endswith("identifier"):
            yield child
