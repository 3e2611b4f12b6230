"""C expressions and statements."""

from tree_sitter import Node

from ...facts import AnyOf, Attr, Call, Cast, Expr, Name
from .types import Declared, declared, shaped, type_of
from .walk import DEEPEST, Walk, line_of

_CONDITIONS = ("consequence", "alternative")


def expr(walk: Walk, node: Node | None) -> Expr | None:
    """The value of an expression; None for one that no call can be made on."""
    if node is None or walk.depth > DEEPEST:
        return None
    walk.depth += 1
    made = _expr(walk, node)
    walk.depth -= 1
    return made


def _expr(walk: Walk, node: Node) -> Expr | None:
    kind = node.type
    if kind == "identifier":
        name = walk.text(node)
        return Name((walk.locals or {}).get(name, name))
    if kind == "call_expression":
        return _call(walk, node)
    if kind == "field_expression":
        of, name_node = expr(walk, node.child_by_field_name("argument")), node.named_children[-1]
        return Attr(of, walk.text(name_node)) if of is not None else None
    if kind in ("parenthesized_expression", "pointer_expression"):
        return expr(walk, node.named_children[-1]) if node.named_child_count else None
    if kind == "subscript_expression":
        run(walk, node.child_by_field_name("index"))
        return expr(walk, node.child_by_field_name("argument"))
    if kind == "cast_expression":
        return _cast(walk, node)
    if kind == "compound_literal_expression":
        described = node.child_by_field_name("type")
        to = described_type(walk, described)
        initialise(walk, node.child_by_field_name("value"), Cast(to) if to is not None else None)
        return Cast(to) if to is not None else None
    if kind == "assignment_expression":
        return assign(walk, node)
    if kind == "conditional_expression":
        run(walk, node.child_by_field_name("condition"))
        parts = [expr(walk, node.child_by_field_name(name)) for name in _CONDITIONS]
        known = [part for part in parts if part is not None]
        return AnyOf(known) if known else None
    for child in node.named_children:
        run(walk, child)
    return None


def described_type(walk: Walk, node: Node | None) -> Expr | None:
    """The type in a cast, ``sizeof`` or compound literal."""
    return type_of(walk, node.child_by_field_name("type")) if node is not None else None


def _call(walk: Walk, node: Node) -> Expr | None:
    fn, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    called = expr(walk, fn)
    given = listed.named_children if listed is not None else []
    args: list[Expr] = [
        expr(walk, child) or Name("<value>") for child in given if child.type != "comment"
    ]
    if called is None or fn is None:
        for arg in args:
            walk.build.here.do(arg)
        return None
    while fn.type in ("parenthesized_expression", "pointer_expression") and fn.named_child_count:
        fn = fn.named_children[-1]
    named = fn.named_children[-1] if fn.type == "field_expression" else fn
    return walk.build.call(called, args, line=line_of(named))


def _cast(walk: Walk, node: Node) -> Expr | None:
    to = described_type(walk, node.child_by_field_name("type"))
    value = expr(walk, node.child_by_field_name("value"))
    if to is None:
        return value
    if value is not None and _plain(value):
        return AnyOf([Cast(to), value])
    return Cast(to, value)


def _plain(value: Expr) -> bool:
    """Whether ``value`` may be a function by its syntax: nothing in it is called."""
    if type(value) is AnyOf:
        return all(_plain(part) for part in value.of)
    return type(value) in (Name, Attr) or (type(value) is Cast and value.of is None)


