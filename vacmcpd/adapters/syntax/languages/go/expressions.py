"""Expressions of Go. What cannot be called on, and holds no call, is one value for all."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Call,
    Cast,
    Def,
    Elem,
    Expr,
    Generic,
    Item,
    Lit,
    Map,
    Name,
    ScopeKind,
    Seq,
    Spread,
    This,
)
from .types import type_of
from .walk import DEEPEST, NOTHING, Walk, end_of, line_of, named

_BASIC = frozenset(
    {"string", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16"}
    | {"uint32", "uint64", "uintptr", "byte", "rune", "float32", "float64", "bool"}
    | {"complex64", "complex128", "error", "any"}
)

_TYPES = frozenset(
    {"slice_type", "array_type", "map_type", "channel_type", "pointer_type"}
    | {"struct_type", "interface_type", "function_type", "generic_type", "qualified_type"}
    | {"type_identifier"}
)


def lower(walk: Walk, node: Node) -> Expr:
    """The value of an expression."""
    how = _HOW.get(node.type)
    if how is None:
        return NOTHING
    if walk.depth > DEEPEST:
        return NOTHING
    walk.depth += 1
    found = how(walk, node)
    walk.depth -= 1
    return found


def _identifier(walk: Walk, node: Node) -> Expr:
    return walk.find(walk.text(node))


def _selector(walk: Walk, node: Node) -> Expr:
    children = node.children
    if len(children) < 3:
        return NOTHING
    of = lower(walk, children[0])
    return Attr(of, walk.text(children[-1])) if of is not NOTHING else NOTHING


def _inner(walk: Walk, node: Node) -> Expr:
    parts = named(node)
    if len(parts) != 1:
        return NOTHING
    if parts[0].type in _TYPES:
        return type_of(walk, parts[0])
    return lower(walk, parts[0])


def _variadic(walk: Walk, node: Node) -> Expr:
    of = _inner(walk, node)
    return Spread(of) if of is not NOTHING else NOTHING


def _unary(walk: Walk, node: Node) -> Expr:
    children = node.children
    of = lower(walk, children[-1])
    sign = children[0].type
    if sign in ("&", "*"):
        return of
    if sign == "<-":
        return Elem(of) if of is not NOTHING else NOTHING
    return _kept(walk, [of])


_COMPARES = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


def _binary(walk: Walk, node: Node) -> Expr:
    # A sum of a thousand terms nests to the left: walk down it, not into it.
    parts: list[Expr] = []
    compares = any(child.type in _COMPARES for child in node.children[1:2])
    while node.type == "binary_expression" and len(node.children) >= 3:
        parts.append(lower(walk, node.children[-1]))
        node = node.children[0]
    parts.append(lower(walk, node))
    parts.reverse()
    _kept(walk, parts)
    # A sum is of its operands' type; a plain name among them says which.
    return NOTHING if compares else next((part for part in parts if type(part) is Name), NOTHING)


def _kept(walk: Walk, parts: list[Expr]) -> Expr:
    """A value of no use that keeps the calls of its parts."""
    kept = [part for part in parts if type(part) is not Lit and type(part) is not Name]
    for part in kept:
        walk.build.here.do(part)
    return NOTHING


def _index(walk: Walk, node: Node) -> Expr:
    parts = named(node)
    if len(parts) < 2:
        return NOTHING
    of = lower(walk, parts[0])
    _kept(walk, [lower(walk, part) for part in parts[1:]])
    return Item(of, 0) if of is not NOTHING else NOTHING


def _slice(walk: Walk, node: Node) -> Expr:
    parts = named(node)
    if not parts:
        return NOTHING
    of = lower(walk, parts[0])
    _kept(walk, [lower(walk, part) for part in parts[1:]])
    return of


def _assertion(walk: Walk, node: Node) -> Expr:
    parts = named(node)
    if len(parts) < 2:
        return NOTHING
    return Cast(type_of(walk, parts[-1]), lower(walk, parts[0]))


def _conversion(walk: Walk, node: Node) -> Expr:
    kind, of = node.child_by_field_name("type"), node.child_by_field_name("operand")
    if kind is None or of is None:
        return NOTHING
    value = lower(walk, of)
    if kind.type == "generic_type":
        return walk.build.call(type_of(walk, kind), [value], line=line_of(kind))
    return Cast(type_of(walk, kind), value)


def function(walk: Walk, node: Node) -> Expr:
    """A function literal."""
    from .items import signature

    name = walk.build.here.anonymous()
    opened = walk.build.scope(ScopeKind.LAMBDA, name, line_of(node), end_of(node))
    with opened as (draft, reference):
        walk.blocks.append({})
        signature(walk, draft, node)
        walk.blocks.pop()
    return reference


def _composite(walk: Walk, node: Node) -> Expr:
    kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    if kind is None:
        return NOTHING
    made = type_of(walk, kind)
    values = _literal_values(walk, body, made) if body is not None else []
    # Only what may be a function is worth keeping as an item of a container.
    if type(made) is Seq and any(may_be_function(value) for value in values):
        return Cast(made, Map([None] * len(values), values))
    return Cast(made, AnyOf(values) if values else None)


def _literal_values(walk: Walk, body: Node, made: Expr) -> list[Expr]:
    """The values of a literal; those that may be functions are stored in their fields."""
    values: list[Expr] = []
    inner = _element_type(made)
    for part in named(body):
        key = None
        if part.type == "keyed_element":
            pair = named(part)
            if len(pair) != 2:
                continue
            key, part = pair
        value = _element(walk, part, inner)
        if key is not None:
            value = _stored(walk, key, value, made)
        if value is not NOTHING:
            values.append(value)
    return values


def _element_type(made: Expr) -> Expr:
    if type(made) is Seq and made.items:
        return made.items[0]
    return NOTHING


def _element(walk: Walk, part: Node, inner: Expr) -> Expr:
    while part.type == "literal_element":
        below = named(part)
        if len(below) != 1:
            return NOTHING
        part = below[0]
    if part.type != "literal_value":
        return lower(walk, part)
    if walk.depth > DEEPEST:
        return NOTHING
    walk.depth += 1
    values = _literal_values(walk, part, inner)
    walk.depth -= 1
    return (
        Cast(inner, AnyOf(values) if values else None)
        if inner is not NOTHING
        else _kept(walk, values)
    )


def _stored(walk: Walk, key: Node, value: Expr, made: Expr) -> Expr:
    """A keyed value: into the field that the key names, where that may be a function."""
    below = named(key)
    name = below[0] if len(below) == 1 else key
    if type(made) is Seq:
        if name.type not in ("identifier", "int_literal", "interpreted_string_literal"):
            _kept(walk, [_element(walk, key, NOTHING)])
        return value
    if name.type in ("identifier", "field_identifier") and may_be_function(value):
        walk.build.here.store(Cast(made), walk.text(name), value)
        return NOTHING
    return value


def may_be_function(value: Expr) -> bool:
    """Whether a value may be a function by what is written: a literal, a name, a method."""
    if type(value) is Name:
        return True
    if type(value) is Attr:
        return type(value.of) in (Name, This, Attr)
    return type(value) is Def


def _call(walk: Walk, node: Node) -> Expr:
    children = node.children
    if len(children) < 2:
        return NOTHING
    fn, given = children[0], named(children[-1])
    while fn.type == "parenthesized_expression" and len(named(fn)) == 1:
        fn = named(fn)[0]
    kind = fn.type
    if kind == "identifier":
        name = walk.text(fn)
        if not walk.is_local(name):
            if name in ("new", "make", "append"):
                return _builtin(walk, name, given, line_of(fn))
            if name in _BASIC:
                return _kept(walk, [lower(walk, part) for part in given])
    if kind in _TYPES:
        made = type_of(walk, fn)
        return Cast(made, AnyOf([lower(walk, part) for part in given]))
    if kind == "unary_expression" and fn.children[0].type == "*":
        # (*T)(x) converts; the called name of (*f)(x) is f.
        return walk.build.call(lower(walk, fn), _args(walk, given), line=line_of(fn))
    target, line = _called(walk, fn)
    args = _args(walk, given)
    if len(children) > 2 and children[1].type == "type_arguments":
        target = Generic(target, [type_of(walk, part) for part in named(children[1])])
    return walk.build.call(target, args, line=line)


def _called(walk: Walk, fn: Node) -> tuple[Expr, int]:
    """What is called, and the line where its name stands."""
    if fn.type == "selector_expression":
        return lower(walk, fn), line_of(fn.children[-1])
    if fn.type in ("index_expression", "type_instantiation_expression"):
        parts = named(fn)
        if parts and parts[0].type in ("identifier", "selector_expression"):
            of = lower(walk, parts[0])
            line = line_of(parts[0].children[-1] if parts[0].children else parts[0])
            local = parts[0].type == "identifier" and walk.is_local(walk.text(parts[0]))
            if not local and all(_is_type(part) for part in parts[1:]):
                kinds = [type_of(walk, part) for part in parts[1:]]
                return AnyOf([Generic(of, kinds), Item(of, 0)]) if _pure(of) else Item(of, 0), line
            _kept(walk, [lower(walk, part) for part in parts[1:]])
            return Item(of, 0), line
    return lower(walk, fn), line_of(fn)


def _pure(expr: Expr) -> bool:
    while type(expr) is Attr:
        expr = expr.of
    return type(expr) in (Name, This)


_TYPE_LIKE = frozenset({"identifier", "selector_expression", "type_elem", "unary_expression"})


def _is_type(node: Node) -> bool:
    return node.type in _TYPES or node.type in _TYPE_LIKE


def _args(walk: Walk, given: list[Node]) -> list[Expr]:
    return [lower(walk, part) for part in given]


def _builtin(walk: Walk, name: str, given: list[Node], line: int) -> Expr:
    """``new`` and ``make`` give what they name, ``append`` what it was given first."""
    if not given:
        return walk.build.call(Name(name), [], line=line)
    if name == "append":
        args = _args(walk, given)
        call = walk.build.call(Name(name), args, line=line)
        return AnyOf([args[0], call]) if _pure(args[0]) else call
    made = type_of(walk, given[0])
    rest = [lower(walk, part) for part in given[1:]]
    return Cast(made, walk.build.call(Name(name), rest, line=line))


def _special(walk: Walk, node: Node) -> Expr:
    """A type where a value is wanted: an argument of ``make``, a method expression."""
    return type_of(walk, node)


_HOW: dict[str, Callable[[Walk, Node], Expr]] = {
    "identifier": _identifier,
    "selector_expression": _selector,
    "call_expression": _call,
    "parenthesized_expression": _inner,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "index_expression": _index,
    "slice_expression": _slice,
    "type_assertion_expression": _assertion,
    "type_conversion_expression": _conversion,
    "type_instantiation_expression": _special,
    "composite_literal": _composite,
    "func_literal": function,
    "variadic_argument": _variadic,
    "generic_type": _special,
    "type_identifier": _special,
    "literal_element": _inner,
    "qualified_type": _special,
}


def calls(expr: Expr) -> bool:
    """Whether a value is what a call gives, so that several may come of it."""
    return type(expr) is Call
