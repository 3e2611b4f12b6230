"""What a condition says of variables: ``isinstance`` tests."""

from tree_sitter import Node

from ...facts import AnyOf, Cast, Expr, Lit
from .types import dotted
from .walk import Walk

_BUILTIN = frozenset(
    {
        "str",
        "bytes",
        "int",
        "float",
        "bool",
        "list",
        "dict",
        "tuple",
        "set",
        "frozenset",
        "bytearray",
        "complex",
        "type",
    }
)


def assume(w: Walk, node: Node, *, positive: bool) -> None:
    """From here on the condition ``node`` holds, or with ``positive`` off does not."""
    stack = [(node, positive)]
    while stack:
        top, holds = stack.pop()
        kind = top.type
        if kind == "parenthesized_expression":
            stack.extend((child, holds) for child in top.named_children)
        elif kind == "not_operator":
            stack.append((top.children[-1], not holds))
        elif kind == "boolean_operator":
            children = top.children
            # All parts of ``and`` hold, none of ``or`` does when the whole does not.
            if len(children) > 2 and (children[1].type == "and") is holds:
                stack.extend(((children[0], holds), (children[-1], holds)))
        elif kind == "call" and holds:
            _instance(w, top)


def _instance(w: Walk, node: Node) -> None:
    children = node.children
    if children[0].type != "identifier" or w.text(children[0]) != "isinstance":
        return
    args = [child for child in children[-1].named_children if child.type != "comment"]
    if len(args) != 2 or args[0].type != "identifier":
        return
    to = _classes(w, args[1])
    if to is not None and not w.frame.is_class:
        w.narrow(w.text(args[0]), Cast(to))


def _classes(w: Walk, node: Node) -> Expr | None:
    """The class, or the classes of a tuple; None for what may be anything else."""
    if node.type == "tuple":
        found = [_classes(w, child) for child in node.named_children if child.type != "comment"]
        known = [item for item in found if item is not None]
        return AnyOf(known) if known and len(known) == len(found) else None
    if node.type not in ("identifier", "attribute"):
        return None
    path = [part.strip() for part in w.text(node).split(".")]
    last = path[-1]
    if path == [last] and last in _BUILTIN:
        return Lit(last)
    if not all(part.isidentifier() for part in path) or _is_constant(last):
        return None
    return dotted(path)


def _is_constant(name: str) -> bool:
    """Whether a name looks like that of a tuple of classes."""
    many = "_" in name or (len(name) > 1 and name.endswith("S"))
    return name.islower() or (name.isupper() and many)


def caught(w: Walk, node: Node) -> Expr | None:
    """The value that ``except node as e`` binds."""
    to = _classes(w, node)
    return Cast(to) if to is not None else None
