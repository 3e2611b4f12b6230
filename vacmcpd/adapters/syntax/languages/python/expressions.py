"""Expressions: names, literals, operators, subscripts, comprehensions, lambdas."""

from tree_sitter import Node

from ...facts import (
    Attr,
    Await,
    Expr,
    Item,
    Lit,
    Map,
    Name,
    ScopeKind,
    Seq,
    Spread,
)
from . import calls, narrowing, parameters, targets
from .operators import OPERATORS
from .text import constant_string, string
from .walk import UNKNOWN, Handler, Walk, line_of

_STR, _BYTES, _BOOL, _INT, _FLOAT = (Lit(k) for k in ("str", "bytes", "bool", "int", "float"))
_MADE = (Lit, Seq, Map)


def identifier(w: Walk, node: Node) -> Expr:
    return w.name(w.text(node))


def attribute(w: Walk, node: Node) -> Expr:
    """``of.name`` that is read."""
    children = node.children
    name = children[-1]
    return loaded(w, w.expr(children[0]), w.text(name), line_of(name))


def loaded(w: Walk, of: Expr, name: str, line: int) -> Expr:
    """``of.name``; a constant's name or a module's is no property."""
    if name.isupper() or (type(of) is Name and of.id in w.modules):
        return Attr(of, name)
    return w.build.read(of, name, line=line)


def concatenated(w: Walk, node: Node) -> Expr:
    made: Expr = _STR
    for child in node.named_children:
        made = w.expr(child)
    return made


def inner(w: Walk, node: Node) -> Expr:
    """Brackets around one expression."""
    value: Expr = UNKNOWN
    for child in node.named_children:
        if child.type != "comment":
            value = w.expr(child)
    return value


def walrus(w: Walk, node: Node) -> Expr:
    children = node.named_children
    if len(children) < 2:
        return w.parts(node)
    value = w.expr(children[-1])
    name = w.text(children[0])
    w.frame.frozen += 1
    if w.comprehended:
        w.frame.draft.bind(name, value)
    else:
        w.bind(name, value)
    w.frame.frozen -= 1
    return w.name(name)


def subscript(w: Walk, node: Node) -> Expr:
    """``of[key]`` that is read."""
    of, keys = subscripted(w, node)
    key = keys[0] if len(keys) == 1 else None
    if key is not None and key.type == "slice":
        return _slice(w, of, key, line_of(node))
    known = constant(w, key) if key is not None else None
    if known is None:
        for each in keys:
            w.drop(w.expr(each))
    if type(of) in _MADE or of is UNKNOWN:
        return Item(of, known)
    of = w.simple(of)
    w.build.here.do(w.implicit(of, "__getitem__", line_of(node)))
    return Item(of, known)


def subscripted(w: Walk, node: Node) -> tuple[Expr, list[Node]]:
    """What is subscripted, and the keys."""
    parts = [child for child in node.named_children if child.type != "comment"]
    return w.expr(parts[0]), parts[1:]


def constant(w: Walk, node: Node) -> str | int | None:
    """A key that is known here."""
    kind = node.type
    if kind == "integer" or kind == "unary_operator":
        text = w.text(node).replace("_", "")
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 10 else None
    if kind == "identifier":
        name = w.text(node)
        return None if name in w.env or name in w.frame.bound else w.constants.get(name)
    return constant_string(w, node)


def _slice(w: Walk, of: Expr, node: Node, line: int) -> Expr:
    """Part of a container; which, when its ends are small numbers."""
    made = w.implicit(of, "__getitem__", line, value=True)
    ends = [constant(w, child) for child in node.named_children]
    w.parts(node)
    if len(ends) == 2 and type(of) is Name:
        start, stop = ends
        if type(start) is int and type(stop) is int and 0 <= start <= stop <= start + 8:
            made.args.append(Seq("list", [Item(of, at) for at in range(start, stop)]))
    return made


def sequence(w: Walk, node: Node) -> Expr:
    """A list, a tuple, a set."""
    kind = node.type
    children = node.named_children
    if kind not in ("list", "set"):
        kind = "tuple"
    items = [w.expr(child) for child in children if child.type != "comment"]
    if len(items) > 1000:
        kept = [item for item in items if type(item) is not Lit]
        items = kept or items[:1]
    elif items and all(type(item) is Lit for item in items):
        items = list(dict.fromkeys(items)) if len(items) > 8 else items
    return Seq(kind, items)


def splat(w: Walk, node: Node) -> Expr:
    return Spread(inner(w, node))


