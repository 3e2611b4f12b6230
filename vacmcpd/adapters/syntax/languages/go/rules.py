"""How Go's names are found across files, and what its calls run."""

from ...facts import AnyOf, Attr, Call, Expr, Flag, Generic, Return, Spread
from ...linking import containers, members
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.records import DISPATCH, RESOLVED
from ...linking.sites import Site, reason_of
from ...linking.units import Declaration, Unit
from ...linking.values import (
    NOTHING,
    Callable,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Package,
    TypeVar,
    Value,
    Values,
)
from ...rules import Rules
from . import modules
from .items import UNNAMED

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
    linker.read_name(unit.module, UNNAMED)
    return modules.unnamed_package(linker, unit, name)


_HOLDERS = frozenset({"sync/atomic.Pointer.Load", "sync/atomic.Pointer.Swap"})
"""Methods of the standard library that give what their type was instantiated with."""

_FIRST = 0
"""The parameter of what stands for a call of a function type."""


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
    """A conversion keeps which function it was made from, as a call does which it gives back."""
    values = NOTHING
    for value, on in ev.callees(linker, made, call):
        found = ev.result(linker, made, call, value, on)
        if isinstance(value, Klass) and len(call.args) == 1:
            found |= _functions(linker, made, call.args[0])
        elif isinstance(value, Func):
            found |= _given_back(linker, value.decl)
            if type(call.fn) in (AnyOf, Generic):
                found = _instantiated(linker, made, call.fn, value.decl, found)
        elif isinstance(value, Ext) and value.name in _HOLDERS and isinstance(on, Ext) and on.args:
            found = on.args[0]
        values |= found
    return values


def _functions(linker: Linker, made: Declaration, expr: Expr) -> Values:
    given = ev.evaluate(linker, made, expr)
    return frozenset(value for value in given if isinstance(value, Func))


def _given_back(linker: Linker, decl: Declaration) -> Values:
    """The function literals that a function returns."""
    linker.read_body(decl)
    returns = [item for item in decl.scope.body if type(item) is Return]
    return frozenset().union(*(ev.evaluate(linker, decl, item.value) for item in returns))


def _instantiated(
    linker: Linker, made: Declaration, fn: Expr, decl: Declaration, values: Values
) -> Values:
    """``values`` with the type arguments that the call writes out."""
    generic = fn.of[0] if type(fn) is AnyOf else fn
    if type(generic) is not Generic:
        return values
    known: dict[Value, Values] = {
        linker.make(TypeVar, decl, param.name): ev.instances(linker, made, arg)
        for param, arg in zip(decl.scope.type_params, generic.args, strict=False)
    }
    whole = ev.returned(linker, decl)
    return values | frozenset(inner for value in whole if value in known for inner in known[value])


def _call_of(linker: Linker, owner: Declaration) -> Declaration | None:
    """What stands for calling a value of a function type."""
    if not members.has_member(linker, owner, "()"):
        return None
    for value in members.member(linker, owner, "()"):
        if isinstance(value, Func):
            return value.decl
    return None


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
                if isinstance(on, Inst) and type(fn) is Attr:
                    _held(linker, made, site, on.decl, fn.name)
            case Inst(decl=decl):
                _converted(linker, site, decl)
            case Klass(decl=decl) if len(call.args) == 1:
                through = _call_of(linker, decl)
                if through is not None:
                    site.applied[through] = [_functions(linker, made, call.args[0])]
            case _:
                pass
    for target in site.targets:
        site.applied[target] = _passed(linker, made, call, target)
    if not site.targets and not site.outside:
        site.reason = reason_of(linker, made, fn, pairs)
    return True


def _passed(linker: Linker, made: Declaration, call: Call, target: Declaration) -> list[Values]:
    """What a call passes to the parameters that take functions; nothing else is followed."""
    params = target.scope.params
    parts: list[Values] = []
    for index, arg in enumerate(call.args) if any("@" in item.name for item in params) else ():
        values = NOTHING
        if "@" in params[min(index, len(params) - 1)].name:
            if type(arg) is Spread:
                for value in ev.evaluate(linker, made, arg.of):
                    values |= ev.item_of(linker, value, 0)
            else:
                values = ev.evaluate(linker, made, arg)
        parts.append(frozenset(value for value in values if isinstance(value, Func | Literal)))
    return parts


def _converted(linker: Linker, site: Site, owner: Declaration) -> None:
    """The functions that are converted to a function type anywhere, for a call of one."""
    through = _call_of(linker, owner)
    if through is not None:
        for value in linker.cell(f"{through.key}\0{_FIRST}"):
            if isinstance(value, Func):
                site.add(value.decl, RESOLVED)


def _function(linker: Linker, site: Site, decl: Declaration) -> None:
    if not decl.scope.flags & Flag.ABSTRACT:
        site.add(decl, RESOLVED)
        return
    site.add(decl, DISPATCH)
    owner = members.owner(linker, decl)
    for target in members.overriding(linker, owner, decl.name) if owner is not None else ():
        site.add(target, DISPATCH)


def _held(linker: Linker, made: Declaration, site: Site, owner: Declaration, name: str) -> None:
    """What was stored in a field, or converted to a type, that is a function.

    Such edges are inferred: they rest on flow, so only the rounds that follow it find them.
    """
    linker.cell(f"{owner.key}\0{name}")
    if linker.round == 1:
        return
    for unit in dict.fromkeys((owner.unit, made.unit)):
        for value in containers.stored(linker, linker.inst(owner), name, unit):
            if isinstance(value, Func):
                site.add(value.decl, RESOLVED)


RULES = Rules(
    modules.module_name,
    modules.import_value,
    global_value,
    package=modules.package,
    essences={"go.mod": modules.essence},
    attached=True,
    structural=True,
    mro=mro,
    call_member="()",
    item_member="[]",
    iter_members=("[]",),
    call_value=call_value,
    site_targets=site_targets,
)
