"""What is assigned to: names, attributes, items, patterns of them."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import Elem, Expr, Item, Seq, Spread
from . import expressions, literals
from .walk import SETS, UNKNOWN, Walk, line_of

Binder = Callable[[str, Expr | None], None]

_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list"})
_PATTERNS |= {"expression_list"}
_WRAPPED = frozenset({"as_pattern_target", "parenthesized_expression"})


def assign(w: Walk, node: Node, value: Expr, bind: Binder | None = None) -> None:
    """``node = value``; ``bind`` binds the names, as variables of the scope without."""
    kind = node.type
    if kind == "identifier":
        (bind or w.bind)(w.text(node), value)
    elif kind == "attribute":
        children = node.children
        of = w.simple(w.expr(children[0]))
        name = w.text(children[-1])
        w.build.here.store(of, name, value)
        if not name.isupper() and not w.frame.is_class:
            w.build.here.do(w.implicit(of, f"{SETS}{name}", line_of(children[-1])))
    elif kind == "subscript":
        _item(w, node, value)
    elif kind in _PATTERNS:
        parts = [child for child in node.named_children if child.type != "comment"]
        if w.depth <= 100:
            w.depth += 1
            _unpack(w, parts, value, bind)
            w.depth -= 1
    elif kind in _WRAPPED:
        for child in node.named_children:
            assign(w, child, value, bind)
    elif kind in ("list_splat_pattern", "list_splat"):
        for child in node.named_children:
            assign(w, child, Seq("list", [Spread(value)]), bind)
    else:
        w.drop(value)
        w.parts(node)


def _item(w: Walk, node: Node, value: Expr) -> None:
    if w.filling and literals.put_item(w, node, value):
        return
    of, keys = expressions.subscripted(w, node)
    known = expressions.constant(w, keys[0]) if len(keys) == 1 else None
    if known is None:
        for key in keys:
            w.drop(w.expr(key))
    of = w.simple(of)
    w.build.here.store(of, known, value, attr=False)
    w.build.here.do(w.implicit(of, "__setitem__", line_of(node)))


def _unpack(w: Walk, parts: list[Node], value: Expr, bind: Binder | None) -> None:
    """``a, *b, c = value``."""
    stars = [place for place, part in enumerate(parts) if part.type.startswith("list_splat")]
    if type(value) is Seq and _fits(value, len(parts), bool(stars)):
        _pairs(w, parts, value.items, stars[0] if stars else len(parts), bind)
        return
    value = w.simple(value)
    count = len(parts)
    for place, part in enumerate(parts):
        if not stars or place < stars[0]:
            assign(w, part, Item(value, place), bind)
        elif place == stars[0]:
            assign(w, part, Elem(value), bind)
        else:
            assign(w, part, Item(value, place - count), bind)


def _fits(value: Seq, count: int, starred: bool) -> bool:
    if any(type(item) is Spread for item in value.items):
        return False
    return len(value.items) >= count - 1 if starred else len(value.items) == count


def _pairs(w: Walk, parts: list[Node], items: list[Expr], star: int, bind: Binder | None) -> None:
    """Each part its own value. All values are there before the first is assigned."""
    given: list[Expr] = items
    if star < len(parts):
        more = len(items) - len(parts) + 1
        given = [*items[:star], Seq("list", items[star : star + more]), *items[star + more :]]
    named = [part.type == "identifier" for part in parts]
    if not all(named) or bind is not None:
        for part, item in zip(parts, given, strict=True):
            _starred(w, part, item, bind)
        return
    # Versions that the values name are fixed already, so the order does not matter.
    for part, item in zip(parts, given, strict=True):
        w.bind(w.text(part), item)


def _starred(w: Walk, part: Node, item: Expr, bind: Binder | None) -> None:
    if part.type in ("list_splat_pattern", "list_splat"):
        for child in part.named_children:
            assign(w, child, item, bind)
    else:
        assign(w, part, item, bind)


def unknown(w: Walk, node: Node) -> None:
    """``node`` is bound to what nothing is known of."""
    assign(w, node, UNKNOWN)
