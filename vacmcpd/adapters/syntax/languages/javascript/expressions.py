"""Expressions of JavaScript and TypeScript."""

from collections.abc import Iterable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Await,
    Cast,
    Elem,
    Expr,
    Generic,
    Item,
    Lit,
    Name,
    Seq,
    Spread,
    Super,
)
from .calls import call, is_global
from .walk import NONE, STRING, Handler, Walk, first

CHAIN = frozenset(
    {"call_expression", "member_expression", "subscript_expression", "non_null_expression"}
)
LONGEST = 60
"""So many links of a chain are one expression; what is before them gets a name."""

_EITHER = frozenset({"||", "??"})


def chain(w: Walk, node: Node, hint: str) -> Expr:
    """``a.b().c[d]()``: by a loop, since builders are chained by the thousand."""
    return linked(w, node, read=True)


def called_chain(w: Walk, node: Node, hint: str) -> Expr:
    """The same as what ``new`` makes an instance of."""
    return linked(w, node, read=False)


def linked(w: Walk, node: Node, *, read: bool, target: bool = False) -> Expr:
    """A chain; its last link is ``read``, or called, or the ``target`` of an assignment."""
    links = []
    head: Node | None = node
    while head is not None and head.type in CHAIN:
        links.append(head)
        head = head.child(0)
    links.reverse()
    if head is not None and head.type in _FUNCTIONS:
        w.lexical = _is_bound(w, links)
    value = w.expr(head)
    w.lexical = False
    last = len(links) - 1
    for number, link in enumerate(links):
        if number and not number % LONGEST:
            value = Name(w.build.here.temporary(value))
        kind = link.type
        if kind == "call_expression":
            value = call(w, link, value)
        elif kind == "member_expression":
            called = number < last and links[number + 1].type == "call_expression"
            if target and number == last and not is_module(w, value):
                return Attr(value, w.text(link.children[-1]))
            value = member(w, link, value, read=not called and (read or number < last))
        elif kind == "subscript_expression":
            value = subscript(w, link, value)
    return value


def _is_bound(w: Walk, links: list[Node]) -> bool:
    """Whether the links start with ``.bind(this)``."""
    if len(links) < 2 or links[0].type != "member_expression":
        return False
    given = links[1].child_by_field_name("arguments")
    head = first(given) if given is not None else None
    return head is not None and head.type == "this" and w.text(links[0].children[-1]) == "bind"


_FUNCTIONS = frozenset({"function_expression", "generator_function"})


def member(w: Walk, node: Node, value: Expr, *, read: bool) -> Expr:
    """``value.name``; ``module.exports`` is the module's own value, as ``exports`` is."""
    last = node.children[-1]
    name = w.text(last)
    if name == "exports" and is_module(w, value):
        return _WHOLE
    if is_global(w, value) and not w.frame.sees(name):
        return Name(name)
    if read and name not in _PLAIN:
        return w.read(value, name, last.start_point[0] + 1)
    return Attr(value, name)


def is_module(w: Walk, value: Expr) -> bool:
    """Whether ``value`` is CommonJS's own ``module``."""
    return value == _MODULE and not w.frame.sees("module")


_MODULE = Name("module")
_WHOLE = Name("module.exports")
_PLAIN = frozenset({"length", "prototype", "constructor", "exports", "__proto__"})
"""Members that are nobody's property."""


def subscript(w: Walk, node: Node, value: Expr) -> Expr:
    """``value[key]``: a member when the key is a string that is known."""
    key = constant(w, node.child_by_field_name("index"))
    return Attr(value, key) if isinstance(key, str) else Item(value, key)


def constant(w: Walk, node: Node | None) -> str | int | None:
    """The key that ``node`` is for certain; what else it says is lowered."""
    if node is None:
        return None
    kind = node.type
    if kind == "string":
        return string(w, node)
    if kind == "number":
        written = w.text(node)
        return int(written) if written.isdecimal() and len(written) < 10 else written
    if kind == "identifier":
        return w.key_of(w.name(node))
    if kind == "template_string" and not any(
        child.type == "template_substitution" for child in node.named_children
    ):
        return w.text(node)[1:-1]
    if kind == "parenthesized_expression":
        return constant(w, first(node))
    made = w.expr(node)
    w.build.here.do(made)
    return f"@@{made.name}" if type(made) is Attr and made.of == _SYMBOL else None


_SYMBOL = Name("Symbol")


def string(w: Walk, node: Node) -> str:
    """What a string literal holds, escapes as they are written."""
    return w.source[node.start_byte + 1 : node.end_byte - 1].decode("utf-8", "replace")


def binary(w: Walk, node: Node, hint: str) -> Expr:
    """``a || b`` may be either; a sum or a comparison is nothing that can be called."""
    operands = []
    left: Node | None = node
    while left is not None and left.type == "binary_expression":
        operator = left.child_by_field_name("operator")
        operands.append((operator.type if operator else "", left.child_by_field_name("right")))
        left = left.child_by_field_name("left")
    operands.reverse()
    if not any(operator in _EITHER or operator == "&&" for operator, _ in operands):
        for operand in (left, *(right for _, right in operands)):
            if operand is not None:
                w.run(operand)
        return NONE
    return _either(w, left, operands, hint)


def _either(w: Walk, left: Node | None, operands: list[tuple[str, Node | None]], hint: str) -> Expr:
    several = [w.expr(left, hint)]
    for operator, right in operands:
        if operator not in _EITHER:
            for value in several:
                w.build.here.do(value)
            several = []
        with w.nested():
            several.append(w.expr(right, hint))
        if operator not in _EITHER and operator != "&&":
            w.build.here.do(several.pop())
            several.append(NONE)
    return several[0] if len(several) == 1 else AnyOf(several)


