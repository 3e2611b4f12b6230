"""What a language module offers, and which language a path is in."""

from collections.abc import Callable
from dataclasses import dataclass

from tree_sitter import Node

from ....ports.graph import Tier
from ..facts import FileFacts
from ..rules import Rules


@dataclass(frozen=True, slots=True)
class Language:
    """One language: how its files are told, parsed, lowered and linked.

    ``suffixes`` are with their dot, in lower case. ``grammar`` is the distribution that holds the
    grammar, ``module`` its import name and ``entry`` the function in it that gives the language.
    ``family`` names the languages whose files call each other as if they were one.
    """

    name: str
    tier: Tier
    suffixes: tuple[str, ...]
    grammar: str
    module: str
    extract: Callable[[bytes, Node], FileFacts]
    rules: Rules
    entry: str = "language"
    family: str = ""
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
