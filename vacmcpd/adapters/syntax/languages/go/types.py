"""Type expressions of Go: pointers are what they point to, containers what they hold."""

from tree_sitter import Node

from ...building import Draft
from ...facts import (
    Attr,
    Bind,
    Expr,
    Flag,
    Function,
    Generic,
    Import,
    Lit,
    Name,
    Param,
    ScopeKind,
    Seq,
    TypeParam,
)
from .walk import DEEPEST, Walk, end_of, line_of, named

OWN_PACKAGE = "<package>"
"""The module of an import that means the file's own package."""

_LISTS = frozenset({"slice_type", "array_type", "implicit_length_array_type", "channel_type"})
_WRAPPED = frozenset(
    {"pointer_type", "parenthesized_type", "type_elem", "type_constraint", "negated_type"}
)
_MAY_CALL = ("Func", "Fn", "Option", "Opt", "Handler", "Callback", "Hook")


def type_of(walk: Walk, node: Node) -> Expr:
    """The type that ``node`` writes."""
    kind = node.type
    if kind in ("type_identifier", "identifier"):
        return type_named(walk, walk.text(node))
    if kind in ("qualified_type", "selector_expression"):
        parts = named(node)
        if len(parts) == 2:
            return Attr(_package(walk, walk.text(parts[0])), walk.text(parts[1]))
    if walk.depth > DEEPEST:
        return Lit("any")
    walk.depth += 1
    found = _nested(walk, node, kind)
    walk.depth -= 1
    return found


def _package(walk: Walk, name: str) -> Expr:
    if walk.hidden and name in walk.hidden[-1] and name in walk.imports:
        return walk.imports[name]
    return walk.find(name)


def type_named(walk: Walk, name: str) -> Expr:
    """A type by its bare name; a field of the same name is not meant."""
    if walk.hidden and name in walk.hidden[-1]:
        return Attr(Import(OWN_PACKAGE), name)
    return walk.find(name)


def _nested(walk: Walk, node: Node, kind: str) -> Expr:
    parts = named(node)
    if kind in _WRAPPED or kind == "unary_expression":
        return type_of(walk, parts[-1]) if len(parts) == 1 else Lit("any")
    if kind in _LISTS:
        return Seq("list", [type_of(walk, parts[-1])]) if parts else Lit("any")
    if kind == "map_type" and len(parts) == 2:
        # What a map holds, then its keys: an index is part 0 of any container.
        return Seq("tuple", [type_of(walk, parts[1]), type_of(walk, parts[0])])
    if kind == "generic_type" and len(parts) == 2:
        args = [type_of(walk, part) for part in named(parts[1])]
        return Generic(type_of(walk, parts[0]), args)
    if kind == "function_type":
        result = node.child_by_field_name("result")
        return Function(result_of(walk, result) if result is not None else None)
    if kind in ("struct_type", "interface_type"):
        return _inline(walk, node, kind)
    return Lit("any")


def _inline(walk: Walk, node: Node, kind: str) -> Expr:
    if not any(child.is_named for child in node.children):
        return Lit("any")
    walk.anonymous += 1
    is_struct = kind == "struct_type"
    scope = ScopeKind.CLASS if is_struct else ScopeKind.INTERFACE
    name = f"<{'struct' if is_struct else 'interface'}{walk.anonymous}>"
    here = walk.build.here
    with walk.build.scope(scope, name, line_of(node), end_of(node)) as (draft, reference):
        fill_type(walk, draft, node)
    here.bind(name, reference)
    return Name(name)


def result_of(walk: Walk, node: Node) -> Expr:
    """What a function gives back by its signature; a tuple for several."""
    if node.type != "parameter_list":
        return type_of(walk, node)
    found: list[Expr] = []
    for part in named(node):
        kind = part.child_by_field_name("type")
        if kind is not None:
            made = type_of(walk, kind)
            names = part.children_by_field_name("name")
            found.extend([made] * max(1, len(names)))
    return found[0] if len(found) == 1 else Seq("tuple", found)


def type_params(walk: Walk, node: Node | None) -> list[TypeParam]:
    """Type parameters and what constrains them."""
    found: list[TypeParam] = []
    for part in named(node) if node is not None else ():
        kind = part.child_by_field_name("type")
        for name in part.children_by_field_name("name"):
            text = walk.text(name)
            if walk.blocks:
                walk.blocks[-1][text] = Name(text)
            found.append(TypeParam(text, type_of(walk, kind) if kind is not None else None))
    return found


