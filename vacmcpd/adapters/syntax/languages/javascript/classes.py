"""Classes, interfaces, enums and namespaces."""

from tree_sitter import Node

from ...building import Draft
from ...facts import (
    Attr,
    Bind,
    Call,
    Def,
    Expr,
    Flag,
    Function,
    Generic,
    Lit,
    Name,
    Param,
    ScopeKind,
)
from .functions import FUNCTIONS, lower, marks, property_key, type_parameters
from .walk import NONE, STATIC, Walk, first, is_plain, line_of

_FIELDS = frozenset({"field_definition", "public_field_definition"})
_SIGNATURES = frozenset({"method_signature", "abstract_method_signature"})


def declaration(w: Walk, node: Node) -> str:
    """``class C {}``; gives the name that it is bound to."""
    name = node.child_by_field_name("name")
    if name is None:
        w.run_all(node.named_children)
        return ""
    made = lower_class(w, node, w.text(name), line_of(name))
    w.build.here.bind(w.name(name), made)
    return w.name(name)


def expression(w: Walk, node: Node, hint: str) -> Expr:
    """A class as a value; its own name is known inside of it alone."""
    name = node.child_by_field_name("name")
    if name is None:
        return lower_class(w, node, hint or w.build.here.anonymous(), line_of(node))
    written = w.text(name)
    inner = w.frame.fresh(written)
    renames = w.renames
    w.renames = {**renames, written: inner}
    w.frame.declared[inner] = w.block
    made = lower_class(w, node, written, line_of(name))
    w.renames = renames
    w.build.here.bind(inner, made)
    return made


def lower_class(w: Walk, node: Node, name: str, line: int) -> Def:
    """The scope of a class."""
    decorators(w, node)
    bases = heritage(w, node)
    with w.build.scope(ScopeKind.CLASS, name, line, node.end_point[0] + 1) as (draft, made):
        draft.bases.extend(bases)
        if node.type == "abstract_class_declaration":
            draft.flags |= Flag.ABSTRACT
        type_parameters(w, node, draft)
        body = node.child_by_field_name("body")
        if body is not None:
            _members(w, body, draft)
    return made


def decorators(w: Walk, node: Node) -> None:
    """``@dec`` is a call of ``dec``, ``@dec()`` one of what that gives too."""
    for child in node.children:
        if child.type == "decorator":
            decorator(w, child)


def decorator(w: Walk, node: Node) -> None:
    """One decorator, where it stands."""
    of = first(node)
    value = w.expr(of)
    if of is not None and of.type != "call_expression":
        last = of.children[-1] if of.type == "member_expression" else of
        value = w.build.call(value, [NONE], line=line_of(last))
    w.build.here.do(value)


def heritage(w: Walk, node: Node) -> list[Expr]:
    """What a class extends and implements."""
    found: list[Expr] = []
    for child in node.children:
        if child.type != "class_heritage":
            continue
        for clause in child.named_children:
            if clause.type == "extends_clause":
                found.extend(_extended(w, clause))
            elif clause.type == "implements_clause":
                types = (w.type_of(each) for each in clause.named_children)
                found.extend(each for each in types if each is not None)
            else:
                found.extend(_mixed(w.expr(clause)))
    return found


def _mixed(base: Expr) -> list[Expr]:
    """``mixin(Base)`` derives from what it is given too."""
    found = [base]
    rest = [base]
    while rest:
        top = rest.pop()
        if type(top) is Call:
            named = [arg for arg in top.args if type(arg) in (Name, Attr)]
            found.extend(named)
            rest.extend(arg for arg in top.args if type(arg) is Call)
    return found


def _extended(w: Walk, clause: Node) -> list[Expr]:
    bases: list[Expr] = []
    for child in clause.named_children:
        if child.type == "type_arguments" and bases:
            given = [w.type_of(each) or NONE for each in child.named_children]
            bases[-1] = Generic(bases[-1], given)
        elif child.type != "comment":
            bases.extend(_mixed(w.expr(child)))
    return bases


