"""Type annotations of TypeScript, as far as they say what values can do."""

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Await,
    Expr,
    Function,
    Generic,
    Import,
    Lit,
    Name,
    Seq,
    This,
)
from .classes import members_type
from .expressions import string
from .walk import NONE, STRING, TypeHandler, Walk, first

_ARRAYS = frozenset({"Array", "ReadonlyArray", "Iterable", "IterableIterator", "ArrayLike"})
_SETS = frozenset({"Set", "ReadonlySet", "WeakSet"})
_MAPS = frozenset({"Map", "ReadonlyMap", "WeakMap"})
_FUTURES = frozenset({"Promise", "PromiseLike"})
_GENERATORS = frozenset({"Generator", "AsyncGenerator", "AsyncIterable", "AsyncIterableIterator"})
_SAME = frozenset(
    {"Partial", "Required", "Readonly", "NonNullable", "Pick", "Omit", "Awaited", "InstanceType"}
)


def _annotation(w: Walk, node: Node) -> Expr | None:
    return w.type_of(first(node))


def _name(w: Walk, node: Node) -> Expr | None:
    return Name(w.text(node))


def _nested(w: Walk, node: Node) -> Expr | None:
    path = w.text(node).split(".")
    if len(path) > 20:
        return None
    made: Expr = Name(path[0].strip())
    for part in path[1:]:
        made = Attr(made, part.strip())
    return made


def _predefined(w: Walk, node: Node) -> Expr | None:
    written = w.text(node)
    kind = _BASIC.get(written)
    if kind is not None:
        return kind
    return NONE if written in ("void", "undefined", "null", "never") else None


_BASIC = {
    "string": STRING,
    "number": Lit("Number"),
    "boolean": Lit("Boolean"),
    "symbol": Lit("Symbol"),
    "bigint": Lit("BigInt"),
}


def _generic(w: Walk, node: Node) -> Expr | None:
    name = node.child_by_field_name("name") or node.child(0)
    listed = node.child_by_field_name("type_arguments")
    if name is None or listed is None:
        return None
    given = [w.type_of(child) or NONE for child in listed.named_children]
    written = w.text(name)
    made = _builtin(written, given) if given else None
    if made is not None:
        return made
    return Generic(_nested(w, name) or NONE, given)


def _builtin(name: str, given: list[Expr]) -> Expr | None:
    if name in _ARRAYS:
        return Seq("Array", given[:1])
    if name in _SETS:
        return Seq("Set", given[:1])
    if name in _MAPS:
        return Seq("Map", given[-1:])
    if name == "Record":
        return Seq("object", given[-1:])
    if name in _FUTURES:
        return Await(given[0])
    if name in _GENERATORS:
        return Seq("generator", given[:1])
    return given[0] if name in _SAME else None


def _array(w: Walk, node: Node) -> Expr | None:
    inner = w.type_of(first(node))
    return Seq("Array", [inner if inner is not None else NONE])


def _tuple(w: Walk, node: Node) -> Expr | None:
    return Seq("tuple", [w.type_of(child) or NONE for child in node.named_children])


def _inner(w: Walk, node: Node) -> Expr | None:
    return (
        w.type_of(node.named_child(node.named_child_count - 1)) if node.named_child_count else None
    )


def _first(w: Walk, node: Node) -> Expr | None:
    return w.type_of(first(node))


def _several(w: Walk, node: Node) -> Expr | None:
    found: list[Expr] = []
    stack = [node]
    while stack:
        top = stack.pop()
        if top.type == node.type:
            stack.extend(reversed(top.named_children))
        else:
            made = w.type_of(top)
            if made is not None and made is not NONE:
                found.append(made)
    found = [each for each in found if type(each) is not Lit] or found[:1]
    if not found:
        return None
    return found[0] if len(found) == 1 else AnyOf(found)


def _function(w: Walk, node: Node) -> Expr | None:
    returns = node.child_by_field_name("return_type") or node.child_by_field_name("type")
    return Function(w.type_of(returns))


def _object(w: Walk, node: Node) -> Expr | None:
    """An object type is an interface without a name of its own."""
    members = node.named_children
    if len(members) == 1 and members[0].type == "index_signature":
        inner = w.type_of(members[0].child_by_field_name("type"))
        return Seq("object", [inner]) if inner is not None else None
    if not any(child.type in ("property_signature", "method_signature") for child in members):
        return None
    here = w.build.here
    made = members_type(w, node, node, f"<type{here.temporaries + 1}>", [])
    here.temporaries += 1
    name = f"${here.temporaries}"
    here.bind(name, made)
    return Name(name)


def _this(w: Walk, node: Node) -> Expr | None:
    return This()


def _member(w: Walk, node: Node) -> Expr | None:
    """``import("m").T``."""
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        head = first(arguments) if arguments is not None else None
        return Import(string(w, head)) if head is not None and head.type == "string" else None
    last = node.child(node.child_count - 1)
    of = w.type_of(node.child(0))
    return Attr(of, w.text(last)) if of is not None and last is not None else None


def _conditional(w: Walk, node: Node) -> Expr | None:
    parts = [w.type_of(node.child_by_field_name(n)) for n in ("consequence", "alternative")]
    found = [each for each in parts if each is not None and each is not NONE]
    return AnyOf(found) if found else None


def _literal(w: Walk, node: Node) -> Expr | None:
    head = first(node)
    if head is not None and head.type in ("null", "undefined"):
        return NONE
    return _LITERALS.get(head.type, STRING) if head is not None else STRING


_LITERALS = {"number": Lit("Number"), "true": Lit("Boolean"), "false": Lit("Boolean")}


TYPES: dict[str, TypeHandler] = {
    "type_annotation": _annotation,
    "type_identifier": _name,
    "identifier": _name,
    "nested_type_identifier": _nested,
    "nested_identifier": _nested,
    "predefined_type": _predefined,
    "generic_type": _generic,
    "array_type": _array,
    "tuple_type": _tuple,
    "parenthesized_type": _inner,
    "readonly_type": _inner,
    "optional_type": _first,
    "rest_type": _first,
    "required_parameter": _inner,
    "union_type": _several,
    "intersection_type": _several,
    "function_type": _function,
    "object_type": _object,
    "this_type": _this,
    "this": _this,
    "member_expression": _member,
    "call_expression": _member,
    "conditional_type": _conditional,
    "literal_type": _literal,
    "template_literal_type": _literal,
}
