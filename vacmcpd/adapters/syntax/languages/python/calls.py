"""Calls, and what the calls of well-known names and methods do besides."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tree_sitter import Node

from ...facts import AnyOf, Attr, Cast, Elem, Expr, Item, Lit, Map, Name, Seq, Spread
from . import expressions, literals, text, types
from .walk import UNKNOWN, Walk, line_of

_PLAIN_ITERABLES = frozenset({"range", "enumerate", "zip", "dir"})
_PLAIN_METHODS = frozenset({"split", "splitlines", "rsplit", "keys"})


@dataclass(slots=True)
class Arguments:
    """The arguments of a call: ``named`` and ``names`` go together."""

    placed: list[Expr] = field(default_factory=list)
    named: list[Expr] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def call(w: Walk, node: Node) -> Expr:
    """``f(x)``."""
    children = node.children
    fn, args = children[0], children[-1]
    kind = fn.type
    if kind == "attribute":
        return _method(w, fn, args)
    line = line_of(fn)
    if kind == "identifier":
        name = w.text(fn)
        special = _SPECIAL.get(name)
        if special is not None:
            made = special(w, fn, args)
            if made is not None:
                return made
        target = w.name(name)
    else:
        target = w.expr(fn)
    given = arguments(w, args)
    return made_call(w, target, given, line)


def made_call(w: Walk, target: Expr, given: Arguments, line: int) -> Expr:
    """The call of ``target``."""
    return w.build.call(target, [*given.placed, *given.named], line=line, names=given.names)


def _method(w: Walk, fn: Node, args: Node) -> Expr:
    """``of.name(x)``; containers keep what their methods are given."""
    parts = fn.children
    line, name = line_of(parts[-1]), w.text(parts[-1])
    if w.filling and name in _FILLS:
        made = _filled(w, parts[0], name, args, line)
        if made is not None:
            return made
    of = w.expr(parts[0])
    given = arguments(w, args)
    keep = _KEPT.get(name)
    if keep is not None and (given.placed or given.named):
        of = w.simple(of)
        keep(w, of, given)
    elif name == "format" and of == Lit("str"):
        for place, value in enumerate(given.placed):
            given.placed[place] = _as_text(w, value, line)
    if name == "cast" and len(given.placed) == 2 and type(of) is Name:
        return _cast_to(w, Attr(of, name), args, given, line)
    return made_call(w, Attr(of, name), given, line)


_FILLS = frozenset({"append", "update"})


def _filled(w: Walk, of: Node, name: str, args: Node, line: int) -> Expr | None:
    """The call of a method that fills a container which nothing else has seen."""
    holder = w.text(of)
    if holder not in w.filling:
        return None
    given = arguments(w, args)
    filling = w.filling.get(holder)
    if filling is not None and literals.put_call(w, of, name, given.placed, len(given.named)):
        target = w.name(holder)
        w.filling[holder] = filling
        return w.build.call(Attr(target, name), (), line=line)
    made = w.expr(of)
    keep = _KEPT[name]
    if given.placed or given.named:
        made = w.simple(made)
        keep(w, made, given)
    return made_call(w, Attr(made, name), given, line)


def _as_text(w: Walk, value: Expr, line: int) -> Expr:
    if type(value) in (Lit, Seq, Map, Spread) or value is UNKNOWN:
        return value
    value = w.simple(value)
    w.build.here.do(w.implicit(value, "__str__", line))
    return value


def arguments(w: Walk, node: Node) -> Arguments:
    """The arguments between the brackets."""
    given = Arguments()
    if node.type == "generator_expression":
        given.placed.append(w.expr(node))
        return given
    for child in node.named_children:
        kind = child.type
        if kind == "keyword_argument":
            parts = [part for part in child.named_children if part.type != "comment"]
            if len(parts) == 2:
                given.names.append(w.text(parts[0]))
                given.named.append(w.expr(parts[1]))
        elif kind == "dictionary_splat":
            _spread(w, given, expressions.inner(w, child))
        elif kind != "comment":
            given.placed.append(w.expr(child))
    return given


def _spread(w: Walk, given: Arguments, value: Expr) -> None:
    """``**{"a": b}`` is ``a=b``; of any other mapping the keys are not known."""
    if type(value) is Map and all(type(key) is str for key in value.keys):
        for key, item in zip(value.keys, value.values, strict=True):
            given.names.append(str(key))
            given.named.append(item)
        return
    given.names.append("**")
    given.named.append(Spread(value))


def iterated(w: Walk, node: Node, *, asynchronous: bool = False) -> Expr:
    """What iterating over an expression gives; an object is asked for its iterator."""
    value = w.expr(node)
    kind = type(value)
    if kind in (Seq, Map, Lit) or value is UNKNOWN or _is_plain(value):
        return Elem(value)
    return w.implicit(value, "__aiter__" if asynchronous else "__iter__", line_of(node), value=True)


def _is_plain(value: Expr) -> bool:
    fn = getattr(value, "fn", None)
    if type(fn) is Name:
        return fn.id in _PLAIN_ITERABLES
    return type(fn) is Attr and fn.name in _PLAIN_METHODS


# Calls of well-known names


def _getattr(w: Walk, fn: Node, args: Node) -> Expr | None:
    """``getattr(of, "name", default)``."""
    parts = _parts(args)
    name = text.constant_string(w, parts[1]) if len(parts) in (2, 3) else None
    if name is None:
        return None
    line = line_of(fn)
    of = w.simple(w.expr(parts[0]))
    w.build.here.do(w.build.call(w.name("getattr"), [of], line=line))
    read = w.build.read(of, name, line=line)
    return AnyOf([read, w.expr(parts[2])]) if len(parts) == 3 else read


def _setattr(w: Walk, fn: Node, args: Node) -> Expr | None:
    """``setattr(of, "name", value)``."""
    parts = _parts(args)
    name = text.constant_string(w, parts[1]) if len(parts) == 3 else None
    if name is None:
        return None
    of, value = w.simple(w.expr(parts[0])), w.expr(parts[2])
    w.build.here.store(of, name, value)
    return w.build.call(w.name("setattr"), [of], line=line_of(fn))


def _dict(w: Walk, fn: Node, args: Node) -> Expr | None:
    """``dict(a=b)``."""
    parts = _parts(args)
    if not parts or any(part.type != "keyword_argument" for part in parts):
        return None
    w.build.here.do(w.build.call(w.name("dict"), (), line=line_of(fn)))
    given = arguments(w, args)
    return Map(list(given.names), given.named)


def _cast(w: Walk, fn: Node, args: Node) -> Expr | None:
    """``cast(T, value)``."""
    if len(_parts(args)) != 2:
        return None
    given = arguments(w, args)
    return _cast_to(w, w.name("cast"), args, given, line_of(fn))


def _cast_to(w: Walk, target: Expr, args: Node, given: Arguments, line: int) -> Expr:
    first = _parts(args)[0]
    to = types.annotation(w, first.start_byte, first.end_byte)
    made = made_call(w, target, given, line)
    return Cast(to, made) if to is not None else made


def _parts(args: Node) -> list[Node]:
    return [child for child in args.named_children if child.type != "comment"]


_SPECIAL: dict[str, Callable[[Walk, Node, Node], Expr | None]] = {
    "getattr": _getattr,
    "setattr": _setattr,
    "dict": _dict,
    "cast": _cast,
}


# What containers keep


def _again(w: Walk, values: list[Expr], place: int) -> Expr | None:
    """The argument at ``place``, to stand in a second place too; None for a plain value."""
    if not -len(values) <= place < len(values):
        return None
    value = values[place]
    if type(value) is Lit or type(value) is Spread or value is UNKNOWN:
        return None
    values[place] = value = w.simple(value)
    return value


def _keep_one(w: Walk, of: Expr, given: Arguments) -> None:
    value = _again(w, given.placed, -1)
    if value is not None:
        w.build.here.store(of, None, value, attr=False)


def _keep_each(w: Walk, of: Expr, given: Arguments) -> None:
    values = given.placed
    if values and type(values[-1]) is Map:
        _keep_items(w, of, values)
    else:
        value = _again(w, values, -1)
        if value is not None:
            w.build.here.store(of, None, Item(value), attr=False)
    for place, name in enumerate(given.names):
        item = _again(w, given.named, place)
        if item is not None and name != "**":
            w.build.here.store(of, name, item, attr=False)


def _keep_items(w: Walk, of: Expr, values: list[Expr]) -> None:
    """``of.update({"a": b})``."""
    literal = values[-1]
    assert type(literal) is Map
    items = list(literal.values)
    for place, key in enumerate(literal.keys):
        item = _again(w, items, place)
        if item is not None:
            w.build.here.store(of, key, item, attr=False)
    values[-1] = Map(literal.keys, items)


_KEPT: dict[str, Callable[[Walk, Expr, Arguments], None]] = {
    "append": _keep_one,
    "appendleft": _keep_one,
    "add": _keep_one,
    "insert": _keep_one,
    "setdefault": _keep_one,
    "extend": _keep_each,
    "update": _keep_each,
}
