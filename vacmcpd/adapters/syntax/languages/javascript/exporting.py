"""What modules give to each other: ES exports, ``module.exports``, and both at once."""

from ...facts import Bind, Import
from ...linking import containers, members
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.units import Unit
from ...linking.values import NOTHING, Values
from .resolving import outside, resolve
from .walk import EXPORT, WHOLE

DEFAULT = "default"


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """What an import gives."""
    path = resolve(linker, unit.path, expr.module)
    other = linker.unit(path) if path is not None else None
    if other is None:
        name = outside(expr.module)
        inner = expr.name if expr.name not in (DEFAULT, "*") else ""
        return frozenset({linker.ext(f"{name}.{inner}" if inner else name)})
    if expr.name in ("", "*"):
        return whole(linker, other)
    return export(linker, other, expr.name)


def whole(linker: Linker, unit: Unit) -> Values:
    """The module as a value: its namespace, and what it sets ``module.exports`` to."""
    linker.read_name(unit.module, WHOLE)
    itself: Values = frozenset({linker.module(unit)})
    if unit.module.binds_name(WHOLE):
        return itself | ev.bound(linker, unit.module, WHOLE)
    return itself


def export(linker: Linker, unit: Unit, name: str) -> Values:
    """What a module exports as ``name``."""
    return linker.ask(("js-export", unit, name, linker.strict), _export, unit, name)


def _export(linker: Linker, unit: Unit, name: str) -> Values:
    module = unit.module
    written = EXPORT + name
    linker.read_name(module, written)
    linker.read_name(module, WHOLE)
    values = NOTHING
    if module.binds_name(WHOLE):
        set_to = ev.bound(linker, module, WHOLE)
        if name == DEFAULT:
            values |= set_to
        for value in set_to:
            if value is not linker.module(unit):
                values |= members.read(linker, value, name)
    for stored in (name, "*"):
        linker.read(f"stores\0{unit.path}\0{stored}")
        if stored in unit.stores:
            values |= containers.stored(linker, linker.module(unit), name, unit)
    if module.binds_name(written):
        return values | ev.bound(linker, module, written)
    linker.read_name(module, "*")
    starred = [item for item in module.binds.get("*", ()) if _is_star(item)]
    if name != DEFAULT:
        for item in starred:
            values |= import_star(linker, unit, item.value, name)  # type: ignore[arg-type]
        return values
    return values if module.binds_name(WHOLE) else values | _interop(linker, unit)


def _is_star(item: Bind) -> bool:
    return type(item.value) is Import


def import_star(linker: Linker, unit: Unit, expr: Import, name: str) -> Values:
    """``name`` of a module all of whose exports are exported again."""
    path = resolve(linker, unit.path, expr.module)
    other = linker.unit(path) if path is not None else None
    return export(linker, other, name) if other is not None else NOTHING


def _interop(linker: Linker, unit: Unit) -> Values:
    """The default import of a module that exports by ``exports.x`` alone is all of it."""
    linker.read_name(unit.module, "")
    names = (*unit.module.binds, *unit.module.elsewhere)
    if any(name.startswith(EXPORT) for name in names):
        return frozenset({linker.module(unit)})
    return NOTHING
