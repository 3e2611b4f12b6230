"""JavaScript, and what TypeScript shares with it: syntax into facts."""

from functools import partial

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from . import (
    assignments,
    calls,
    classes,
    defining,
    expressions,
    functions,
    jsx,
    modules,
    statements,
    types,
)
from .rules import FAMILY, RULES
from .walk import Tables, walk_of

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
    defining.CALLS,
)


def facts_of(language: str, source: bytes, root: Node) -> FileFacts:
    """What a file of one of the family's languages says about calls."""
    walk = walk_of(source, root, language, TABLES)
    statements.statements(walk, root.named_children)
    modules.finish(walk)
    return walk.build.finish()


_TYPESCRIPT = "tree-sitter-typescript"
LANGUAGES = (
    Language(
        "javascript",
        Tier.SCOPED,
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree-sitter-javascript",
        "tree_sitter_javascript",
        partial(facts_of, "javascript"),
        RULES,
        family=FAMILY,
        interpreters=("node", "nodejs", "deno", "bun"),
    ),
    Language(
        "typescript",
        Tier.SCOPED,
        (".ts", ".mts", ".cts"),
        _TYPESCRIPT,
        "tree_sitter_typescript",
        partial(facts_of, "typescript"),
        RULES,
        entry="language_typescript",
        family=FAMILY,
    ),
    Language(
        "tsx",
        Tier.SCOPED,
        (".tsx",),
        _TYPESCRIPT,
        "tree_sitter_typescript",
        partial(facts_of, "tsx"),
        RULES,
        entry="language_tsx",
        family=FAMILY,
    ),
)
"""JavaScript, TypeScript and TSX: one family, whose files call each other."""
