"""PHP expressions and statements."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Elem,
    Expr,
    Item,
    Lit,
    Name,
    Param,
    ScopeKind,
    Seq,
    Spread,
    Super,
    This,
)
from ...linking.sites import IMPLICIT
from .walk import DEEPEST, Walk, line_of

NOTHING = Lit("value")
_TAKERS = frozenset(
    {"array_map", "array_filter", "array_walk", "array_reduce", "usort", "uasort", "uksort"}
    | {"call_user_func", "call_user_func_array", "preg_replace_callback", "iterator_apply"}
    | {"register_shutdown_function", "set_error_handler", "spl_autoload_register"}
)
"""Functions that call what they are given."""


def expr(walk: Walk, node: Node | None) -> Expr:
    """The value of an expression."""
    if node is None or walk.depth > DEEPEST:
        return NOTHING
    walk.depth += 1
    handler = _EXPRESSIONS.get(node.type)
    if handler is not None:
        made = handler(walk, node)
    else:
        made = NOTHING
        for child in node.named_children:
            run(walk, child)
    walk.depth -= 1
    return made


def run(walk: Walk, node: Node) -> None:
    """A statement, or an expression whose value nobody takes."""
    if walk.depth > DEEPEST:
        return
    walk.depth += 1
    kind = node.type
    statement = _STATEMENTS.get(kind)
    if statement is not None:
        statement(walk, node)
    elif kind in _EXPRESSIONS:
        made = expr(walk, node)
        if type(made) not in (Lit, Name):
            walk.build.here.do(made)
    else:
        for child in node.named_children:
            run(walk, child)
    walk.depth -= 1


def _variable(walk: Walk, node: Node) -> Expr:
    text = walk.text(node)
    return This() if text == "$this" else Name(walk.variable(text))


def _first(walk: Walk, node: Node) -> Expr:
    return expr(walk, node.named_children[-1]) if node.named_child_count else NOTHING


def _arguments(walk: Walk, node: Node | None) -> tuple[list[Expr], list[str]] | None:
    """The arguments and their names; None for ``f(...)``, which makes a closure of f."""
    args: list[Expr] = []
    names: list[str] = []
    for child in node.named_children if node is not None else ():
        if child.type == "variadic_placeholder":
            return None
        if child.type == "variadic_unpacking":
            args.append(Spread(_first(walk, child)))
        elif child.type == "argument":
            name = child.child_by_field_name("name")
            if name is not None:
                names.append(walk.variable(f"${walk.text(name)}").removesuffix("@"))
            value = child.named_children[-1] if child.named_child_count else None
            args.append(expr(walk, value))
    return args, names


def _made(walk: Walk, fn: Expr, listed: Node | None, line: int, *, new: bool = False) -> Expr:
    given = _arguments(walk, listed)
    if given is None:
        return fn
    return walk.build.call(fn, given[0], names=given[1], line=line, new=new)


def _function_call(walk: Walk, node: Node) -> Expr:
    fn, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if fn is None:
        return NOTHING
    if fn.type not in ("name", "qualified_name", "relative_name"):
        return _made(walk, expr(walk, fn), listed, line_of(fn))
    text = walk.text(fn)
    if text.lstrip("\\").lower() in _TAKERS and listed is not None:
        _callbacks(walk, listed)
    return _made(walk, walk.function_name(text), listed, line_of(fn))


def _callbacks(walk: Walk, listed: Node) -> None:
    """What is given by name to a function that calls it."""
    for child in listed.named_children:
        value = child.named_children[-1] if child.named_child_count else None
        made: Expr | None = None
        if value is not None and value.type in ("string", "encapsed_string"):
            text = walk.text(value)[1:-1]
            of, colons, name = text.partition("::")
            if colons:
                made = Attr(walk.class_name(f"\\{of.lstrip(chr(92))}"), f"{name}()")
            elif text.replace("\\", "").isidentifier():
                made = walk.function_name("\\" + text.lstrip("\\"))
        elif value is not None and value.type == "array_creation_expression":
            parts = value.named_children
            if len(parts) == 2 and parts[1].named_child_count:
                last = parts[1].named_children[-1]
                first = parts[0].named_children[-1] if parts[0].named_child_count else None
                plain = first is not None and first.type in _PLAIN
                if plain and last.type in ("string", "encapsed_string"):
                    made = Attr(expr(walk, first), f"{walk.text(last)[1:-1]}()")
        if made is not None and value is not None:
            call = walk.build.call(made, names=[IMPLICIT], line=line_of(value))
            walk.build.here.do(call)


_PLAIN = ("variable_name", "class_constant_access_expression", "member_access_expression")


def _method_call(walk: Walk, node: Node) -> Expr:
    of, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    value = expr(walk, of)
    listed = node.child_by_field_name("arguments")
    if name is None or name.type != "name":
        run_all(walk, listed)
        return NOTHING
    return _made(walk, Attr(value, f"{walk.text(name)}()"), listed, line_of(name))


def run_all(walk: Walk, node: Node | None) -> None:
    """Everything in a node, for the calls in it."""
    for child in node.named_children if node is not None else ():
        run(walk, child)


def _scope(walk: Walk, node: Node | None) -> Expr:
    """What stands before ``::``."""
    if node is None:
        return NOTHING
    if node.type == "relative_scope":
        text = walk.text(node).lower()
        if text == "parent":
            return Super()
        return This() if text == "static" or walk.own is None else walk.own
    if node.type in ("name", "qualified_name", "relative_name"):
        return walk.class_name(walk.text(node))
    return expr(walk, node)


def _scoped_call(walk: Walk, node: Node) -> Expr:
    of, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
    value = _scope(walk, of)
    listed = node.child_by_field_name("arguments")
    if name is None or name.type != "name":
        run_all(walk, listed)
        return NOTHING
    return _made(walk, Attr(value, f"{walk.text(name)}()"), listed, line_of(name))


def _member(walk: Walk, node: Node) -> Expr:
    of, name = node.child_by_field_name("object"), node.child_by_field_name("name")
    value = expr(walk, of)
    if name is None or name.type != "name":
        return NOTHING
    return Attr(value, walk.text(name))


def _static_member(walk: Walk, node: Node) -> Expr:
    parts = node.named_children
    if len(parts) < 2:
        return NOTHING
    name = walk.text(parts[-1]).lstrip("$")
    return _scope(walk, parts[0]) if name == "class" else Attr(_scope(walk, parts[0]), name)


def _new(walk: Walk, node: Node) -> Expr:
    parts = node.named_children
    listed = next((child for child in parts if child.type == "arguments"), None)
    of = next((child for child in parts if child.type not in ("arguments", "comment")), None)
    if of is None:
        return NOTHING
    if of.type == "anonymous_class":
        ref = walk_class(walk, of)
        inner = next((child for child in of.named_children if child.type == "arguments"), None)
        return _made(walk, ref, inner, line_of(of), new=True)
    named = of.type in ("name", "qualified_name", "relative_name", "relative_scope")
    value = walk.class_name(walk.text(of)) if named else expr(walk, of)
    return _made(walk, value, listed, line_of(of), new=True)


def walk_class(walk: Walk, node: Node) -> Expr:
    """A class without a name, which is declared where it stands."""
    from .items import class_like

    return class_like(walk, node, walk.build.here.anonymous())


def assign(walk: Walk, left: Node | None, value: Expr) -> None:
    """What ``left = value`` binds."""
    if left is None:
        walk.build.here.do(value)
        return
    here = walk.build.here
    if left.type == "variable_name":
        here.bind(walk.variable(walk.text(left)), value)
    elif left.type in ("member_access_expression", "scoped_property_access_expression"):
        target = expr(walk, left)
        if type(target) is Attr:
            here.store(target.of, target.name, value)
        else:
            here.do(value)
    elif left.type in ("list_literal", "array_creation_expression"):
        of = Name(here.temporary(value))
        for index, child in enumerate(left.named_children):
            assign(walk, child, Item(of, index))
    elif left.type in ("array_element_initializer", "pair", "by_ref") and left.named_child_count:
        assign(walk, left.named_children[-1], value)
    elif left.type == "subscript_expression" and left.named_child_count:
        here.store(expr(walk, left.named_children[0]), None, value, attr=False)
        for child in left.named_children[1:]:
            run(walk, child)
    else:
        here.do(value)


def _assignment(walk: Walk, node: Node) -> Expr:
    value = expr(walk, node.child_by_field_name("right"))
    if type(value) not in (Name, Lit, This):
        value = Name(walk.build.here.temporary(value))
    assign(walk, node.child_by_field_name("left"), value)
    return value


def _subscript(walk: Walk, node: Node) -> Expr:
    parts = node.named_children
    for child in parts[1:]:
        run(walk, child)
    key: str | int | None = None
    if len(parts) > 1 and parts[1].type == "integer" and walk.text(parts[1]).isdecimal():
        key = int(walk.text(parts[1]))
    return Item(expr(walk, parts[0]), key) if parts else NOTHING


def _array(walk: Walk, node: Node) -> Expr:
    items: list[Expr] = []
    for child in node.named_children:
        if child.type == "variadic_unpacking":
            items.append(Spread(_first(walk, child)))
            continue
        for part in child.named_children[:-1]:
            run(walk, part)
        if child.named_child_count:
            items.append(expr(walk, child.named_children[-1]))
    return Seq("list", items)


def _either(walk: Walk, node: Node) -> Expr:
    names = ("body", "alternative") if node.type == "conditional_expression" else ("left", "right")
    condition = node.child_by_field_name("condition")
    if condition is not None:
        run(walk, condition)
    return AnyOf([expr(walk, node.child_by_field_name(name)) for name in names])


def _binary(walk: Walk, node: Node) -> Expr:
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type == "??":
        return _either(walk, node)
    run_all(walk, node)
    return NOTHING


def _match(walk: Walk, node: Node) -> Expr:
    found: list[Expr] = []
    for part in node.named_children:
        if part.type != "match_block":
            run(walk, part)
            continue
        for arm in part.named_children:
            for child in arm.named_children[:-1]:
                run(walk, child)
            if arm.named_child_count:
                found.append(expr(walk, arm.named_children[-1]))
    return AnyOf(found)


def _closure(walk: Walk, node: Node) -> Expr:
    build = walk.build
    name = build.here.anonymous()
    with build.scope(ScopeKind.LAMBDA, name, line_of(node), node.end_point.row + 1) as (draft, ref):
        draft.params = parameters(walk, node.child_by_field_name("parameters"))
        draft.returns = walk.type_of(node.child_by_field_name("return_type"))
        body = node.child_by_field_name("body")
        if body is not None and node.type == "arrow_function":
            draft.give(expr(walk, body))
        elif body is not None:
            run(walk, body)
    return ref


def parameters(walk: Walk, node: Node | None) -> list[Param]:
    """The parameters of a function; types and defaults of the class around."""
    found: dict[str, Param] = {}
    for child in node.named_children if node is not None else ():
        name = child.child_by_field_name("name")
        if name is None:
            continue
        text = walk.variable(walk.text(name).lstrip("&"))
        declared = walk.type_of(child.child_by_field_name("type"))
        optional = child.child_by_field_name("default_value") is not None
        star = 1 if child.type == "variadic_parameter" else 0
        found[text] = Param(text, declared, NOTHING if optional else None, star)
    return list(found.values())


def _return(walk: Walk, node: Node) -> None:
    for child in node.named_children:
        walk.build.here.give(expr(walk, child))


def _foreach(walk: Walk, node: Node) -> None:
    parts = node.named_children
    if len(parts) < 2:
        return
    assign(walk, parts[1], Elem(expr(walk, parts[0])))
    for child in parts[2:]:
        run(walk, child)


def _catch(walk: Walk, node: Node) -> None:
    name = node.child_by_field_name("name")
    if name is not None:
        of = walk.type_of(node.child_by_field_name("type"))
        walk.build.here.bind(walk.variable(walk.text(name)), None, of)
    body = node.child_by_field_name("body")
    if body is not None:
        run(walk, body)


def _if(walk: Walk, node: Node) -> None:
    """Where a variable is an instance of a class, it is one inside."""
    before = walk.narrowed
    for child in node.named_children:
        run(walk, child)
        if child.type == "parenthesized_expression" and child.named_child_count == 1:
            _narrow(walk, child.named_children[0])
        elif child.type != "comment":
            walk.narrowed = before
    walk.narrowed = before


def _narrow(walk: Walk, node: Node) -> None:
    parts = node.named_children
    if (
        node.type != "binary_expression"
        or len(parts) != 2
        or b"instanceof" not in (walk.source[parts[0].end_byte : parts[1].start_byte])
    ):
        return
    if parts[0].type == "variable_name" and parts[1].type in ("name", "qualified_name"):
        text = walk.text(parts[0])
        plain = text if walk.inside else f"{text}@"
        if text != "$this":
            made = f"{plain}@{len(walk.build.here.body)}"
            walk.build.here.bind(made, None, walk.class_name(walk.text(parts[1])))
            walk.narrowed = {**walk.narrowed, plain: made}


def _clone(walk: Walk, node: Node) -> Expr:
    return _first(walk, node)


def _items(walk: Walk, node: Node) -> None:
    from .items import item

    item(walk, node)


def _nothing(walk: Walk, node: Node) -> None:
    del walk, node


_EXPRESSIONS: dict[str, Callable[[Walk, Node], Expr]] = {
    "variable_name": _variable,
    "parenthesized_expression": _first,
    "clone_expression": _clone,
    "function_call_expression": _function_call,
    "member_call_expression": _method_call,
    "nullsafe_member_call_expression": _method_call,
    "scoped_call_expression": _scoped_call,
    "member_access_expression": _member,
    "nullsafe_member_access_expression": _member,
    "scoped_property_access_expression": _static_member,
    "class_constant_access_expression": _static_member,
    "object_creation_expression": _new,
    "assignment_expression": _assignment,
    "reference_assignment_expression": _assignment,
    "augmented_assignment_expression": _assignment,
    "subscript_expression": _subscript,
    "array_creation_expression": _array,
    "conditional_expression": _either,
    "binary_expression": _binary,
    "match_expression": _match,
    "arrow_function": _closure,
    "anonymous_function": _closure,
}
_STATEMENTS: dict[str, Callable[[Walk, Node], None]] = {
    "return_statement": _return,
    "foreach_statement": _foreach,
    "catch_clause": _catch,
    "if_statement": _if,
    "function_definition": _items,
    "class_declaration": _items,
    "interface_declaration": _items,
    "trait_declaration": _items,
    "enum_declaration": _items,
    "namespace_use_declaration": _items,
    "comment": _nothing,
    "name": _nothing,
    "string": _nothing,
    "integer": _nothing,
}
