"""Java types as type expressions."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import AnyOf, Attr, Expr, Generic, Import, Lit, Name, Seq, TypeParam
from .walk import DEEPEST, Walk


def type_of(walk: Walk, node: Node | None) -> Expr | None:
    """A type; None for ``var`` and ``void``."""
    if node is None or walk.depth > DEEPEST:
        return None
    handler = _TYPES.get(node.type)
    if handler is None:
        return None
    walk.depth += 1
    made = handler(walk, node)
    walk.depth -= 1
    return made


def _named(walk: Walk, node: Node) -> Expr | None:
    name = walk.text(node)
    return None if name == "var" else Name(name)


def _scoped(walk: Walk, node: Node) -> Expr | None:
    return path_of([walk.text(part) for part in _parts(node)])


def _parts(node: Node) -> list[Node]:
    found: list[Node] = []
    stack = [node]
    while stack:
        top = stack.pop()
        if top.type in ("scoped_type_identifier", "scoped_identifier", "generic_type"):
            children = [child for child in top.named_children if child.type != "type_arguments"]
            stack.extend(reversed([child for child in children if "annotation" not in child.type]))
        else:
            found.append(top)
    return found


def path_of(parts: list[str]) -> Expr:
    """A qualified name: a package and classes, or classes in sight."""
    if not parts:
        return Lit("unknown")
    if not parts[0][:1].isupper():
        for index, part in enumerate(parts):
            if part[:1].isupper():
                made: Expr = Import(".".join(parts[: index + 1]))
                for rest in parts[index + 1 :]:
                    made = Attr(made, rest)
                return made
        return Import(".".join(parts))
    made = Name(parts[0])
    for part in parts[1:]:
        made = Attr(made, part)
    return made


def _generic(walk: Walk, node: Node) -> Expr | None:
    children = node.named_children
    of = type_of(walk, children[0]) if children else None
    if of is None:
        return None
    listed = next((child for child in children if child.type == "type_arguments"), None)
    args = (
        [type_of(walk, child) or Lit("unknown") for child in listed.named_children]
        if listed
        else []
    )
    return Generic(of, args) if args else of


def _array(walk: Walk, node: Node) -> Expr:
    inner = type_of(walk, node.child_by_field_name("element"))
    return Seq("array", [inner] if inner is not None else [])


def _wildcard(walk: Walk, node: Node) -> Expr | None:
    inner = [child for child in node.named_children if child.type in _TYPES]
    return type_of(walk, inner[-1]) if inner else None


def _primitive(walk: Walk, node: Node) -> Expr:
    return Lit(walk.text(node))


def _several(walk: Walk, node: Node) -> Expr | None:
    found = [type_of(walk, child) for child in node.named_children]
    known = [item for item in found if item is not None]
    return known[0] if len(known) == 1 else AnyOf(known) if known else None


def type_params(walk: Walk, node: Node) -> list[TypeParam]:
    """The type parameters of a declaration, with their bounds."""
    listed = node.child_by_field_name("type_parameters")
    if listed is None:
        listed = next(
            (child for child in node.named_children if child.type == "type_parameters"), None
        )
    found = []
    for child in listed.named_children if listed is not None else []:
        names = [
            part for part in child.named_children if part.type in ("type_identifier", "identifier")
        ]
        bound = next((part for part in child.named_children if part.type == "type_bound"), None)
        if names:
            found.append(TypeParam(walk.text(names[0]), _several(walk, bound) if bound else None))
    return found


_TYPES: dict[str, Callable[[Walk, Node], Expr | None]] = {
    "type_identifier": _named,
    "identifier": _named,
    "scoped_type_identifier": _scoped,
    "scoped_identifier": _scoped,
    "generic_type": _generic,
    "array_type": _array,
    "wildcard": _wildcard,
    "integral_type": _primitive,
    "floating_point_type": _primitive,
    "boolean_type": _primitive,
    "annotated_type": _wildcard,
    "catch_type": _several,
    "intersection_type": _several,
}