def _members(w: Walk, body: Node, draft: Draft) -> None:
    children = body.named_children
    written = {
        w.source[name.start_byte : name.end_byte]
        for child in children
        if child.type == "method_definition"
        and (name := child.child_by_field_name("name")) is not None
    }
    for child in children:
        kind = child.type
        if kind == "method_definition":
            method(w, child, draft)
        elif kind in _FIELDS:
            field(w, child, draft)
        elif kind in _SIGNATURES:
            name = child.child_by_field_name("name")
            if name is not None and w.source[name.start_byte : name.end_byte] not in written:
                signature(w, child, draft)
        elif kind == "class_static_block":
            _static_block(w, child)
        elif kind == "decorator":
            decorator(w, child)


def method(w: Walk, node: Node, draft: Draft) -> None:
    """``m() {}``, ``get a() {}``, ``constructor() {}``."""
    decorators(w, node)
    name_node = node.child_by_field_name("name")
    key = property_key(w, name_node)
    name = draft.anonymous() if key is None else str(key)
    words = {child.type for child in node.children if child.type != "formal_parameters"}
    flags = _flags(words)
    kind = ScopeKind.METHOD
    if "get" in words:
        kind = ScopeKind.PROPERTY
    elif name == "constructor" and not flags & Flag.STATIC:
        kind = ScopeKind.CONSTRUCTOR
    fields, w.fields = w.fields, []
    made = lower(w, node, kind, name, line_of(name_node or node), flags=flags)[1]
    if "set" in words:
        draft.bind(f"set {name}", made, flags=flags)
    else:
        draft.bind(f"{STATIC}{name}" if flags & Flag.STATIC else name, made, flags=flags)
    for field_name, declared in w.fields:
        draft.bind(field_name, None, declared)
    w.fields = fields


def _flags(words: set[str]) -> int:
    flags = 0
    if "static" in words:
        flags |= Flag.STATIC
    if "set" in words:
        flags |= Flag.SETTER
    if "abstract" in words:
        flags |= Flag.ABSTRACT
    if "override_modifier" in words:
        flags |= Flag.OVERRIDE
    return flags


def field(w: Walk, node: Node, draft: Draft) -> None:
    """``a: T = b``; a function as its value is a method."""
    decorators(w, node)
    name_node = node.child_by_field_name("name") or node.child_by_field_name("property")
    key = property_key(w, name_node)
    value = node.child_by_field_name("value")
    declared = w.type_of(node.child_by_field_name("type"))
    static = any(child.type == "static" for child in node.children)
    flags = Flag.STATIC if static else Flag.NONE
    if key is None:
        w.run(value) if value is not None else None
        return
    name = str(key)
    member = f"{STATIC}{name}" if static else name
    if value is not None and value.type in FUNCTIONS:
        line = line_of(name_node or value)
        made = lower(w, value, ScopeKind.METHOD, name, line, flags=flags | marks(value))[1]
        draft.bind(member, made, None, flags)
        return
    found = w.expr(value, name) if value is not None else None
    draft.bind(member, None if is_plain(found) and declared else found, declared, flags)


def _static_block(w: Walk, node: Node) -> None:
    body = node.child_by_field_name("body")
    line, end = line_of(node), node.end_point[0] + 1
    with w.build.scope(ScopeKind.INITIALIZER, "<static>", line, end) as (draft, _):
        draft.flags |= Flag.STATIC
        with w.function(draft, node, None):
            if body is not None:
                w.tables.statements["statement_block"](w, body)


# TypeScript


def interface(w: Walk, node: Node) -> str:
    """``interface I extends J {}``; gives the name that it is bound to."""
    name = node.child_by_field_name("name")
    if name is None:
        return ""
    bases = [
        base
        for child in node.named_children
        if child.type in ("extends_type_clause", "extends_clause")
        for each in child.named_children
        if (base := w.type_of(each)) is not None
    ]
    made = members_type(w, node, node.child_by_field_name("body"), w.text(name), bases)
    w.build.here.bind(w.text(name), made, flags=Flag.PARTIAL)
    return w.text(name)


def members_type(w: Walk, node: Node, body: Node | None, name: str, bases: list[Expr]) -> Def:
    """The scope of an interface or of an object type."""
    line = line_of(node.child_by_field_name("name") or node)
    end = node.end_point[0] + 1
    with w.build.scope(ScopeKind.INTERFACE, name, line, end) as (draft, made):
        draft.bases.extend(bases)
        type_parameters(w, node, draft)
        for child in body.named_children if body is not None else ():
            if child.type == "method_signature":
                signature(w, child, draft)
            elif child.type == "property_signature":
                _property(w, child, draft)
            elif child.type == "call_signature":
                draft.bind("<call>", None, _returned(w, child))
    return made


