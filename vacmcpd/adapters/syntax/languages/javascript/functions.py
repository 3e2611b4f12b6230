"""Functions of every form, and the objects whose members they are."""

from tree_sitter import Node

from ...building import Draft
from ...facts import Def, Expr, Flag, Map, Name, Param, ScopeKind, Seq, Spread, This, TypeParam
from .expressions import constant
from .patterns import parameters
from .walk import NONE, ThisSource, Walk, first, line_of

PLAIN = frozenset({"function_expression", "generator_function"})
FUNCTIONS = PLAIN | {"arrow_function"}


def lower(
    w: Walk,
    node: Node,
    kind: ScopeKind,
    name: str,
    line: int,
    *,
    this: ThisSource | None = None,
    arrow: bool = False,
    flags: int = 0,
) -> tuple[Draft, Def]:
    """A function's scope, with all that is in it."""
    with w.build.scope(kind, name, line, node.end_point[0] + 1) as (draft, reference):
        draft.flags = flags | marks(node)
        with w.function(draft, node, this, arrow=arrow):
            type_parameters(w, node, draft)
            parameters(w, node)
            returns = node.child_by_field_name("return_type")
            if returns is not None:
                draft.returns = w.type_of(returns)
            body = node.child_by_field_name("body")
            if body is None:
                draft.flags |= Flag.ABSTRACT
            elif body.type == "statement_block":
                w.tables.statements["statement_block"](w, body)
            else:
                draft.give(w.expr(body))
            if w.frame.arguments:
                all_arguments(draft, w.frame.arguments)
    return draft, reference


def all_arguments(draft: Draft, name: str) -> None:
    """Bind ``name`` to what the function is given: its parameters and what is beyond them."""
    given: list[Expr] = [
        Spread(Name(param.name)) if param.star else Name(param.name) for param in draft.params
    ]
    if not any(param.star for param in draft.params):
        draft.params.append(Param(f"{name}...", star=1))
        given.append(Spread(Name(f"{name}...")))
    draft.bind(name, Seq("Array", given))


def marks(node: Node) -> int:
    """Whether a function is ``async`` or a generator."""
    flags = 0
    for child in node.children:
        kind = child.type
        if kind == "async":
            flags |= Flag.ASYNC
        elif kind == "*" or kind == "generator_function":
            flags |= Flag.GENERATOR
        elif kind == "formal_parameters":
            break
    return flags


def type_parameters(w: Walk, node: Node, draft: Draft) -> None:
    """``<T extends B>``."""
    listed = node.child_by_field_name("type_parameters")
    if listed is None:
        return
    for child in listed.named_children:
        name = child.child_by_field_name("name")
        if child.type == "type_parameter" and name is not None:
            constraint = child.child_by_field_name("constraint")
            bound = w.type_of(first(constraint)) if constraint is not None else None
            draft.type_params.append(TypeParam(w.text(name), bound))


def declaration(w: Walk, node: Node) -> str:
    """``function f() {}``; gives the name that it is bound to."""
    name = node.child_by_field_name("name")
    if name is None:
        w.run_all(node.named_children)
        return ""
    bound = w.name(name)
    draft, reference = lower(w, node, ScopeKind.FUNCTION, w.text(name), line_of(name))
    w.constructors.setdefault((id(w.frame), bound), draft)
    w.build.here.bind(bound, reference)
    return bound


def arrow(w: Walk, node: Node, hint: str) -> Expr:
    """``(a) => b``: ``this`` is that of what is around it."""
    here = w.build.here
    if not hint or here.kind is ScopeKind.CLASS:
        name = hint or here.anonymous()
        this = w.frame.this if here.kind is not ScopeKind.CLASS else None
        kind = ScopeKind.LAMBDA
    else:
        name, this, kind = hint, surrounding(w), ScopeKind.FUNCTION
    w.last, made = lower(w, node, kind, name, line_of(node), this=this, arrow=True)
    return made


