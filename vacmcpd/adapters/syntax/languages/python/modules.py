"""Which file a module is: roots, packages, relative and star imports."""

from ...facts import Import, Map
from ...linking import members
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Unit
from ...linking.values import NOTHING, Package, Values
from .builtin_names import LIBRARY

FAMILY = "python"
MARKS = ("pyproject.toml", "setup.py", "setup.cfg")
"""The files that stand in the folder that a project's packages are in, or are below ``src`` of."""

_DEEPEST = 20
"""Star imports of star imports that are followed."""


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """``pkg.mod``, from the package root; a package is called as its folder."""
    del namespace
    root = _named_root(tree, path.rpartition("/")[0])
    local = path[len(root) + 1 :] if root else path
    parts = local.rpartition(".")[0].split("/") if "." in local else local.split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)


def _named_root(tree: Tree, folder: str) -> str:
    key = ("python root", folder)
    found = tree.cache.get(key)
    if found is None:
        found = tree.cache[key] = _find_root(tree, folder)
    return str(found)


def _find_root(tree: Tree, folder: str) -> str:
    for base in _upwards(folder):
        if any(tree.has(_join(base, mark)) for mark in MARKS) or not base:
            if tree.has(_join(base, "__init__.py")) and base:
                continue
            source = _join(base, "src")
            inside = folder == source or folder.startswith(f"{source}/")
            return source if inside and not tree.has(f"{source}/__init__.py") else base
    return ""


def _upwards(folder: str) -> list[str]:
    found = [folder]
    while folder:
        folder = folder.rpartition("/")[0]
        found.append(folder)
    return found


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


# Roots of imports


def roots(linker: Linker, folder: str) -> tuple[str, ...]:
    """The folders that an absolute import of a file in ``folder`` is looked for in, in order."""
    return linker.ask(("python roots", folder), _roots, folder)


def _roots(linker: Linker, folder: str) -> tuple[str, ...]:
    above = _upwards(folder)
    plain = [base for base in above if not linker.exists(_join(base, "__init__.py"))]
    found = dict.fromkeys(plain[:1])
    for base in above:
        if any(linker.exists(_join(base, mark)) for mark in MARKS):
            source = _join(base, "src")
            if linker.exists_folder(source):
                found[source] = None
            found[base] = None
    found.update(dict.fromkeys(plain))
    if linker.exists_folder("src"):
        found["src"] = None
    found[""] = None
    for mark in MARKS:
        linker.places(mark)
    found.update(dict.fromkeys(_marked(linker.tree)))
    return tuple(found)


def _marked(tree: Tree) -> list[str]:
    """The folders of the projects of the version, and their ``src``."""
    key = ("python projects",)
    found = tree.cache.get(key)
    if found is None:
        folders: list[str] = []
        for folder, names in sorted(tree.folders.items()):
            if any(mark in names for mark in MARKS):
                source = _join(folder, "src")
                folders.extend([source, folder] if tree.has_folder(source) else [folder])
        found = tree.cache[key] = folders
    return found  # type: ignore[return-value]


# Modules


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """What an import gives."""
    if expr.name == "*":
        return NOTHING
    key = (unit.path, expr.module, expr.name, expr.level, "import", linker.strict)
    return linker.ask(key, _imported, unit, expr)


def _imported(linker: Linker, unit: Unit, expr: Import) -> Values:
    target = _target(linker, unit, expr.module, expr.level)
    if target is None:
        if expr.level:
            return NOTHING
        name = f"{expr.module}.{expr.name}" if expr.name else expr.module
        return frozenset({linker.ext(name)})
    if not expr.name:
        return _as_value(linker, target)
    if target.endswith("/"):
        return attribute_of(linker, target[:-1], expr.module, expr.name)
    other = linker.unit(target)
    if other is None:
        return NOTHING
    if other is unit:
        inside = _below(linker, other.path, expr.name)
        if inside is not None:
            return _as_value(linker, inside)
    return members.of_module(linker, other, expr.name)


def _target(linker: Linker, unit: Unit, module: str, level: int) -> str | None:
    """The path of a module's file, or of its folder with ``/``; None when it is not here."""
    folder = unit.path.rpartition("/")[0]
    if not level:
        return linker.ask(("python module", folder, module), _find, folder, module)
    above = _upwards(folder)
    if level > len(above):
        return None
    base = above[level - 1]
    return _located(linker, _join(base, module.replace(".", "/")) if module else base)


