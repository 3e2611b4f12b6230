"""Crates, and the files of their modules, by Cargo.toml and folders."""

import posixpath
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from ...linking.linker import Linker
from ...linking.tree import Tree

_ROOTS = ("lib.rs", "main.rs")
_TARGETS = ("tests", "examples", "benches", "bin")
"""Folders each of whose files is a crate."""


@dataclass(frozen=True, slots=True)
class Package:
    """What a Cargo.toml says: the crate's name, and the root files of its targets."""

    name: str
    roots: tuple[str, ...]


def packages(tree: Tree) -> dict[str, Package]:
    """The packages of the tree by the folder of their Cargo.toml."""
    known = tree.cache.get("rust packages")
    found: dict[str, Package] = known if isinstance(known, dict) else {}
    if known is None:
        for path in tree.named("Cargo.toml"):
            folder = path.rpartition("/")[0]
            package = _package(folder, tree.sources.read(path) or b"")
            if package is not None:
                found[folder] = package
        tree.cache["rust packages"] = found
    return found


def _package(folder: str, content: bytes) -> Package | None:
    try:
        told = tomllib.loads(content.decode("utf-8", "replace"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    name = _text(told.get("package"), "name")
    if not name:
        return None
    several = told.get("bin")
    targets = [told.get("lib"), *(several if isinstance(several, list) else [])]
    paths = [path for path in (_text(target, "path") for target in targets) if path]
    roots = [*paths, *(f"src/{root}" for root in _ROOTS)]
    return Package(
        _text(told.get("lib"), "name") or name.replace("-", "_"),
        tuple(join(folder, root) for root in roots),
    )


def essence(content: bytes) -> object:
    """What of a Cargo.toml is looked at: the crate's name and its targets."""
    return _package("", content)


def _text(table: object, key: str) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, str) else ""


def join(folder: str, path: str) -> str:
    """``path`` in ``folder``; "" is the root of the tree."""
    return posixpath.normpath(f"{folder}/{path}" if folder else path)


def home(tree: Tree, path: str) -> str | None:
    """The folder of the package that a file is part of."""
    known = packages(tree)
    folder = path.rpartition("/")[0]
    while True:
        if folder in known:
            return folder
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """``crate::a::b`` for ``src/a/b.rs``; a file outside of any package by its path."""
    del namespace
    folder = home(tree, path)
    if folder is None:
        return "::".join(path.removesuffix(".rs").split("/"))
    package = packages(tree)[folder]
    around = _source_of(tree, package, path)
    if around is None:
        around = folder
    rest = path.removesuffix(".rs")[len(around) + 1 if around else 0 :].split("/")
    if path in package.roots:
        rest = []
    elif rest[-1] == "mod":
        rest = rest[:-1]
    return "::".join([package.name, *rest])


def _source_of(tree: Tree, package: Package, path: str) -> str | None:
    """The innermost folder of a target's root that a file is in."""
    folders = {root.rpartition("/")[0] for root in package.roots if tree.has(root)}
    inside = [folder for folder in folders if not folder or path.startswith(f"{folder}/")]
    return max(inside, key=len) if inside else None


def own_folder(path: str) -> str:
    """The folder that holds the modules which a file declares."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".rs")
    if stem in ("mod", "lib", "main") or folder.rpartition("/")[2] in _TARGETS:
        return folder
    return f"{folder}/{stem}" if folder else stem


def declared(path: str, place: str) -> Iterator[str]:
    """Where the module ``place`` (``a/b`` in an inline module ``a``) of a file may be."""
    folder = own_folder(path)
    inside = f"{folder}/{place}" if folder else place
    yield f"{inside}.rs"
    yield f"{inside}/mod.rs"


def parents(path: str) -> Iterator[str]:
    """Where the module that declares a file may be."""
    folder, _, name = path.rpartition("/")
    if name == "mod.rs":
        folder, _, _ = folder.rpartition("/")
    elif name in _ROOTS:
        return
    prefix = f"{folder}/" if folder else ""
    if folder:
        yield f"{folder}.rs"
    yield from (f"{prefix}{root}" for root in ("mod.rs", *_ROOTS))


def roots(linker: Linker, path: str) -> list[str]:
    """The root files of the crate that a file is part of; both of a package with two."""
    linker.named("Cargo.toml")
    parts = path.split("/")
    if len(parts) > 1 and parts[-2] in _TARGETS:
        return [path]
    folder = home(linker.tree, path)
    if folder is None:
        return [root for root in _beside(path) if linker.exists(root)]
    package = packages(linker.tree)[folder]
    present = [root for root in package.roots if linker.exists(root)]
    around = _source_of(linker.tree, package, path)
    return [root for root in dict.fromkeys(present) if root.rpartition("/")[0] == around]


def _beside(path: str) -> Iterator[str]:
    """Where the root of a crate without a Cargo.toml may be."""
    folder = path.rpartition("/")[0]
    while True:
        yield from (join(folder, root) for root in _ROOTS)
        if not folder:
            return
        folder = folder.rpartition("/")[0]


def library(linker: Linker, name: str) -> str | None:
    """The root file of the library of the tree that is called ``name``."""
    linker.named("Cargo.toml")
    for _, package in sorted(packages(linker.tree).items()):
        if package.name == name:
            found = (root for root in package.roots if not root.endswith("main.rs"))
            root = next((root for root in found if linker.exists(root)), None)
            if root is not None:
                return root
    return None
