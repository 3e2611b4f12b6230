"""Parameters, destructuring and what else binds names."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from ...facts import AnyOf, Attr, Expr, Item, Name, Param, Seq, Spread, This
from .expressions import constant, linked, subscript
from .walk import Walk, first

Binder = Callable[[str, Expr], None]

_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_PARTS = {
    "assignment_pattern": "left",
    "object_assignment_pattern": "left",
    "pair_pattern": "value",
}


def names_in(w: Walk, node: Node) -> Iterator[str]:
    """The names that a pattern binds."""
    stack = [node]
    while stack:
        top = stack.pop()
        if top.type in _NAMES:
            yield w.text(top)
        elif top.type in _PARTS:
            part = top.child_by_field_name(_PARTS[top.type])
            if part is not None:
                stack.append(part)
        elif top.type not in ("member_expression", "subscript_expression"):
            stack.extend(reversed(top.named_children))


def bind(w: Walk, pattern: Node, value: Expr, binder: Binder) -> None:
    """Give ``value`` to the names in ``pattern`` through ``binder``."""
    kind = pattern.type
    if kind in _NAMES:
        binder(w.name(pattern), value)
    elif kind == "object_pattern":
        _object(w, pattern, w.simple(value), binder)
    elif kind == "array_pattern":
        _array(w, pattern, w.simple(value), binder)
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left = pattern.child_by_field_name("left")
        right = pattern.child_by_field_name("right")
        hint = w.text(left) if left is not None and left.type in _NAMES else ""
        if left is not None:
            bind(w, left, AnyOf([value, w.expr(right, hint)]), binder)
    elif kind == "rest_pattern" or kind in (
        "parenthesized_expression",
        "non_null_expression",
        "as_expression",
    ):
        inner = first(pattern)
        if inner is not None:
            bind(w, inner, value, binder)
    else:
        place(w, pattern, value)


def place(w: Walk, target: Node, value: Expr) -> None:
    """``target.name = value``, ``target[key] = value``."""
    to = target_of(w, target)
    if to is None:
        w.run(target)
        w.build.here.do(value)
    elif isinstance(to, Attr):
        w.keep(to.of, to.name, value)
    else:
        w.keep(to.of, to.key, value, attr=False)


def target_of(w: Walk, node: Node) -> Attr | Item | None:
    """What a member or subscript expression stores into."""
    if node.type == "member_expression":
        made = linked(w, node, read=False, target=True)
        return made if type(made) is Attr else None
    if node.type == "subscript_expression":
        made = subscript(w, node, w.expr(node.child(0)))
        return made if type(made) is Attr or type(made) is Item else None
    return None


def _object(w: Walk, pattern: Node, value: Expr, binder: Binder) -> None:
    for part in pattern.named_children:
        kind = part.type
        if kind == "shorthand_property_identifier_pattern":
            binder(w.name(part), _read(w, part, value))
        elif kind == "pair_pattern":
            inner = part.child_by_field_name("value")
            if inner is not None:
                bind(w, inner, _property(w, part, value), binder)
        elif kind == "object_assignment_pattern":
            left = part.child_by_field_name("left")
            if left is not None:
                bind(w, part, _read(w, left, value), binder)
        elif kind == "rest_pattern":
            bind(w, part, value, binder)


def _read(w: Walk, name: Node, value: Expr) -> Expr:
    return w.read(value, w.text(name), name.start_point[0] + 1)


def _property(w: Walk, pair: Node, value: Expr) -> Expr:
    key = pair.child_by_field_name("key")
    if key is not None and key.type == "property_identifier":
        return _read(w, key, value)
    if key is not None and key.type == "computed_property_name":
        key = first(key)
    found = constant(w, key)
    return Attr(value, found) if type(found) is str else Item(value, found)


def _array(w: Walk, pattern: Node, value: Expr, binder: Binder) -> None:
    index = 0
    for part in pattern.children:
        if part.type == ",":
            index += 1
        elif part.type == "rest_pattern":
            bind(w, part, Seq("Array", [Spread(value)]), binder)
        elif part.is_named and part.type != "comment":
            bind(w, part, Item(value, index), binder)


# Parameters


def parameters(w: Walk, node: Node) -> None:
    """The parameters of the function that is being walked."""
    single = node.child_by_field_name("parameter")
    if single is not None:
        _plain(w, single, None)
        return
    listed = node.child_by_field_name("parameters")
    if listed is None:
        return
    found = [child for child in listed.named_children if child.type not in ("comment", "ERROR")]
    for name in (name for child in found for name in _names(w, child)):
        w.declare(name)
    for child in found:
        if child.type in ("required_parameter", "optional_parameter"):
            _typed(w, child)
        else:
            _plain(w, child, None)


def _names(w: Walk, node: Node) -> Iterator[str]:
    if node.type in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern")
        return names_in(w, pattern) if pattern is not None else iter(())
    return names_in(w, node)


def _typed(w: Walk, node: Node) -> None:
    """``private a?: T = b`` of TypeScript."""
    pattern = node.child_by_field_name("pattern")
    if pattern is None or pattern.type == "this":
        return
    declared = w.type_of(node.child_by_field_name("type"))
    made = _plain(w, pattern, declared, node.child_by_field_name("value"))
    if any(child.type in ("accessibility_modifier", "readonly") for child in node.children):
        w.keep(This(), made, Name(made))
        w.fields.append((made, declared))


def _plain(w: Walk, node: Node, declared: Expr | None, default: Node | None = None) -> str:
    draft = w.build.here
    if node.type == "assignment_pattern":
        default = node.child_by_field_name("right")
        node = node.child_by_field_name("left") or node
    star = 0
    if node.type == "rest_pattern":
        star = 1
        node = first(node) or node
        if type(declared) is Seq and len(declared.items) == 1:
            declared = declared.items[0]
    if node.type == "identifier":
        name = w.text(node)
        w.declare(name)
        draft.params.append(Param(name, declared, None, star))
        if default is not None:
            draft.bind(name, w.expr(default, name))
        return name
    draft.temporaries += 1
    name = f"${draft.temporaries}"
    draft.params.append(Param(name, declared, None, star))
    value: Expr = Name(name)
    if default is not None:
        value = AnyOf([value, w.expr(default)])
    bind(w, node, value, draft.bind)
    return name
