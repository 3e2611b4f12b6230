"""How Go's names are found across files, and what its calls run."""

from ...facts import Call, Expr, Flag, Generic, Name
from ...linking import evaluate as ev
from ...linking import members
from ...linking.linker import Linker
from ...linking.records import DISPATCH, INFERRED, RESOLVED
from ...linking.sites import Site, reason_of
from ...linking.units import Declaration, Unit
from ...linking.values import (
    NOTHING,
    Callable,
    Ext,
    Func,
    Inst,
    Klass,
    Package,
    Values,
)
from ...rules import Rules
from . import modules

_UNIVERSE = frozenset(
    {"append", "cap", "clear", "close", "complex", "copy", "delete", "imag", "len"}
    | {"make", "max", "min", "new", "panic", "print", "println", "real", "recover", "error"}
    | {"string", "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8"}
    | {"uint16", "uint32", "uint64", "uintptr", "byte", "rune", "float32", "float64"}
    | {"complex64", "complex128"}
)


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """The package's other files, dot imports, packages that are called unlike their path."""
    return linker.ask(("go name", unit, name, linker.strict), _global, unit, name)


def _global(linker: Linker, unit: Unit, name: str) -> Values:
    key = modules.package(linker.tree, unit.path, unit.facts.namespace)
    paths = [path for path in linker.paths_of(modules.FAMILY, key, name) if path != unit.path]
    if paths:
        values = NOTHING
        for path in paths:
            other = linker.unit(path)
            if other is not None:
                values |= ev.bound(linker, other.module, name)
        return values
    linker.read_name(unit.module, "*")
    for item in unit.module.binds.get("*", ()):
        for value in ev.evaluate(linker, unit.module, item.value) if item.value else ():
            if isinstance(value, Package) and linker.paths_of(modules.FAMILY, value.name, name):
                return members.attribute(linker, value, name)
    if name in _UNIVERSE:
        return frozenset({linker.ext(f"<builtin>.{name}")})
    linker.read_name(unit.module, modules.UNNAMED)
    return modules.unnamed_package(linker, unit, name)


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """A type and what it embeds, the shallowest first."""
    order: dict[Declaration, None] = {made: None}
    level = [made]
    while level:
        below = [item for each in level for item in members.parents(linker, each)]
        level = [item for item in dict.fromkeys(below) if item not in order]
        order.update(dict.fromkeys(level))
    return list(order)


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """A conversion gives a value of the type, and keeps which function it was made from."""
    if len(call.args) != 1:
        return None
    pairs = ev.callees(linker, made, call)
    if not any(isinstance(value, Klass) for value, _ in pairs):
        return None
    values = NOTHING
    for value, on in pairs:
        values |= ev.result(linker, made, call, value, on)
    given = ev.evaluate(linker, made, call.args[0])
    return values | frozenset(value for value in given if isinstance(value, Func))


def site_targets(linker: Linker, made: Declaration, call: Call, site: Site) -> bool:
    """Functions, methods, and through an interface the methods of what implements it."""
    pairs = ev.callees(linker, made, call)
    fn: Expr = call.fn
    while type(fn) is Generic:
        fn = fn.of
    for value, on in pairs:
        match value:
            case Func(decl=decl):
                _function(linker, site, decl)
            case Ext(name=name, inst=False):
                site.outside.add(name)
            case Callable():
                if isinstance(on, Inst) and type(fn) is not Name:
                    _field(linker, made, site, on, fn.name)  # type: ignore[union-attr]
            case _:
                pass
    if not site.targets and not site.outside:
        site.reason = reason_of(linker, made, fn, pairs)
    return True


def _function(linker: Linker, site: Site, decl: Declaration) -> None:
    if not decl.scope.flags & Flag.ABSTRACT:
        site.add(decl, RESOLVED)
        return
    site.add(decl, DISPATCH)
    owner = members.owner(linker, decl)
    for target in members.overriding(linker, owner, decl.name) if owner is not None else ():
        site.add(target, DISPATCH)


def _field(linker: Linker, made: Declaration, site: Site, on: Inst, name: str) -> None:
    """What was stored in a field that holds a function."""
    for unit in dict.fromkeys((on.decl.unit, made.unit)):
        for value in members.stored(linker, linker.inst(on.decl), name, unit):
            if isinstance(value, Func):
                site.add(value.decl, INFERRED)


RULES = Rules(
    modules.module_name,
    modules.import_value,
    global_value,
    package=modules.package,
    attached=True,
    structural=True,
    mro=mro,
    call_member="()",
    item_member="[]",
    iter_members=("[]",),
    call_value=call_value,
    site_targets=site_targets,
)
