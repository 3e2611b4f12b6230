"""What a symbol is called: bare, and qualified from the repository's root."""

import re

from ...ports.graph import Symbol
from .facts import FileFacts, ScopeKind
from .languages.registry import Language
from .linking.tree import Tree
from .rules import Rules

_UNSHOWN = re.compile(r"<block>(?:#\d+)?(?:\.|$)|#\d+|<class>")


def module_name(tree: Tree, path: str, language: Language, namespace: str) -> str:
    """The qualified name of a file's module-level code."""
    return language.rules.module_name(tree, path, namespace)


def qualified(module: str, rules: Rules, local: str) -> str:
    """The qualified name of a scope by its dotted local name; "" is the module itself.

    Namesakes are numbered in local names (``f#2``), not in qualified ones.
    """
    shown = _UNSHOWN.sub("", local).rstrip(".")
    if not shown:
        return module
    if rules.global_names:
        # A namespace's name ends with what stands behind it.
        shown = shown.replace(f"{rules.separator}.", rules.separator)
    if rules.member_separator != ".":
        shown = shown.replace(".", rules.member_separator)
    if not module or (rules.global_names and not shown.startswith("<")):
        return shown
    return f"{module}{rules.separator}{shown}"


def bare(name: str, module: str) -> str:
    """The bare name of a scope; a module's is the last part of its own."""
    return name.rpartition(".")[2] or re.split(r"[./:]", module)[-1]


def symbol_of(module: str, rules: Rules, facts: FileFacts, number: int, local: str) -> Symbol:
    """Scope ``number`` of a file as a symbol, without its path."""
    scope, place = facts.scopes[number], facts.places[number]
    return Symbol(
        bare(scope.name, module),
        qualified(module, rules, local),
        "",
        place.line,
        kind_of(scope.kind),
    )


def kind_of(kind: ScopeKind) -> str:
    """``function``, ``class`` and so on."""
    return ScopeKind(kind).name.lower()
