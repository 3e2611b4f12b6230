"""``match``: what its patterns bind, and what they say of the subject."""

from tree_sitter import Node

from ...facts import AnyOf, Attr, Cast, Elem, Expr, Item, Name
from . import narrowing, types
from .walk import UNKNOWN, Version, Walk

_SEQUENCES = frozenset({"list_pattern", "tuple_pattern"})


def match(w: Walk, node: Node) -> bool:
    """Each case is a branch."""
    subjects: list[Node] = []
    ends: list[dict[str, Version]] = []
    whole = False
    for child in node.named_children:
        if child.type == "block":
            value, name = _subject(w, subjects)
            env = w.env
            for case in child.named_children:
                if case.type == "case_clause":
                    with w.branch(env):
                        whole = _case(w, case, value, name, ends) or whole
            w.env = env
        elif child.type != "comment":
            subjects.append(child)
    if not whole:
        ends.append(w.env)
    w.join(ends)
    return not ends


def _subject(w: Walk, nodes: list[Node]) -> tuple[Expr, str]:
    values = [w.expr(node) for node in nodes]
    if len(values) != 1:
        for value in values:
            w.drop(value)
        return UNKNOWN, ""
    name = w.text(nodes[0]) if nodes[0].type == "identifier" else ""
    return w.simple(values[0]), name


def _case(w: Walk, node: Node, value: Expr, name: str, ends: list[dict[str, Version]]) -> bool:
    """Walk one case; whether it takes whatever comes."""
    patterns = [child for child in node.named_children if child.type == "case_pattern"]
    guard: Node | None = None
    for child in node.named_children:
        if child.type == "if_clause":
            guard = child
    whole = guard is None and len(patterns) == 1 and _is_open(w, patterns[0])
    if len(patterns) == 1:
        to = _class_of(w, patterns[0])
        if to is not None and name:
            w.narrow(name, Cast(to))
        _bind(w, patterns[0], value)
    else:
        for place, pattern in enumerate(patterns):
            _bind(w, pattern, Item(value, place))
    if guard is not None:
        for part in guard.named_children:
            w.drop(w.expr(part))
            narrowing.assume(w, part, positive=True)
    ended = False
    for child in node.named_children:
        if child.type == "block":
            ended = w.run_all(child.named_children)
    if not ended:
        ends.append(w.env)
    return whole


def _is_open(w: Walk, node: Node) -> bool:
    return w.text(node).isidentifier()


def _unwrapped(node: Node) -> Node:
    while node.type == "case_pattern" and node.named_child_count == 1:
        node = node.named_children[0]
    return node


def _class_of(w: Walk, node: Node) -> Expr | None:
    """The class that a pattern asks for."""
    node = _unwrapped(node)
    if node.type == "class_pattern" and node.named_children:
        return types.dotted(w.text(node.named_children[0]).split("."))
    if node.type == "as_pattern" and node.named_children:
        return _class_of(w, node.named_children[0])
    if node.type == "union_pattern":
        found = [_class_of(w, child) for child in node.named_children]
        known = [item for item in found if item is not None]
        return AnyOf(known) if known and len(known) == len(found) else None
    return None


def _bind(w: Walk, node: Node, value: Expr) -> None:
    """Bind the names of a pattern to the parts of ``value``."""
    if w.depth > 100:
        return
    w.depth += 1
    node = _unwrapped(node)
    kind = node.type
    parts = node.named_children
    if kind == "dotted_name":
        if node.child_count == 1 and w.text(node) != "_":
            w.bind(w.text(node), value)
    elif kind == "identifier":
        w.bind(w.text(node), value)
    elif kind == "as_pattern" and len(parts) == 2:
        _bind(w, parts[0], value)
        to = _class_of(w, parts[0])
        w.bind(w.text(parts[1]), Cast(to) if to is not None else value)
    elif kind == "class_pattern":
        _attributes(w, parts, value)
    elif kind in _SEQUENCES:
        for place, part in enumerate(parts):
            _bind(w, part, Item(value, place))
    elif kind == "splat_pattern":
        for part in parts:
            w.bind(w.text(part), UNKNOWN)
    elif kind == "dict_pattern":
        for part in parts:
            if part.type in ("case_pattern", "splat_pattern"):
                _bind(w, part, Elem(Item(value)))
    elif kind == "union_pattern":
        for part in parts:
            _bind(w, part, value)
    w.depth -= 1


def _attributes(w: Walk, parts: list[Node], value: Expr) -> None:
    """``C(x=y)``: the attributes of what is a ``C``."""
    if not parts:
        return
    to = types.dotted(w.text(parts[0]).split("."))
    of: Expr = Name(w.build.here.temporary(Cast(to))) if len(parts) > 1 else value
    for part in parts[1:]:
        inner = _unwrapped(part)
        if inner.type == "keyword_pattern" and len(inner.named_children) == 2:
            name, pattern = inner.named_children
            _bind(w, pattern, Attr(of, w.text(name)))
        else:
            _bind(w, inner, UNKNOWN)
