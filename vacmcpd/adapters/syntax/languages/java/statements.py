"""Java statements."""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import Attr, Elem, Expr, Lit, Name
from ...linking.sites import IMPLICIT
from .expressions import EXPRESSIONS, bind_pattern, either, expr, run
from .types import type_of
from .walk import Walk, line_of

NOTHING = Lit("void")


def block(walk: Walk, node: Node) -> Expr:
    """The statements of a block."""
    with walk.block():
        for child in node.named_children:
            statement(walk, child)
    return NOTHING


def statement(walk: Walk, node: Node | None) -> None:
    """A statement."""
    if node is not None and not node.type.endswith("comment"):
        run(walk, node)


def local_variables(walk: Walk, node: Node) -> Expr:
    """Declare ``T a = x, b;``."""
    declared = type_of(walk, node.child_by_field_name("type"))
    for child in node.children_by_field_name("declarator"):
        named, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        given = expr(walk, value) if value is not None else None
        if named is not None:
            walk.build.here.bind(walk.fresh(walk.text(named)), given, declared)
    return NOTHING


def _return(walk: Walk, node: Node) -> Expr:
    if node.named_child_count:
        walk.build.here.give(expr(walk, node.named_children[0]))
    return NOTHING


def _for_each(walk: Walk, node: Node) -> Expr:
    value = expr(walk, node.child_by_field_name("value"))
    here = walk.build.here
    source = Name(here.temporary(value))
    iterator = Attr(source, "iterator()")
    line = line_of(node)
    here.do(walk.build.call(iterator, names=[IMPLICIT], line=line))
    with walk.block():
        declared = type_of(walk, node.child_by_field_name("type"))
        named = node.child_by_field_name("name")
        if named is not None:
            here.bind(walk.fresh(walk.text(named)), Elem(source), declared)
        statement(walk, node.child_by_field_name("body"))
    return NOTHING


def _nested(walk: Walk, node: Node) -> Expr:
    """A statement that variables of its head are declared for."""
    with walk.block():
        for child in node.named_children:
            statement(walk, child)
    return NOTHING


def _if(walk: Walk, node: Node) -> Expr:
    # What a pattern of the condition declares may be seen after the statement too.
    run(walk, node.child_by_field_name("condition"))
    for name in ("consequence", "alternative"):
        statement(walk, node.child_by_field_name(name))
    return NOTHING


def _try(walk: Walk, node: Node) -> Expr:
    with walk.block():
        resources = node.child_by_field_name("resources")
        for child in resources.named_children if resources is not None else []:
            _resource(walk, child)
        for child in node.named_children:
            if child != resources:
                statement(walk, child)
    return NOTHING


def _resource(walk: Walk, node: Node) -> None:
    named, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    here = walk.build.here
    if named is not None:
        given = expr(walk, value) if value is not None else None
        name = walk.fresh(walk.text(named))
        here.bind(name, given, type_of(walk, node.child_by_field_name("type")))
        closed = Attr(Name(name), "close()")
        here.do(walk.build.call(closed, names=[IMPLICIT], line=line_of(node)))
    else:
        run(walk, node)


def _catch(walk: Walk, node: Node) -> Expr:
    with walk.block():
        for child in node.named_children:
            if child.type == "catch_formal_parameter":
                named = child.child_by_field_name("name")
                kinds = [part for part in child.named_children if part.type == "catch_type"]
                declared = type_of(walk, kinds[0]) if kinds else None
                if named is not None:
                    walk.build.here.bind(walk.fresh(walk.text(named)), None, declared)
            else:
                statement(walk, child)
    return NOTHING


def _switch(walk: Walk, node: Node) -> Expr:
    run(walk, node.child_by_field_name("condition"))
    body = node.child_by_field_name("body")
    values: list[Expr] = []
    for group in body.named_children if body is not None else []:
        with walk.block():
            for child in group.named_children:
                if child.type == "switch_label":
                    for part in child.named_children:
                        if part.type in ("pattern", "type_pattern", "record_pattern"):
                            bind_pattern(walk, part)
                        elif part.type == "guard":
                            run(walk, part)
                elif child.type == "expression_statement" and group.type == "switch_rule":
                    values.append(expr(walk, child))
                elif child.type == "yield_statement":
                    values.append(_yielded(walk, child))
                else:
                    statement(walk, child)
    return either(values)


def _yielded(walk: Walk, node: Node) -> Expr:
    return expr(walk, node.named_children[0]) if node.named_child_count else NOTHING


def _local_class(walk: Walk, node: Node) -> Expr:
    walk.declare_class(walk, node)
    return NOTHING


_STATEMENTS: dict[str, Callable[[Walk, Node], Expr]] = {
    "block": block,
    "constructor_body": block,
    "local_variable_declaration": local_variables,
    "return_statement": _return,
    "enhanced_for_statement": _for_each,
    "for_statement": _nested,
    "while_statement": _nested,
    "do_statement": _nested,
    "labeled_statement": _nested,
    "synchronized_statement": _nested,
    "if_statement": _if,
    "try_statement": _try,
    "try_with_resources_statement": _try,
    "catch_clause": _catch,
    "switch_expression": _switch,
    "class_declaration": _local_class,
    "record_declaration": _local_class,
    "enum_declaration": _local_class,
    "interface_declaration": _local_class,
}
EXPRESSIONS.update(_STATEMENTS)
