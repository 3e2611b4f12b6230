"""Imports and exports."""

from tree_sitter import Node

from ...facts import Attr, Bind, Expr, Flag, Import, Name, ScopeKind
from . import classes, functions
from .expressions import string
from .functions import PLAIN, lower
from .walk import EXPORT, WHOLE, StatementHandler, Walk, first, line_of

DEFAULT = "default"
SCRIPT = "<script>"
"""The package of the files that are no modules: what they bind at their top is global."""


def imported(w: Walk, node: Node) -> None:
    """``import a, {b as c} from "m"``, ``import * as n``, ``import x = require("m")``."""
    w.modular = True
    source = node.child_by_field_name("source")
    for child in node.named_children:
        if child.type == "import_clause" and source is not None:
            _clause(w, child, string(w, source))
        elif child.type == "import_require_clause":
            name, of = first(child), child.child_by_field_name("source")
            if name is not None and of is not None:
                w.build.here.bind(w.text(name), Import(string(w, of)))


def _clause(w: Walk, node: Node, module: str) -> None:
    here = w.build.here
    for child in node.named_children:
        if child.type == "identifier":
            here.bind(w.text(child), Import(module, DEFAULT))
        elif child.type == "namespace_import":
            name = first(child)
            if name is not None:
                here.bind(w.text(name), Import(module))
        elif child.type == "named_imports":
            for each in child.named_children:
                name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if each.type == "import_specifier" and name is not None:
                    local = w.text(alias or name)
                    here.bind(local, Import(module, _specified(w, name)))


def _specified(w: Walk, node: Node) -> str:
    return string(w, node) if node.type == "string" else w.text(node)


def alias(w: Walk, node: Node) -> str:
    """``import A = B.C`` of TypeScript."""
    children = node.named_children
    if len(children) < 2:
        return ""
    path = w.text(children[1]).replace(" ", "").split(".")
    value: Expr = Name(path[0])
    for name in path[1:]:
        value = Attr(value, name)
    w.build.here.bind(w.text(children[0]), value, flags=Flag.ALIAS)
    return w.text(children[0])


def exported(w: Walk, node: Node) -> None:
    """``export`` in all its forms."""
    w.modular = True
    for child in node.children:
        if child.type == "decorator":
            classes.decorator(w, child)
    declaration = node.child_by_field_name("declaration")
    source = node.child_by_field_name("source")
    words = [child.type for child in node.children]
    if declaration is not None:
        _declared(w, declaration, default=DEFAULT in words)
    elif DEFAULT in words:
        value = node.child_by_field_name("value")
        if value is not None:
            _export(w, DEFAULT, _default(w, value))
    elif "=" in words:
        w.build.here.bind(WHOLE, w.expr(first(node)), flags=Flag.EXPORTED)
    else:
        _clauses(w, node, string(w, source) if source is not None else None, words)


def _export(w: Walk, name: str, value: Expr) -> None:
    w.build.here.bind(EXPORT + name, value, flags=Flag.EXPORTED)


def _default(w: Walk, node: Node) -> Expr:
    """A default export without a name is called ``default``."""
    hint = DEFAULT if node.type in functions.FUNCTIONS or node.type == "class" else ""
    if node.type in PLAIN and node.child_by_field_name("name") is None:
        return lower(w, node, ScopeKind.FUNCTION, DEFAULT, line_of(node))[1]
    return w.expr(node, hint)


def _declared(w: Walk, node: Node, *, default: bool) -> None:
    """``export`` before a declaration exports each name that it binds."""
    body = w.build.here.body
    before = len(body)
    w.run(node)
    names = [
        item.name
        for item in body[before:]
        if type(item) is Bind and item.name[:1] != "$" and ":" not in item.name
    ]
    local = w.build.here.kind is not ScopeKind.MODULE
    for name in dict.fromkeys(names):
        if default:
            _export(w, DEFAULT, Name(name))
        elif not local and "@" not in name:
            _export(w, name, Name(name))


def _clauses(w: Walk, node: Node, module: str | None, words: list[str]) -> None:
    if "*" in words and module is not None:
        w.build.here.bind("*", Import(module, "*"), flags=Flag.EXPORTED)
    for child in node.named_children:
        if child.type == "namespace_export" and module is not None:
            name = first(child)
            if name is not None:
                _export(w, _specified(w, name), Import(module))
        elif child.type == "export_clause":
            for each in child.named_children:
                _specifier(w, each, module)


def _specifier(w: Walk, node: Node, module: str | None) -> None:
    name, other = node.child_by_field_name("name"), node.child_by_field_name("alias")
    if node.type != "export_specifier" or name is None:
        return
    outside = _specified(w, other or name)
    if module is not None:
        _export(w, outside, Import(module, _specified(w, name)))
    else:
        w.exports.append((outside, w.text(name)))


def finish(w: Walk) -> None:
    """Bind what export clauses name, each at its last value."""
    for outside, local in w.exports:
        _export(w, outside, Name(w.renames.get(local, local)))
    exported = any(item.flags & Flag.EXPORTED for item in w.build.module.body if type(item) is Bind)
    if not w.modular and not exported:
        w.build.namespace = SCRIPT


def _alias(w: Walk, node: Node) -> None:
    alias(w, node)


STATEMENTS: dict[str, StatementHandler] = {
    "import_statement": imported,
    "import_alias": _alias,
    "export_statement": exported,
}