def _property(w: Walk, node: Node, draft: Draft) -> None:
    key = property_key(w, node.child_by_field_name("name"))
    if key is not None:
        draft.bind(str(key), None, w.type_of(node.child_by_field_name("type")))


def _returned(w: Walk, node: Node) -> Expr:
    return Function(w.type_of(node.child_by_field_name("return_type")))


def signature(w: Walk, node: Node, draft: Draft) -> None:
    """A method that is declared without a body; of overloads, the first is the method."""
    name_node = node.child_by_field_name("name")
    key = property_key(w, name_node)
    if key is None or name_node is None:
        return
    name = str(key)
    if any(type(item) is Bind and item.name == name for item in draft.body):
        return
    words = {child.type for child in node.children}
    kind = ScopeKind.PROPERTY if "get" in words else ScopeKind.METHOD
    line, end = line_of(name_node), node.end_point[0] + 1
    with w.build.scope(kind, name, line, end) as (inner, made):
        inner.flags |= Flag.ABSTRACT | _flags(words)
        type_parameters(w, node, inner)
        declared_parameters(w, node, inner)
        inner.returns = w.type_of(node.child_by_field_name("return_type"))
    draft.bind(name, made, flags=_flags(words))


def declared_parameters(w: Walk, node: Node, draft: Draft) -> None:
    """The parameters of a signature: names and types."""
    listed = node.child_by_field_name("parameters")
    for child in listed.named_children if listed is not None else ():
        pattern = child.child_by_field_name("pattern")
        if pattern is None or pattern.type == "this":
            continue
        star = int(pattern.type == "rest_pattern")
        name = w.text(pattern) if pattern.type == "identifier" else f"${len(draft.params)}"
        draft.params.append(Param(name, w.type_of(child.child_by_field_name("type")), None, star))


def function_signature(w: Walk, node: Node) -> str:
    """``declare function f(): T;`` and overloads of a function."""
    name = node.child_by_field_name("name")
    if name is None:
        return ""
    written = w.text(name)
    here = w.build.here
    if any(type(item) is Bind and item.name == written for item in here.body):
        return written
    end = node.end_point[0] + 1
    with w.build.scope(ScopeKind.FUNCTION, written, line_of(name), end) as (draft, made):
        draft.flags |= Flag.ABSTRACT
        type_parameters(w, node, draft)
        declared_parameters(w, node, draft)
        draft.returns = w.type_of(node.child_by_field_name("return_type"))
    here.bind(written, made)
    return written


def enum(w: Walk, node: Node) -> str:
    """``enum E { A = f() }``: its members are no functions, but what they call is called."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    for child in body.named_children if body is not None else ():
        if child.type == "enum_assignment":
            value = child.child_by_field_name("value")
            if value is not None:
                w.run(value)
    if name is None:
        return ""
    w.build.here.bind(w.text(name), Lit("enum"))
    return w.text(name)


def alias(w: Walk, node: Node) -> str:
    """``type A = B``."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None:
        return ""
    written = w.text(name)
    if value.type == "object_type":
        made = members_type(w, node, value, written, [])
        w.build.here.bind(written, made, flags=Flag.PARTIAL)
    else:
        w.build.here.bind(written, w.type_of(value), flags=Flag.ALIAS)
    return written


def namespace(w: Walk, node: Node) -> str:
    """``namespace A.B {}``: an object whose members are what it exports."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or name.type == "string":
        return ""
    path = w.text(name).replace(" ", "").split(".")
    _namespace(w, node, body, path)
    return path[0]


def _namespace(w: Walk, node: Node, body: Node | None, path: list[str]) -> None:
    here = w.build.here
    line, end = line_of(node), node.end_point[0] + 1
    scope = w.build.scope(ScopeKind.NAMESPACE, path[0], line, end)
    with scope as (draft, made), w.function(draft, node, None):
        if len(path) > 1:
            _namespace(w, node, body, path[1:])
        elif body is not None:
            w.tables.statements["statement_block"](w, body)
    here.bind(path[0], made, flags=Flag.PARTIAL)
