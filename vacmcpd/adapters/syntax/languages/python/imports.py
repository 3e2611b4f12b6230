"""Imports, as they are written; the linker finds what they name."""

from tree_sitter import Node

from ...facts import Import
from .walk import Walk


def imported(w: Walk, node: Node) -> bool:
    """``import a.b``, ``import a.b as c``."""
    for child in node.named_children:
        if child.type == "aliased_import":
            parts = child.named_children
            name = w.text(parts[-1])
            _module(w, name, Import(_dotted(w, parts[0])))
        elif child.type == "dotted_name":
            path = _dotted(w, child)
            name = path.partition(".")[0]
            _module(w, name, Import(name))
    return False


def _module(w: Walk, name: str, value: Import) -> None:
    w.modules.add(name)
    w.env.pop(name, None)
    w.frame.draft.bind(name, value)


def imported_from(w: Walk, node: Node) -> bool:
    """``from ..a import b as c, d``, ``from a import *``."""
    children = node.named_children
    if not children:
        return False
    module, level = _from(w, children[0])
    draft = w.frame.draft
    for child in children[1:]:
        kind = child.type
        if kind == "wildcard_import":
            draft.bind("*", Import(module, "*", level))
        elif kind == "aliased_import":
            parts = child.named_children
            draft.bind(w.text(parts[-1]), Import(module, _dotted(w, parts[0]), level))
            w.env.pop(w.text(parts[-1]), None)
        elif kind == "dotted_name":
            name = _dotted(w, child)
            draft.bind(name, Import(module, name, level))
            w.env.pop(name, None)
    return False


def _from(w: Walk, node: Node) -> tuple[str, int]:
    if node.type != "relative_import":
        return _dotted(w, node), 0
    level, module = 0, ""
    for child in node.named_children:
        if child.type == "import_prefix":
            level = w.text(child).count(".")
        elif child.type == "dotted_name":
            module = _dotted(w, child)
    return module, level


def _dotted(w: Walk, node: Node) -> str:
    text = w.text(node)
    return text if text.isidentifier() else "".join(text.split())
