"""Statements of Go: what they bind, by block, and the calls in them."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import AnyOf, Cast, Def, Expr, Item, Name
from .expressions import calls, lower, may_be_function
from .types import may_call, type_of
from .walk import DEEPEST, NOTHING, Walk, named

_BLOCKS = frozenset(
    {"block", "if_statement", "for_statement", "expression_switch_statement"}
    | {"type_switch_statement", "select_statement", "expression_case", "default_case"}
    | {"communication_case"}
)

_PLAIN = _BLOCKS | frozenset(
    {"statement_list", "expression_statement", "for_clause", "labeled_statement", "go_statement"}
    | {"defer_statement", "send_statement", "inc_statement", "dec_statement", "expression_list"}
    | {"ERROR"}
)


def block(walk: Walk, node: Node) -> None:
    """What stands in a block, or in anything else that holds statements."""
    if walk.depth > DEEPEST:
        return
    walk.depth += 1
    opens = node.type in _BLOCKS
    if opens:
        walk.blocks.append({})
    for child in node.named_children:
        statement(walk, child)
    if opens:
        walk.blocks.pop()
    walk.depth -= 1


def statement(walk: Walk, node: Node) -> None:
    """One statement; an expression that stands for itself is one too."""
    how = _HOW.get(node.type)
    if how is not None:
        how(walk, node)
        return
    value = lower(walk, node)
    if value is not NOTHING and type(value) is not Name:
        walk.build.here.do(value)


def _expressions(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return named(node) if node.type == "expression_list" else [node]


def _short(walk: Walk, node: Node) -> None:
    left = _expressions(node.child_by_field_name("left"))
    right = [lower(walk, part) for part in _expressions(node.child_by_field_name("right"))]
    _bind(walk, left, right)


def _bind(walk: Walk, left: list[Node], right: list[Expr]) -> None:
    """``:=``: names that the block has are assigned to, the others declared."""
    here = walk.build.here
    for target, value in zip(left, _spread(walk, len(left), right), strict=False):
        name = walk.text(target)
        if target.type == "identifier" and name != "_":
            if name not in walk.blocks[-1]:
                here.bind(walk.declare(name), value)
            else:
                _assign_name(walk, walk.blocks[-1][name], value)
        elif value is not NOTHING:
            here.do(value)


def _spread(walk: Walk, count: int, right: list[Expr]) -> list[Expr]:
    """A value for each of ``count`` targets; one call may give several."""
    if count == len(right) or len(right) != 1 or count < 2:
        return right
    value = right[0]
    if not calls(value):
        return [value, *[NOTHING] * (count - 1)]
    held = Name(walk.build.here.temporary(value))
    return [Item(held, number) for number in range(count)]


def _assign_name(walk: Walk, target: Expr, value: Expr) -> None:
    """A variable keeps its type: only functions, and calls, are worth another binding."""
    if type(target) is Name and (may_be_function(value) or type(value) is Item):
        if "@" in target.id:
            walk.build.here.bind(target.id, value)
        elif type(value) is Def:
            walk.build.here.store(Name(target.id), "()", value)
    elif value is not NOTHING and type(value) is not Item:
        walk.build.here.do(value)


def _assignment(walk: Walk, node: Node) -> None:
    left = _expressions(node.child_by_field_name("left"))
    right = [lower(walk, part) for part in _expressions(node.child_by_field_name("right"))]
    here = walk.build.here
    for target, value in zip(left, _spread(walk, len(left), right), strict=False):
        kind = target.type
        if kind == "identifier":
            _assign_name(walk, walk.find(walk.text(target)), value)
        elif kind == "selector_expression" and may_be_function(value):
            of = lower(walk, target.children[0])
            here.store(of, walk.text(target.children[-1]), value)
        elif kind == "index_expression" and may_be_function(value) and named(target):
            parts = named(target)
            here.store(lower(walk, parts[0]), None, value, attr=False)
            for part in parts[1:]:
                statement(walk, part)
        else:
            statement(walk, target)
            if value is not NOTHING and type(value) is not Item:
                here.do(value)


def specs(walk: Walk, node: Node, *, top: bool = False) -> None:
    """``var`` and ``const``; a constant without a type and value is like the one before."""
    like: Node | None = None
    for part in named(node):
        for each in named(part) if part.type == "var_spec_list" else [part]:
            bare = each.child_by_field_name("type") is None
            if each.type == "const_spec" and (not bare or len(each.named_children) > 1):
                like = each
            if each.type in ("var_spec", "const_spec"):
                _spec(walk, each, like if like is not None else each, top=top)


def _spec(walk: Walk, node: Node, like: Node, *, top: bool) -> None:
    """``a, b T = x, y``; at the top the names are the package's."""
    names = node.children_by_field_name("name")
    kind = like.child_by_field_name("type")
    declared = type_of(walk, kind) if kind is not None else None
    given = node.child_by_field_name("value")
    right = [lower(walk, part) for part in _expressions(given)]
    values = _spread(walk, len(names), right)
    here = walk.build.here
    for number, name in enumerate(names):
        if name.type == ",":
            continue
        text = walk.text(name)
        value = values[number] if number < len(values) else None
        if text == "_":
            if value is not None:
                here.do(value)
            continue
        made = text if top else walk.declare(text)
        if declared is not None and may_call(declared):
            here.bind(made, declared)
            if value is not None:
                here.bind(made, value)
        else:
            here.bind(made, value, declared)


