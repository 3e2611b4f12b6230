"""Declarations of a Go file: imports, types, functions, methods, variables."""

import re

from tree_sitter import Node

from ...building import Draft
from ...facts import Bind, Expr, Flag, Generic, Import, Lit, Name, ScopeKind
from .statements import block, specs
from .types import fill_type, params, result_of, type_of, type_params
from .walk import Walk, end_of, line_of, named

RECEIVER_PARAM = "<param>"
"""The module of an import that means a type parameter of a receiver's type."""

UNNAMED = "<imports>"
"""Binds every import without a name of its own: the package may be called otherwise."""

_VERSION = re.compile(r"v\d+")


def source_file(walk: Walk, root: Node) -> None:
    """The whole file."""
    for node in root.children:
        _item(walk, node)


def _item(walk: Walk, node: Node) -> None:
    kind = node.type
    walk.counts = 0
    if kind == "package_clause":
        names = named(node)
        walk.build.namespace = walk.text(names[0]) if names else ""
    elif kind == "import_declaration":
        _imports(walk, node)
    elif kind == "function_declaration":
        _function(walk, node)
    elif kind == "method_declaration":
        _method(walk, node)
    elif kind == "type_declaration":
        types(walk, node)
    elif kind in ("var_declaration", "const_declaration"):
        walk.blocks.append({})
        specs(walk, node, top=True)
        walk.blocks.pop()
    elif kind == "ERROR":
        for child in node.children:
            _item(walk, child)


def _imports(walk: Walk, node: Node) -> None:
    module = walk.build.module
    parts = [
        inner
        for part in named(node)
        for inner in (named(part) if part.type == "import_spec_list" else [part])
    ]
    for part in parts:
        path = part.child_by_field_name("path")
        if path is None:
            continue
        text = walk.text(path)[1:-1]
        name = part.child_by_field_name("name")
        value = Import(text)
        if name is None:
            module.bind(guessed_name(text), value)
            walk.imports[guessed_name(text)] = value
            module.bind(UNNAMED, value)
        elif name.type == "dot":
            module.bind("*", value)
        elif name.type != "blank_identifier":
            module.bind(walk.text(name), value)
            walk.imports[walk.text(name)] = value


def guessed_name(path: str) -> str:
    """What the package of an import path is most likely called."""
    parts = path.split("/")
    last = parts[-1]
    if len(parts) > 1 and _VERSION.fullmatch(last):
        last = parts[-2]
    stem, _, end = last.rpartition(".")
    if stem and (_VERSION.fullmatch(end) or end == "go"):
        last = stem
    return last.removeprefix("go-").removesuffix("-go").replace("-", "_")


def types(walk: Walk, node: Node) -> None:
    """The types that a declaration declares, at the top or in a function."""
    here = walk.build.here
    for part in named(node):
        name, kind = part.child_by_field_name("name"), part.child_by_field_name("type")
        if name is None or kind is None:
            continue
        text = walk.text(name)
        walk.declare_type(text)
        if part.type == "type_alias":
            here.bind(text, type_of(walk, kind), flags=Flag.ALIAS)
            continue
        opens = ScopeKind.INTERFACE if kind.type == "interface_type" else ScopeKind.CLASS
        walk.blocks.append({})
        with walk.build.scope(opens, text, line_of(name), end_of(part)) as (draft, reference):
            draft.type_params = type_params(walk, part.child_by_field_name("type_parameters"))
            fill_type(walk, draft, kind)
        walk.blocks.pop()
        here.bind(text, reference)


def _function(walk: Walk, node: Node) -> None:
    name = node.child_by_field_name("name")
    if name is None:
        return
    text = walk.text(name)
    here = walk.build.here
    opened = walk.build.scope(ScopeKind.FUNCTION, text, line_of(name), end_of(node))
    with opened as (draft, reference):
        walk.blocks.append({})
        draft.type_params = type_params(walk, node.child_by_field_name("type_parameters"))
        signature(walk, draft, node)
        walk.blocks.pop()
    if text not in ("init", "_"):
        here.bind(text, reference)


def _method(walk: Walk, node: Node) -> None:
    name, around = node.child_by_field_name("name"), node.child_by_field_name("receiver")
    given = named(around) if around is not None else []
    kind = given[0].child_by_field_name("type") if given else None
    if name is None or kind is None:
        return
    pointer = kind.type == "pointer_type"
    receiver = type_of(walk, kind)
    args: list[Expr] = []
    if type(receiver) is Generic:
        args = receiver.args
        receiver = receiver.of
    if type(receiver) is not Name:
        return
    opened = walk.build.scope(ScopeKind.METHOD, walk.text(name), line_of(name), end_of(node))
    with opened as (draft, _):
        draft.receiver = receiver
        draft.flags = Flag.POINTER if pointer else 0
        walk.blocks.append({})
        for index, arg in enumerate(args):
            if type(arg) is Name and arg.id != "_":
                draft.body.append(Bind(arg.id, Import(RECEIVER_PARAM, receiver.id, index)))
        bound = given[0].child_by_field_name("name")
        if bound is not None:
            walk.receive(walk.text(bound))
        signature(walk, draft, node)
        walk.blocks.pop()


def signature(walk: Walk, draft: Draft, node: Node) -> None:
    """Parameters, results and body of a function whose block is open."""
    result = node.child_by_field_name("result")
    draft.returns = result_of(walk, result) if result is not None else Lit("void")
    parts = named(result) if result is not None and result.type == "parameter_list" else []
    kinds = [part.child_by_field_name("type") for part in parts]
    declared = [type_of(walk, kind) if kind is not None else None for kind in kinds]
    params(walk, draft, node.child_by_field_name("parameters"), plain=False)
    for part, kind in zip(parts, declared, strict=True):
        for name in part.children_by_field_name("name"):
            draft.bind(walk.declare(walk.text(name)), None, kind)
    body = node.child_by_field_name("body")
    if body is not None:
        block(walk, body)