def surrounding(w: Walk) -> ThisSource:
    """The ``this`` of the function that is being walked, for a named function inside."""
    frame = w.frame
    if frame.this is not None:
        return frame.this
    if frame.around is None:
        frame.around = ThisSource(frame.draft, This())
    return frame.around


def expression(w: Walk, node: Node, hint: str) -> Expr:
    """``function () {}`` as a value."""
    lexical, w.lexical = w.lexical, False
    return function_value(w, node, hint, surrounding(w) if lexical else None)


def function_value(w: Walk, node: Node, hint: str, this: ThisSource | None) -> Def:
    """A function expression with a given ``this``; its own name is known inside of it alone."""
    own = node.child_by_field_name("name")
    here = w.build.here
    if own is None:
        name = hint or here.anonymous()
        draft, made = lower(w, node, ScopeKind.FUNCTION, name, line_of(node), this=this)
    else:
        written = w.text(own)
        inner = w.frame.fresh(written)
        renames = w.renames
        w.renames = {**renames, written: inner}
        w.frame.declared[inner] = w.block
        draft, made = lower(w, node, ScopeKind.FUNCTION, written, line_of(own), this=this)
        w.renames = renames
        here.bind(inner, made)
    w.last = draft
    return made


# Objects


def literal(w: Walk, node: Node, hint: str) -> Expr:
    """``{a: b, c() {}, ...d}``."""
    return object_value(w, node, hint, None)


def object_value(w: Walk, node: Node, hint: str, this: ThisSource | None) -> Expr:
    """An object whose functions have ``this``, the object itself when that is None."""
    here = w.build.here
    own = this or ThisSource(here)
    keys: list[str | int | None] = []
    values: list[Expr] = []
    for child in node.named_children:
        kind = child.type
        if kind == "pair":
            key = property_key(w, child.child_by_field_name("key"))
            keys.append(key)
            values.append(_member(w, child.child_by_field_name("value"), hint, key, own))
        elif kind == "method_definition":
            found = object_method(w, child, hint, own)
            if found is not None:
                keys.append(found[0])
                values.append(found[1])
        elif kind == "shorthand_property_identifier":
            keys.append(w.text(child))
            values.append(w.expr(child))
        elif kind == "spread_element":
            keys.append(None)
            values.append(Spread(w.expr(first(child))))
    made = Map(keys, values)
    if this is None and own.name:
        here.bind(own.name, made)
        return Name(own.name)
    return made


def _member(w: Walk, node: Node | None, hint: str, key: str | int | None, this: ThisSource) -> Expr:
    if node is None:
        return NONE
    name = dotted(hint, key)
    if node.type in PLAIN:
        return function_value(w, node, name, this)
    return w.expr(node, name)


def dotted(hint: str, key: str | int | None) -> str:
    """``object.key``; "" for a key that is not known."""
    if key is None:
        return ""
    return f"{hint}.{key}" if hint else str(key)


def object_method(
    w: Walk, node: Node, hint: str, this: ThisSource
) -> tuple[str | int | None, Expr] | None:
    """``m() {}`` of an object; None for a setter, which is no value that can be read."""
    key = property_key(w, node.child_by_field_name("name"))
    name = dotted(hint, key) or w.build.here.anonymous()
    kinds = {child.type for child in node.children if not child.is_named}
    kind = ScopeKind.PROPERTY if "get" in kinds else ScopeKind.FUNCTION
    flags = Flag.SETTER if "set" in kinds else 0
    line = line_of(node.child_by_field_name("name") or node)
    made = lower(w, node, kind, name, line, this=this, flags=flags)[1]
    return None if flags else (key, made)


def property_key(w: Walk, node: Node | None) -> str | int | None:
    """The name of a property; None when it is computed from what is not known."""
    if node is None:
        return None
    kind = node.type
    if kind in ("property_identifier", "private_property_identifier"):
        return w.text(node)
    if kind == "computed_property_name":
        node = first(node)
    return constant(w, node)
