"""Containers that are still being filled: what is put into them joins what they were written as.

Only while nothing else has seen them: a name that was bound to a literal and read nowhere since,
in a straight line. What is overwritten then was never there for anybody.
"""

from tree_sitter import Node

from ...facts import Bind, Expr, Map, Seq, Spread
from . import expressions
from .walk import Walk

_LONGEST = 64
"""Items up to which a container is written again for each that is put into it."""


def remember(w: Walk, name: str, value: Expr | None) -> None:
    """``name`` was just bound to ``value`` by a statement of its own."""
    if type(value) is Map or (type(value) is Seq and value.kind == "list"):
        body = w.frame.draft.body
        last = body[-1] if body else None
        if type(last) is Bind and last.value is value and not w.frame.frozen:
            w.filling[name] = (w.frame, len(body) - 1)


def put_item(w: Walk, node: Node, value: Expr) -> bool:
    """``name[key] = value``, ``name[key][other] = value``; whether that is done."""
    keys: list[str | int] = []
    while node.type == "subscript":
        parts = [child for child in node.named_children if child.type != "comment"]
        key = expressions.constant(w, parts[1]) if len(parts) == 2 else None
        if key is None:
            return False
        keys.insert(0, key)
        node = parts[0]
    return node.type == "identifier" and put(w, w.text(node), keys, value)


def put(w: Walk, name: str, keys: list[str | int], value: Expr) -> bool:
    """Put ``value`` into the container that ``name`` is; without keys, at its end."""
    found = w.filling.get(name)
    if found is None or found[0] is not w.frame or w.frame.frozen or w.frame.is_class:
        return False
    body = w.frame.draft.body
    bind = body[found[1]]
    if type(bind) is not Bind or bind.value is None or w.is_captured(name):
        return False
    dropped: list[Expr] = []
    made = _with(bind.value, keys, value, dropped)
    if made is None:
        return False
    body[found[1]] = Bind(bind.name, made, bind.declared, bind.flags)
    for expr in dropped:
        w.drop(expr)
    return True


def _with(literal: Expr, keys: list[str | int], value: Expr, dropped: list[Expr]) -> Expr | None:
    """``literal`` with ``value`` in its place; None when that can't be told."""
    if type(literal) is Map:
        return _in_map(literal, keys, value, dropped)
    if type(literal) is not Seq or any(type(item) is Spread for item in literal.items):
        return None
    if not keys:
        return Seq(literal.kind, [*literal.items, value]) if _has_room(literal.items) else None
    at = keys[0]
    if type(at) is not int or not 0 <= at < len(literal.items):
        return None
    inner = _replaced(literal.items[at], keys, value, dropped)
    if inner is None:
        return None
    return Seq(literal.kind, [*literal.items[:at], inner, *literal.items[at + 1 :]])


def _in_map(literal: Map, keys: list[str | int], value: Expr, dropped: list[Expr]) -> Expr | None:
    if not keys or None in literal.keys:
        return None
    if keys[0] not in literal.keys:
        if len(keys) > 1 or not _has_room(literal.values):
            return None
        return Map([*literal.keys, keys[0]], [*literal.values, value])
    at = len(literal.keys) - 1 - literal.keys[::-1].index(keys[0])
    inner = _replaced(literal.values[at], keys, value, dropped)
    if inner is None:
        return None
    return Map(literal.keys, [*literal.values[:at], inner, *literal.values[at + 1 :]])


def _has_room(items: list[Expr]) -> bool:
    return len(items) < _LONGEST


def _replaced(old: Expr, keys: list[str | int], value: Expr, dropped: list[Expr]) -> Expr | None:
    if len(keys) > 1:
        return _with(old, keys[1:], value, dropped)
    dropped.append(old)
    return value


def put_call(w: Walk, of: Node, name: str, placed: list[Expr], named: int) -> bool:
    """``name.update({…})``, ``name.append(x)``: whether the arguments went into the container."""
    if of.type != "identifier" or len(placed) != 1 or named:
        return False
    holder, value = w.text(of), placed[0]
    if name == "append":
        return type(value) is not Spread and put(w, holder, [], value)
    if name != "update" or type(value) is not Map or None in value.keys:
        return False
    keys = [key for key in value.keys if key is not None]
    for done, (key, item) in enumerate(zip(keys, value.values, strict=True)):
        if not put(w, holder, [key], item):
            # Only the first can fail: the others find the same container.
            return done > 0
    return True
