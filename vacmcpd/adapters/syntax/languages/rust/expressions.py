"""Rust expressions and blocks."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import AnyOf, Attr, Cast, Elem, Expr, Item, Lit, Name, Param, ScopeKind, Seq, This
from ...linking.sites import IMPLICIT
from .macros import in_tokens
from .patterns import bind
from .types import path_of, type_of
from .walk import DEEPEST, Walk

NOTHING = Lit("unit")
_WRAPPERS = frozenset({"Some", "Ok", "Err"})
_EACH = frozenset(
    {"map", "for_each", "filter", "filter_map", "flat_map", "any", "all", "find", "position"}
    | {"and_then", "map_err", "unwrap_or_else", "or_else", "is_some_and", "inspect", "take_while"}
    | {"skip_while", "max_by_key", "min_by_key", "sort_by_key", "retain", "partition", "find_map"}
    | {"map_or", "map_or_else", "then", "is_ok_and", "try_for_each", "group_by", "spawn"}
)
"""The standard library's methods that call their argument, with what they are called on."""

_OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "&": "bitand",
    "|": "bitor",
    "^": "bitxor",
    "<<": "shl",
    ">>": "shr",
    "==": "eq",
    "!=": "ne",
    "+=": "add_assign",
    "-=": "sub_assign",
    "*=": "mul_assign",
    "/=": "div_assign",
}
_COMPARE = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


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


def _parts(walk: Walk, node: Node) -> Expr:
    """An expression of which only the calls inside matter."""
    if walk.depth <= DEEPEST:
        walk.depth += 1
        for child in node.named_children:
            run(walk, child)
        walk.depth -= 1
    return NOTHING


def run(walk: Walk, node: Node) -> None:
    """A statement, or an expression whose value nobody takes."""
    kind = node.type
    if kind == "expression_statement":
        for child in node.named_children:
            run(walk, child)
    elif kind == "let_declaration":
        _let(walk, node)
    elif kind.endswith("_item") or kind == "use_declaration":
        walk.items(walk, [node])
    elif kind in ("line_comment", "block_comment", "attribute_item", "empty_statement"):
        pass
    else:
        made = expr(walk, node)
        if type(made) is not Lit and type(made) is not Name:
            walk.build.here.do(made)


def block(walk: Walk, node: Node | None) -> Expr:
    """A block of statements; its last expression is its value."""
    if node is None:
        return NOTHING
    with walk.block():
        return _statements(walk, node)


def _statements(walk: Walk, node: Node) -> Expr:
    statements = node.named_children
    value: Expr = NOTHING
    for index, child in enumerate(statements):
        if index == len(statements) - 1:
            last = child
            if child.type == "expression_statement":
                ended = walk.source[child.end_byte - 1 : child.end_byte] == b";"
                last = child if ended or not child.named_child_count else child.named_children[0]
            if last.type in _EXPRESSIONS:
                value = expr(walk, last)
                continue
        run(walk, child)
    return value


def _let(walk: Walk, node: Node) -> None:
    declared = type_of(walk, node.child_by_field_name("type"))
    given = node.child_by_field_name("value")
    value = expr(walk, given) if given is not None else None
    other = node.child_by_field_name("alternative")
    if other is not None:
        walk.build.here.do(block(walk, other))
    bind(walk, node.child_by_field_name("pattern"), value, declared)


def _name(walk: Walk, node: Node) -> Expr:
    name = walk.text(node)
    return Name(walk.locals.get(name, name))


def _this(walk: Walk, node: Node) -> Expr:
    return Name(walk.locals["self"]) if "self" in walk.locals else This()


def _line(node: Node) -> int:
    return node.start_point.row + 1


def _call(walk: Walk, node: Node) -> Expr:
    fn, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if fn is None:
        return _parts(walk, node)
    given = listed.named_children if listed is not None else []
    given = [child for child in given if not child.type.endswith("comment")]
    named = fn.child_by_field_name("field")
    if fn.type == "field_expression" and named is not None:
        return _method(walk, node, fn, named, given)
    args = [expr(walk, child) for child in given]
    if fn.type == "identifier" and walk.text(fn) in _WRAPPERS and args:
        return args[0]
    inner = fn
    if fn.type == "generic_function":
        inner = fn.child_by_field_name("function") or fn
    named = inner.child_by_field_name("field") or inner.child_by_field_name("name") or inner
    return walk.build.call(callee(walk, inner), args, line=_line(named))


def _method(walk: Walk, node: Node, fn: Node, named: Node, given: list[Node]) -> Expr:
    """A method call; a closure that the standard library calls is given what it is called with."""
    of, name = expr(walk, fn.child_by_field_name("value")), walk.text(named)
    takes = name in _EACH and any(child.type == "closure_expression" for child in given)
    if takes and type(of) not in (Name, This):
        of = Name(walk.build.here.temporary(of))
    args = []
    for child in given:
        if takes and child.type == "closure_expression":
            args.append(_closure(walk, child, AnyOf([Elem(of), of])))
        else:
            args.append(expr(walk, child))
            if name in _EACH and child.type in ("identifier", "scoped_identifier"):
                called = walk.build.call(args[-1], names=[IMPLICIT], line=_line(child))
                walk.build.here.do(called)
    return walk.build.call(Attr(of, name), args, line=_line(named))


