"""Rust patterns: which variables they declare, and what of the matched value these are."""

from collections.abc import Iterator

from tree_sitter import Node

from ...facts import Attr, Cast, Elem, Expr, Item, Name
from .types import path_of
from .walk import DEEPEST, Walk

_WRAPPERS = frozenset({"Some", "Ok", "Err"})
_INSIDE = frozenset(
    {"ref_pattern", "mut_pattern", "reference_pattern", "match_pattern", "or_pattern"}
)


def variables(
    walk: Walk, node: Node | None, value: Expr | None, depth: int = 0
) -> Iterator[tuple[str, Expr | None]]:
    """(name as written, its value) of each variable; ``value`` is a name or None."""
    if node is None or depth > DEEPEST:
        return
    kind = node.type
    if kind in ("identifier", "shorthand_field_identifier"):
        name = walk.text(node)
        if not name[:1].isupper():
            yield name, value
    elif kind == "tuple_struct_pattern":
        yield from _tuple_struct(walk, node, value, depth)
    elif kind == "struct_pattern":
        yield from _struct(walk, node, depth)
    elif kind in ("tuple_pattern", "slice_pattern"):
        for index, child in enumerate(node.named_children):
            part: Expr | None = None
            if value is not None:
                part = Item(value, index) if kind == "tuple_pattern" else Elem(value)
            yield from variables(walk, child, part, depth + 1)
    elif kind in _INSIDE or kind == "captured_pattern":
        condition = node.child_by_field_name("condition")
        for child in node.named_children:
            if child.type != "mutable_specifier" and child != condition:
                yield from variables(walk, child, value, depth + 1)


def _tuple_struct(
    walk: Walk, node: Node, value: Expr | None, depth: int
) -> Iterator[tuple[str, Expr | None]]:
    of = node.child_by_field_name("type")
    if of is None:
        return
    parts = [child for child in node.named_children if child != of]
    if walk.text(of) in _WRAPPERS:
        for child in parts:
            yield from variables(walk, child, value, depth + 1)
        return
    matched = Cast(path_of(walk, of))
    for index, child in enumerate(parts):
        yield from variables(walk, child, Attr(matched, str(index)), depth + 1)


def _struct(walk: Walk, node: Node, depth: int) -> Iterator[tuple[str, Expr | None]]:
    of = node.child_by_field_name("type")
    if of is None:
        return
    matched = Cast(path_of(walk, of))
    for child in node.named_children:
        if child.type != "field_pattern":
            continue
        name = child.child_by_field_name("name")
        if name is not None:
            inner = child.child_by_field_name("pattern") or name
            yield from variables(walk, inner, Attr(matched, walk.text(name)), depth + 1)


def bind(walk: Walk, node: Node | None, value: Expr | None, declared: Expr | None = None) -> None:
    """Declare the variables of a pattern that ``value``, of a type or not, is matched with."""
    if node is None:
        return
    here = walk.build.here
    if node.type in ("identifier", "mut_pattern") and (value is not None or declared is not None):
        inner = node.named_children[-1] if node.named_child_count else node
        if inner.type == "identifier":
            here.bind(walk.fresh(walk.text(inner)), value, declared)
            return
    source: Expr | None = None
    if declared is not None:
        if value is not None:
            here.do(value)
        source = Cast(declared)
    elif value is not None:
        source = Name(here.temporary(value))
    for name, part in list(variables(walk, node, source)):
        here.bind(walk.fresh(name), part)
