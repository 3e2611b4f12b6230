"""Strings, and what is turned into one."""

from tree_sitter import Node

from ...facts import Expr, Lit, Map, Seq
from .walk import UNKNOWN, Walk, line_of

_STR, _BYTES = Lit("str"), Lit("bytes")
_MADE = (Lit, Seq, Map)


def string(w: Walk, node: Node) -> Expr:
    """A string; what is put into an f-string is turned into one."""
    children = node.children
    if len(children) > 2:
        for child in children:
            if child.type == "interpolation":
                _interpolated(w, child)
    if not children:
        return _STR
    start = children[0]
    prefix = w.source[start.start_byte : start.end_byte]
    return _BYTES if b"b" in prefix or b"B" in prefix else _STR


def _interpolated(w: Walk, node: Node) -> None:
    method = "__str__"
    value: Expr = UNKNOWN
    for child in node.named_children:
        if child.type == "type_conversion":
            method = "__repr__" if w.text(child) == "!r" else method
        elif child.type == "format_specifier":
            w.parts(child)
        else:
            value = w.expr(child)
    textual(w, value, line_of(node), method)


def textual(w: Walk, value: Expr, line: int, method: str = "__str__") -> None:
    """``value`` is turned into a string."""
    if type(value) is Seq and value.kind == "tuple":
        for item in value.items:
            textual(w, item, line, method)
    elif type(value) in _MADE or value is UNKNOWN:
        w.drop(value)
    else:
        w.build.here.do(w.implicit(value, method, line))


def constant_string(w: Walk, node: Node | None) -> str | None:
    """The text of a plain string; None for any other expression."""
    if node is None or node.type != "string" or node.child_count > 3:
        return None
    children = node.children
    if any(child.type == "interpolation" for child in children):
        return None
    return "".join(w.text(child) for child in children if child.type == "string_content")
