"""What makes a graph: the analyser, the linker and each language's grammar, by name."""

import json
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec

from .facts import ANALYSER
from .languages import MODULES, installed, languages
from .languages.registry import Language

ENGINE, VERSION = "embedded", "1"


@cache
def maker_of(name: str) -> str:
    """What the facts of a file in that language follow from, beside its bytes."""
    found = next(each for each in installed() if each.language == name)
    return f"{name} {ANALYSER} {found.distribution} {found.version}"


@cache
def made_by() -> str:
    """What the links of a version follow from, beside its files: a digest of all makers."""
    makers = [maker_of(each.name) for each in languages()]
    text = json.dumps([VERSION, ANALYSER, *sorted(makers)])
    return sha256(text.encode("utf-8")).hexdigest()[:32]


@cache
def usable(name: str) -> bool:
    """Whether the grammar of a language is installed."""
    return find_spec(language(name).module) is not None


@cache
def home_of(name: str) -> str:
    """The module that has the language of that name."""
    folder = languages.__module__
    return next(
        f"{folder}.{module}"
        for module in MODULES
        for each in import_module(f"{folder}.{module}").LANGUAGES
        if each.name == name
    )


@cache
def language(name: str) -> Language:
    """The language of that name; ``KeyError`` when there is none."""
    return {each.name: each for each in languages()}[name]
