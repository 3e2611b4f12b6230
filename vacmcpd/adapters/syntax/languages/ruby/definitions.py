"""Ruby classes, modules, methods, and the calls in class bodies that define some."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import Attr, Expr, Flag, Name, Param, ScopeKind, This
from ...linking.members import IMPLEMENTS
from ...linking.sites import IMPLICIT
from .expressions import block_body, expr, run, symbol
from .walk import META, Opened, Walk

BLOCK = "&"
"""The parameter that is the block of a method."""


def statements(walk: Walk, nodes: list[Node]) -> None:
    """The statements of a file or of a class body."""
    for node in nodes:
        statement(walk, node)


def statement(walk: Walk, node: Node) -> None:
    """A definition, or anything that may hold one."""
    handler = _DEFINITIONS.get(node.type)
    if handler is not None:
        handler(walk, node)
    elif node.type == "call":
        _directive(walk, node)
    elif node.type == "assignment":
        _constant(walk, node)
    elif node.type == "identifier" and walk.text(node) == "module_function" and walk.nesting:
        _opening(walk, walk.nesting[-1], node).extended.append(Name(walk.nesting[-1]))
    elif node.type in ("if", "unless", "begin", "if_modifier", "unless_modifier", "then", "else"):
        condition = node.child_by_field_name("condition")
        for child in node.named_children:
            if child == condition:
                run(walk, child)
            else:
                statement(walk, child)
    else:
        run(walk, node)


def _opening(walk: Walk, name: str, node: Node, *, module: bool = False) -> Opened:
    found = walk.opened.get(name)
    if found is None:
        lines = node.start_point.row + 1, node.end_point.row + 1
        found = walk.opened[name] = Opened(name, *lines, module)
    return found


def _body(node: Node) -> list[Node]:
    body = node.child_by_field_name("body")
    return body.named_children if body is not None else []


def _class(walk: Walk, node: Node) -> None:
    named = node.child_by_field_name("name")
    if named is None:
        return
    name = walk.full(walk.text(named))
    opened = _opening(walk, name, node, module=node.type == "module")
    above = node.child_by_field_name("superclass")
    if above is not None and above.named_child_count:
        opened.bases.append(expr(walk, above.named_children[0]))
    with walk.within(name):
        statements(walk, _body(node))


def _singleton_class(walk: Walk, node: Node) -> None:
    before = walk.singleton
    walk.singleton = True
    statements(walk, _body(node))
    walk.singleton = before


def _method(walk: Walk, node: Node) -> None:
    named = node.child_by_field_name("name")
    if named is None:
        return
    of = node.child_by_field_name("object")
    owner = walk.nesting[-1] if walk.nesting else ""
    singleton = walk.singleton or of is not None
    if of is not None and of.type == "constant":
        owner = walk.text(of) if not owner.endswith(walk.text(of)) else owner
    listed = node.child_by_field_name("parameters")
    params = listed.named_children if listed is not None else []
    body = node.child_by_field_name("body")
    define(walk, walk.text(named), owner, node, params, body, singleton=singleton)


def define(
    walk: Walk,
    name: str,
    owner: str,
    node: Node,
    params: list[Node],
    body: Node | None,
    *,
    singleton: bool = False,
) -> None:
    """A method ``name`` of ``owner``, or of the whole program without one."""
    build = walk.build
    lines = node.start_point.row + 1, node.end_point.row + 1
    kind = ScopeKind.METHOD if owner else ScopeKind.FUNCTION
    if name == "initialize" and not singleton and owner:
        kind = ScopeKind.CONSTRUCTOR
    with build.scope(kind, name, *lines) as (draft, reference), walk.inside(name):
        if owner:
            opened = _opening(walk, owner, node)
            opened.singleton = opened.singleton or singleton
            draft.receiver = Name(owner + META if singleton else owner)
        parameters(walk, params)
        if not any(param.name == BLOCK for param in draft.params):
            draft.params.append(Param(BLOCK))
        if body is not None:
            draft.give(block_body(walk, body))
    if not owner:
        build.here.bind(f"def {name}", reference)


def parameters(walk: Walk, nodes: list[Node], given: Expr | None = None) -> None:
    """The parameters of a method or a block; ``given`` is what the first is called with."""
    here = walk.build.here
    for index, child in enumerate(nodes):
        kind = child.type
        named = child.child_by_field_name("name") or child
        name = walk.text(named)
        if kind == "destructured_parameter":
            for inner in child.named_children:
                if inner.type == "identifier":
                    walk.declare(walk.text(inner))
                    here.bind(walk.text(inner))
            here.params.append(Param(f"${index}p", None, given))
        elif kind == "block_parameter":
            walk.declare(name)
            here.params.append(Param(BLOCK))
            here.bind(name, Name(BLOCK))
        elif kind in ("identifier", "optional_parameter", "keyword_parameter"):
            value = child.child_by_field_name("value")
            default = expr(walk, value) if value is not None else given
            walk.declare(name)
            here.params.append(Param(name, None, default))
        elif kind in ("splat_parameter", "hash_splat_parameter"):
            walk.declare(name)
            here.params.append(Param(name, star=1 if kind == "splat_parameter" else 2))
        given = None


def _directive(walk: Walk, node: Node) -> None:
    """A call in a class body; some of them define methods or say what is mixed in."""
    named = node.child_by_field_name("method")
    name = walk.text(named) if named is not None else ""
    listed = node.child_by_field_name("arguments")
    args = listed.named_children if listed is not None else []
    if node.child_by_field_name("receiver") is not None or not walk.nesting:
        _with_definitions(walk, node, args)
    elif name in ("include", "prepend", "extend"):
        opened = _opening(walk, walk.nesting[-1], node)
        into = opened.extended if name == "extend" or walk.singleton else opened.bases
        mixed = [walk.this() if arg.type == "self" else expr(walk, arg) for arg in args]
        into[:0] = reversed(mixed)
    elif name in ("attr_reader", "attr_accessor", "attr"):
        for arg in args:
            _reader(walk, arg)
    elif name == "alias_method" and len(args) == 2:
        _alias(walk, node, symbol(walk, args[0]), symbol(walk, args[1]))
    elif name in ("define_method", "define_singleton_method") and args:
        _defined(walk, node, name, args)
    else:
        _with_definitions(walk, node, args)


def _with_definitions(walk: Walk, node: Node, args: list[Node]) -> None:
    """A call whose arguments may be definitions (``private def m``)."""
    definitions = [arg for arg in args if arg.type in _DEFINITIONS]
    for arg in definitions:
        statement(walk, arg)
    if not definitions:
        run(walk, node)


def _reader(walk: Walk, node: Node) -> None:
    name = symbol(walk, node)
    if not name:
        return
    owner = walk.nesting[-1]
    lines = node.start_point.row + 1, node.end_point.row + 1
    with walk.build.scope(ScopeKind.METHOD, name, *lines) as (draft, _):
        draft.receiver = Name(owner + META if walk.singleton else owner)
        draft.give(Attr(This(), f"@{name}"))
    opened = _opening(walk, owner, node)
    opened.singleton = opened.singleton or walk.singleton


def _alias_statement(walk: Walk, node: Node) -> None:
    new, old = node.child_by_field_name("name"), node.child_by_field_name("alias")
    if new is not None and old is not None and walk.nesting:
        _alias(walk, node, walk.text(new).lstrip(":"), walk.text(old).lstrip(":"))


def _alias(walk: Walk, node: Node, new: str, old: str) -> None:
    """Another name for a method: a method of its own that calls it."""
    if not new or not old:
        return
    line = node.start_point.row + 1
    with walk.build.scope(ScopeKind.METHOD, new, line, node.end_point.row + 1) as (draft, _):
        draft.receiver = Name(walk.nesting[-1] + (META if walk.singleton else ""))
        draft.give(walk.build.call(Attr(This(), old), names=[IMPLICIT], line=line))
    _opening(walk, walk.nesting[-1], node)


def _defined(walk: Walk, node: Node, directive: str, args: list[Node]) -> None:
    name, block = symbol(walk, args[0]), node.child_by_field_name("block")
    if not name or block is None:
        run(walk, node)
        return
    listed = block.child_by_field_name("parameters")
    singleton = walk.singleton or directive == "define_singleton_method"
    params = listed.named_children if listed is not None else []
    body = block.child_by_field_name("body")
    define(walk, name, walk.nesting[-1], node, params, body, singleton=singleton)


def _constant(walk: Walk, node: Node) -> None:
    """``Name = value`` binds for the whole program; ``Struct.new`` and the like make classes."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None or left.type not in ("constant", "scope_resolution"):
        run(walk, node)
        return
    name = walk.full(walk.text(left))
    if right.type == "call" and _makes_class(walk, right):
        opened = _opening(walk, name, node)
        listed = right.child_by_field_name("arguments")
        args = listed.named_children if listed is not None else []
        if args and args[0].type in ("constant", "scope_resolution"):
            opened.bases.append(expr(walk, args[0]))
        with walk.within(name):
            for arg in args:
                _reader(walk, arg)
            block = right.child_by_field_name("block")
            if block is not None:
                statements(walk, _body(block))
        return
    walk.build.here.bind(f"::{name}", expr(walk, right), flags=Flag.FINAL)


