"""How PHP's names are found: by their full names, over the whole repository."""

from ...facts import Import
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Unit
from ...linking.values import NOTHING, Values
from ...rules import Rules

FAMILY = "php"


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """Module-level code is named by its path."""
    del tree, namespace
    return path


def package(tree: Tree, path: str, namespace: str) -> str:
    """Full names are the whole repository's."""
    del tree, path, namespace
    return ""


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """A class or function by its full name; one of the file itself before others."""
    key = expr.module if expr.name == "class" else f"{expr.module}()"
    found = _named(linker, unit, key)
    bare = expr.module.rpartition("\\")[2]
    if found is None and expr.level:
        found = _named(linker, unit, f"{bare}()")
    if found is not None:
        return found
    if expr.name == "function" and (expr.level or "\\" not in expr.module):
        return frozenset({linker.ext(f"<builtin>.{bare}")})
    return frozenset({linker.ext(expr.module)})


def _named(linker: Linker, unit: Unit, key: str) -> Values | None:
    linker.read_name(unit.module, key)
    if unit.module.binds_name(key):
        return ev.bound(linker, unit.module, key)
    paths = linker.paths_of(FAMILY, "", key)
    if not paths:
        return None
    values = NOTHING
    for path in paths:
        other = linker.unit(path)
        if other is not None:
            values |= ev.bound(linker, other.module, key)
    return values


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """Variables have no meaning outside of where they are bound."""
    del linker, unit, name
    return NOTHING


RULES = Rules(
    module_name,
    import_value,
    global_value,
    separator="\\",
    member_separator="::",
    global_names=True,
    package=package,
    constructors=("__construct()",),
    call_member="__invoke()",
    item_member="offsetGet()",
)
