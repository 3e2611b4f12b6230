"""Parameters of functions and lambdas."""

from tree_sitter import Node

from ...facts import Expr, Param
from . import types
from .walk import Frame, Walk


def of(w: Walk, node: Node, owner: str = "") -> list[Param]:
    """The parameters that a ``def`` or a lambda lists; their defaults are of the scope around."""
    found: list[Param] = []
    for child in node.named_children:
        made = _param(w, child, owner)
        if made is not None:
            found.append(made)
    return found


def _param(w: Walk, node: Node, owner: str) -> Param | None:
    kind = node.type
    if kind == "identifier":
        return Param(w.text(node))
    if kind == "default_parameter" or kind == "typed_default_parameter":
        return _with_default(w, node, owner)
    if kind == "typed_parameter":
        inner = node.children[0]
        name, star = _starred(w, inner)
        return Param(name, _declared(w, node, owner), None, star)
    name, star = _starred(w, node)
    return Param(name, None, None, star) if star else None


def _with_default(w: Walk, node: Node, owner: str) -> Param | None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or name.type != "identifier":
        return None
    default: Expr | None = w.expr(value) if value is not None else None
    return Param(w.text(name), _declared(w, node, owner), default)


def _starred(w: Walk, node: Node) -> tuple[str, int]:
    if node.type == "list_splat_pattern":
        return w.text(node.children[-1]), 1
    if node.type == "dictionary_splat_pattern":
        return w.text(node.children[-1]), 2
    return w.text(node), 0


def _declared(w: Walk, node: Node, owner: str) -> Expr | None:
    declared = node.child_by_field_name("type")
    if declared is None:
        return None
    return types.annotation(w, declared.start_byte, declared.end_byte, owner)


def enter(w: Walk, frame: Frame, params: list[Param]) -> None:
    """Make the parameters variables of the scope that was opened for them."""
    for param in params:
        frame.bound.add(param.name)
        w.env[param.name] = param.name
        w.comprehended.pop(param.name, None)
