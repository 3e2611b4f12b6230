"""JavaScript, and what TypeScript shares with it: syntax into facts."""

from tree_sitter import Node

from ...facts import FileFacts
from . import assignments, calls, classes, expressions, functions, jsx, modules, statements, types
from .walk import Tables, Walk, walk_of

TABLES = Tables(
    {
        **expressions.EXPRESSIONS,
        **jsx.EXPRESSIONS,
        "new_expression": calls.new,
        "assignment_expression": assignments.assignment,
        "augmented_assignment_expression": assignments.augmented,
        "arrow_function": functions.arrow,
        "function_expression": functions.expression,
        "generator_function": functions.expression,
        "object": functions.literal,
        "class": classes.expression,
    },
    {**statements.STATEMENTS, **modules.STATEMENTS},
    types.TYPES,
)


def facts_of(language: str, source: bytes, root: Node) -> FileFacts:
    """What a file of one of the family's languages says about calls."""
    walk = walk_of(source, root, language, TABLES)
    statements.statements(walk, root.named_children)
    modules.finish(walk)
    if root.has_error:
        walk.build.errors = errors_in(root)
    return walk.build.finish()


def errors_in(root: Node) -> int:
    """The error nodes and missing tokens of a tree."""
    found = 0
    stack = [root]
    while stack:
        top = stack.pop()
        if top.type == "ERROR" or top.is_missing:
            found += 1
        elif top.has_error:
            stack.extend(top.children)
    return found


def extract(source: bytes, root: Node) -> FileFacts:
    """What a JavaScript file says about calls."""
    return facts_of("javascript", source, root)


__all__ = ["TABLES", "Walk", "extract", "facts_of"]