def callee(walk: Walk, node: Node) -> Expr:
    """What a call names: a path, a method, or any expression."""
    if node.type in ("identifier", "scoped_identifier", "self", "super", "crate"):
        return path_of(walk, node)
    if node.type == "field_expression":
        name = node.child_by_field_name("field")
        of = expr(walk, node.child_by_field_name("value"))
        return Attr(of, walk.text(name) if name is not None else "")
    return expr(walk, node)


def _field(walk: Walk, node: Node) -> Expr:
    name = node.child_by_field_name("field")
    of = expr(walk, node.child_by_field_name("value"))
    text = walk.text(name) if name is not None else ""
    return Attr(of, text)


def _macro(walk: Walk, node: Node) -> Expr:
    made = [in_tokens(walk, child) for child in node.named_children if child.type == "token_tree"]
    name = node.child_by_field_name("macro")
    values = made[0] if made else []
    if name is not None and walk.text(name) == "vec":
        return Seq("list", values)
    if name is not None and walk.text(name) in ("dbg", "ready", "try") and values:
        return values[0]
    for value in values:
        walk.build.here.do(value)
    return NOTHING


def _closure(walk: Walk, node: Node, given: Expr | None = None) -> Expr:
    build = walk.build
    name = build.here.anonymous()
    body = node.child_by_field_name("body")
    listed = node.child_by_field_name("parameters")
    with (
        build.scope(ScopeKind.LAMBDA, name, _line(node), node.end_point.row + 1) as (draft, ref),
        walk.function(closure=True),
    ):
        parameters(walk, listed.named_children if listed is not None else [], given)
        draft.returns = type_of(walk, node.child_by_field_name("return_type"))
        value = block(walk, body) if body is not None and body.type == "block" else expr(walk, body)
        draft.give(value)
    return ref


def parameters(walk: Walk, nodes: list[Node], given: Expr | None = None) -> None:
    """The parameters of the function or closure that was just opened.

    ``given`` is what the first is called with, in the scope around.
    """
    here = walk.build.here
    for index, child in enumerate(nodes):
        if child.type == "self_parameter" or child.type.endswith("comment"):
            continue
        pattern = child.child_by_field_name("pattern") or child
        declared = type_of(walk, child.child_by_field_name("type"))
        while pattern.type in ("mut_pattern", "ref_pattern", "reference_pattern"):
            pattern = pattern.named_children[-1] if pattern.named_child_count else pattern
            if not pattern.named_child_count:
                break
        if pattern.type == "identifier":
            here.params.append(Param(walk.fresh(walk.text(pattern)), declared, given))
        else:
            name = f"${index}p"
            here.params.append(Param(name, declared, given))
            bind(walk, pattern, Name(name))
        given = None


def _inside(walk: Walk, node: Node) -> Expr:
    inner = [child for child in node.named_children if child.type != "mutable_specifier"]
    return expr(walk, inner[-1]) if inner else NOTHING


def _first(walk: Walk, node: Node) -> Expr:
    return expr(walk, node.named_children[0]) if node.named_child_count else NOTHING


def _unary(walk: Walk, node: Node) -> Expr:
    value = _first(walk, node)
    sign = node.children[0].type if node.child_count else ""
    if sign in ("-", "!") and type(value) is not Lit:
        name = "neg" if sign == "-" else "not"
        return walk.build.call(Attr(value, name), names=[IMPLICIT], line=_line(node))
    return value


def _binary(walk: Walk, node: Node) -> Expr:
    left = expr(walk, node.child_by_field_name("left"))
    right = expr(walk, node.child_by_field_name("right"))
    sign = node.child_by_field_name("operator")
    text = walk.text(sign) if sign is not None else ""
    here = walk.build.here
    name = _OPERATORS.get(text)
    if name is None or type(left) is Lit or type(right) is Lit:
        here.do(left)
        here.do(right)
        return Lit("bool") if text in _COMPARE else NOTHING
    here.do(right)
    return walk.build.call(Attr(left, name), names=[IMPLICIT], line=_line(sign or node))


def _index(walk: Walk, node: Node) -> Expr:
    parts = node.named_children
    if len(parts) < 2:
        return _parts(walk, node)
    of = expr(walk, parts[0])
    if parts[1].type == "range_expression":
        run(walk, parts[1])
        return of
    key = expr(walk, parts[1])
    walk.build.here.do(key)
    return Item(of, None)


