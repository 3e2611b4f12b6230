"""Java expressions."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import (
    AnyOf,
    Attr,
    Cast,
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
from .types import path_of, type_of
from .walk import DEEPEST, Walk, line_of, lines_of

NOTHING = Lit("null")

EACH = frozenset(
    {
        "forEach",
        "map",
        "filter",
        "flatMap",
        "anyMatch",
        "allMatch",
        "noneMatch",
        "peek",
        "ifPresent",
    }
    | {"removeIf", "computeIfAbsent", "sorted", "mapToInt", "mapToLong", "mapToObj", "takeWhile"}
    | {
        "dropWhile",
        "forEachOrdered",
        "ifPresentOrElse",
        "orElseGet",
        "reduce",
        "replaceAll",
        "sort",
    }
)
"""Methods of the standard library that call their argument with the items of what they are of."""


def expr(walk: Walk, node: Node | None) -> Expr:
    """The value of an expression."""
    if node is None:
        return NOTHING
    handler = EXPRESSIONS.get(node.type)
    if handler is None:
        return _parts(walk, node)
    if walk.depth > DEEPEST:
        return Lit("deep")
    walk.depth += 1
    made = handler(walk, node)
    walk.depth -= 1
    return made


def run(walk: Walk, node: Node | None) -> None:
    """An expression whose value nobody takes."""
    made = expr(walk, node)
    if type(made) is not Lit and type(made) is not Name:
        walk.build.here.do(made)


def _parts(walk: Walk, node: Node) -> Expr:
    if walk.depth <= DEEPEST:
        walk.depth += 1
        for child in node.named_children:
            run(walk, child)
        walk.depth -= 1
    return NOTHING


def _name(walk: Walk, node: Node) -> Expr:
    return walk.name(node)


def _field(walk: Walk, node: Node) -> Expr:
    """``a.b``: a field, or a qualified name of a class."""
    of, named = node.child_by_field_name("object"), node.child_by_field_name("field")
    if of is None or named is None:
        return NOTHING
    if named.type == "this":
        return _outer(walk, of)
    parts = _dotted(walk, node)
    if parts is not None and parts[0] not in walk.locals and _is_qualified(parts):
        return path_of(parts)
    return Attr(expr(walk, of), walk.text(named))


def _is_qualified(parts: list[str]) -> bool:
    """Whether a name starts with a package."""
    return not parts[0][:1].isupper() and any(part[:1].isupper() for part in parts)


def _outer(walk: Walk, node: Node) -> Expr:
    """``Outer.this``."""
    return Cast(type_of(walk, node) or path_of(_dotted(walk, node) or []))


def _dotted(walk: Walk, node: Node) -> list[str] | None:
    """The identifiers of ``a.b.c``; None for anything else."""
    found: list[str] = []
    while node.type == "field_access":
        of, named = node.child_by_field_name("object"), node.child_by_field_name("field")
        if of is None or named is None or named.type != "identifier":
            return None
        found.append(walk.text(named))
        node = of
    if node.type not in ("identifier", "type_identifier"):
        return None
    return [walk.text(node), *reversed(found)]


def arguments(walk: Walk, node: Node | None) -> list[Expr]:
    """The values of an argument list."""
    nodes = node.named_children if node is not None else []
    return [expr(walk, child) for child in nodes if not child.type.endswith("comment")]


def _call(walk: Walk, node: Node) -> Expr:
    named, of = node.child_by_field_name("name"), node.child_by_field_name("object")
    listed = node.child_by_field_name("arguments")
    if named is None:
        return _parts(walk, node)
    name = walk.text(named)
    if any(child.type == "super" for child in node.children):
        args = arguments(walk, listed)
        return walk.build.call(Attr(Super(), f"{name}()"), args, line=line_of(named))
    if of is None:
        return walk.build.call(Name(f"{name}()"), arguments(walk, listed), line=line_of(named))
    receiver = expr(walk, of)
    given = listed.named_children if listed is not None else []
    lambdas = [child for child in given if child.type in ("lambda_expression", "method_reference")]
    if name in EACH and lambdas and type(receiver) not in (Name, This):
        receiver = Name(walk.build.here.temporary(receiver))
    args = []
    for child in given:
        if name in EACH and child.type == "lambda_expression":
            args.append(_lambda(walk, child, Elem(receiver)))
        elif name in EACH and child.type == "method_reference":
            args.append(_reference(walk, child, Elem(receiver)))
        elif not child.type.endswith("comment"):
            args.append(expr(walk, child))
    return walk.build.call(Attr(receiver, f"{name}()"), args, line=line_of(named))


def _new(walk: Walk, node: Node) -> Expr:
    of = node.child_by_field_name("type")
    args = arguments(walk, node.child_by_field_name("arguments"))
    made = type_of(walk, of) or Lit("unknown")
    line = line_of(of) if of is not None else line_of(node)
    body = next((child for child in node.named_children if child.type == "class_body"), None)
    around = node.named_children[0] if node.named_child_count else None
    if around is not None and of is not None and _is_before(around, of):
        made = Attr(expr(walk, around), walk.text(of))
    if body is None:
        return walk.build.call(made, args, line=line, new=True)
    walk.anonymous += 1
    build = walk.build
    name = f"<anonymous{walk.anonymous}>"
    with build.scope(ScopeKind.CLASS, name, *lines_of(node)) as (draft, reference):
        draft.bases.append(made)
        walk.members(walk, body)
    return build.call(reference, args, line=line, new=True)


def _is_before(around: Node, of: Node) -> bool:
    """Whether ``outer.new Inner()`` names the instance around."""
    before = around.end_byte <= of.start_byte
    return before and around.type not in ("type_arguments", "annotation", "marker_annotation")


def _lambda(walk: Walk, node: Node, given: Expr | None = None) -> Expr:
    build = walk.build
    listed = node.child_by_field_name("parameters")
    body = node.child_by_field_name("body")
    name = build.here.anonymous()
    with (
        build.scope(ScopeKind.LAMBDA, name, *lines_of(node)) as (draft, reference),
        walk.body(inside=True),
        walk.block(),
    ):
        draft.params.extend(_lambda_params(walk, listed, given))
        if body is not None and body.type == "block":
            EXPRESSIONS["block"](walk, body)
        elif body is not None:
            draft.give(expr(walk, body))
    return reference


def _lambda_params(walk: Walk, node: Node | None, given: Expr | None) -> list[Param]:
    if node is None:
        return []
    if node.type == "identifier":
        return [Param(walk.fresh(walk.text(node)), None, given)]
    found = []
    for child in node.named_children:
        named = child.child_by_field_name("name") or child
        name = walk.text(named) or walk.text(child)
        if child.type == "identifier":
            found.append(Param(walk.fresh(name), None, given))
        elif child.type in ("formal_parameter", "spread_parameter"):
            declared = type_of(walk, child.child_by_field_name("type"))
            found.append(Param(walk.fresh(name), declared, given))
        given = None
    return found


def _reference(walk: Walk, node: Node, given: Expr | None = None) -> Expr:
    """``A::m`` as a lambda that calls it; ``given`` is what it is called with."""
    parts = node.named_children
    if not parts:
        return NOTHING
    of = parts[0]
    makes = bool(node.children) and node.children[-1].type == "new"
    name = "new" if makes or len(parts) < 2 else walk.text(parts[-1])
    value = type_of(walk, of) if "type" in of.type else expr(walk, of)
    if value is None:
        return NOTHING
    if type(value) not in (Name, This, Super) and "type" not in of.type:
        value = Name(walk.build.here.temporary(value))
    build = walk.build
    line = line_of(parts[-1])
    with build.scope(ScopeKind.LAMBDA, build.here.anonymous(), *lines_of(node)) as (draft, made):
        draft.params.append(Param("$given", None, given, star=0 if given is not None else 1))
        args: list[Expr] = [Name("$given")] if given is not None else [Spread(Name("$given"))]
        if makes:
            draft.give(build.call(value, args, line=line, new=True))
        else:
            draft.give(build.call(Attr(value, f"{name}()"), args, line=line))
    return made


def _reference_value(walk: Walk, node: Node) -> Expr:
    return _reference(walk, node)


def _this(walk: Walk, node: Node) -> Expr:
    del walk, node
    return This()


def _super(walk: Walk, node: Node) -> Expr:
    del walk, node
    return Super()


def _cast(walk: Walk, node: Node) -> Expr:
    value = expr(walk, node.child_by_field_name("value"))
    to = type_of(walk, node.child_by_field_name("type"))
    return Cast(to, value) if to is not None else value


def _first(walk: Walk, node: Node) -> Expr:
    children = [child for child in node.named_children if not child.type.endswith("comment")]
    return expr(walk, children[0]) if children else NOTHING


def _ternary(walk: Walk, node: Node) -> Expr:
    run(walk, node.child_by_field_name("condition"))
    values = [
        expr(walk, node.child_by_field_name("consequence")),
        expr(walk, node.child_by_field_name("alternative")),
    ]
    return either(values)


def either(values: list[Expr]) -> Expr:
    """One of several values."""
    known = [value for value in values if type(value) is not Lit]
    if not known:
        return values[0] if values else NOTHING
    return known[0] if len(known) == 1 else AnyOf(known)


def _assignment(walk: Walk, node: Node) -> Expr:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = expr(walk, right)
    here = walk.build.here
    if left is None:
        return NOTHING
    if left.type == "identifier":
        name = walk.text(left)
        if name in walk.locals:
            here.bind(walk.locals[name], value)
        else:
            here.store(This(), name, value)
        return walk.name(left)
    if left.type == "field_access":
        of, named = left.child_by_field_name("object"), left.child_by_field_name("field")
        here.store(expr(walk, of), walk.text(named) if named is not None else None, value)
    elif left.type == "array_access":
        here.store(expr(walk, left.child_by_field_name("array")), None, value, attr=False)
        run(walk, left.child_by_field_name("index"))
    else:
        here.do(value)
    return NOTHING


def _binary(walk: Walk, node: Node) -> Expr:
    left = expr(walk, node.child_by_field_name("left"))
    right = expr(walk, node.child_by_field_name("right"))
    sign = node.child_by_field_name("operator")
    text = walk.text(sign) if sign is not None else ""
    here = walk.build.here
    text_joined = text == "+" and any(value == Lit("String") for value in (left, right))
    for value in (left, right):
        if text_joined and type(value) is Name:
            line = line_of(node)
            here.do(walk.build.call(Attr(value, "toString()"), names=[IMPLICIT], line=line))
        else:
            here.do(value)
    if text in ("==", "!=", "<", ">", "<=", ">=", "&&", "||"):
        return Lit("boolean")
    if text_joined:
        return Lit("String")
    numbers = [value.kind for value in (left, right) if type(value) is Lit]
    return Lit("double" if "double" in numbers else "int") if numbers else NOTHING


def _instanceof(walk: Walk, node: Node) -> Expr:
    run(walk, node.child_by_field_name("left"))
    named = node.child_by_field_name("name")
    to = type_of(walk, node.child_by_field_name("right"))
    if named is not None:
        walk.build.here.bind(walk.fresh(walk.text(named)), None, to)
    pattern = node.child_by_field_name("pattern")
    if pattern is not None:
        bind_pattern(walk, pattern)
    return Lit("boolean")


def bind_pattern(walk: Walk, node: Node, depth: int = 0) -> None:
    """Declare the variables of a pattern."""
    if depth > 50:
        return
    if node.type in ("type_pattern", "record_pattern_component"):
        parts = node.named_children
        names = [part for part in parts if part.type == "identifier"]
        if names and len(parts) > 1:
            walk.build.here.bind(walk.fresh(walk.text(names[-1])), None, type_of(walk, parts[0]))
            return
    for child in node.named_children:
        bind_pattern(walk, child, depth + 1)


def _array_access(walk: Walk, node: Node) -> Expr:
    run(walk, node.child_by_field_name("index"))
    return Item(expr(walk, node.child_by_field_name("array")), None)


def _array_creation(walk: Walk, node: Node) -> Expr:
    value = node.child_by_field_name("value")
    if value is not None:
        return _initializer(walk, value)
    for child in node.named_children:
        if child.type == "dimensions_expr":
            _parts(walk, child)
    inner = type_of(walk, node.child_by_field_name("type"))
    return Cast(Seq("array", [inner] if inner is not None else []))


def _initializer(walk: Walk, node: Node) -> Expr:
    return Seq("array", arguments(walk, node))


def _class_literal(walk: Walk, node: Node) -> Expr:
    del walk, node
    return Cast(Name("Class"))


def _literal(walk: Walk, node: Node) -> Expr:
    del walk
    return Lit(_LITERALS.get(node.type, "null"))


_LITERALS = {
    "string_literal": "String",
    "text_block": "String",
    "character_literal": "char",
    "decimal_integer_literal": "int",
    "hex_integer_literal": "int",
    "octal_integer_literal": "int",
    "binary_integer_literal": "int",
    "decimal_floating_point_literal": "double",
    "hex_floating_point_literal": "double",
    "true": "boolean",
    "false": "boolean",
}

EXPRESSIONS: dict[str, Callable[[Walk, Node], Expr]] = {
    "identifier": _name,
    "type_identifier": _name,
    "field_access": _field,
    "method_invocation": _call,
    "object_creation_expression": _new,
    "lambda_expression": _lambda,
    "method_reference": _reference_value,
    "this": _this,
    "super": _super,
    "cast_expression": _cast,
    "parenthesized_expression": _first,
    "expression_statement": _first,
    "ternary_expression": _ternary,
    "assignment_expression": _assignment,
    "binary_expression": _binary,
    "instanceof_expression": _instanceof,
    "array_access": _array_access,
    "array_creation_expression": _array_creation,
    "array_initializer": _initializer,
    "class_literal": _class_literal,
    **dict.fromkeys([*_LITERALS, "null_literal"], _literal),
}
"""How each kind of expression is lowered; statements are added by their own module."""
