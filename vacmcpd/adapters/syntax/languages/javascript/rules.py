"""How JavaScript and TypeScript files are named, and what links them."""

from ...linking import containers
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Unit
from ...linking.values import NOTHING, Values
from ...rules import Rules
from . import configs
from .applying import site_targets
from .attributes import mro, this_value, value_attr
from .builtins import call_value
from .exporting import import_value, whole
from .modules import SCRIPT
from .walk import GLOBAL
from .words import NAMES

FAMILY = "javascript"
_ENDINGS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """The path without its extension; ``a.d.ts`` is ``a.d``."""
    del tree, namespace
    for ending in _ENDINGS:
        if path.lower().endswith(ending):
            return path[: -len(ending)]
    return path


def package(tree: Tree, path: str, namespace: str) -> str:
    """Scripts see each other's names; every module is for itself."""
    del tree, path
    return namespace


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """A name that the file does not bind: CommonJS's, the language's, another script's."""
    if name in ("exports", "module.exports"):
        return whole(linker, unit)
    if name.startswith(GLOBAL):
        window = linker.ext("<builtin>.window")
        return containers.stored(linker, window, name.removeprefix(GLOBAL), unit)
    if name in NAMES:
        return frozenset({linker.ext(f"<builtin>.{name}")})
    # Whether the file is a module may rest on anything in it.
    linker.read(f"blob\0{unit.path}")
    paths = linker.paths_of(FAMILY, SCRIPT, name)
    script = unit.facts.namespace == SCRIPT
    seen = [path for path in paths if path != unit.path and (script or ".d." in path)]
    near = _nearest(unit.path, seen)
    values = NOTHING
    for path in near:
        other = linker.unit(path)
        if other is not None:
            values |= ev.bound(linker, other.module, name)
    return values


def _nearest(path: str, paths: list[str]) -> list[str]:
    """Of the files that bind a global name, the one that shares the most folders."""
    folders = path.split("/")[:-1]
    shared: dict[str, int] = {}
    for other in paths:
        others = other.split("/")[:-1]
        count = _shared(folders, others)
        if count or not folders or not others:
            shared[other] = count
    most = max(shared.values(), default=0)
    found = [other for other, count in shared.items() if count == most]
    return found if len(found) == 1 else []


def _shared(one: list[str], other: list[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


RULES = Rules(
    module_name,
    import_value,
    global_value,
    separator=":",
    package=package,
    essences={"package.json": configs.essence},
    constructors=("constructor",),
    class_objects=True,
    mro=mro,
    iter_members=("@@iterator",),
    call_value=call_value,
    site_targets=site_targets,
    this_value=this_value,
    value_attr=value_attr,
)

__all__ = ["FAMILY", "RULES"]