def dictionary(w: Walk, node: Node) -> Expr:
    keys: list[str | int | None] = []
    values: list[Expr] = []
    for child in node.named_children:
        kind = child.type
        if kind == "pair":
            parts = [part for part in child.named_children if part.type != "comment"]
            if len(parts) != 2:
                w.parts(child)
                continue
            key = constant(w, parts[0])
            if key is None:
                w.drop(w.expr(parts[0]))
            value = w.expr(parts[1])
            if type(value) is Lit and len(values) > 40:
                continue
            keys.append(key)
            values.append(value)
        elif kind == "dictionary_splat":
            keys.append(None)
            values.append(Spread(inner(w, child)))
    return Map(keys, values)


def comprehension(w: Walk, node: Node) -> Expr:
    """``[f(x) for x in xs if g(x)]``: its variables are seen in it alone."""
    env, comprehended = w.env, w.comprehended
    w.env, w.comprehended = dict(env), dict(comprehended)
    w.frame.frozen += 1
    body: Node | None = None
    for child in node.named_children:
        kind = child.type
        if kind == "for_in_clause":
            _clause(w, child)
        elif kind == "if_clause":
            w.drop(inner(w, child))
            narrowing.assume(w, child.named_children[-1], positive=True)
        elif kind != "comment" and body is None:
            body = child
    made = _comprehended(w, node.type, body)
    w.frame.frozen -= 1
    w.env, w.comprehended = env, comprehended
    return made


def _clause(w: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        w.parts(node)
        return
    value = calls.iterated(w, right, asynchronous=node.children[0].type == "async")

    def bind(name: str, item: Expr | None) -> None:
        made = w.frame.fresh(name)
        w.build.here.bind(made, item)
        w.env[name] = w.comprehended[name] = made

    targets.assign(w, left, value, bind)


def _comprehended(w: Walk, kind: str, body: Node | None) -> Expr:
    if body is None:
        return UNKNOWN
    if kind == "dictionary_comprehension":
        parts = [part for part in body.named_children if part.type != "comment"]
        if len(parts) != 2:
            return w.parts(body)
        w.drop(w.expr(parts[0]))
        return Map([None], [w.expr(parts[1])])
    named = {"list_comprehension": "list", "set_comprehension": "set"}
    # The place that is not constant says that any index may give it.
    return Seq(named.get(kind, "generator"), [Spread(Seq("list", [w.expr(body)]))])


def lambda_(w: Walk, node: Node) -> Expr:
    head, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    params = parameters.of(w, head) if head is not None else []
    name = w.build.here.anonymous()
    line, end = line_of(node), node.end_point[0] + 1
    with (
        w.build.scope(ScopeKind.LAMBDA, name, line, end) as (draft, ref),
        w.inside(draft, ScopeKind.LAMBDA, node) as frame,
    ):
        parameters.enter(w, frame, params)
        draft.params = params
        if body is not None:
            draft.give(w.expr(body))
    return ref


def awaited(w: Walk, node: Node) -> Expr:
    return Await(inner(w, node))


def yielded(w: Walk, node: Node) -> Expr:
    """``yield x``, ``yield from xs``."""
    here = w.build.here
    named = [child for child in node.named_children if child.type != "comment"]
    if not named:
        here.emit(UNKNOWN)
    elif any(child.type == "from" for child in node.children):
        here.emit(calls.iterated(w, named[0]))
    else:
        here.emit(w.expr(named[0]))
    return UNKNOWN


def literal(value: Expr) -> Handler:
    """A handler of what is always the same."""

    def lower(w: Walk, node: Node) -> Expr:
        del w, node
        return value

    return lower


EXPRESSIONS: dict[str, Handler] = {
    **OPERATORS,
    "identifier": identifier,
    "attribute": attribute,
    "call": calls.call,
    "string": string,
    "concatenated_string": concatenated,
    "integer": literal(_INT),
    "float": literal(_FLOAT),
    "true": literal(_BOOL),
    "false": literal(_BOOL),
    "none": literal(UNKNOWN),
    "ellipsis": literal(UNKNOWN),
    "comment": literal(UNKNOWN),
    "parenthesized_expression": inner,
    "named_expression": walrus,
    "subscript": subscript,
    "list": sequence,
    "tuple": sequence,
    "expression_list": sequence,
    "set": sequence,
    "list_splat": splat,
    "dictionary": dictionary,
    "list_comprehension": comprehension,
    "set_comprehension": comprehension,
    "dictionary_comprehension": comprehension,
    "generator_expression": comprehension,
    "lambda": lambda_,
    "await": awaited,
    "yield": yielded,
    "type": literal(UNKNOWN),
}
