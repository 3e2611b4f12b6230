"""Bytes into facts: the grammar of a language, and what its module lowers."""

from functools import cache
from importlib import import_module

import tree_sitter

from .facts import FileFacts
from .languages.registry import Language


def parse(language: Language, content: bytes) -> FileFacts:
    """The facts of one file. ``ModuleNotFoundError`` when the grammar is not installed.

    Deep nesting recurses: run it in :func:`.deep.with_room`.
    """
    tree = _parser(language.module, language.entry).parse(content)
    return language.extract(content, tree.root_node)


@cache
def _parser(module: str, entry: str) -> tree_sitter.Parser:
    grammar = getattr(import_module(module), entry)()
    return tree_sitter.Parser(tree_sitter.Language(grammar))
