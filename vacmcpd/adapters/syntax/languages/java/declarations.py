"""Java declarations: packages, imports, classes and their members."""

from collections.abc import Callable

from tree_sitter import Node

from ...building import Draft
from ...facts import Attr, Flag, Import, Name, Param, ScopeKind, Super, This
from ...linking.sites import IMPLICIT
from . import statements
from .expressions import arguments, expr, run
from .types import type_of, type_params
from .walk import CONSTRUCTOR, Walk, line_of, lines_of

_CLASSES = {
    "class_declaration": ScopeKind.CLASS,
    "record_declaration": ScopeKind.CLASS,
    "enum_declaration": ScopeKind.CLASS,
    "interface_declaration": ScopeKind.INTERFACE,
    "annotation_type_declaration": ScopeKind.INTERFACE,
}
_FLAGS = {
    "static": Flag.STATIC,
    "abstract": Flag.ABSTRACT,
    "final": Flag.FINAL,
    "private": Flag.PRIVATE,
}


def compilation_unit(walk: Walk, root: Node) -> None:
    """A file."""
    walk.members = members
    walk.declare_class = declare
    for node in root.named_children:
        if node.type == "package_declaration":
            parts = [child for child in node.named_children if "identifier" in child.type]
            walk.build.namespace = walk.text(parts[-1]).replace(" ", "") if parts else ""
        elif node.type == "import_declaration":
            _import(walk, node)
        elif node.type in _CLASSES:
            declare(walk, node)
        elif node.type in _MEMBERS:
            # A file without a class around, as newer versions have it, and broken ones.
            member(walk, node)


def _import(walk: Walk, node: Node) -> None:
    path = next((child for child in node.named_children if "identifier" in child.type), None)
    if path is None:
        return
    name = "".join(walk.text(path).split())
    static = any(child.type == "static" for child in node.children)
    here = walk.build.here
    if any(child.type == "asterisk" for child in node.named_children):
        here.bind("*", Import(name, "**" if static else "*"))
    elif static:
        owner, _, member_name = name.rpartition(".")
        here.bind(member_name, Import(owner, member_name))
        here.bind(f"{member_name}()", Import(owner, f"{member_name}()"))
    else:
        here.bind(name.rpartition(".")[2], Import(name))


def flags_of(node: Node) -> int:
    """The modifiers of a declaration."""
    found = Flag.NONE
    for child in node.named_children:
        if child.type == "modifiers":
            for modifier in child.children:
                found |= _FLAGS.get(modifier.type, Flag.NONE)
    return found


def _annotations(walk: Walk, node: Node) -> None:
    """The calls in the arguments of annotations."""
    for child in node.named_children:
        if child.type == "modifiers":
            for annotation in child.named_children:
                run(walk, annotation)


def declare(walk: Walk, node: Node) -> None:
    """A class, interface, enum or record."""
    named = node.child_by_field_name("name")
    if named is None:
        return
    build, name = walk.build, walk.text(named)
    _annotations(walk, node)
    with build.scope(_CLASSES[node.type], name, *lines_of(node)) as (draft, reference):
        draft.flags = flags_of(node)
        draft.type_params = type_params(walk, node)
        _bases(walk, node, draft)
        with walk.body():
            if node.type == "record_declaration":
                _record(walk, node, draft)
            body = node.child_by_field_name("body")
            if body is not None:
                members(walk, body)
    build.here.bind(name, reference)


def _bases(walk: Walk, node: Node, draft: Draft) -> None:
    for child in node.named_children:
        if child.type == "superclass" and child.named_child_count:
            found = type_of(walk, child.named_children[-1])
            if found is not None:
                draft.bases.append(found)
        elif child.type in ("super_interfaces", "extends_interfaces"):
            for listed in child.named_children:
                found_all = (type_of(walk, item) for item in listed.named_children)
                draft.bases.extend(item for item in found_all if item is not None)


def _record(walk: Walk, node: Node, draft: Draft) -> None:
    """The components of a record: fields, accessors, the constructor."""
    del draft
    listed = node.child_by_field_name("parameters")
    build = walk.build
    body = node.child_by_field_name("body")
    written = {
        walk.text(child.child_by_field_name("name") or child)
        for child in (body.named_children if body is not None else [])
        if child.type == "method_declaration"
    }
    for child in listed.named_children if listed is not None else []:
        named = child.child_by_field_name("name")
        declared = type_of(walk, child.child_by_field_name("type"))
        if named is None:
            continue
        name = walk.text(named)
        build.here.bind(name, None, declared)
        if name in written:
            continue
        with build.scope(ScopeKind.METHOD, name, *lines_of(child)) as (made, reference):
            made.returns = declared
        build.here.bind(f"{name}()", reference)


def members(walk: Walk, body: Node) -> None:
    """The body of a class."""
    for child in body.named_children:
        if child.type == "enum_body_declarations":
            members(walk, child)
        else:
            member(walk, child)


def member(walk: Walk, node: Node) -> None:
    """One member."""
    handler = _MEMBERS.get(node.type)
    if handler is not None:
        handler(walk, node)
    elif node.type in _CLASSES:
        declare(walk, node)