def _assign(walk: Walk, node: Node) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = expr(walk, right)
    here = walk.build.here
    if left is not None and left.type == "identifier":
        here.bind(walk.locals.get(walk.text(left), walk.text(left)), value)
    elif left is not None and left.type == "field_expression":
        name = left.child_by_field_name("field")
        of = expr(walk, left.child_by_field_name("value"))
        here.store(of, walk.text(name) if name is not None else None, value)
    else:
        if left is not None:
            run(walk, left)
        here.do(value)
    return NOTHING


def _struct(walk: Walk, node: Node) -> Expr:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    for child in body.named_children if body is not None else []:
        for value in child.named_children:
            if value.type not in ("field_identifier", "identifier", "shorthand_field_identifier"):
                run(walk, value)
    return Cast(path_of(walk, name)) if name is not None else NOTHING


def _sequence(walk: Walk, node: Node) -> Expr:
    kind = "tuple" if node.type == "tuple_expression" else "list"
    return Seq(kind, [expr(walk, child) for child in node.named_children])


def _condition(walk: Walk, node: Node | None) -> None:
    """A condition; what it matches is declared for what comes after it."""
    if node is None:
        return
    if node.type == "let_condition":
        value = expr(walk, node.child_by_field_name("value"))
        bind(walk, node.child_by_field_name("pattern"), value)
    elif node.type == "let_chain":
        for child in node.named_children:
            _condition(walk, child)
    else:
        run(walk, node)


def _if(walk: Walk, node: Node) -> Expr:
    with walk.block():
        _condition(walk, node.child_by_field_name("condition"))
        values = [block(walk, node.child_by_field_name("consequence"))]
    other = node.child_by_field_name("alternative")
    if other is not None:
        values.append(_first(walk, other))
    return _any(values)


def _any(values: list[Expr]) -> Expr:
    known = [value for value in values if type(value) is not Lit]
    if not known:
        return values[0] if values else NOTHING
    return known[0] if len(known) == 1 else AnyOf(known)


def _match(walk: Walk, node: Node) -> Expr:
    here = walk.build.here
    matched = Name(here.temporary(expr(walk, node.child_by_field_name("value"))))
    body = node.child_by_field_name("body")
    values = []
    for arm in body.named_children if body is not None else []:
        if arm.type != "match_arm":
            continue
        with walk.block():
            pattern = arm.child_by_field_name("pattern")
            bind(walk, pattern, matched)
            if pattern is not None:
                _condition(walk, pattern.child_by_field_name("condition"))
            values.append(expr(walk, arm.child_by_field_name("value")))
    return _any(values)


def _for(walk: Walk, node: Node) -> Expr:
    with walk.block():
        value = expr(walk, node.child_by_field_name("value"))
        bind(walk, node.child_by_field_name("pattern"), Elem(value))
        run(walk, node.child_by_field_name("body") or node)
    return NOTHING


def _while(walk: Walk, node: Node) -> Expr:
    with walk.block():
        _condition(walk, node.child_by_field_name("condition"))
        body = node.child_by_field_name("body")
        if body is not None:
            run(walk, body)
    return NOTHING


def _return(walk: Walk, node: Node) -> Expr:
    walk.build.here.give(_first(walk, node))
    return NOTHING


def _cast(walk: Walk, node: Node) -> Expr:
    run(walk, node.named_children[0])
    return type_value(walk, node)


def type_value(walk: Walk, node: Node) -> Expr:
    """What a cast says that the value is."""
    to = type_of(walk, node.child_by_field_name("type"))
    return Cast(to) if to is not None else NOTHING


def _block_in(walk: Walk, node: Node) -> Expr:
    inner = next((child for child in node.named_children if child.type == "block"), None)
    return block(walk, inner)


def _literal(walk: Walk, node: Node) -> Expr:
    return Lit("str" if "string" in node.type else node.type.removesuffix("_literal"))


_EXPRESSIONS: dict[str, Callable[[Walk, Node], Expr]] = {
    "identifier": _name,
    "self": _this,
    "scoped_identifier": path_of,
    "generic_function": path_of,
    "call_expression": _call,
    "field_expression": _field,
    "macro_invocation": _macro,
    "closure_expression": _closure,
    "try_expression": _first,
    "await_expression": _first,
    "parenthesized_expression": _first,
    "reference_expression": _inside,
    "unary_expression": _unary,
    "binary_expression": _binary,
    "compound_assignment_expr": _binary,
    "assignment_expression": _assign,
    "index_expression": _index,
    "struct_expression": _struct,
    "tuple_expression": _sequence,
    "array_expression": _sequence,
    "if_expression": _if,
    "match_expression": _match,
    "for_expression": _for,
    "while_expression": _while,
    "loop_expression": _block_in,
    "block": block,
    "unsafe_block": _block_in,
    "async_block": _block_in,
    "const_block": _block_in,
    "gen_block": _block_in,
    "return_expression": _return,
    "type_cast_expression": _cast,
    "integer_literal": _literal,
    "float_literal": _literal,
    "string_literal": _literal,
    "raw_string_literal": _literal,
    "char_literal": _literal,
    "boolean_literal": _literal,
}