def assign(walk: Walk, node: Node) -> Expr | None:
    """``left = right``: what a pointer to a function or a field comes to hold."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = expr(walk, right)
    here = walk.build.here
    if value is not None and not _plain(value):
        value = Name(here.temporary(value))
    if left is None:
        return value
    if left.type == "field_expression" and left.named_child_count == 2 and value is not None:
        of, name = expr(walk, left.named_children[0]), walk.text(left.named_children[1])
        if of is not None:
            walk.mark(f".{name}=")
            here.store(of, name, value)
        return value
    target = expr(walk, left)
    if type(target) is Name and value is not None:
        if walk.is_local(target.id.partition("@")[0]):
            here.bind(target.id, value)
        elif type(value) is Name and not walk.is_local(value.id) and value.id[:1] != "$":
            walk.build.module.bind(f"{target.id}=", value)
    elif target is not None:
        here.do(target)
    return value


def initialise(walk: Walk, node: Node | None, of: Expr | None) -> None:
    """The fields that an initialiser in braces fills in ``of``, by name or by position."""
    if node is None or walk.depth > DEEPEST:
        return
    walk.depth += 1
    number = 0
    for child in node.named_children:
        if child.type == "comment":
            continue
        key = f"#{number}"
        number += 1
        given: Node | None = child
        if child.type == "initializer_pair":
            given = child.child_by_field_name("value")
            label = child.child_by_field_name("designator")
            if label is not None and label.type == "field_designator" and label.named_child_count:
                key = walk.text(label.named_children[0])
        if given is None:
            continue
        if given.type == "initializer_list":
            # An element of an array, or a struct in it, whose type is not known here.
            initialise(walk, given, of)
            continue
        value = expr(walk, given)
        if value is None:
            continue
        if of is None or not _plain(value):
            walk.build.here.do(value)
        else:
            walk.mark(f".{key}=")
            walk.build.here.store(of, key, value)
    walk.depth -= 1


def variable(walk: Walk, node: Node, found: Declared, of: Expr | None, flags: int = 0) -> None:
    """A variable and what it is initialised with."""
    value_node = node.child_by_field_name("value") if node.type == "init_declarator" else None
    here = walk.build.here
    name = walk.text(found.name)
    if value_node is None or value_node.type != "initializer_list":
        value = expr(walk, value_node)
        made = walk.fresh(name)
    else:
        made = walk.fresh(name)
        parts = [child for child in value_node.named_children if child.type == "identifier"]
        initialise(walk, value_node, Cast(of) if of is not None else None)
        value = AnyOf([Name(walk.text(part)) for part in parts]) if parts else None
    kind = shaped(of, found)
    if value is not None and not _plain(value):
        if kind is not None:
            here.do(value)
            value = None
    elif value is not None and kind is not None:
        value, kind = AnyOf([Cast(kind), value]), None
    here.bind(made, value, kind, flags)


def run(walk: Walk, node: Node | None) -> None:
    """A statement, or an expression whose value nobody takes."""
    if node is None or walk.depth > DEEPEST:
        return
    kind = node.type
    if kind in _SKIPPED:
        return
    walk.depth += 1
    if kind in ("compound_statement", "for_statement"):
        with walk.block():
            for child in node.named_children:
                run(walk, child)
    elif kind == "declaration":
        local(walk, node)
    elif kind == "return_statement":
        for child in node.named_children:
            value = expr(walk, child)
            if value is not None:
                walk.build.here.give(value)
    elif kind in _VALUES:
        value = expr(walk, node)
        if type(value) in (Call, Attr, AnyOf, Cast):
            walk.build.here.do(value)  # type: ignore[arg-type]
    else:
        for child in node.named_children:
            run(walk, child)
    walk.depth -= 1


def local(walk: Walk, node: Node) -> None:
    """A declaration in a function: variables; a prototype declares none."""
    of = type_of(walk, node.child_by_field_name("type"))
    for item in node.children_by_field_name("declarator"):
        found = declared(item)
        if found is None:
            run(walk, item)
        elif found.parameters is not None and not found.pointer:
            walk.mark(f"{walk.text(found.name)};")
        else:
            variable(walk, item, found, of)


_SKIPPED = frozenset(
    {"comment", "identifier", "number_literal", "string_literal", "char_literal", "null", "true"}
    | {"break_statement", "continue_statement", "goto_statement", "statement_identifier", "false"}
    | {"type_descriptor", "preproc_directive", "concatenated_string", "type_definition"}
    | {"preproc_def", "preproc_function_def", "preproc_call", "preproc_include", "preproc_defined"}
)
_VALUES = frozenset(
    {"call_expression", "field_expression", "parenthesized_expression", "pointer_expression"}
    | {"subscript_expression", "cast_expression", "compound_literal_expression"}
    | {"assignment_expression", "conditional_expression"}
)