def _field(walk: Walk, node: Node) -> None:
    declared = type_of(walk, node.child_by_field_name("type"))
    _annotations(walk, node)
    flags = flags_of(node)
    for child in node.children_by_field_name("declarator"):
        named, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        given = expr(walk, value) if value is not None else None
        if named is not None:
            walk.build.here.bind(walk.text(named), given, declared, flags)


def _parameters(walk: Walk, node: Node | None, draft: Draft) -> None:
    texts = []
    for child in node.named_children if node is not None else []:
        if child.type == "formal_parameter":
            named, kind = child.child_by_field_name("name"), child.child_by_field_name("type")
            if named is not None:
                declared = type_of(walk, kind)
                draft.params.append(Param(walk.fresh(walk.text(named)), declared))
                texts.append(walk.text(kind) if kind is not None else "")
        elif child.type == "spread_parameter":
            names = [part for part in child.named_children if part.type == "variable_declarator"]
            other = ("modifiers", "variable_declarator")
            kinds = [part for part in child.named_children if part.type not in other]
            if names:
                declared = type_of(walk, kinds[0]) if kinds else None
                draft.params.append(Param(walk.fresh(walk.text(names[0])), declared, star=1))
                texts.append(walk.text(kinds[0]) + "..." if kinds else "...")
    draft.signature = f"({', '.join(texts)})"


def _method(walk: Walk, node: Node) -> None:
    named = node.child_by_field_name("name")
    if named is None:
        return
    build, name = walk.build, walk.text(named)
    _annotations(walk, node)
    body = node.child_by_field_name("body")
    flags = flags_of(node)
    if body is None:
        flags |= Flag.ABSTRACT
    with build.scope(ScopeKind.METHOD, name, *lines_of(node)) as (draft, reference), walk.body():
        draft.flags = flags
        draft.type_params = type_params(walk, node)
        _parameters(walk, node.child_by_field_name("parameters"), draft)
        draft.returns = type_of(walk, node.child_by_field_name("type"))
        if body is not None:
            statements.block(walk, body)
    build.here.bind(f"{name}()", reference, flags=flags)


def _constructor(walk: Walk, node: Node) -> None:
    build = walk.build
    _annotations(walk, node)
    body = node.child_by_field_name("body")
    with (
        build.scope(ScopeKind.CONSTRUCTOR, CONSTRUCTOR, *lines_of(node)) as (draft, reference),
        walk.body(),
    ):
        _parameters(walk, node.child_by_field_name("parameters"), draft)
        first = next(
            (
                child
                for child in (body.named_children if body is not None else [])
                if child.type == "explicit_constructor_invocation"
            ),
            None,
        )
        if first is not None:
            _explicit(walk, first)
        elif node.type == "constructor_declaration":
            line = line_of(node)
            above = Attr(Super(), CONSTRUCTOR)
            build.here.do(build.call(above, names=[IMPLICIT], line=line))
        if body is not None:
            with walk.block():
                for child in body.named_children:
                    if child != first:
                        statements.statement(walk, child)
    build.here.bind(CONSTRUCTOR, reference)


def _explicit(walk: Walk, node: Node) -> None:
    """Lower ``this(...)`` and ``super(...)``."""
    which = node.child_by_field_name("constructor")
    args = arguments(walk, node.child_by_field_name("arguments"))
    above = which is not None and which.type == "super"
    of = Attr(Super() if above else This(), CONSTRUCTOR)
    walk.build.here.do(walk.build.call(of, args, line=line_of(which or node)))


def _initializer(walk: Walk, node: Node) -> None:
    static = node.type == "static_initializer"
    name = "<clinit>" if static else "<instance>"
    build = walk.build
    with build.scope(ScopeKind.INITIALIZER, name, *lines_of(node)) as (draft, _), walk.body():
        draft.flags = Flag.STATIC if static else Flag.NONE
        if static:
            for child in node.named_children:
                statements.statement(walk, child)
        else:
            statements.block(walk, node)


def _constant(walk: Walk, node: Node) -> None:
    """A constant of an enum, which may have a body."""
    named = node.child_by_field_name("name")
    if named is None:
        return
    build = walk.build
    args = arguments(walk, node.child_by_field_name("arguments"))
    owner = build.here.name
    body = node.child_by_field_name("body")
    of = Name(owner)
    if body is None:
        made = build.call(of, args, line=line_of(named), new=True)
    else:
        with build.scope(ScopeKind.CLASS, walk.text(named), *lines_of(node)) as (draft, reference):
            draft.bases.append(of)
            with walk.body():
                members(walk, body)
        made = build.call(reference, args, line=line_of(named), new=True)
    build.here.bind(walk.text(named), made, of, Flag.STATIC | Flag.FINAL)


_MEMBERS: dict[str, Callable[[Walk, Node], None]] = {
    "field_declaration": _field,
    "constant_declaration": _field,
    "method_declaration": _method,
    "constructor_declaration": _constructor,
    "compact_constructor_declaration": _constructor,
    "static_initializer": _initializer,
    "block": _initializer,
    "enum_constant": _constant,
}
