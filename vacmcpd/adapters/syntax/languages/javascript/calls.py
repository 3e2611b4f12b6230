"""Calls, ``new``, and the calls by which JavaScript says what other languages have syntax for."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Call,
    Elem,
    Expr,
    Flag,
    Generic,
    Import,
    Item,
    Map,
    Name,
    Seq,
    Spread,
    Super,
    This,
)
from .walk import NONE, STRING, Walk, first, is_plain, line_of, unread

INHERITS = frozenset(
    {"inherits", "_inherits", "__extends", "_inheritsLoose", "inheritsLoose", "_extends"}
)
COPIES = frozenset({"mixin", "mixins", "extend", "merge"})
_FUNCTIONS = frozenset({"function_expression", "generator_function"})


def call(w: Walk, node: Node, fn: Expr) -> Expr:
    """``fn(args)``, ``fn`template```, ``import("m")``, ``require("m")``, ``super()``."""
    given = node.child_by_field_name("arguments")
    if given is None:
        return fn
    callee = node.child(0)
    if callee is not None and callee.type == "import":
        return _imported(w, given)
    name = fn.id if type(fn) is Name else fn.name if type(fn) is Attr else ""
    handler = w.tables.calls.get(name)
    if handler is not None and given.type == "arguments":
        made = handler(w, node, fn, given)
        if made is not None:
            return made
    if name == "require" and type(fn) is Name and not w.frame.sees("require"):
        return _imported(w, given)
    args = _tagged(w, given) if given.type == "template_string" else arguments(w, given)
    typed = _typed(w, node, fn)
    line = line_of_callee(node)

    def site(passed: list[Expr]) -> Call:
        return w.build.call(typed, passed, line=line, new=type(fn) is Super)

    if type(fn) is Attr and args and fn.name in _PUTS:
        args = _put(w, fn, args)
    special = _special(fn)
    return special(w, args, site) if special is not None else site(args)


_PUTS = {"push": 0, "unshift": 0, "add": 0, "set": 1}
"""Methods that put an argument into a collection, and which one."""


def _put(w: Walk, fn: Attr, args: list[Expr]) -> list[Expr]:
    """``list.push(a)`` stores into ``list``; only where what is stored may be called."""
    inner = fn.of
    while type(inner) is Attr:
        inner = inner.of
    first_ = _PUTS[fn.name]
    if type(inner) not in (Name, This) or len(args) <= first_:
        return args
    kept = list(args)
    last = first_ + 1 if fn.name in ("add", "set") else len(args)
    for index in range(first_, last):
        arg = args[index]
        if is_plain(arg):
            continue
        if type(arg) is Spread:
            kept[index] = Spread(w.simple(arg.of))
        else:
            kept[index] = w.simple(arg)
        w.keep(unread(fn.of), None, kept[index], attr=False)
    return kept


def line_of_callee(node: Node) -> int:
    """The line of the name that is called."""
    callee = node.children[0]
    if callee.type == "member_expression":
        callee = callee.children[-1]
    elif callee.type == "call_expression":
        callee = node.children[1]
    return line_of(callee)


def _typed(w: Walk, node: Node, fn: Expr) -> Expr:
    types = node.child_by_field_name("type_arguments")
    if types is None:
        return fn
    given = [w.type_of(child) or NONE for child in types.named_children]
    return Generic(fn, given) if any(each is not NONE for each in given) else fn


def arguments(w: Walk, node: Node) -> list[Expr]:
    """The arguments of a call. A function before a last ``this`` runs with that ``this``."""
    children = [child for child in node.named_children if child.type != "comment"]
    lexical = len(children) > 1 and children[-1].type == "this"
    made = []
    for child in children:
        if lexical and child.type in _FUNCTIONS:
            w.lexical = True
        made.append(w.expr(child))
    return made


def _tagged(w: Walk, node: Node) -> list[Expr]:
    args: list[Expr] = [Seq("Array", [STRING])]
    parts = (child for child in node.named_children if child.type == "template_substitution")
    args.extend(w.expr(first(part)) for part in parts)
    return args


def _imported(w: Walk, given: Node) -> Expr:
    w.modular = True
    head = first(given)
    if head is not None and head.type in ("string", "template_string"):
        written = w.source[head.start_byte + 1 : head.end_byte - 1].decode("utf-8", "replace")
        return Import(written) if "${" not in written else NONE
    for child in given.named_children:
        w.run(child)
    return NONE


def new(w: Walk, node: Node, hint: str) -> Expr:
    """``new C(args)``."""
    made = node.child_by_field_name("constructor")
    given = node.child_by_field_name("arguments")
    chained = made is not None and made.type == "member_expression"
    fn = w.tables.expressions["<chain>"](w, made, "") if chained and made else w.expr(made)
    args = arguments(w, given) if given is not None else []
    line = line_of(made) if made is not None else line_of(node)
    if made is not None and made.type == "member_expression":
        line = line_of(made.children[-1])
    types = node.child_by_field_name("type_arguments")
    if types is not None:
        fn = Generic(fn, [w.type_of(child) or NONE for child in types.named_children])
    if types is None and type(fn) is Name and fn.id in _COLLECTIONS and not w.frame.sees(fn.id):
        return _collection(w, fn, args, line)
    return w.build.call(fn, args, line=line, new=True)


_COLLECTIONS = {"Set": "Set", "WeakSet": "Set", "Map": "Map", "WeakMap": "Map", "Array": "Array"}


def _collection(w: Walk, fn: Name, args: list[Expr], line: int) -> Expr:
    """A collection that starts out with what it is given; what is put in later are stores."""
    items: list[Expr] = []
    kind = _COLLECTIONS[fn.id]
    if kind == "Array":
        items = [w.simple(arg) for arg in args if type(arg) is not Spread]
    elif args and type(args[0]) is not Spread:
        items = [Spread(w.simple(args[0]))]
    kept = [item.of if type(item) is Spread else item for item in items]
    w.build.here.do(w.build.call(fn, kept, line=line, new=True))
    if kind == "Map":
        items = [Item(Elem(item.of), 1) for item in items if type(item) is Spread]
    return Seq(kind, items)


Site = Callable[[list[Expr]], Call]
Special = Callable[[Walk, list[Expr], Site], Expr]


def _special(fn: Expr) -> Special | None:
    if type(fn) is Attr:
        if fn.of == _OBJECT:
            return _ON_OBJECT.get(fn.name)
        if fn.name in COPIES:
            return _copies
        return _inherits if fn.name in INHERITS else None
    if type(fn) is Name:
        if fn.id in INHERITS:
            return _inherits
        if fn.id in COPIES:
            return _copies
        return _export_star if fn.id == "__exportStar" else None
    return None


def _inherits(w: Walk, args: list[Expr], site: Site) -> Expr:
    if len(args) > 1 and not any(type(each) is Spread for each in args):
        args = [w.simple(args[0]), w.simple(args[1]), *args[2:]]
        inherit(w, args[0], args[1])
    return site(args)


def inherit(w: Walk, of: Expr, base: Expr) -> Expr:
    """``of.__proto__ = base``: what ``base`` has, ``of`` has."""
    base = w.simple(base)
    if not extend(w, of, base) and of != base:
        w.keep(w.simple(of), None, Spread(base))
    return base


def extend(w: Walk, of: Expr, base: Expr) -> bool:
    """The function ``of`` makes instances that inherit from those of ``base``.

    False when ``of`` is no function that is known here.
    """
    while type(of) is Attr and of.name in ("prototype", "__proto__"):
        of = of.of
    while type(base) is Attr and base.name == "prototype":
        base = base.of
    if type(of) is not Name or of == base:
        return False
    frame = w.frame
    while of.id not in frame.declared and frame.parent is not None:
        frame = frame.parent
    draft = w.constructors.get((id(frame), of.id))
    if draft is None:
        return False
    if base not in draft.bases:
        draft.flags |= Flag.CONSTRUCTIBLE
        draft.bases.append(base)
    return True


def is_global(w: Walk, value: Expr) -> bool:
    """Whether ``value`` is the object whose members are the global names."""
    return type(value) is Name and value.id in _GLOBALS and not w.frame.sees(value.id)


_GLOBALS = frozenset({"window", "globalThis", "global", "self"})


def _copies(w: Walk, args: list[Expr], site: Site) -> Expr:
    """``mixin(target, source)``, whoever wrote it: the target has what the source has."""
    if len(args) < 2 or any(type(each) is Spread for each in args[:2]):
        return site(args)
    kept = [w.simple(args[0]), w.simple(args[1]), *args[2:]]
    if type(kept[0]) in (Name, Attr) and type(kept[1]) in (Name, Attr):
        w.keep(kept[0], None, Spread(kept[1]))
    return site(kept)


def _assign(w: Walk, args: list[Expr], site: Site) -> Expr:
    """``Object.assign(target, {...})``: the members are stored, the target is the value."""
    if not args or any(type(each) is Spread for each in args):
        return site(args)
    kept = [w.simple(each) if type(each) is not Attr else each for each in args]
    w.build.here.do(site(kept))
    target = w.simple(kept[0])
    for source, given in zip(kept[1:], args[1:], strict=True):
        copy_members(w, target, source, given)
    return AnyOf([target, *kept[1:]])


def copy_members(w: Walk, target: Expr, source: Expr, written: Expr) -> None:
    """``target`` gets the members of ``source``, one by one where they are ``written`` out."""
    here = w.build.here
    if type(written) is not Map or None in written.keys:
        here.store(target, None, Spread(source))
        return
    for key in written.keys:
        here.store(target, str(key), Attr(source, str(key)))


def _create(w: Walk, args: list[Expr], site: Site) -> Expr:
    """``Object.create(proto)``: what the prototype has, the object has."""
    if args and type(args[0]) in (Name, Attr):
        return AnyOf([site(args), args[0]])
    return site(args)


def _define(w: Walk, args: list[Expr], site: Site) -> Expr:
    """``Object.defineProperty(target, "name", {value: f})``."""
    return site(args)


def _same(w: Walk, args: list[Expr], site: Site) -> Expr:
    """``Object.freeze(a)`` is ``a``."""
    if not args:
        return site(args)
    value = w.simple(args[0])
    w.build.here.do(site([value, *args[1:]]))
    return value


def _export_star(w: Walk, args: list[Expr], site: Site) -> Expr:
    if args and type(args[0]) is Import:
        w.modular = True
        w.build.module.bind("*", Import(args[0].module, "*"), flags=Flag.EXPORTED)
    return site(args)


_OBJECT = Name("Object")
_ON_OBJECT: dict[str, Special] = {
    "assign": _assign,
    "create": _create,
    "setPrototypeOf": _inherits,
    "freeze": _same,
    "seal": _same,
    "preventExtensions": _same,
}