def params(walk: Walk, draft: Draft, node: Node | None, *, plain: bool) -> None:
    """Parameters; one that takes no function gets its value from its type alone.

    It stands in the body then, so what calls pass need not be followed into it. ``plain`` leaves
    out their names, for functions without a body.
    """
    parts = named(node) if node is not None else []
    # A parameter may be called like a package that the type of a later one is from.
    kinds = [part.child_by_field_name("type") for part in parts]
    types = [type_of(walk, kind) if kind is not None else None for kind in kinds]
    for part, made in zip(parts, types, strict=True):
        if made is None:
            continue
        star = part.type == "variadic_parameter_declaration"
        names: list[Node | None] = [*part.children_by_field_name("name")]
        for name in names or [None]:
            _param(walk, draft, walk.text(name) if name and not plain else "_", made, star=star)


def _param(walk: Walk, draft: Draft, text: str, made: Expr, *, star: bool) -> None:
    if text == "_":
        draft.params.append(Param(f"_{len(draft.params)}", star=int(star)))
        return
    given = walk.declare(text)
    if may_call(made):
        draft.params.append(Param(given, made, star=int(star)))
        return
    draft.params.append(Param(f"_{len(draft.params)}", made, star=int(star)))
    draft.body.append(Bind(given, None, Seq("list", [made]) if star else made))


def may_call(kind: Expr) -> bool:
    """Whether a value of a type may be a function: by its form, or by what it is called."""
    while type(kind) is Seq and kind.items:
        kind = kind.items[0]
    if type(kind) is Generic:
        kind = kind.of
    if type(kind) is Name:
        return kind.id.endswith(_MAY_CALL)
    if type(kind) is Attr:
        return kind.name.endswith(_MAY_CALL)
    return type(kind) is Function


def fill_type(walk: Walk, draft: Draft, node: Node) -> None:
    """What the type ``node`` says of the type that ``draft`` declares."""
    kind = node.type
    if kind == "struct_type":
        lists = [part for part in named(node) if part.type == "field_declaration_list"]
        fields = [part for each in lists for part in named(each)]
        _struct(walk, draft, [part for part in fields if part.type == "field_declaration"])
    elif kind == "interface_type":
        for part in named(node):
            if part.type == "method_elem":
                _method(walk, draft, part)
            elif part.type == "type_elem" and len(named(part)) == 1:
                draft.bases.append(type_of(walk, part))
    else:
        made = type_of(walk, node)
        if type(made) is Function:
            opened = walk.build.scope(ScopeKind.LAMBDA, "<call>", line_of(node), end_of(node))
            with opened as (inner, reference):
                # What is converted to the type is passed to this parameter.
                inner.params.append(Param("function"))
                inner.returns = made.returns if made.returns is not None else Lit("void")
            draft.bind("()", reference)
        elif type(made) is Seq:
            _element(walk, draft, node, made)
        elif type(made) is not Lit:
            draft.bases.append(made)


def _element(walk: Walk, draft: Draft, node: Node, made: Seq) -> None:
    with walk.build.scope(ScopeKind.LAMBDA, "<element>", line_of(node), end_of(node)) as (
        inner,
        reference,
    ):
        inner.returns = made.items[0] if made.items else None
    draft.bind("[]", reference)


def _struct(walk: Walk, draft: Draft, fields: list[Node]) -> None:
    names: set[str] = set()
    for part in fields:
        given = part.children_by_field_name("name")
        names.update(walk.text(name) for name in given)
        if not given:
            names.add(_embedded_name(walk, part))
    walk.hidden.append(names)
    for part in fields:
        kind = part.child_by_field_name("type")
        if kind is None:
            continue
        made = type_of(walk, kind)
        given = part.children_by_field_name("name")
        for name in given:
            if type(made) is Function:
                draft.bind(walk.text(name), made)
            else:
                draft.bind(walk.text(name), None, made)
        if not given:
            walk.hidden.append(set())
            draft.bases.append(type_of(walk, kind))
            walk.hidden.pop()
            draft.bind(_embedded_name(walk, part), None, made)
    walk.hidden.pop()


def _embedded_name(walk: Walk, part: Node) -> str:
    kind = part.child_by_field_name("type")
    while kind is not None and kind.type == "generic_type":
        kind = kind.child_by_field_name("type")
    return walk.text(kind).rpartition(".")[2].strip("*() ") if kind is not None else ""


def _method(walk: Walk, draft: Draft, node: Node) -> None:
    name = node.child_by_field_name("name")
    if name is None:
        return
    text = walk.text(name)
    scope = walk.build.scope(ScopeKind.METHOD, text, line_of(name), end_of(node))
    with scope as (made, reference):
        made.flags = Flag.ABSTRACT
        params(walk, made, node.child_by_field_name("parameters"), plain=True)
        result = node.child_by_field_name("result")
        made.returns = result_of(walk, result) if result is not None else Lit("void")
    draft.bind(text, reference)
