"""Statements: blocks, declarations, loops."""

from collections.abc import Iterator

from tree_sitter import Node

from ...facts import Attr, Def, Elem, Expr, Name
from ...linking.sites import IMPLICIT
from . import classes, functions
from .assignments import rebind
from .expressions import string
from .patterns import bind, names_in
from .walk import NONE, STRING, StatementHandler, Walk, first, is_plain

_VARIABLES = frozenset({"lexical_declaration", "variable_declaration"})
_FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration"})
_NAMED = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
    }
)


def block(w: Walk, node: Node) -> None:
    """The statements of a function's body, or of a block that has names of its own."""
    if w.block is w.frame and not w.frame.scanned:
        w.frame.scanned = True
        statements(w, node.named_children)
        return
    with w.nested():
        statements(w, node.named_children)


def statements(w: Walk, nodes: list[Node]) -> None:
    """Statements that run one after the other; what they declare is known from the first on."""
    for name in _declared(w, nodes):
        w.declare(name)
    bodies = _with_bodies(w, nodes)
    replaced = _replaced(w, nodes)
    for node in nodes:
        if bodies and _is_overload(w, node, bodies):
            continue
        if node.id in replaced:
            _unbound(w, node)
        else:
            w.run(node)


def _replaced(w: Walk, nodes: list[Node]) -> set[int]:
    """The functions that a later one of the same name and block replaces from the start."""
    found = [node for node in nodes if node.type in _FUNCTIONS]
    if len(found) < 2:
        return set()
    last: dict[str, int] = {}
    for node in found:
        name = node.child_by_field_name("name")
        if name is not None:
            last[w.text(name)] = node.id
    kept = set(last.values())
    return {node.id for node in found if node.id not in kept}


def _unbound(w: Walk, node: Node) -> None:
    """A function whose name means another one."""
    body = w.build.here.body
    before = len(body)
    w.run(node)
    del body[before:]


def _declared(w: Walk, nodes: list[Node]) -> Iterator[str]:
    for node in nodes:
        inner: Node | None = node
        if node.type == "export_statement":
            inner = node.child_by_field_name("declaration")
        if inner is None:
            continue
        if inner.type in _VARIABLES:
            for child in inner.named_children:
                name = child.child_by_field_name("name")
                if name is not None:
                    yield from names_in(w, name)
        elif inner.type in _NAMED:
            name = inner.child_by_field_name("name")
            if name is not None:
                yield w.text(name)
        elif inner.type == "import_statement":
            yield from _imported(w, inner)


def _imported(w: Walk, node: Node) -> Iterator[str]:
    stack = [child for child in node.named_children if child.type == "import_clause"]
    while stack:
        top = stack.pop()
        if top.type == "identifier":
            yield w.text(top)
        elif top.type == "import_specifier":
            local = top.child_by_field_name("alias") or top.child_by_field_name("name")
            if local is not None:
                yield w.text(local)
        else:
            stack.extend(top.named_children)


def _unwrapped(node: Node) -> Node:
    if node.type == "export_statement":
        return node.child_by_field_name("declaration") or node
    return node


def _with_bodies(w: Walk, nodes: list[Node]) -> set[str]:
    inner = [_unwrapped(node) for node in nodes]
    if not any(node.type == "function_signature" for node in inner):
        return set()
    return {
        w.text(name)
        for node in inner
        if node.type in _NAMED and (name := node.child_by_field_name("name")) is not None
    }


def _is_overload(w: Walk, node: Node, bodies: set[str]) -> bool:
    inner = _unwrapped(node)
    name = inner.child_by_field_name("name")
    return inner.type == "function_signature" and name is not None and w.text(name) in bodies


def variables(w: Walk, node: Node) -> None:
    """``const a = b, {c} = d;``."""
    constant = node.type == "lexical_declaration" and node.children[0].type == "const"
    for child in node.named_children:
        if child.type == "variable_declarator":
            _variable(w, child, constant=constant)


def _variable(w: Walk, node: Node, *, constant: bool) -> None:
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if name is None:
        return
    if name.type != "identifier":
        if value is not None:
            bind(w, name, w.expr(value), w.build.here.bind)
        return
    written = w.text(name)
    declared = w.type_of(node.child_by_field_name("type"))
    if not constant and node.parent is not None and node.parent.type == "variable_declaration":
        w.declare(written, everywhere=True)
    if value is None:
        if declared is not None:
            w.build.here.bind(w.name(name), None, declared)
        return
    made = w.expr(value, written)
    bound = w.name(name) if constant else rebind(w, written)
    if value.type == "string" and (constant or w.assigned_once(written)):
        w.frame.keys[bound] = string(w, value)
    if is_plain(made) and declared is None:
        w.build.here.bind(bound, made)
        return
    if type(made) is Def and value.type in functions.PLAIN and w.last is not None:
        w.constructors.setdefault((id(w.frame), bound), w.last)
    w.build.here.bind(bound, made, declared)


def expression(w: Walk, node: Node) -> None:
    """An expression that stands alone."""
    for child in node.named_children:
        w.direct = child.type == "assignment_expression"
        w.run(child)
        w.direct = False


def returned(w: Walk, node: Node) -> None:
    """``return a``."""
    value = first(node)
    if value is not None:
        made = w.expr(value)
        if made is not NONE:
            w.build.here.give(made)