def ternary(w: Walk, node: Node, hint: str) -> Expr:
    """``a ? b : c``, chains of which are long in some minified code."""
    several = []
    rest: Node | None = node
    while rest is not None and rest.type == "ternary_expression":
        condition = rest.child_by_field_name("condition")
        if condition is not None:
            w.run(condition)
        with w.nested():
            several.append(w.expr(rest.child_by_field_name("consequence"), hint))
        rest = rest.child_by_field_name("alternative")
    with w.nested():
        several.append(w.expr(rest, hint))
    return AnyOf(several)


def parenthesized(w: Walk, node: Node, hint: str) -> Expr:
    """``(a)``, ``(a, b)``."""
    return w.expr(first(node), hint)


def sequence(w: Walk, node: Node, hint: str) -> Expr:
    """``a, b``: the last one's value."""
    children = node.named_children
    for child in children[:-1]:
        w.run(child)
    return w.expr(children[-1], hint) if children else NONE


def identifier(w: Walk, node: Node, hint: str) -> Expr:
    """A variable."""
    name = w.name(node)
    if name == "undefined":
        return NONE
    return _arguments(w) if name == "arguments" else Name(name)


def _arguments(w: Walk) -> Expr:
    """``arguments``: the parameters, and one more for what no parameter takes."""
    frame = w.frame
    while frame.arrow and frame.parent is not None:
        frame = frame.parent
    if frame.parent is None or frame.sees("arguments"):
        return Name("arguments")
    if not frame.arguments:
        frame.draft.temporaries += 1
        frame.arguments = f"${frame.draft.temporaries}"
    return Name(frame.arguments)


def this(w: Walk, node: Node, hint: str) -> Expr:
    """The keyword ``this``."""
    return w.this()


def super_(w: Walk, node: Node, hint: str) -> Expr:
    """``super``."""
    return Super()


def array(w: Walk, node: Node, hint: str) -> Expr:
    """``[a, ...b]``."""
    return Seq("Array", list(_values(w, node.named_children, hint)))


def _values(w: Walk, nodes: Iterable[Node], hint: str) -> Iterable[Expr]:
    for node in nodes:
        if node.type != "comment":
            yield w.expr(node)


def spread(w: Walk, node: Node, hint: str) -> Expr:
    """``...a``."""
    return Spread(w.expr(first(node)))


def awaited(w: Walk, node: Node, hint: str) -> Expr:
    """``await a``."""
    return Await(w.expr(first(node)))


def yielded(w: Walk, node: Node, hint: str) -> Expr:
    """``yield a``, ``yield* a``."""
    of = first(node)
    if of is not None:
        value = w.expr(of)
        delegated = any(child.type == "*" for child in node.children)
        w.build.here.emit(Elem(value) if delegated else value)
    return NONE


def template(w: Walk, node: Node, hint: str) -> Expr:
    """A template string: the calls in it."""
    for child in node.named_children:
        if child.type == "template_substitution":
            for inner in child.named_children:
                w.run(inner)
    return STRING


def cast(w: Walk, node: Node, hint: str) -> Expr:
    """``a as T``, ``a satisfies T``."""
    value = w.expr(first(node), hint)
    last = node.child(node.child_count - 1)
    if last is None or node.type == "satisfies_expression" or last.type == "const":
        return value
    to = w.type_of(last)
    return value if to is None or to is NONE else Cast(to, value)


def assertion(w: Walk, node: Node, hint: str) -> Expr:
    """``<T>a``."""
    children = node.named_children
    value = w.expr(children[-1], hint) if children else NONE
    to = w.type_of(first(children[0])) if len(children) > 1 else None
    return value if to is None or to is NONE else Cast(to, value)


def instantiation(w: Walk, node: Node, hint: str) -> Expr:
    """``f<T>`` without a call."""
    value = w.expr(first(node), hint)
    last = node.child(node.child_count - 1)
    given = [w.type_of(child) or NONE for child in last.named_children] if last else []
    return Generic(value, given)


def literal(kind: str) -> Handler:
    """A literal of one built-in type."""
    made = Lit(kind)

    def lower(w: Walk, node: Node, hint: str) -> Expr:
        return made

    return lower


def nothing(w: Walk, node: Node, hint: str) -> Expr:
    """What has no value that can be called or read from."""
    return NONE


EXPRESSIONS: dict[str, Handler] = {
    **dict.fromkeys(CHAIN, chain),
    "<chain>": called_chain,
    "binary_expression": binary,
    "ternary_expression": ternary,
    "parenthesized_expression": parenthesized,
    "sequence_expression": sequence,
    "identifier": identifier,
    "shorthand_property_identifier": identifier,
    "undefined": nothing,
    "this": this,
    "super": super_,
    "array": array,
    "spread_element": spread,
    "await_expression": awaited,
    "yield_expression": yielded,
    "template_string": template,
    "as_expression": cast,
    "satisfies_expression": cast,
    "type_assertion": assertion,
    "instantiation_expression": instantiation,
    "string": literal("String"),
    "number": literal("Number"),
    "true": literal("Boolean"),
    "false": literal("Boolean"),
    "null": nothing,
    "regex": literal("RegExp"),
    "comment": nothing,
    "meta_property": nothing,
    "import": nothing,
}
