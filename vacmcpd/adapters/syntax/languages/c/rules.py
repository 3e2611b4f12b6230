"""How C's names are found across files: what is included, then external linkage."""

import posixpath
from collections.abc import Iterator

from ...facts import Call, Flag, Import, Name
from ...linking import containers, members
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.records import DISPATCH
from ...linking.sites import Site, add_target, reason_of
from ...linking.tree import Tree
from ...linking.units import Declaration, Unit
from ...linking.values import NOTHING, Ext, Func, Inst, Module, Value, Values
from ...rules import Rules

FAMILY = "c"
_FOLDERS = ("", "include/", "src/", "inc/", "lib/")
_HEADERS = (".h", ".inc", ".def")


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """Module-level code is named by its path."""
    del tree, namespace
    return path


def package(tree: Tree, path: str, namespace: str) -> str:
    """All files are one program."""
    del tree, path, namespace
    return ""


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """The file that an ``#include`` names."""
    path = _included(linker, unit.path, expr)
    found = linker.unit(path) if path is not None else None
    return frozenset({linker.module(found)}) if found is not None else NOTHING


def _included(linker: Linker, path: str, expr: Import) -> str | None:
    """Beside the file, then below each folder above it, then the only file of that ending."""
    name = posixpath.normpath(expr.module)
    folder = path.rpartition("/")[0]
    if expr.level or "/" in name:
        for place in _places(folder, name, beside=bool(expr.level)):
            if linker.exists(place):
                return place
    if name.startswith(".") or (not expr.level and "/" not in name):
        return None
    ending = f"/{name}"
    found = [item for item in linker.places(name.rpartition("/")[2]) if item.endswith(ending)]
    return found[0] if len(found) == 1 else None


def _places(folder: str, name: str, *, beside: bool) -> Iterator[str]:
    if beside:
        yield posixpath.normpath(posixpath.join(folder, name))
    while True:
        for inner in _FOLDERS:
            yield posixpath.normpath(posixpath.join(folder, inner, name))
        if not folder:
            return
        folder = folder.rpartition("/")[0]


def visible(linker: Linker, unit: Unit) -> Values:
    """The files that a file includes, at any distance."""
    return linker.ask(("c includes", unit), _visible, unit)


def _visible(linker: Linker, unit: Unit) -> Values:
    found: dict[Value, None] = {}
    stack = [unit]
    while stack:
        top = stack.pop()
        linker.read_name(top.module, "*")
        for item in top.module.binds.get("*", ()):
            if type(item.value) is Import:
                for value in import_value(linker, top, item.value):
                    if isinstance(value, Module) and value not in found:
                        found[value] = None
                        stack.append(value.unit)
    return frozenset(found)


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """What includes bring, then what has external linkage; else it is outside."""
    return linker.ask((unit, name, linker.strict, "c global"), _global, unit, name)


def _global(linker: Linker, unit: Unit, name: str) -> Values:
    seen = visible(linker, unit)
    holders = _units(linker, unit, name)
    included = [other for other in holders if linker.module(other) in seen]
    found = included or _linked(linker, unit, name, holders, seen)
    if not found:
        return frozenset({linker.ext(f"<external>.{name}")}) if name.isidentifier() else NOTHING
    values = NOTHING
    for other in found:
        linker.read_name(other.module, name)
        values |= ev.bound(linker, other.module, name)
    return values | _assigned(linker, name)


def _units(linker: Linker, unit: Unit, name: str) -> list[Unit]:
    """The other files that bind ``name``."""
    found = (linker.unit(path) for path in linker.paths_of(FAMILY, "", name))
    return [other for other in found if other is not None and other is not unit]


def _assigned(linker: Linker, name: str) -> Values:
    """What functions of any file assign to a variable of the program."""
    values = NOTHING
    for path in linker.paths_of(FAMILY, "", f"{name}="):
        other = linker.unit(path)
        if other is not None:
            values |= ev.bound(linker, other.module, f"{name}=")
    return values


def _linked(linker: Linker, unit: Unit, name: str, holders: list[Unit], seen: Values) -> list[Unit]:
    """The files whose definition of ``name`` a file is linked with, as far as can be told."""
    found = []
    for other in holders:
        linker.read_name(other.module, name)
        binds = other.module.binds.get(name, ())
        shared = not other.path.endswith(_HEADERS)
        shared = shared and any(not item.flags & Flag.PRIVATE for item in binds)
        if shared or name.startswith("struct ") or any(item.flags & Flag.ALIAS for item in binds):
            found.append(other)
    nearest = _nearest(unit.path, found)
    if not nearest or name.startswith("struct ") or _declares(linker, unit, name, seen):
        return nearest
    folder = unit.path.rpartition("/")[0]
    return [other for other in nearest if other.path.rpartition("/")[0] == folder]


def _declares(linker: Linker, unit: Unit, name: str, seen: Values) -> bool:
    """Whether a file sees a prototype of ``name``."""
    mark = f"{name};"
    linker.read_name(unit.module, mark)
    if unit.module.binds_name(mark):
        return True
    return any(linker.module(other) in seen for other in _units(linker, unit, mark))


def _nearest(path: str, found: list[Unit]) -> list[Unit]:
    """Those that share the most folders with ``path``."""
    own = path.split("/")[:-1]

    def shared(other: str) -> int:
        count = 0
        for one, two in zip(own, other.split("/")[:-1], strict=False):
            if one != two:
                break
            count += 1
        return count

    most = max((shared(other.path) for other in found), default=0)
    return [other for other in found if shared(other.path) == most]


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """A field of a struct: its type, and what any file puts into it."""
    if not isinstance(value, Inst) or linker.strict:
        return None
    return linker.ask((value.decl, name, "c field"), _field, value, name)


def _field(linker: Linker, value: Inst, name: str) -> Values:
    values = members.member(linker, value.decl, name)
    keys = [name]
    linker.read_name(value.decl, "")
    order = list(value.decl.binds)
    if name in order:
        keys.append(f"#{order.index(name)}")
    for key in keys:
        for path in linker.paths_of(FAMILY, "", f".{key}="):
            other = linker.unit(path)
            if other is not None:
                values |= containers.stored(linker, value, key, other)
    return values


def site_targets(linker: Linker, made: Declaration, call: Call, site: Site) -> bool:
    """A function by its name is sure; what a pointer may hold is a choice."""
    pairs: list[tuple[Value, Value | None]] = [
        (value, on) for value, on in ev.callees(linker, made, call) if isinstance(value, Func | Ext)
    ]
    for value, on in pairs:
        add_target(linker, made, call, site, value, on)
    named = call.fn.id if type(call.fn) is Name else ""
    for target in list(site.targets):
        if target.name != named and not _is_alias(made, named):
            site.targets[target] = DISPATCH
    if site.targets:
        site.outside.clear()
    elif not site.outside:
        site.reason = reason_of(linker, made, call.fn, pairs)
    return True


def _is_alias(made: Declaration, name: str) -> bool:
    """Whether a macro of the own file stands for another name."""
    return any(item.flags & Flag.ALIAS for item in made.unit.module.binds.get(name, ()))


RULES = Rules(
    module_name,
    import_value,
    global_value,
    global_names=True,
    package=package,
    value_attr=value_attr,
    site_targets=site_targets,
)
