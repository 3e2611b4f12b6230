"""Calls, ``new``, and the calls by which JavaScript says what other languages have syntax for."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Call,
    Expr,
    Flag,
    Generic,
    Import,
    Map,
    Name,
    Seq,
    Spread,
    Super,
)
from .walk import NONE, STRING, Walk, first, line_of

INHERITS = frozenset(
    {"inherits", "_inherits", "__extends", "_inheritsLoose", "inheritsLoose", "_extends"}
)
_FUNCTIONS = frozenset({"function_expression", "generator_function"})


def call(w: Walk, node: Node, fn: Expr) -> Expr:
    """``fn(args)``, ``fn`template```, ``import("m")``, ``require("m")``, ``super()``."""
    given = node.child_by_field_name("arguments")
    if given is None:
        return fn
    callee = node.child(0)
    if callee is not None and callee.type == "import":
        return _imported(w, given)
    if type(fn) is Name and fn.id == "require" and not w.frame.sees("require"):
        return _imported(w, given)
    args = _tagged(w, given) if given.type == "template_string" else arguments(w, given)
    typed = _typed(w, node, fn)
    line = line_of_callee(node)

    def site(passed: list[Expr]) -> Call:
        return w.build.call(typed, passed, line=line, new=type(fn) is Super)

    special = _special(fn)
    return special(w, args, site) if special is not None else site(args)


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
    fn = w.expr(made)
    args = arguments(w, given) if given is not None else []
    line = line_of(made) if made is not None else line_of(node)
    if made is not None and made.type == "member_expression":
        line = line_of(made.children[-1])
    types = node.child_by_field_name("type_arguments")
    if types is not None:
        fn = Generic(fn, [w.type_of(child) or NONE for child in types.named_children])
    return w.build.call(fn, args, line=line, new=True)


Site = Callable[[list[Expr]], Call]
Special = Callable[[Walk, list[Expr], Site], Expr]


def _special(fn: Expr) -> Special | None:
    if type(fn) is Attr:
        if fn.of == _OBJECT:
            return _ON_OBJECT.get(fn.name)
        return _inherits if fn.name in INHERITS else None
    if type(fn) is Name:
        if fn.id in INHERITS:
            return _inherits
        return _export_star if fn.id == "__exportStar" else None
    return None


def _inherits(w: Walk, args: list[Expr], site: Site) -> Expr:
    if len(args) > 1 and type(args[1]) in (Name, Attr, Import):
        extend(w, args[0], args[1])
    return site(args)


def extend(w: Walk, of: Expr, base: Expr) -> None:
    """The function ``of`` makes instances that inherit from those of ``base``."""
    while type(of) is Attr and of.name in ("prototype", "__proto__"):
        of = of.of
    while type(base) is Attr and base.name == "prototype":
        base = base.of
    if type(of) is not Name or of == base:
        return
    frame = w.frame
    while of.id not in frame.declared and frame.parent is not None:
        frame = frame.parent
    draft = w.constructors.get((id(frame), of.id))
    if draft is not None and base not in draft.bases:
        draft.flags |= Flag.CONSTRUCTIBLE
        draft.bases.append(base)


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
