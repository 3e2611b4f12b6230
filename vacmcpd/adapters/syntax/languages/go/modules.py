"""Packages of Go: go.mod's module line and the folder, vendor folders, local replacements."""

import re

from ...facts import Import, Name
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Unit
from ...linking.values import NOTHING, Klass, Package, TypeVar, Values
from .items import RECEIVER_PARAM, UNNAMED
from .types import OWN_PACKAGE

FAMILY = "go"
_MODULE = re.compile(rb'^\s*module\s+"?([^\s"]+)"?', re.MULTILINE)
_REPLACE = re.compile(
    rb'^\s*(?:replace\s+)?"?([^\s"]+)"?(?:\s+v\S+)?\s+=>\s+"?(\.{1,2}(?:/[^\s"]*)?)"?',
    re.MULTILINE,
)


def folder_of(path: str) -> str:
    """The folder of a file; "" is the root."""
    return path.rpartition("/")[0]


def package(tree: Tree, path: str, namespace: str) -> str:
    """The files of a folder are a package; commands and external tests are ones of their own."""
    del tree
    folder = folder_of(path)
    if namespace == "main":
        return f"{folder}:main"
    if namespace.endswith("_test") and path.endswith("_test.go"):
        return f"{folder}:test"
    return folder


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """The import path of a file's package."""
    folder = folder_of(path)
    name = _import_path(tree, folder) or namespace
    if namespace.endswith("_test") and path.endswith("_test.go"):
        name += "_test"
    return name


def _import_path(tree: Tree, folder: str) -> str:
    head, vendor, rest = f"/{folder}".rpartition("/vendor/")
    if vendor and rest:
        return rest
    del head
    for found in tree.above(f"{folder}/x" if folder else "x", "go.mod"):
        name = _declared(tree.sources.read(found))
        if name:
            base = folder_of(found)
            below = folder[len(base) :].strip("/") if base else folder
            return f"{name}/{below}" if below else name
    return folder


def _declared(content: bytes | None) -> str:
    match = _MODULE.search(content) if content is not None else None
    return match[1].decode("utf-8", "replace") if match is not None else ""


def essence(content: bytes) -> object:
    """What of a go.mod is looked at: the module, and local replacements."""
    return _declared(content), _REPLACE.findall(content)


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """A package of the tree, else one outside; and the marks that the extractor leaves."""
    if expr.module == OWN_PACKAGE:
        key = package(linker.tree, unit.path, unit.facts.namespace)
        return frozenset({linker.package(FAMILY, key)})
    if expr.module == RECEIVER_PARAM:
        return _type_param(linker, unit, expr)
    folder = linker.ask(("go import", folder_of(unit.path), expr.module), _find, unit, expr.module)
    if isinstance(folder, str):
        return frozenset({linker.package(FAMILY, folder)})
    return frozenset({linker.ext(expr.module)})


def _type_param(linker: Linker, unit: Unit, expr: Import) -> Values:
    values = NOTHING
    for value in ev.symbols(linker, unit.module, Name(expr.name)):
        if isinstance(value, Klass) and expr.level < len(value.decl.scope.type_params):
            linker.read_name(value.decl, "<bases>")
            name = value.decl.scope.type_params[expr.level].name
            values |= frozenset({linker.make(TypeVar, value.decl, name)})
    return values


def _find(linker: Linker, unit: Unit, name: str) -> str | None:
    """The folder of the tree that an import path means for a file; None outside of it."""
    folder = folder_of(unit.path)
    while True:
        vendored = f"{folder}/vendor/{name}" if folder else f"vendor/{name}"
        if linker.exists_folder(vendored) and linker.has_package(FAMILY, vendored):
            return vendored
        if not folder:
            break
        folder = folder_of(folder)
    for base, module in _modules(linker, unit.path):
        if name == module or name.startswith(f"{module}/"):
            below = name[len(module) + 1 :]
            found = f"{base}/{below}" if base and below else base or below
            if linker.has_package(FAMILY, found):
                return found
    if name.startswith("."):
        return _joined(folder_of(unit.path), name)
    # Without any go.mod, folders are named by their own paths.
    if not linker.places("go.mod") and linker.has_package(FAMILY, name):
        return name
    return None


def _modules(linker: Linker, path: str) -> list[tuple[str, str]]:
    """(folder, module) of what a file may import from: its own module and replacements first."""
    return linker.ask(("go modules", folder_of(path)), _all_modules, path) or []


def _all_modules(linker: Linker, path: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    nearest = True
    places = linker.named("go.mod")
    own = set(linker.tree.above(path, "go.mod"))
    for place in sorted(places, key=lambda item: (item not in own, -len(item), item)):
        text = linker.text(place)
        base, module = folder_of(place), _declared(text)
        if not module:
            continue
        if place in own and nearest:
            nearest = False
            found.append((base, module))
            for match in _REPLACE.finditer(text or b""):
                to = _joined(base, match[2].decode("utf-8", "replace"))
                if to is not None:
                    found.append((to, match[1].decode("utf-8", "replace")))
        elif "testdata" not in base.split("/"):
            others.append((base, module))
    others.sort(key=lambda pair: (-len(pair[1]), pair))
    return found + others


def _joined(base: str, relative: str) -> str | None:
    parts = base.split("/") if base else []
    for part in relative.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def unnamed_package(linker: Linker, unit: Unit, name: str) -> Values:
    """The import whose package calls itself ``name``, whatever its path says."""
    for item in unit.module.binds.get(UNNAMED, ()):
        if type(item.value) is not Import:
            continue
        for value in import_value(linker, unit, item.value):
            if isinstance(value, Package) and _called(linker, value.name) == name:
                return frozenset({value})
    return NOTHING


def _called(linker: Linker, folder: str) -> str:
    for name in linker.files_in(folder):
        path = f"{folder}/{name}" if folder else name
        if name.endswith(".go") and not name.endswith("_test.go"):
            # The package's name is the file's own word: what it says counts as read.
            linker.text(path)
            unit = linker.unit(path)
            if unit is not None and unit.facts.namespace != "main":
                return unit.facts.namespace
    return ""