def _find(linker: Linker, folder: str, module: str) -> str | None:
    path = module.replace(".", "/")
    space: str | None = None
    library = module.partition(".")[0] in LIBRARY
    for root in roots(linker, folder):
        if library and linker.exists(_join(root, "__init__.py")):
            # A package is no root; it is only looked in for names that nothing else has.
            continue
        found = _located(linker, _join(root, path))
        if found is not None and not found.endswith("/"):
            return found
        space = space or found
    return space


def _located(linker: Linker, path: str) -> str | None:
    package = _join(path, "__init__.py")
    if linker.exists(package):
        return package
    if path and linker.exists(f"{path}.py"):
        return f"{path}.py"
    return f"{path}/" if linker.exists_folder(path) else None


def _as_value(linker: Linker, target: str) -> Values:
    if target.endswith("/"):
        return frozenset({linker.package(FAMILY, target[:-1])})
    unit = linker.unit(target)
    return frozenset({linker.module(unit)}) if unit is not None else NOTHING


def attribute_of(linker: Linker, folder: str, module: str, name: str) -> Values:
    """A module of a folder without ``__init__``; external when there is none."""
    found = _located(linker, _join(folder, name))
    if found is not None:
        return _as_value(linker, found)
    return frozenset({linker.ext(f"{module}.{name}")})


def package_attr(linker: Linker, value: Package, name: str) -> Values:
    """An attribute of a folder without ``__init__``."""
    return attribute_of(linker, value.name, value.name.rpartition("/")[2], name)


def _below(linker: Linker, path: str, name: str) -> str | None:
    """The module ``name`` of the package whose ``__init__`` is at ``path``."""
    folder, _, file = path.rpartition("/")
    return _located(linker, _join(folder, name)) if file == "__init__.py" else None


# Names that a module does not bind


def module_attr(linker: Linker, unit: Unit, name: str) -> Values:
    """A name of a module that it does not bind: of a star import, a submodule."""
    origin = starred(linker, unit, name)
    if origin is not None:
        return members.of_module(linker, origin, name)
    found = _below(linker, unit.path, name)
    return _as_value(linker, found) if found is not None else NOTHING


def starred(linker: Linker, unit: Unit, name: str) -> Unit | None:
    """The module whose own ``name`` a star import brings."""
    linker.read_name(unit.module, "*")
    if "*" not in unit.module.binds:
        return None
    return linker.ask(("star", unit, name), _origin, unit, name, 0)


def _origin(linker: Linker, unit: Unit, name: str, depth: int) -> Unit | None:
    """The module whose own ``name`` the last of the star imports of ``unit`` brings."""
    linker.read_name(unit.module, "*")
    for item in reversed(unit.module.binds.get("*", [])):
        if type(item.value) is not Import or depth > _DEEPEST:
            continue
        target = _target(linker, unit, item.value.module, item.value.level)
        other = linker.unit(target) if target is not None and target[-1] != "/" else None
        if other is None or other is unit or not _exports(linker, other, name):
            continue
        linker.read_name(other.module, name)
        if other.module.binds_name(name):
            return other
        found = _origin(linker, other, name, depth + 1)
        if found is not None:
            return found
    return None


def _exports(linker: Linker, unit: Unit, name: str) -> bool:
    """Whether ``from m import *`` takes ``name``: by ``__all__``, else all without ``_``."""
    linker.read_name(unit.module, "__all__")
    listed = unit.module.binds.get("__all__")
    if listed is None:
        return not name.startswith("_")
    return any(type(item.value) is not Map or name in item.value.keys for item in listed)


def outside_star(linker: Linker, unit: Unit, name: str) -> Values:
    """A name that only a star import from outside of the version can bring."""
    linker.read_name(unit.module, "*")
    for item in reversed(unit.module.binds.get("*", [])):
        if type(item.value) is not Import or item.value.level:
            continue
        if _target(linker, unit, item.value.module, 0) is None:
            return frozenset({linker.ext(f"{item.value.module}.{name}")})
    return NOTHING


_MODULE_TEXTS = frozenset({"__name__", "__file__", "__doc__", "__package__", "__qualname__"})


def module_text(linker: Linker, name: str) -> Values:
    """``__name__`` and its like are strings."""
    if name not in _MODULE_TEXTS:
        return NOTHING
    return frozenset({linker.ext("<builtin>.str", inst=True)})