def _declaration(walk: Walk, node: Node) -> None:
    specs(walk, node)


def _types(walk: Walk, node: Node) -> None:
    from .items import types

    types(walk, node)


def _range(walk: Walk, node: Node) -> None:
    over = node.child_by_field_name("right")
    value = lower(walk, over) if over is not None else NOTHING
    left = _expressions(node.child_by_field_name("left"))
    new = any(child.type == ":=" for child in node.children)
    here = walk.build.here
    if not left or not new:
        if value is not NOTHING:
            here.do(value)
        return
    names = [walk.text(target) for target in left]
    for number, name in enumerate(names):
        if name == "_":
            continue
        # One variable takes what a channel gives, or a map's keys; the second what is held.
        part = Item(value, 1 - number) if value is not NOTHING else NOTHING
        here.bind(walk.declare(name), part)
    if names[-1] == "_" and value is not NOTHING:
        here.do(value)


def _type_switch(walk: Walk, node: Node) -> None:
    walk.blocks.append({})
    start = node.child_by_field_name("initializer")
    if start is not None:
        statement(walk, start)
    over = node.child_by_field_name("value")
    value = lower(walk, over) if over is not None else NOTHING
    here = walk.build.here
    alias = [walk.text(part) for part in _expressions(node.child_by_field_name("alias"))]
    held: Expr = NOTHING
    if alias and value is not NOTHING:
        held = Name(here.temporary(value))
    elif value is not NOTHING:
        here.do(value)
    for case in node.children:
        if case.type in ("type_case", "default_case"):
            walk.blocks.append({})
            kinds = case.children_by_field_name("type")
            if alias:
                one = len(kinds) == 1 and walk.text(kinds[0]) != "nil"
                to = type_of(walk, kinds[0]) if one else None
                here.bind(walk.declare(alias[0]), Cast(to) if to is not None else held)
            for part in case.children:
                if part.type == "statement_list":
                    block(walk, part)
            walk.blocks.pop()
    walk.blocks.pop()


def _receive(walk: Walk, node: Node) -> None:
    right = node.child_by_field_name("right")
    values = [lower(walk, right)] if right is not None else []
    left = _expressions(node.child_by_field_name("left"))
    if left and any(child.type == ":=" for child in node.children):
        _bind(walk, left, values)
    else:
        for value in values:
            walk.build.here.do(value)


def _return(walk: Walk, node: Node) -> None:
    parts = named(node)
    right = [lower(walk, part) for each in parts for part in _expressions(each)]
    for value in right:
        if type(value) is Name or value is NOTHING:
            continue
        if type(value) is Def:
            walk.build.here.give(value)
        else:
            walk.build.here.do(AnyOf([value]))


def _nothing(walk: Walk, node: Node) -> None:
    """Labels, comments, ``break`` and so on."""


_HOW: dict[str, Callable[[Walk, Node], None]] = {
    **dict.fromkeys(
        [
            *_BLOCKS,
            "statement_list",
            "expression_statement",
            "for_clause",
            "labeled_statement",
            "go_statement",
            "defer_statement",
            "send_statement",
            "inc_statement",
            "dec_statement",
            "expression_list",
            "ERROR",
        ],
        block,
    ),
    "short_var_declaration": _short,
    "assignment_statement": _assignment,
    "var_declaration": _declaration,
    "const_declaration": _declaration,
    "type_declaration": _types,
    "range_clause": _range,
    "type_switch_statement": _type_switch,
    "receive_statement": _receive,
    "return_statement": _return,
    "break_statement": _nothing,
    "continue_statement": _nothing,
    "goto_statement": _nothing,
    "fallthrough_statement": _nothing,
    "label_name": _nothing,
    "comment": _nothing,
}
