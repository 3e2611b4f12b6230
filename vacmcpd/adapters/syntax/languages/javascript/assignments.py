"""Assignments: to variables, members, exports and prototypes."""

from tree_sitter import Node

from ...facts import AnyOf, Attr, Call, Expr, Item, Map, Name, Spread, This
from .calls import extend, inherit, is_global
from .functions import FUNCTIONS, PLAIN, function_value, object_value
from .patterns import bind, target_of
from .walk import GLOBAL, NONE, ThisSource, Walk

_EXPORTS = frozenset({"exports", "module.exports"})


def is_exports(w: Walk, value: Expr) -> bool:
    """Whether ``value`` is the module's own ``exports``."""
    return type(value) is Name and value.id in _EXPORTS and not w.frame.sees(value.id)


def rebind(w: Walk, written: str) -> str:
    """The name for a variable whose value is replaced, for certain, from here on.

    It is a new one where the variable was bound before in this same block and no function
    inside sees it; a use between the two then means the first value alone.
    """
    name = w.renames.get(written, written)
    frame = w.frame
    if frame.declared.get(name) is not w.block:
        return name
    if name not in frame.bound:
        frame.bound.add(name)
        return name
    if (frame.parent is None and not w.versioned) or w.is_captured(written):
        return name
    fresh = frame.fresh(written)
    w.renames = {**w.renames, written: fresh}
    frame.declared[fresh] = w.block
    frame.bound.add(fresh)
    return fresh


def assignment(w: Walk, node: Node, hint: str) -> Expr:
    """``a = b``."""
    direct, w.direct = w.direct, False
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return w.parts(node)
    kind = left.type
    if kind == "identifier":
        return _variable(w, left, right, hint, direct=direct)
    if kind in ("member_expression", "subscript_expression"):
        return _member(w, left, right)
    value = w.simple(w.expr(right))
    bind(w, left, value, w.assign)
    return value


def _variable(w: Walk, left: Node, right: Node, hint: str, *, direct: bool) -> Expr:
    written = w.text(left)
    value = w.expr(right, written)
    if written == "exports" and not w.frame.sees("exports"):
        return value
    if not direct:
        value = w.simple(value)
    name = rebind(w, written) if direct else w.name(left)
    w.assign(name, value)
    return Name(name) if direct else value


def _member(w: Walk, left: Node, right: Node) -> Expr:
    """``a.b = c``. The functions of ``c`` have ``a`` as their ``this``."""
    to = target_of(w, left)
    if to is None:
        whole = is_exports(w, w.expr(left))
        named = right.type in FUNCTIONS or right.type == "class"
        value = w.simple(w.expr(right, "exports" if whole and named else ""))
        if whole:
            w.export("=", value)
        return value
    of = to.of
    if isinstance(to, Item):
        value = w.simple(w.expr(right))
        w.keep(of, to.key, value, attr=False)
        return value
    if is_exports(w, of):
        return _export(w, to.name, right)
    if to.name == "prototype":
        return _prototype(w, Attr(w.simple(of), to.name), right)
    if to.name == "__proto__":
        return inherit(w, of, w.expr(right))
    owner = w.simple(of)
    if to.name != "prototype" and is_global(w, owner):
        return _global(w, to.name, right)
    value = w.simple(valued(w, right, hint_of(owner, to.name), _this_of(w, owner)))
    w.keep(owner, to.name, value)
    return value


def _global(w: Walk, name: str, right: Node) -> Expr:
    """``window.name = value`` binds a name that every script sees."""
    value = w.simple(w.expr(right, name))
    w.keep(Name("window"), name, value)
    w.build.module.bind(name, Name(f"{GLOBAL}{name}"))
    return value


def _this_of(w: Walk, owner: Expr) -> ThisSource | None:
    if type(owner) in (Name, Attr, This):
        return ThisSource(w.build.here, owner)
    return None


def valued(w: Walk, node: Node, hint: str, this: ThisSource | None) -> Expr:
    """The value of ``node``, whose functions have ``this``."""
    if node.type in PLAIN:
        return function_value(w, node, hint, this)
    return w.expr(node, hint)


def hint_of(owner: Expr, name: str) -> str:
    """``Type.member`` for ``Type.prototype.member``, ``object.member`` for a member."""
    while type(owner) is Attr and owner.name in ("prototype", "fn"):
        owner = owner.of
    if type(owner) is Name and owner.id[:1] != "$":
        return f"{owner.id.partition('@')[0]}.{name}"
    return name


def _export(w: Walk, name: str, right: Node) -> Expr:
    value = w.simple(valued(w, right, name, ThisSource(w.build.here, Name("exports"))))
    w.export(name, value)
    return value


def _prototype(w: Walk, to: Attr, right: Node) -> Expr:
    """``F.prototype = {…}`` gives members, ``= Object.create(G.prototype)`` a base."""
    owner = ThisSource(w.build.here, to)
    if right.type == "object":
        value = object_value(w, right, hint_of(to.of, "")[:-1], owner)
        if type(value) is Map:
            for key, item in zip(value.keys, value.values, strict=True):
                _store_member(w, to, key, item)
        return to
    value = w.expr(right)
    base = _base_of(value)
    if base is not None:
        extend(w, to.of, base)
        w.build.here.do(value)
    else:
        w.keep(to, None, Spread(w.simple(value)))
    return to


def _store_member(w: Walk, to: Expr, key: str | int | None, value: Expr) -> None:
    if type(value) is Spread:
        w.keep(to, None, value)
    elif key is not None:
        w.keep(to, str(key), value)
    else:
        w.build.here.do(value)


def _base_of(value: Expr) -> Expr | None:
    """What ``Object.create(G.prototype)`` or ``new G()`` derives from."""
    if type(value) is AnyOf and value.of and type(value.of[0]) is Call:
        value = value.of[-1]
    if type(value) is Attr and value.name == "prototype":
        return value.of
    if type(value) is Call and value.new and type(value.fn) in (Name, Attr):
        return value.fn
    return None


def augmented(w: Walk, node: Node, hint: str) -> Expr:
    """``a ||= b``; ``a += b`` is a number or a string."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None:
        return w.parts(node)
    if operator is None or operator.type not in ("||=", "??=", "&&="):
        w.run(left)
        w.run(right)
        return NONE
    with w.nested():
        value = w.simple(w.expr(right, w.text(left) if left.type == "identifier" else hint))
        bind(w, left, value, w.assign)
    return AnyOf([w.expr(left) if left.type == "identifier" else NONE, value])
