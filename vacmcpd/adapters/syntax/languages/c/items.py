"""C at the top of a file: functions, variables, types, macros, includes."""

import re

from tree_sitter import Node

from ...facts import Flag, Import, Name, Param, ScopeKind
from .expressions import run, variable
from .types import Declared, declared, shaped, type_of
from .walk import DEEPEST, Walk, line_of

_CALLED = re.compile(r"""(?:^|(?<![\w.>#"])(?<!##))([A-Za-z_]\w*)\s*\(""")
_TEXTS = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/', re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORDS = frozenset(
    {"if", "for", "while", "switch", "return", "sizeof", "do", "else", "defined", "typeof"}
    | {"__typeof__", "__attribute__", "_Static_assert", "_Alignof", "offsetof", "va_arg"}
)


def item(walk: Walk, node: Node) -> None:
    """One item of a file; both branches of a condition count."""
    kind = node.type
    if kind == "function_definition":
        function(walk, node)
    elif kind == "declaration":
        _declaration(walk, node)
    elif kind == "type_definition":
        _typedef(walk, node)
    elif kind in ("struct_specifier", "union_specifier"):
        type_of(walk, node)
    elif kind == "preproc_include":
        _include(walk, node)
    elif kind == "preproc_function_def":
        _macro(walk, node)
    elif kind == "preproc_def":
        _constant(walk, node)
    elif kind in _CONTAINERS and walk.depth <= DEEPEST:
        walk.depth += 1
        for child in node.named_children:
            item(walk, child)
        walk.depth -= 1
    elif kind == "expression_statement":
        run(walk, node)


_CONTAINERS = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "ERROR"}
    | {"linkage_specification", "declaration_list"}
)


def function(walk: Walk, node: Node) -> None:
    """A function definition, an old one with its parameters' types below them too."""
    found = declared(node.child_by_field_name("declarator"))
    if found is None or found.parameters is None:
        for child in node.named_children:
            if child.type == "compound_statement":
                run(walk, child)
        return
    of = type_of(walk, node.child_by_field_name("type"))
    name = walk.text(found.name)
    line, end = line_of(node), node.end_point.row + 1
    flags = Flag.PRIVATE if _is_static(walk, node) else Flag.NONE
    with walk.build.scope(ScopeKind.FUNCTION, name, line, end) as (draft, ref), walk.function():
        draft.returns = of
        draft.params = _parameters(walk, node, found)
        run(walk, node.child_by_field_name("body"))
    walk.build.here.bind(name, ref, flags=flags)


def _is_static(walk: Walk, node: Node) -> bool:
    return any(
        child.type == "storage_class_specifier" and walk.text(child) == "static"
        for child in node.children
    )


def _parameters(walk: Walk, node: Node, found: Declared) -> list[Param]:
    params = []
    for child in found.parameters.named_children if found.parameters is not None else ():
        if child.type == "identifier":
            params.append(Param(walk.fresh(walk.text(child))))
        elif child.type == "parameter_declaration":
            of = type_of(walk, child.child_by_field_name("type"))
            inner = declared(child.child_by_field_name("declarator"))
            if inner is not None:
                name = walk.fresh(walk.text(inner.name))
                params.append(Param(name, shaped(of, inner)))
            elif walk.text(child) != "void":
                params.append(Param("_"))
        elif child.type == "variadic_parameter":
            params.append(Param("...", star=1))
    older = {}
    for child in node.named_children:
        if child.type == "declaration":
            of = type_of(walk, child.child_by_field_name("type"))
            for part in child.children_by_field_name("declarator"):
                inner = declared(part)
                if inner is not None:
                    older[walk.text(inner.name)] = shaped(of, inner)
    return [Param(p.name, older[p.name]) if p.name in older else p for p in params]


def _declaration(walk: Walk, node: Node) -> None:
    of = type_of(walk, node.child_by_field_name("type"))
    flags = Flag.PRIVATE if _is_static(walk, node) else Flag.NONE
    for part in node.children_by_field_name("declarator"):
        found = declared(part)
        if found is None:
            continue
        if found.parameters is not None and not found.pointer:
            walk.mark(f"{walk.text(found.name)};")
        else:
            variable(walk, part, found, of, flags)


def _typedef(walk: Walk, node: Node) -> None:
    of = type_of(walk, node.child_by_field_name("type"))
    for part in node.children_by_field_name("declarator"):
        found = declared(part)
        if found is None:
            continue
        name, to = walk.text(found.name), shaped(of, found)
        if to is not None and to != Name(name):
            walk.build.here.bind(name, to, flags=Flag.ALIAS | Flag.PRIVATE)


def _include(walk: Walk, node: Node) -> None:
    path = node.child_by_field_name("path")
    if path is None or path.type not in ("string_literal", "system_lib_string"):
        return
    text = walk.text(path)
    walk.build.module.bind("*", Import(text[1:-1], level=1 if text[:1] == '"' else 0))


def _macro(walk: Walk, node: Node) -> None:
    """A macro with parameters is a function whose body calls what it names."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("value")
    listed = node.child_by_field_name("parameters")
    if name is None:
        return
    params = [walk.text(child) for child in listed.named_children] if listed is not None else []
    text, line = walk.text(name), line_of(node)
    with walk.build.scope(ScopeKind.FUNCTION, text, line, node.end_point.row + 1) as (draft, ref):
        draft.params = [Param(param) for param in dict.fromkeys(params)]
        if body is not None:
            source = _TEXTS.sub(lambda found: "\n" * found[0].count("\n"), walk.text(body))
            for found in _CALLED.finditer(source):
                called = found[1]
                if called not in _WORDS and called not in params and called != text:
                    at = line_of(body) + source.count("\n", 0, found.start(1))
                    draft.do(walk.build.call(Name(called), line=at))
    walk.build.module.bind(text, ref, flags=Flag.PRIVATE)


def _constant(walk: Walk, node: Node) -> None:
    """A macro that stands for another name."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or body is None:
        return
    text = walk.text(body).strip()
    if _NAME.fullmatch(text) and text != walk.text(name):
        walk.build.module.bind(walk.text(name), Name(text), flags=Flag.PRIVATE | Flag.ALIAS)
