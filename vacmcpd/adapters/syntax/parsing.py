"""Bytes into facts: the grammar of a language, and what its module lowers."""

from functools import cache
from importlib import import_module

import tree_sitter
from msgspec.structs import replace

from .facts import FileFacts
from .languages.registry import Language


def parse(language: Language, content: bytes) -> FileFacts:
    """The facts of one file. ``ModuleNotFoundError`` when the grammar is not installed.

    Deep nesting recurses: run it in :func:`.deep.with_room`.
    """
    tree = _parser(language.module, language.entry).parse(content)
    root = tree.root_node
    facts = language.extract(content, root)
    return replace(facts, errors=errors_in(root)) if root.has_error else facts


def errors_in(root: tree_sitter.Node) -> int:
    """The error nodes and missing tokens of a tree: what stands in them may not be in the facts."""
    found = 0
    stack = [root]
    while stack:
        top = stack.pop()
        if top.type == "ERROR" or top.is_missing:
            found += 1
        elif top.has_error:
            stack.extend(top.children)
    return found


@cache
def _parser(module: str, entry: str) -> tree_sitter.Parser:
    grammar = getattr(import_module(module), entry)()
    return tree_sitter.Parser(tree_sitter.Language(grammar))
