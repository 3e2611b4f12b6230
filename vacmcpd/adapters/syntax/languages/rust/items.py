"""Rust items: functions, types, traits, impl blocks, modules, uses."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from ...facts import Attr, Expr, Flag, Import, Name, ScopeKind
from ...linking.members import IMPLEMENTS
from ...linking.units import type_name
from .expressions import block, expr, parameters
from .types import path_of, type_of, type_params
from .walk import Walk


def items(walk: Walk, nodes: list[Node]) -> None:
    """Items of a module or a block, with the attributes before them."""
    attributes: list[Node] = []
    for node in nodes:
        if node.type == "attribute_item":
            attributes.append(node)
            continue
        handler = _ITEMS.get(node.type)
        if handler is not None:
            handler(walk, node, attributes)
        elif node.type == "macro_invocation":
            walk.build.here.do(expr(walk, node))
        if not node.type.endswith("comment"):
            attributes = []


def _lines(node: Node) -> tuple[int, int]:
    return node.start_point.row + 1, node.end_point.row + 1


def _name(walk: Walk, node: Node) -> str:
    name = node.child_by_field_name("name")
    return walk.text(name) if name is not None else ""


def _function(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    _define(walk, node, ScopeKind.FUNCTION, None)
    name = _name(walk, node)
    walk.locals = {old: new for old, new in walk.locals.items() if old != name}


def _define(walk: Walk, node: Node, kind: ScopeKind, receiver: Expr | None) -> None:
    build = walk.build
    listed = node.child_by_field_name("parameters")
    given = listed.named_children if listed is not None else []
    takes_self = any(child.type == "self_parameter" for child in given)
    name = _name(walk, node)
    flags = Flag.NONE if takes_self or kind is ScopeKind.FUNCTION else Flag.STATIC
    body = node.child_by_field_name("body")
    if body is None:
        flags |= Flag.ABSTRACT
    outer = walk.type_params
    with build.scope(kind, name, *_lines(node)) as (draft, reference), walk.function():
        draft.receiver = receiver
        draft.flags = flags
        draft.type_params = [*outer, *type_params(walk, node)]
        walk.type_params = draft.type_params
        parameters(walk, given)
        draft.returns = type_of(walk, node.child_by_field_name("return_type"))
        if body is not None:
            draft.give(block(walk, body))
    walk.type_params = outer
    if receiver is None:
        build.here.bind(name, reference, flags=flags)


def _fields(walk: Walk, body: Node | None) -> None:
    here = walk.build.here
    if body is None:
        return
    if body.type == "ordered_field_declaration_list":
        types = body.children_by_field_name("type")
        for index, child in enumerate(types):
            here.bind(str(index), None, type_of(walk, child))
    for child in body.named_children:
        if child.type == "field_declaration":
            here.bind(_name(walk, child), None, type_of(walk, child.child_by_field_name("type")))


def _derived(walk: Walk, attributes: list[Node]) -> Iterator[Expr]:
    for item in attributes:
        for child in item.named_children:
            if not child.named_child_count or walk.text(child.named_children[0]) != "derive":
                continue
            tokens = child.named_children[-1]
            if tokens.type == "token_tree":
                for token in tokens.named_children:
                    if token.type == "identifier":
                        yield Name(walk.text(token))


def _struct(walk: Walk, node: Node, attributes: list[Node]) -> None:
    build, name = walk.build, _name(walk, node)
    outer = walk.type_params
    with build.scope(ScopeKind.CLASS, name, *_lines(node)) as (draft, reference):
        draft.type_params = walk.type_params = type_params(walk, node)
        draft.bases = list(_derived(walk, attributes))
        _fields(walk, node.child_by_field_name("body"))
    walk.type_params = outer
    build.here.bind(name, reference)


def _enum(walk: Walk, node: Node, attributes: list[Node]) -> None:
    build, name = walk.build, _name(walk, node)
    outer = walk.type_params
    body = node.child_by_field_name("body")
    with build.scope(ScopeKind.CLASS, name, *_lines(node)) as (draft, reference):
        draft.type_params = walk.type_params = type_params(walk, node)
        draft.bases = list(_derived(walk, attributes))
        for child in body.named_children if body is not None else []:
            if child.type != "enum_variant":
                continue
            variant = _name(walk, child)
            with build.scope(ScopeKind.CLASS, variant, *_lines(child)) as (inner, made):
                inner.bases = [Name(name)]
                _fields(walk, child.child_by_field_name("body"))
            build.here.bind(variant, made)
    walk.type_params = outer
    build.here.bind(name, reference)


def _trait(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    build, name = walk.build, _name(walk, node)
    outer, own = walk.type_params, walk.own_type
    body = node.child_by_field_name("body")
    with build.scope(ScopeKind.INTERFACE, name, *_lines(node)) as (draft, reference):
        walk.own_type = Name(name)
        draft.type_params = walk.type_params = type_params(walk, node)
        bounds = node.child_by_field_name("bounds")
        for child in bounds.named_children if bounds is not None else []:
            found = type_of(walk, child)
            if found is not None:
                draft.bases.append(found)
        for child in body.named_children if body is not None else []:
            if child.type in ("function_item", "function_signature_item"):
                _define(walk, child, ScopeKind.METHOD, None)
            elif child.type == "const_item":
                _constant(walk, child, [])
    walk.type_params, walk.own_type = outer, own
    build.here.bind(name, reference)


def _impl(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    outer, own = walk.type_params, walk.own_type
    walk.type_params = [*outer, *type_params(walk, node)]
    receiver = type_of(walk, node.child_by_field_name("type"))
    trait = node.child_by_field_name("trait")
    body = node.child_by_field_name("body")
    if receiver is not None and type_name(receiver):
        walk.own_type = receiver
    children = body.named_children if body is not None else []
    if trait is not None and receiver is not None:
        _implements(walk, node, trait, receiver, children)
    for child in children:
        if child.type in ("function_item", "function_signature_item"):
            _define(walk, child, ScopeKind.METHOD, receiver)
    walk.type_params, walk.own_type = outer, own


def _implements(walk: Walk, node: Node, trait: Node, receiver: Expr, children: list[Node]) -> None:
    """What an impl block makes its type derive from: the trait, and what it dereferences to."""
    build = walk.build
    found = type_of(walk, trait)
    with build.scope(ScopeKind.BLOCK, IMPLEMENTS, *_lines(node)) as (draft, _):
        draft.receiver = receiver
        draft.type_params = walk.type_params
        if found is not None:
            draft.bases.append(found)
        if walk.text(trait).rpartition("::")[2] == "Deref":
            for child in children:
                target = type_of(walk, child.child_by_field_name("type"))
                if child.type == "type_item" and target is not None:
                    draft.bases.append(target)


def _constant(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    given = node.child_by_field_name("value")
    declared = type_of(walk, node.child_by_field_name("type"))
    value = expr(walk, given) if given is not None else None
    walk.build.here.bind(_name(walk, node), value, declared, Flag.FINAL)


def _alias(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    to = type_of(walk, node.child_by_field_name("type"))
    if to is not None:
        walk.build.here.bind(_name(walk, node), to, flags=Flag.ALIAS)


def _module(walk: Walk, node: Node, attributes: list[Node]) -> None:
    build, name = walk.build, _name(walk, node)
    body = node.child_by_field_name("body")
    if body is None:
        place = "/".join([*walk.modules, name])
        build.here.bind(name, Import(_path(walk, attributes) or f"mod {place}"))
        return
    with build.scope(ScopeKind.NAMESPACE, name, *_lines(node)) as (_, reference):
        walk.modules.append(name)
        items(walk, body.named_children)
        walk.modules.pop()
    build.here.bind(name, reference)


def _path(walk: Walk, attributes: list[Node]) -> str:
    """The file that ``#[path = "…"]`` names."""
    for item in attributes:
        text = walk.text(item)
        if text.startswith("#[path"):
            return "file " + text.partition('"')[2].partition('"')[0]
    return ""


