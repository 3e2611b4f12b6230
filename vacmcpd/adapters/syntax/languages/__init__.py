"""The languages, one module each: how a path is told, and what can be parsed here."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from ....ports.graph import Tier
from .registry import Language

MODULES: tuple[str, ...] = (
    "by_name",
    "c",
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
)
"""The modules of this folder. Each has ``LANGUAGES``, a tuple of them."""

Head = Callable[[], bytes]
"""Gives the first bytes of a file, asked only when its name can't tell."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What there is for a language here; ``version`` is "" when the grammar is not installed."""

    language: str
    tier: Tier
    distribution: str
    version: str


@cache
def languages() -> tuple[Language, ...]:
    """Every language that is known, with or without its grammar."""
    found: list[Language] = []
    for name in MODULES:
        found.extend(import_module(f".{name}", __name__).LANGUAGES)
    return tuple(found)


@cache
def _tables() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language]]:
    suffixes: dict[str, Language] = {}
    names: dict[str, Language] = {}
    interpreters: dict[str, Language] = {}
    for language in languages():
        suffixes.update(dict.fromkeys(language.suffixes, language))
        names.update(dict.fromkeys(language.filenames, language))
        interpreters.update(dict.fromkeys(language.interpreters, language))
    return suffixes, names, interpreters


@cache
def known() -> dict[str, Language]:
    """The languages by their names."""
    return {language.name: language for language in languages()}


def language_of(path: str, head: Head) -> Language | None:
    """The language of a file by its name, or by its first line when it has no extension."""
    suffixes, names, interpreters = _tables()
    name = path.rpartition("/")[2]
    if name in names:
        return names[name]
    stem, dot, extension = name.rpartition(".")
    if dot and stem:
        found = suffixes.get(f".{extension}")
        return found if found is not None else suffixes.get(f".{extension.lower()}")
    if dot or not interpreters:
        return None
    line = head().partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode("ascii", "replace").split()
    if words and words[0].rpartition("/")[2] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = words[0].rpartition("/")[2] if words else ""
    return interpreters.get(program) or interpreters.get(program.rstrip("0123456789."))


def installed() -> tuple[Grammar, ...]:
    """Every language and the version of its grammar."""
    return tuple(
        Grammar(language.name, language.tier, language.grammar, _version(language.grammar))
        for language in languages()
    )


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
