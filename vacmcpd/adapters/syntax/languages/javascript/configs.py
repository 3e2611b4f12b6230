"""What package.json and tsconfig.json say about how modules are found."""

import json
import posixpath
import re
from dataclasses import dataclass, field
from typing import Any

from ...linking.linker import Linker

_BIGGEST = 1 << 20
_LONGEST = 8
"""So many configurations extend one another, and no more."""

_SKIPPED = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)
_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.S)
_CONDITIONS = (
    "source", "svelte", "module", "import", "node", "browser", "require", "default", "types",
)  # fmt: skip
_ENTRIES = ("source", "module", "jsnext:main", "main", "browser", "types", "typings")
_NEEDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_CONFIGS = ("tsconfig.json", "tsconfig.base.json", "jsconfig.json", "tsconfig.app.json")


@dataclass(frozen=True, slots=True)
class Package:
    """A package.json: where it is, and what it calls its parts."""

    folder: str
    name: str
    entries: tuple[str, ...] = ()
    exports: dict[str, list[str]] = field(default_factory=dict)
    imports: dict[str, list[str]] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    """The packages that it depends on."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """What a configuration maps names of modules to; ``base`` is None when it has no baseUrl."""

    base: str | None
    paths: tuple[tuple[str, tuple[str, ...]], ...] = ()


def join(folder: str, path: str) -> str | None:
    """``path`` seen from ``folder``; None for what is outside of the repository."""
    joined = posixpath.normpath(posixpath.join(folder, path)) if path else folder
    if joined == ".":
        return ""
    return None if joined.startswith(("../", "/")) or joined == ".." else joined


def parsed(linker: Linker, path: str) -> dict[str, Any]:
    """A configuration with comments and trailing commas; empty when it can't be read."""
    return _parsed(linker.text(path))


def _parsed(content: bytes | None) -> dict[str, Any]:
    if content is None or len(content) > _BIGGEST:
        return {}
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    for pattern in (None, _SKIPPED, _COMMA):
        if pattern is not None:
            text = pattern.sub(lambda match: match[1] or "", text)
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else {}
    return {}


def package_in(linker: Linker, folder: str) -> Package | None:
    """The package of a folder."""
    return linker.ask(("js-package", folder), _package_in, folder)


def _package_in(linker: Linker, folder: str) -> Package | None:
    path = f"{folder}/package.json" if folder else "package.json"
    if not linker.exists(path):
        return None
    return _package_of(folder, parsed(linker, path))


def essence(content: bytes) -> object:
    """What of a package.json is looked at: names, entries, exports, dependencies' names."""
    return _package_of("", _parsed(content))


def _package_of(folder: str, found: dict[str, Any]) -> Package:
    name = found.get("name")
    entries = tuple(value for key in _ENTRIES if isinstance(value := found.get(key), str) and value)
    return Package(
        folder,
        name if isinstance(name, str) else "",
        entries,
        _targets(found.get("exports"), "."),
        _targets(found.get("imports"), "#"),
        frozenset(str(key) for name in _NEEDS for key in _keys(found.get(name))),
    )


def _keys(value: object) -> list[object]:
    return list(value) if isinstance(value, dict) else []


def _targets(value: object, prefix: str) -> dict[str, list[str]]:
    """An ``exports`` or ``imports`` map: each name's files, the most source-like first."""
    if isinstance(value, dict) and any(str(key).startswith(prefix) for key in value):
        return {str(key): _leaves(item) for key, item in value.items()}
    return {prefix: _leaves(value)} if value is not None else {}


def _leaves(value: object, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth > _LONGEST:
        return []
    found: list[str] = []
    if isinstance(value, list):
        for item in value:
            found.extend(_leaves(item, depth + 1))
    elif isinstance(value, dict):
        known = [key for key in _CONDITIONS if key in value]
        for key in (*known, *(key for key in value if key not in _CONDITIONS)):
            found.extend(_leaves(value[key], depth + 1))
    return list(dict.fromkeys(found))


def own_packages(linker: Linker) -> dict[str, Package]:
    """The packages of the repository by name; the one nearest to the root of namesakes."""
    return linker.ask("js-packages", _own_packages)


def _own_packages(linker: Linker) -> dict[str, Package]:
    found: dict[str, Package] = {}
    paths = linker.named("package.json")
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if "node_modules/" not in path:
            package = package_in(linker, path.rpartition("/")[0])
            if package is not None and package.name:
                found.setdefault(package.name, package)
    return found


def package_around(linker: Linker, folder: str) -> Package | None:
    """The package that a folder is part of."""
    while True:
        found = package_in(linker, folder)
        if found is not None or not folder:
            return found
        folder = folder.rpartition("/")[0]


def is_needed(linker: Linker, folder: str, name: str) -> bool:
    """Whether any package around a folder says that it depends on ``name``."""
    while True:
        found = package_in(linker, folder)
        if found is not None and (name in found.needs or found.name == name):
            return True
        if not folder:
            return False
        folder = folder.rpartition("/")[0]


def aliases_of(linker: Linker, folder: str) -> Aliases | None:
    """What the nearest configuration that maps names says, for the files of a folder."""
    return linker.ask(("js-aliases", folder), _aliases_of, folder)


def _aliases_of(linker: Linker, folder: str) -> Aliases | None:
    for name in _CONFIGS:
        path = f"{folder}/{name}" if folder else name
        if linker.exists(path):
            found = _aliases_in(linker, path, 0)
            if found is not None:
                return found
    return aliases_of(linker, folder.rpartition("/")[0]) if folder else None


def _aliases_in(linker: Linker, path: str, depth: int) -> Aliases | None:
    config = parsed(linker, path)
    folder = path.rpartition("/")[0]
    options = config.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    root = join(folder, base) if isinstance(base, str) else None
    if isinstance(paths, dict):
        return Aliases(root, _mapped(paths, folder if root is None else root))
    if root is not None:
        return Aliases(root, _inherited(linker, config, folder, depth))
    others = [*_texts(config.get("extends")), *_references(config)] if depth < _LONGEST else []
    for other in others:
        target = _config_at(linker, folder, other)
        found = _aliases_in(linker, target, depth + 1) if target is not None else None
        if found is not None:
            return found
    return None


def _inherited(
    linker: Linker, config: dict[str, Any], folder: str, depth: int
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    for other in _texts(config.get("extends")) if depth < _LONGEST else ():
        target = _config_at(linker, folder, other)
        found = _aliases_in(linker, target, depth + 1) if target is not None else None
        if found is not None:
            return found.paths
    return ()


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _references(config: dict[str, Any]) -> list[str]:
    listed = config.get("references")
    found = (
        (item.get("path") for item in listed if isinstance(item, dict))
        if isinstance(listed, list)
        else ()
    )
    return [item for item in found if isinstance(item, str) and item.endswith(".json")]


def _config_at(linker: Linker, folder: str, written: str) -> str | None:
    if not written.startswith("."):
        return None
    path = join(folder, written)
    if path is None:
        return None
    for found in (path, f"{path}.json", f"{path}/tsconfig.json"):
        if linker.exists(found):
            return found
    return None


def _mapped(paths: dict[Any, Any], base: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each pattern and what it stands for, from the repository's root; the longest first."""
    found = []
    for pattern, targets in paths.items():
        places = (join(base, target) for target in _texts(targets))
        found.append((str(pattern), tuple(place for place in places if place is not None)))
    return tuple(sorted(found, key=lambda item: (-len(item[0].partition("*")[0]), item[0])))
