"""Calls that define: properties by descriptors, modules by AMD's ``define``."""

from tree_sitter import Node

from ...facts import AnyOf, Attr, Bind, Expr, Import, Name, ScopeKind
from .assignments import hint_of, valued
from .calls import arguments, copy_members, line_of_callee
from .expressions import string
from .functions import FUNCTIONS, lower, object_value, property_key
from .walk import CallHandler, ThisSource, Walk, line_of

_ASSIGNERS = frozenset({"Object", "_", "$", "jQuery", "lodash", "angular"})
_BUILTIN = frozenset({"Object", "Reflect"})
_AMD = {"require": "require", "exports": "exports", "module": "module"}


def _parts(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _is_object(fn: Expr) -> bool:
    return type(fn) is Attr and type(fn.of) is Name and fn.of.id in _BUILTIN


def property_(w: Walk, node: Node, fn: Expr, given: Node) -> Expr | None:
    """``Object.defineProperty(owner, "name", {get() {}})``."""
    parts = _parts(given)
    if not _is_object(fn) or len(parts) != 3 or parts[2].type != "object":
        return None
    owner = w.simple(w.expr(parts[0]))
    key = property_key(w, parts[1])
    if type(key) is not str:
        return None
    described(w, owner, key, parts[2])
    w.build.here.do(w.build.call(fn, [owner], line=line_of_callee(node)))
    return owner


def properties(w: Walk, node: Node, fn: Expr, given: Node) -> Expr | None:
    """``Object.defineProperties(owner, {name: {get() {}}})``; so for ``Object.create``."""
    parts = _parts(given)
    if not _is_object(fn) or len(parts) != 2 or parts[1].type != "object":
        return None
    base = w.expr(parts[0])
    owner = w.simple(base)
    if type(fn) is Attr and fn.name == "create":
        made = w.tables.expressions["object"](w, parts[1], "")
        w.build.here.do(made)
        return (
            None
            if type(owner) is not Name
            else w.build.call(fn, [owner], line=line_of_callee(node))
        )
    for child in _parts(parts[1]):
        key = property_key(w, child.child_by_field_name("key")) if child.type == "pair" else None
        value = child.child_by_field_name("value")
        if type(key) is str and value is not None and value.type == "object":
            described(w, owner, key, value)
        else:
            w.run(child)
    w.build.here.do(w.build.call(fn, [owner], line=line_of_callee(node)))
    return owner


def compiled_class(w: Walk, node: Node, fn: Expr, given: Node) -> Expr | None:
    """``_createClass(C, [{key: "m", value: function () {}}], [statics])`` as compilers write."""
    parts = _parts(given)
    if len(parts) < 2 or parts[0].type != "identifier":
        return None
    owner = w.expr(parts[0])
    places = (Attr(owner, "prototype"), owner)
    for place, listed in zip(places, parts[1:3], strict=False):
        if listed.type != "array":
            w.run(listed)
            continue
        for item in _parts(listed):
            key = _key_of(w, item) if item.type == "object" else None
            if key is not None:
                described(w, place, key, item)
            else:
                w.run(item)
    w.build.here.do(w.build.call(fn, [owner], line=line_of_callee(node)))
    return owner


def _key_of(w: Walk, node: Node) -> str | None:
    for child in _parts(node):
        if child.type == "pair" and property_key(w, child.child_by_field_name("key")) == "key":
            found = property_key(w, child.child_by_field_name("value"))
            return found if type(found) is str else None
    return None


def described(w: Walk, owner: Expr, key: str, node: Node) -> None:
    """The value or the getter that a descriptor gives to ``owner.key``."""
    here = w.build.here
    hint = hint_of(owner, key)
    for child in _parts(node):
        named = child.child_by_field_name("key") or child.child_by_field_name("name")
        role = property_key(w, named) if named is not None else None
        value = child if child.type == "method_definition" else child.child_by_field_name("value")
        if value is None:
            continue
        this = ThisSource(here, owner)
        function = value.type in FUNCTIONS or value is child
        if role == "get" and function:
            line = line_of(named or value)
            here.store(owner, key, lower(w, value, ScopeKind.PROPERTY, hint, line, this=this)[1])
        elif role in ("value", "set") and value is child:
            line = line_of(named or value)
            made = lower(w, value, ScopeKind.FUNCTION, hint, line, this=this)[1]
            if role == "value":
                here.store(owner, key, made)
        elif role == "value":
            here.store(owner, key, valued(w, value, hint, this))
        elif role == "set":
            here.do(valued(w, value, hint, this))
        else:
            w.run(value)


def assigned(w: Walk, node: Node, fn: Expr, given: Node) -> Expr | None:
    """``Object.assign(C.prototype, {m() {}})``: the functions have ``C`` as their ``this``."""
    parts = _parts(given)
    known = type(fn) is Attr and type(fn.of) is Name and fn.of.id in _ASSIGNERS
    if not known or len(parts) < 2 or parts[0].type not in ("identifier", "member_expression"):
        return None
    if any(part.type == "spread_element" for part in parts):
        return None
    target = w.simple(w.expr(parts[0]))
    kept = [target]
    for part in parts[1:]:
        value = (
            w.expr(part)
            if part.type != "object"
            else object_value(w, part, hint_of(target, "")[:-1], ThisSource(w.build.here, target))
        )
        kept.append(w.simple(value))
        copy_members(w, target, kept[-1], value)
    w.build.here.do(w.build.call(fn, kept, line=line_of_callee(node)))
    return AnyOf(kept)


# AMD


def module(w: Walk, node: Node, fn: Expr, given: Node) -> Expr | None:
    """``define(["a"], function (a) {})``: what the function gives is the module."""
    parts = _parts(given)
    if not parts or type(fn) is not Name or (id(w.frame), fn.id) in w.constructors:
        return None
    if fn.id != "define" and parts[0].type != "array":
        return None
    factory = parts[-1]
    listed = next((part for part in parts[:-1] if part.type == "array"), None)
    named = [string(w, each) for each in _parts(listed) if each.type == "string"] if listed else []
    if factory.type not in FUNCTIONS:
        return _plain_module(w, node, fn, given, factory)
    w.modular = True
    made = w.expr(factory)
    here = w.build.here
    draft = w.last
    dependencies: list[Expr] = [_dependency(name) for name in named]
    if listed is None:
        dependencies = [Name("require"), Name("exports"), Name("module")]
    if draft is not None:
        for param, value in zip(draft.params, dependencies, strict=False):
            if listed is not None:
                draft.body.insert(0, Bind(param.name, value))
    factory_name = here.temporary(made)
    called = w.build.call(Name(factory_name), dependencies, line=line_of_callee(node))
    if fn.id == "define":
        result = here.temporary(called)
        w.export("=", Name(result))
    else:
        here.do(called)
    return w.build.call(fn, [], line=line_of_callee(node))


def _dependency(name: str) -> Expr:
    return Name(_AMD[name]) if name in _AMD else Import(name)


def _plain_module(w: Walk, node: Node, fn: Name, given: Node, value: Node) -> Expr | None:
    """``define({a: b})``."""
    if fn.id != "define" or value.type not in ("object", "identifier"):
        return None
    args = arguments(w, given)
    if value.type == "object":
        name = Name(w.build.here.temporary(args[-1]))
        args[-1] = name
        w.export("=", name)
    return w.build.call(fn, args, line=line_of_callee(node))


CALLS: dict[str, CallHandler] = {
    "defineProperty": property_,
    "defineProperties": properties,
    "assign": assigned,
    "extend": assigned,
    "_createClass": compiled_class,
    "createClass": compiled_class,
    "define": module,
    "require": module,
    "requirejs": module,
}