def _makes_class(walk: Walk, node: Node) -> bool:
    of, named = node.child_by_field_name("receiver"), node.child_by_field_name("method")
    if of is None or named is None:
        return False
    made = walk.text(of), walk.text(named)
    return made in {("Struct", "new"), ("Class", "new"), ("Module", "new"), ("Data", "define")}


def finish(walk: Walk) -> None:
    """Write the classes that the file opened, with what it mixes into them."""
    for opened in walk.opened.values():
        _write(walk, opened, opened.name, opened.bases)
        if opened.singleton or opened.extended:
            _write(walk, opened, opened.name + META, opened.extended)


def _write(walk: Walk, opened: Opened, name: str, bases: list[Expr]) -> None:
    build = walk.build
    kind = ScopeKind.INTERFACE if opened.module and not name.endswith(META) else ScopeKind.CLASS
    with build.scope(kind, name, opened.line, opened.end_line) as (_, reference):
        pass
    build.here.bind(f"::{name}", reference)
    if bases:
        lines = opened.line, opened.end_line
        with build.scope(ScopeKind.BLOCK, IMPLEMENTS, *lines) as (draft, _):
            draft.receiver = Name(name)
            draft.bases.extend(bases)


_DEFINITIONS: dict[str, Callable[[Walk, Node], None]] = {
    "class": _class,
    "module": _class,
    "singleton_class": _singleton_class,
    "method": _method,
    "singleton_method": _method,
    "alias": _alias_statement,
}
