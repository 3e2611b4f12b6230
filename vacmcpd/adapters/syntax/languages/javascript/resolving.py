"""Which file a module's name means."""

from ...linking.linker import Linker
from .configs import Package, aliases_of, is_needed, join, own_packages, package_around, package_in
from .words import words

SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts")
"""What may be left out, in the order in which it is tried; declarations stand in for the rest."""

_CODE = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_WRITTEN = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""What a compiler makes the file that is written in an import from."""

_NODE = words(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram dns
    domain events fs http http2 https inspector module net os path perf_hooks process
    punycode querystring readline repl stream string_decoder timers tls tty url util v8 vm
    worker_threads zlib
    """
)
"""The modules that come with Node; no package of the repository hides them."""

_BUILT = frozenset(
    {"dist", "lib", "build", "out", "esm", "cjs", "es", "dist-esm", "umd", "_build", "output"}
)


def resolve(linker: Linker, path: str, written: str) -> str | None:
    """The code file that ``written`` means in ``path``; None for what is not in the tree."""
    folder = path.rpartition("/")[0]
    return linker.ask(("js-module", folder, written), _resolve, folder, written)


def outside(written: str) -> str:
    """What a module that is not in the tree is called."""
    return written.removeprefix("node:")


def _resolve(linker: Linker, folder: str, written: str) -> str | None:
    name = written.rpartition("!")[2].partition("?")[0]
    if not name or name.startswith("node:") or "://" in name:
        return None
    if name.startswith((".", "/")):
        place = join(folder, name) if name[0] == "." else join("", name.lstrip("/"))
        return _at(linker, place) if place is not None else None
    if name.startswith("#"):
        found = _mapped_import(linker, folder, name)
        if found is not None:
            return found
    aliased = _aliased(linker, folder, name)
    return aliased if aliased is not None else _packaged(linker, folder, name)


def _at(linker: Linker, place: str) -> str | None:
    """The file at ``place``, whose extension may be left out, or that of the folder."""
    found = file_at(linker, place)
    return found if found is not None else _folder_at(linker, place)


def file_at(linker: Linker, place: str) -> str | None:
    """The code file at ``place``, whose extension may be left out."""
    if not place:
        return None
    stem, dot, extension = place.rpartition(".")
    suffix = f".{extension}" if dot and "/" not in extension else ""
    if suffix in _CODE:
        if linker.exists(place):
            return place
        for other in _WRITTEN.get(suffix, ()):
            if linker.exists(f"{stem}{other}"):
                return f"{stem}{other}"
    for other in SUFFIXES:
        if linker.exists(f"{place}{other}"):
            return f"{place}{other}"
    return None


def _folder_at(linker: Linker, place: str) -> str | None:
    if place and not linker.exists_folder(place):
        return None
    package = package_in(linker, place)
    if package is not None:
        found = _entry(linker, package)
        if found is not None:
            return found
    return file_at(linker, f"{place}/index" if place else "index")


def _entry(linker: Linker, package: Package) -> str | None:
    """The file that a package's own name means."""
    for target in (*package.exports.get(".", ()), *package.entries):
        found = _source_of(linker, package, target)
        if found is not None:
            return found
    for target in ("src/index", "index", "lib/index", "src/main"):
        place = join(package.folder, target)
        found = file_at(linker, place) if place is not None else None
        if found is not None:
            return found
    return None


def _source_of(linker: Linker, package: Package, target: str) -> str | None:
    """A file that a package names: what it is built from when it is not in the tree."""
    place = join(package.folder, target)
    if place is None:
        return None
    declared = place.endswith(".d.ts")
    if not declared:
        found = file_at(linker, place)
        if found is None and linker.exists_folder(place):
            found = file_at(linker, f"{place}/index")
        if found is not None:
            return found
    parts = target.removeprefix("./").split("/")
    for index, part in enumerate(parts[:-1]):
        if part in _BUILT:
            for inner in (parts[index + 1 :], parts[index + 2 :]):
                found = _built_from(linker, package, [*parts[:index], "src", *inner])
                if found is not None:
                    return found
    return place if declared and linker.exists(place) else None


def _built_from(linker: Linker, package: Package, parts: list[str]) -> str | None:
    written = "/".join(parts)
    for suffix in (".d.ts", ".d.mts", *_CODE):
        if written.endswith(suffix):
            written = written.removesuffix(suffix)
            break
    place = join(package.folder, written)
    return file_at(linker, place) if place is not None else None


def _mapped_import(linker: Linker, folder: str, name: str) -> str | None:
    package = package_around(linker, folder)
    if package is None:
        return None
    for target in _matching(package.imports, name):
        found = _source_of(linker, package, target)
        if found is not None:
            return found
    return None


def _matching(table: dict[str, list[str]], name: str) -> list[str]:
    """The files that a map with patterns gives for ``name``."""
    if name in table:
        return table[name]
    for pattern in sorted(table, key=lambda key: (-len(key), key)):
        before, star, after = pattern.partition("*")
        if star and name.startswith(before) and name.endswith(after) and len(name) >= len(before):
            middle = name[len(before) : len(name) - len(after)]
            return [target.replace("*", middle) for target in table[pattern]]
    return []


def _aliased(linker: Linker, folder: str, name: str) -> str | None:
    """What a configuration's ``paths`` and ``baseUrl`` say of a name."""
    aliases = aliases_of(linker, folder)
    if aliases is None:
        return None
    for target in _matching({key: list(value) for key, value in aliases.paths}, name):
        found = _at(linker, target)
        if found is not None:
            return found
    if aliases.base is None:
        return None
    place = join(aliases.base, name)
    return _at(linker, place) if place is not None else None


def _packaged(linker: Linker, folder: str, name: str) -> str | None:
    """A package of the repository by its name, or of a ``node_modules`` that it holds."""
    parts = name.split("/")
    count = 2 if name.startswith("@") else 1
    head, rest = "/".join(parts[:count]), "/".join(parts[count:])
    if head in _NODE:
        return None
    package = _installed(linker, folder, head) or own_packages(linker).get(head)
    if package is None:
        return None if is_needed(linker, folder, head) else _beside(linker, folder, name)
    if not rest:
        return _entry(linker, package)
    for target in _matching(package.exports, f"./{rest}"):
        found = _source_of(linker, package, target)
        if found is not None:
            return found
    for place in (join(package.folder, rest), join(package.folder, f"src/{rest}")):
        found = _at(linker, place) if place is not None else None
        if found is not None:
            return found
    return _source_of(linker, package, rest)


def _beside(linker: Linker, folder: str, name: str) -> str | None:
    """A module that no package is needed for may be a file: loaders differ in where they look."""
    place = join(folder, name)
    return file_at(linker, place) if place is not None else None


def _installed(linker: Linker, folder: str, name: str) -> Package | None:
    if not linker.ask("js-vendored", _vendored):
        return None
    while True:
        holder = f"{folder}/node_modules" if folder else "node_modules"
        if linker.exists_folder(f"{holder}/{name}"):
            return package_in(linker, f"{holder}/{name}") or Package(f"{holder}/{name}", name)
        if not folder:
            return None
        folder = folder.rpartition("/")[0]


def _vendored(linker: Linker) -> bool:
    """Whether the repository holds any package that it did not write."""
    return any("node_modules/" in path for path in linker.places("package.json"))
