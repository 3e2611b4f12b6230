"""JSX: an element whose name is capitalised or dotted is a use of a component."""

from tree_sitter import Node

from ...facts import Expr, Map
from .walk import NONE, Handler, Walk, first, line_of

_VALUES = frozenset({"jsx_expression", "jsx_element", "jsx_self_closing_element", "jsx_fragment"})


def element(w: Walk, node: Node, hint: str) -> Expr:
    """``<A b={c}>…</A>``, ``<A/>``."""
    opening = node.child_by_field_name("open_tag") or node
    name = opening.child_by_field_name("name")
    keys: list[str | int | None] = []
    values: list[Expr] = []
    for child in opening.named_children:
        if child.type == "jsx_attribute":
            keys.append(_key(w, child))
            values.append(_value(w, child))
        elif child.type == "jsx_expression":
            keys.append(None)
            values.append(_inner(w, child))
    if opening is not node:
        for child in node.named_children:
            if child.type in _VALUES:
                keys.append("children")
                values.append(_inner(w, child))
    props = Map(keys, values)
    if name is not None and _is_component(w, name):
        last = name.children[-1] if name.child_count else name
        call = w.build.call(w.expr(name), [props], line=line_of(last))
        w.build.here.do(call)
    else:
        for value in values:
            w.build.here.do(value)
    return NONE


def _is_component(w: Walk, name: Node) -> bool:
    if name.type in ("identifier", "jsx_identifier"):
        head = w.text(name)[:1]
        return head.isupper() or head in "_$"
    return name.type in ("member_expression", "nested_identifier")


def _key(w: Walk, node: Node) -> str | None:
    head = first(node)
    return w.text(head) if head is not None else None


def _value(w: Walk, node: Node) -> Expr:
    if node.named_child_count < 2:
        return NONE
    value = node.named_child(1)
    return _inner(w, value) if value is not None else NONE


def _inner(w: Walk, node: Node) -> Expr:
    if node.type != "jsx_expression":
        return w.expr(node)
    head = first(node)
    if head is None:
        return NONE
    return w.expr(head)


EXPRESSIONS: dict[str, Handler] = {
    "jsx_element": element,
    "jsx_self_closing_element": element,
    "jsx_fragment": element,
}