def condition(w: Walk, node: Node) -> None:
    """``if (a) {} else if (b) {} else {}``: by a loop, since some have hundreds of arms."""
    rest: Node | None = node
    while rest is not None and rest.type == "if_statement":
        _run_field(w, rest, "condition")
        _body(w, rest.child_by_field_name("consequence"))
        alternative = rest.child_by_field_name("alternative")
        rest = first(alternative) if alternative is not None else None
    _body(w, rest)


def _run_field(w: Walk, node: Node, name: str) -> None:
    part = node.child_by_field_name(name)
    if part is not None:
        w.run(part)


def _body(w: Walk, node: Node | None) -> None:
    if node is not None:
        with w.nested():
            w.run(node)


def loop(w: Walk, node: Node) -> None:
    """``while``, ``do``, ``for (;;)``, ``with``, a label."""
    with w.nested():
        head = node.child_by_field_name("initializer")
        if head is not None and head.type in _VARIABLES:
            for name in _declared(w, [head]):
                w.declare(name, everywhere=head.type == "variable_declaration")
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child != body:
                w.run(child)
        _body(w, body)


def for_in(w: Walk, node: Node) -> None:
    """``for (const a of b)`` takes what ``b`` gives, ``for (a in b)`` only keys."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    value = w.expr(right)
    if operator is None or operator.type == "in":
        w.build.here.do(value)
        value = STRING
    else:
        value = w.simple(value)
        _iterate(w, value, node)
        value = Elem(value)
    with w.nested():
        if left is not None:
            kind = node.child_by_field_name("kind")
            if kind is not None:
                for name in names_in(w, left):
                    w.declare(name, everywhere=kind.type == "var")
                bind(w, left, value, w.build.here.bind)
            else:
                bind(w, left, value, w.assign)
        _body(w, node.child_by_field_name("body"))


def _iterate(w: Walk, value: Expr, node: Node) -> None:
    """``for … of`` runs the iterator of what it is given."""
    if type(value) in (Name, Attr):
        line = node.start_point[0] + 1
        start = w.build.call(Attr(value, "@@iterator"), line=line, names=[IMPLICIT])
        taken = Name(w.build.here.temporary(start))
        w.build.here.do(w.build.call(Attr(taken, "next"), line=line, names=[IMPLICIT]))


def switch(w: Walk, node: Node) -> None:
    """``switch``: the cases share their names, and any of them may run."""
    _run_field(w, node, "value")
    body = node.child_by_field_name("body")
    if body is None:
        return
    cases = [child for child in body.named_children if child.type != "comment"]
    with w.nested():
        for case in cases:
            for name in _declared(w, case.named_children):
                w.declare(name)
        for case in cases:
            block_ = w.block
            w.block = object()
            w.run_all(case.named_children)
            w.block = block_


def caught(w: Walk, node: Node) -> None:
    """``try {} catch (e) {} finally {}``."""
    _body(w, node.child_by_field_name("body"))
    handler = node.child_by_field_name("handler")
    if handler is not None:
        with w.nested():
            parameter = handler.child_by_field_name("parameter")
            if parameter is not None:
                for name in names_in(w, parameter):
                    w.declare(name)
                bind(w, parameter, NONE, w.build.here.bind)
            _body(w, handler.child_by_field_name("body"))
    finalizer = node.child_by_field_name("finalizer")
    if finalizer is not None:
        _body(w, finalizer.child_by_field_name("body"))


def inner(w: Walk, node: Node) -> None:
    """A statement of which only the parts matter: ``throw``, an error, a clause."""
    w.run_all(node.named_children)


def skipped(w: Walk, node: Node) -> None:
    """What says nothing about calls."""


def _of(make: object) -> StatementHandler:
    def lower(w: Walk, node: Node) -> None:
        make(w, node)  # type: ignore[operator]

    return lower


STATEMENTS: dict[str, StatementHandler] = {
    "statement_block": block,
    "lexical_declaration": variables,
    "variable_declaration": variables,
    "expression_statement": expression,
    "return_statement": returned,
    "if_statement": condition,
    "while_statement": loop,
    "do_statement": loop,
    "for_statement": loop,
    "with_statement": loop,
    "labeled_statement": loop,
    "for_in_statement": for_in,
    "switch_statement": switch,
    "try_statement": caught,
    "throw_statement": inner,
    "else_clause": inner,
    "ERROR": inner,
    "ambient_declaration": inner,
    "function_declaration": _of(functions.declaration),
    "generator_function_declaration": _of(functions.declaration),
    "class_declaration": _of(classes.declaration),
    "abstract_class_declaration": _of(classes.declaration),
    "interface_declaration": _of(classes.interface),
    "type_alias_declaration": _of(classes.alias),
    "enum_declaration": _of(classes.enum),
    "internal_module": _of(classes.namespace),
    "module": _of(classes.namespace),
    "function_signature": _of(classes.function_signature),
    "comment": skipped,
    "empty_statement": skipped,
    "break_statement": skipped,
    "continue_statement": skipped,
    "debugger_statement": skipped,
    "hash_bang_line": skipped,
    "statement_identifier": skipped,
    "global": skipped,
}
