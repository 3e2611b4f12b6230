"""Operators: the methods that they call, and the values that they give."""

from tree_sitter import Node

from ...facts import AnyOf, Expr, Lit, Map, Seq, Spread
from . import narrowing
from .text import textual
from .walk import UNKNOWN, Handler, Version, Walk, line_of

_STR, _BOOL = Lit("str"), Lit("bool")
_MADE = (Lit, Seq, Map)

_BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
_COMPARED = {
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_LONGEST = 40
"""Operands of one chain that are kept as one value."""


def binary_name(operator: str) -> str:
    """The plain name of the method of a binary operator; "" for none."""
    return _BINARY.get(operator, "")


def binary(w: Walk, node: Node) -> Expr:
    """``a + b - c``: a chain, however long."""
    chain: list[tuple[str, Node, Node]] = []
    while node.type == "binary_operator":
        children = node.children
        if len(children) < 3:
            break
        chain.append((children[1].type, children[-1], node))
        node = children[0]
    value = w.expr(node)
    for count, (operator, right, whole) in enumerate(reversed(chain)):
        if count % _LONGEST == _LONGEST - 1:
            w.drop(value)
            value = UNKNOWN
        value = _operated(w, value, operator, w.expr(right), line_of(whole))
    return value


def _operated(w: Walk, left: Expr, operator: str, right: Expr, line: int) -> Expr:
    name = _BINARY.get(operator)
    if name is None:
        w.drop(right)
        return left
    if operator == "+" and type(right) is Seq:
        return Seq(right.kind, [*_items(left), *right.items])
    if operator == "+" and type(left) is Seq:
        return Seq(left.kind, [*left.items, *_items(right)])
    if type(left) not in _MADE:
        made = w.implicit(left, f"__{name}__", line, value=True)
        made.args.append(right)
        return made
    if operator == "%" and left == _STR:
        textual(w, right, line)
    elif type(right) not in _MADE:
        w.drop(w.implicit(right, f"__r{name}__", line))
    else:
        w.drop(right)
    if operator == "*" and type(left) is not Lit:
        return left
    return _STR if left == _STR else left if type(left) is Lit else UNKNOWN


def _items(value: Expr) -> list[Expr]:
    return value.items if type(value) is Seq else [Spread(value)]


def comparison(w: Walk, node: Node) -> Expr:
    """``a < b in c``."""
    children = [child for child in node.children if child.type != "comment"]
    if not children:
        return _BOOL
    left = w.expr(children[0])
    for at in range(1, len(children) - 1, 2):
        operator, right = children[at].type, w.expr(children[at + 1])
        following = right
        if at + 2 < len(children):
            following = w.simple(right)
            right = following
        _compared(w, left, operator, right, line_of(node))
        left = following
    if len(children) > 3:
        w.drop(left)
    return _BOOL


def _compared(w: Walk, left: Expr, operator: str, right: Expr, line: int) -> None:
    if operator in ("in", "not in"):
        on, other, method = right, left, "__contains__"
    else:
        on, other, method = left, right, _COMPARED.get(operator, "")
    if not method or type(on) in _MADE or on is UNKNOWN or other is UNKNOWN:
        w.drop(left)
        w.drop(right)
        return
    made = w.implicit(on, method, line)
    made.args.append(other)
    w.build.here.do(made)


def boolean(w: Walk, node: Node) -> Expr:
    """``a and b``, ``a or b``: one of them."""
    chain: list[tuple[str, Node]] = []
    while node.type == "boolean_operator":
        children = node.children
        if len(children) < 3:
            break
        chain.append((children[1].type, children[-1]))
        node = children[0]
    env = w.env
    values = [w.expr(node)]
    w.env = dict(env)
    for operator, right in reversed(chain):
        if operator == "and":
            narrowing.assume(w, node, positive=True)
        else:
            w.env = dict(env)
            narrowing.assume(w, node, positive=False)
        values.append(w.expr(right))
        node = right
    w.env = _kept(w, env)
    if len(values) > _LONGEST:
        for value in values[_LONGEST:]:
            w.drop(value)
        values = values[:_LONGEST]
    return AnyOf(values)


def _kept(w: Walk, env: dict[str, Version]) -> dict[str, Version]:
    """``env`` with what names came to mean that were bound meanwhile."""
    added = {name: version for name, version in w.env.items() if name not in env}
    return {**env, **w.widen(added)} if added else env


def negation(w: Walk, node: Node) -> Expr:
    w.drop(w.expr(node.children[-1]))
    return _BOOL


def unary(w: Walk, node: Node) -> Expr:
    children = node.children
    value = w.expr(children[-1])
    if type(value) in _MADE or value is UNKNOWN:
        return value
    method = _UNARY.get(children[0].type)
    return w.implicit(value, method, line_of(node), value=True) if method else value


def conditional(w: Walk, node: Node) -> Expr:
    """``a if c else b``."""
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 3:
        return w.parts(node)
    w.drop(w.expr(parts[1]))
    env = w.env
    with w.branch(env):
        narrowing.assume(w, parts[1], positive=True)
        one = w.expr(parts[0])
    with w.branch(env):
        narrowing.assume(w, parts[1], positive=False)
        other = w.expr(parts[2])
    w.env = env
    return AnyOf([one, other])


OPERATORS: dict[str, Handler] = {
    "binary_operator": binary,
    "comparison_operator": comparison,
    "boolean_operator": boolean,
    "not_operator": negation,
    "unary_operator": unary,
    "conditional_expression": conditional,
}
