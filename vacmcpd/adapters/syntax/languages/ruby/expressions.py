"""Ruby expressions."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Call,
    Elem,
    Expr,
    Item,
    Lit,
    Map,
    Name,
    ScopeKind,
    Seq,
    Spread,
    Super,
    This,
)
from ...linking.sites import IMPLICIT
from .walk import DEEPEST, Walk

NOTHING = Lit("nil")
BLOCK = "&"

EACH = frozenset(
    {"each", "map", "collect", "select", "filter", "reject", "find", "detect", "flat_map", "any?"}
    | {"all?", "none?", "each_with_index", "each_with_object", "sort_by", "group_by", "tap", "then"}
    | {"filter_map", "sum", "min_by", "max_by", "partition", "reverse_each", "times", "find_index"}
    | {"each_slice", "each_cons", "count", "take_while", "drop_while", "to_h", "each_value", "map!"}
    | {"select!", "reject!", "delete_if", "keep_if", "find_all", "uniq", "zip", "yield_self"}
)
"""Methods of the core library that call their block with what they are called on or its items."""

_SAME = frozenset({"freeze", "dup", "clone", "tap", "itself"})


def expr(walk: Walk, node: Node | None) -> Expr:
    """The value of an expression."""
    if node is None:
        return NOTHING
    handler = _EXPRESSIONS.get(node.type)
    if handler is None:
        return _parts(walk, node)
    if walk.depth > DEEPEST:
        return Lit("deep")
    walk.depth += 1
    made = handler(walk, node)
    walk.depth -= 1
    return made


def run(walk: Walk, node: Node) -> None:
    """An expression whose value nobody takes."""
    made = expr(walk, node)
    if type(made) is not Lit and type(made) is not Name:
        walk.build.here.do(made)


def _parts(walk: Walk, node: Node) -> Expr:
    """An expression of which only the calls inside matter."""
    if walk.depth <= DEEPEST:
        walk.depth += 1
        for child in node.named_children:
            run(walk, child)
        walk.depth -= 1
    return NOTHING


def block_body(walk: Walk, node: Node) -> Expr:
    """Statements; the last one is their value. A single expression is its own."""
    if node.type not in _BODIES:
        return expr(walk, node)
    values: list[Expr] = []
    children = [child for child in node.named_children if child.type != "comment"]
    for index, child in enumerate(children):
        if child.type in ("rescue", "ensure", "else"):
            values.append(_rescue(walk, child))
        elif child.type in _NESTED:
            walk.statement(walk, child)
        elif index == len(children) - 1 or children[index + 1].type in ("rescue", "ensure"):
            values.append(expr(walk, child))
        else:
            run(walk, child)
    return either(values)


def either(values: list[Expr]) -> Expr:
    """One of several values."""
    known = [value for value in values if type(value) is not Lit]
    if not known:
        return values[0] if values else NOTHING
    return known[0] if len(known) == 1 else AnyOf(known)


def _rescue(walk: Walk, node: Node) -> Expr:
    variable = node.child_by_field_name("variable")
    listed = node.child_by_field_name("exceptions")
    if variable is not None and variable.named_child_count:
        name = walk.text(variable.named_children[0])
        walk.declare(name)
        for child in listed.named_children if listed is not None else []:
            if child.type in ("constant", "scope_resolution"):
                value = Attr(expr(walk, child), INSTANCE)
                walk.build.here.bind(name, value)
    body = node.child_by_field_name("body")
    if body is not None:
        return block_body(walk, body)
    return either([expr(walk, child) for child in node.named_children[-1:]])


INSTANCE = "<new>"
"""Stands for an instance of a class, where no call makes it."""


def _line(node: Node) -> int:
    return node.start_point.row + 1


def symbol(walk: Walk, node: Node) -> str:
    """The text of a symbol or a plain string; "" for anything else."""
    if node.type == "simple_symbol":
        return walk.text(node)[1:]
    if node.type == "string" and all(
        child.type == "string_content" for child in node.named_children
    ):
        return walk.text(node)[1:-1]
    return ""


def _identifier(walk: Walk, node: Node) -> Expr:
    name = walk.text(node)
    if name in walk.locals:
        return Name(name)
    return walk.build.call(Attr(walk.this(), name), line=_line(node))


def _constant(walk: Walk, node: Node) -> Expr:
    return walk.constant(walk.text(node))


def _this(walk: Walk, node: Node) -> Expr:
    del node
    return walk.this()


def _instance_variable(walk: Walk, node: Node) -> Expr:
    return Attr(walk.this(), walk.text(node))


def _global(walk: Walk, node: Node) -> Expr:
    return Name(walk.text(node))


def _arguments(walk: Walk, nodes: list[Node]) -> tuple[list[Expr], list[str]]:
    """(values, the keywords of the last of them)."""
    plain: list[Expr] = []
    named: list[tuple[str, Expr]] = []
    for child in nodes:
        if child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            name = walk.text(key).strip(":\"'") if key is not None else ""
            named.append((name, expr(walk, value) if value is not None else NOTHING))
        elif child.type in ("splat_argument", "hash_splat_argument"):
            inner = expr(walk, child.named_children[0]) if child.named_child_count else NOTHING
            plain.append(Spread(inner))
        elif child.type == "block_argument":
            inner = expr(walk, child.named_children[0]) if child.named_child_count else NOTHING
            named.append((BLOCK, inner))
        elif child.type != "comment":
            plain.append(expr(walk, child))
    return [*plain, *(value for _, value in named)], [name for name, _ in named]


def _call(walk: Walk, node: Node) -> Expr:
    of, named = node.child_by_field_name("receiver"), node.child_by_field_name("method")
    listed = node.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    block = node.child_by_field_name("block")
    if named is not None and named.type == "super":
        return _super_call(walk, node, given, block)
    name = walk.text(named) if named is not None else "call"
    if block is not None and _makes_closure(walk, of, name):
        return _closure(walk, block)
    receiver = walk.this() if of is None else expr(walk, of)
    if name in ("send", "public_send", "__send__", "method") and given and symbol(walk, given[0]):
        reached = symbol(walk, given[0])
        if name == "method":
            return Attr(receiver, reached)
        name, given = reached, given[1:]
    return _method_call(walk, named or node, receiver, name, given, block)


def _makes_closure(walk: Walk, of: Node | None, name: str) -> bool:
    if of is None:
        return name in ("lambda", "proc")
    return name == "new" and walk.text(of) == "Proc"


def _method_call(
    walk: Walk, named: Node, receiver: Expr, name: str, given: list[Node], block: Node | None
) -> Expr:
    build = walk.build
    calls_items = name in EACH
    if calls_items and type(receiver) not in (Name, This):
        receiver = Name(build.here.temporary(receiver))
    args, names = _arguments(walk, [child for child in given if not _is_symbol_block(child)])
    for child in given:
        if _is_symbol_block(child) and calls_items:
            reached = walk.text(child.named_children[0])[1:]
            build.here.do(build.call(Attr(Elem(receiver), reached), line=_line(child)))
    if block is not None:
        args.append(_closure(walk, block, Elem(receiver) if calls_items else None))
        names.append(BLOCK)
    elif calls_items and BLOCK in names:
        passed = args[-1]
        if type(passed) is Attr:
            build.here.do(build.call(passed, names=[IMPLICIT], line=_line(named)))
    if name in _SAME and not args:
        return receiver
    return build.call(Attr(receiver, name), args, names=names, line=_line(named))


def _is_symbol_block(node: Node) -> bool:
    return (
        node.type == "block_argument"
        and node.named_child_count == 1
        and node.named_children[0].type == "simple_symbol"
    )


def _closure(walk: Walk, node: Node, given: Expr | None = None) -> Expr:
    """A block or a lambda."""
    build = walk.build
    name = build.here.anonymous()
    lines = node.start_point.row + 1, node.end_point.row + 1
    listed = node.child_by_field_name("parameters")
    body = node.child_by_field_name("body")
    with build.scope(ScopeKind.LAMBDA, name, *lines) as (draft, reference), walk.block():
        params = listed.named_children if listed is not None else []
        walk.parameters(walk, params, given)
        if not params and given is not None:
            walk.declare("it")
            build.here.bind("it", given)
        if body is not None and body.type == "block":
            body = body.child_by_field_name("body") or body
        if body is not None:
            draft.give(block_body(walk, body))
    return reference


def _super(walk: Walk, node: Node) -> Expr:
    if not walk.method:
        return NOTHING
    return walk.build.call(Attr(Super(), walk.method), line=_line(node))


def _super_call(walk: Walk, node: Node, given: list[Node], block: Node | None) -> Expr:
    args, names = _arguments(walk, given)
    if block is not None:
        args.append(_closure(walk, block))
        names.append(BLOCK)
    if not walk.method:
        return NOTHING
    return walk.build.call(Attr(Super(), walk.method), args, names=names, line=_line(node))


def _yield(walk: Walk, node: Node) -> Expr:
    nodes = [inner for child in node.named_children for inner in child.named_children]
    args, names = _arguments(walk, nodes)
    return walk.build.call(Name(BLOCK), args, names=names, line=_line(node))


def _assignment(walk: Walk, node: Node) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return NOTHING
    value = expr(walk, right)
    assign(walk, left, value)
    if left.type == "identifier":
        return Name(walk.text(left))
    return NOTHING if left.type != "instance_variable" else expr(walk, left)


def assign(walk: Walk, left: Node, value: Expr) -> None:
    """``left = value``."""
    here = walk.build.here
    kind = left.type
    if kind == "identifier":
        walk.declare(walk.text(left))
        here.bind(walk.text(left), value)
    elif kind in ("instance_variable", "class_variable"):
        here.store(walk.this(), walk.text(left), value)
    elif kind == "call":
        named, of = left.child_by_field_name("method"), left.child_by_field_name("receiver")
        name = walk.text(named) if named is not None else ""
        target = expr(walk, of) if of is not None else walk.this()
        made = Attr(target, f"{name}=")
        here.do(walk.build.call(made, [value, NOTHING], names=["", IMPLICIT], line=_line(left)))
    elif kind == "element_reference":
        of = left.child_by_field_name("object")
        here.store(expr(walk, of), None, value, attr=False)
    elif kind == "left_assignment_list":
        source = Name(here.temporary(value))
        for index, child in enumerate(left.named_children):
            assign(walk, child, Item(source, index))
    elif kind == "global_variable":
        here.bind(walk.text(left), value)
    else:
        here.do(value)


def _operator_assignment(walk: Walk, node: Node) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return NOTHING
    assign(walk, left, expr(walk, right))
    if left.type in ("identifier", "instance_variable"):
        return expr(walk, left)
    return NOTHING


def _element(walk: Walk, node: Node) -> Expr:
    of = expr(walk, node.child_by_field_name("object"))
    keys = node.named_children[1:]
    for child in keys:
        run(walk, child)
    name = symbol(walk, keys[0]) if len(keys) == 1 else ""
    if len(keys) == 1 and keys[0].type == "integer" and walk.text(keys[0]).isdigit():
        return Item(of, int(walk.text(keys[0])))
    return Item(of, name or None)


def _first(walk: Walk, node: Node) -> Expr:
    values = [expr(walk, child) for child in node.named_children if child.type != "comment"]
    for value in values[:-1]:
        walk.build.here.do(value)
    return values[-1] if values else NOTHING


def _array(walk: Walk, node: Node) -> Expr:
    args, _ = _arguments(walk, node.named_children)
    return Seq("list", args)


def _hash(walk: Walk, node: Node) -> Expr:
    keys: list[str | int | None] = []
    values: list[Expr] = []
    for child in node.named_children:
        key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
        if child.type != "pair" or key is None:
            run(walk, child)
            continue
        named = key.type in ("hash_key_symbol", "string", "simple_symbol")
        keys.append(walk.text(key).strip(":\"'") if named else None)
        if not named:
            run(walk, key)
        values.append(expr(walk, value) if value is not None else NOTHING)
    return Map(keys, values)


def _binary(walk: Walk, node: Node) -> Expr:
    left = expr(walk, node.child_by_field_name("left"))
    right = expr(walk, node.child_by_field_name("right"))
    sign = node.child_by_field_name("operator")
    text = walk.text(sign) if sign is not None else ""
    if text in ("||", "or", "&&", "and"):
        return AnyOf([left, right])
    here = walk.build.here
    here.do(right)
    if type(left) is Lit or text in ("=~", "!~", "..", "..."):
        here.do(left)
        return NOTHING
    return walk.build.call(Attr(left, text), names=[IMPLICIT], line=_line(sign or node))


def _if(walk: Walk, node: Node) -> Expr:
    condition = node.child_by_field_name("condition")
    if condition is not None:
        run(walk, condition)
    values = []
    for name in ("consequence", "alternative", "body"):
        part = node.child_by_field_name(name)
        if part is not None:
            values.append(block_body(walk, part))
    return either(values)


def _case(walk: Walk, node: Node) -> Expr:
    value = node.child_by_field_name("value")
    if value is not None:
        run(walk, value)
    values = []
    for child in node.named_children:
        if child.type in ("when", "in_clause"):
            for part in child.named_children:
                if part.type not in ("then", "body"):
                    _pattern(walk, part)
            body = child.child_by_field_name("body")
            values.append(block_body(walk, body) if body is not None else NOTHING)
        elif child.type == "else":
            values.append(block_body(walk, child))
    return either(values)


def _pattern(walk: Walk, node: Node) -> None:
    if node.type in ("identifier",):
        walk.declare(walk.text(node))
        walk.build.here.bind(walk.text(node))
    elif node.type not in ("constant", "scope_resolution"):
        for child in node.named_children:
            _pattern(walk, child)


def _for(walk: Walk, node: Node) -> Expr:
    value, pattern = node.child_by_field_name("value"), node.child_by_field_name("pattern")
    source = Name(walk.build.here.temporary(_first(walk, value) if value is not None else NOTHING))
    if pattern is not None:
        assign(walk, pattern, Elem(source))
    body = node.child_by_field_name("body")
    if body is not None:
        walk.build.here.do(block_body(walk, body))
    return NOTHING


def _return(walk: Walk, node: Node) -> Expr:
    nodes = [inner for child in node.named_children for inner in child.named_children]
    args, _ = _arguments(walk, nodes)
    walk.build.here.give(args[0] if len(args) == 1 else Seq("list", args))
    return NOTHING


def _lambda(walk: Walk, node: Node) -> Expr:
    return _closure(walk, node)


def _string(walk: Walk, node: Node) -> Expr:
    for child in node.named_children:
        if child.type == "interpolation":
            for inner in child.named_children:
                value = expr(walk, inner)
                made = Attr(value, "to_s")
                if type(value) in (Lit, Call):
                    walk.build.here.do(value)
                else:
                    walk.build.here.do(walk.build.call(made, names=[IMPLICIT], line=_line(inner)))
    return Lit("String")


def _literal(walk: Walk, node: Node) -> Expr:
    del walk
    names = {"integer": "Integer", "float": "Float", "simple_symbol": "Symbol", "regex": "Regexp"}
    return Lit(names.get(node.type, "Object"))


def _skip(walk: Walk, node: Node) -> Expr:
    del walk, node
    return NOTHING


def _definition(walk: Walk, node: Node) -> Expr:
    walk.statement(walk, node)
    return NOTHING


_BODIES = frozenset(
    {"body_statement", "block_body", "then", "else", "do", "begin", "ensure", "program", "elsif"}
    | {"parenthesized_statements"}
)
_NESTED = frozenset({"method", "singleton_method", "class", "module", "singleton_class", "alias"})

_EXPRESSIONS: dict[str, Callable[[Walk, Node], Expr]] = {
    "identifier": _identifier,
    "constant": _constant,
    "scope_resolution": _constant,
    "self": _this,
    "instance_variable": _instance_variable,
    "class_variable": _instance_variable,
    "global_variable": _global,
    "call": _call,
    "super": _super,
    "yield": _yield,
    "assignment": _assignment,
    "operator_assignment": _operator_assignment,
    "element_reference": _element,
    "parenthesized_statements": block_body,
    "array": _array,
    "hash": _hash,
    "binary": _binary,
    "if": _if,
    "unless": _if,
    "elsif": _if,
    "conditional": _if,
    "if_modifier": _if,
    "unless_modifier": _if,
    "case": _case,
    "case_match": _case,
    "begin": block_body,
    "for": _for,
    "return": _return,
    "next": _return,
    "break": _return,
    "lambda": _lambda,
    "string": _string,
    "subshell": _string,
    "heredoc_body": _string,
    "regex": _string,
    "delimited_symbol": _string,
    "integer": _literal,
    "float": _literal,
    "simple_symbol": _literal,
    "nil": _skip,
    "true": _skip,
    "false": _skip,
    "comment": _skip,
    "method": _definition,
    "singleton_method": _definition,
    "class": _definition,
    "module": _definition,
    "alias": _definition,
    "singleton_class": _definition,
}