def _use(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    flags = Flag.NONE
    for child in node.named_children:
        if child.type == "visibility_modifier":
            flags = Flag.EXPORTED
    argument = node.child_by_field_name("argument")
    if argument is not None:
        for name, value in _used(walk, argument, None):
            walk.build.here.bind(name, value, flags=flags)


def _used(walk: Walk, node: Node, of: Expr | None, depth: int = 0) -> Iterator[tuple[str, Expr]]:
    """(name, value) of each name that a use tree brings, ``*`` for everything."""
    if depth > 50:
        return
    kind = node.type
    path = node.child_by_field_name("path")
    if kind == "use_as_clause":
        alias = node.child_by_field_name("alias")
        if path is not None and alias is not None and walk.text(alias) != "_":
            yield walk.text(alias), _below(walk, of, path)
    elif kind == "scoped_use_list":
        listed = node.child_by_field_name("list")
        inner = _below(walk, of, path) if path is not None else of
        for child in listed.named_children if listed is not None else []:
            yield from _used(walk, child, inner, depth + 1)
    elif kind == "use_list":
        for child in node.named_children:
            yield from _used(walk, child, of, depth + 1)
    elif kind == "use_wildcard":
        inner = _below(walk, of, node.named_children[0]) if node.named_child_count else of
        if inner is not None:
            yield "*", inner
    elif kind == "self" and of is not None:
        name = type_name(of) or (of.module if type(of) is Import else "")
        yield name, of
    else:
        value = _below(walk, of, node)
        name = walk.text(node).rpartition("::")[2]
        yield name, value


def _below(walk: Walk, of: Expr | None, node: Node) -> Expr:
    """A path that starts at ``of``, or on its own."""
    if of is None:
        if node.type == "identifier":
            name = walk.text(node)
            return Name(name) if name in walk.declared else Import(name)
        return path_of(walk, node)
    for part in walk.text(node).split("::"):
        of = Attr(of, part.strip())
    return of


def _crate(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    alias = node.child_by_field_name("alias")
    name = _name(walk, node)
    walk.build.here.bind(walk.text(alias) if alias is not None else name, Import(name))


def _block_of(walk: Walk, node: Node, attributes: list[Node]) -> None:
    del attributes
    body = node.child_by_field_name("body")
    items(walk, body.named_children if body is not None else [])


_ITEMS: dict[str, Callable[[Walk, Node, list[Node]], None]] = {
    "function_item": _function,
    "function_signature_item": _function,
    "struct_item": _struct,
    "union_item": _struct,
    "enum_item": _enum,
    "trait_item": _trait,
    "impl_item": _impl,
    "const_item": _constant,
    "static_item": _constant,
    "type_item": _alias,
    "mod_item": _module,
    "use_declaration": _use,
    "extern_crate_declaration": _crate,
    "foreign_mod_item": _block_of,
}
