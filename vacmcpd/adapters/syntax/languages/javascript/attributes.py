"""Members as JavaScript has them: of functions, prototypes, objects, arrays; and ``this``."""

from ...facts import Attr, Call, Map, Name, ScopeKind, Seq, This
from ...linking import containers, members
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.sites import RECEIVER
from ...linking.units import Declaration
from ...linking.values import (
    NOTHING,
    Above,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Module,
    Value,
    Values,
    narrow,
)
from .exporting import export
from .walk import STATIC

_OF_FUNCTION = frozenset({"call", "apply", "bind"})
OF_OBJECT = frozenset(
    {
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    }
)


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """``value.name``; None where it is as in other languages."""
    match value:
        case Inst(decl=decl):
            return _of_instance(linker, decl, value, name)
        case Klass(decl=decl):
            return _of_class(linker, decl, name)
        case Func(decl=decl):
            return _of_function(linker, decl, name)
        case Above(decl=decl, static=static):
            return _above(linker, decl, name, static=static)
        case Module(unit=unit):
            return export(linker, unit, name)
        case Literal(expr=Seq(kind=kind)):
            return frozenset({linker.ext(f"<builtin>.{kind}.{name}")})
        case Literal(expr=Map(keys=keys)):
            values = ev.item_of(linker, value, name)
            if name in OF_OBJECT and name not in keys:
                values |= frozenset({linker.ext(f"<builtin>.Object.{name}")})
            return values
        case _:
            return None


# Functions and what they make


def _of_function(linker: Linker, made: Declaration, name: str) -> Values:
    if name == "prototype":
        return frozenset({linker.inst(made)})
    values = containers.stored(linker, linker.func(made), name, made.unit)
    if name in _OF_FUNCTION or name in OF_OBJECT:
        kind = "Function" if name in _OF_FUNCTION else "Object"
        return values | frozenset({linker.ext(f"<builtin>.{kind}.{name}")})
    if made.scope.bases and name not in made.unit.stores:
        for base in _bases(linker, made):
            if isinstance(base, Func | Klass):
                values |= members.attribute(linker, base, name)
    return values


def _of_instance(linker: Linker, made: Declaration, value: Value, name: str) -> Values | None:
    if name == "__proto__":
        return frozenset({value})
    if made.is_class:
        return _of_object(linker, made, name)
    if name == "constructor":
        return frozenset({linker.func(made)})
    return linker.ask(("js-made", made, name), _of_made, made, name)


def _of_made(linker: Linker, made: Declaration, name: str) -> Values:
    """A member of what ``new made()`` gives."""
    values = containers.stored(linker, linker.inst(made), name, made.unit)
    if _stores_own(made, name):
        return values
    for base in _bases(linker, made):
        if isinstance(base, Func | Klass):
            values |= members.attribute(linker, linker.inst(base.decl), name)
        elif isinstance(base, Ext):
            values |= frozenset({linker.ext(f"{base.name}.{name}")})
        elif isinstance(base, Literal):
            values |= members.attribute(linker, base, name)
    if name in OF_OBJECT:
        values |= frozenset({linker.ext(f"<builtin>.Object.{name}")})
    return values


def _stores_own(made: Declaration, name: str) -> bool:
    """Whether by its syntax ``made`` or its prototype is given ``name``."""
    for around, item in made.unit.stores.get(name, ()):
        of = item.of
        if type(of) is This and around is made:
            return True
        if type(of) is Attr and of.name == "prototype" and of.of == Name(made.name):
            return True
        if type(of) is Name and _is_prototype(around, of.id, made.name):
            return True
    return False


def _is_prototype(around: Declaration, name: str, of: str) -> bool:
    """Whether ``name`` is bound to the prototype of ``of`` where it is used."""
    scope: Declaration | None = around
    while scope is not None:
        if name in scope.binds:
            wanted = Attr(Name(of), "prototype")
            return any(item.value == wanted for item in scope.binds[name])
        scope = scope.parent
    return False


def _bases(linker: Linker, made: Declaration) -> list[Value]:
    """What ``made`` derives from, whether function or class."""
    linker.read_body(made)
    around = made.parent or made
    found = {value for expr in made.scope.bases for value in ev.evaluate(linker, around, expr)}
    return sorted(
        (value for value in found if not (isinstance(value, Func) and value.decl is made)),
        key=lambda value: value.key,
    )


def _of_object(linker: Linker, made: Declaration, name: str) -> Values | None:
    """A member of an instance of a class, whose bases may be functions."""
    if name == "constructor":
        return frozenset({linker.klass(made)})
    if members.has_member(linker, made, name):
        return None
    values = NOTHING
    found = False
    for item in members.mro(linker, made):
        for base in functions_below(linker, item):
            found = True
            values |= members.attribute(linker, linker.inst(base), name)
    if name in OF_OBJECT:
        return values | frozenset({linker.ext(f"<builtin>.Object.{name}")})
    if not found:
        return None
    if _has_stores(linker, made, name):
        values |= containers.stored(linker, linker.inst(made), name, made.unit)
    return values


def _has_stores(linker: Linker, made: Declaration, name: str) -> bool:
    """Whether anything in the file of ``made`` is given a member ``name``."""
    linker.read(f"stores\0{made.unit.path}\0{name}")
    return name in made.unit.stores


def functions_below(linker: Linker, made: Declaration) -> list[Declaration]:
    """The functions that a class derives from directly."""
    return [
        value.decl
        for values in members.bases(linker, made)
        for value in values
        if isinstance(value, Func)
    ]


def _of_class(linker: Linker, made: Declaration, name: str) -> Values:
    if name == "prototype":
        return frozenset({linker.inst(made)})
    if made.kind is ScopeKind.NAMESPACE:
        linker.read_name(made, name)
        return ev.bound(linker, made, name) if made.binds_name(name) else NOTHING
    return linker.ask(("js-static", made, name, linker.strict), _static, made, name)


def _above(linker: Linker, made: Declaration, name: str, *, static: bool) -> Values | None:
    """``super.name``."""
    if static:
        return _static_of(linker, made, members.mro(linker, made)[1:], name)
    functions = functions_below(linker, made)
    if not functions:
        return None
    values = NOTHING
    for base in functions:
        values |= members.attribute(linker, linker.inst(base), name)
    return values


def _static(linker: Linker, made: Declaration, name: str) -> Values:
    return _static_of(linker, made, members.mro(linker, made), name)


def _static_of(linker: Linker, made: Declaration, order: list[Declaration], name: str) -> Values:
    """A static member of one of the classes in ``order``."""
    values = NOTHING
    written = STATIC + name
    for item in order:
        if members.has_own(linker, item, written):
            return members.own(linker, item, written)
        if not linker.strict and _has_stores(linker, item, name):
            values |= containers.stored(linker, linker.klass(item), name, item.unit)
        for base in functions_below(linker, item):
            values |= members.attribute(linker, linker.func(base), name)
    if name in _OF_FUNCTION:
        return values | frozenset({linker.ext(f"<builtin>.Function.{name}")})
    outside = members.outside_bases(linker, made)
    return narrow(values | frozenset(linker.ext(f"{base.name}.{name}") for base in outside))


# this


def this_value(linker: Linker, made: Declaration) -> Values:
    """What ``this`` is outside of the methods of classes."""
    scope: Declaration | None = made
    while scope is not None:
        if scope.kind is ScopeKind.INITIALIZER:
            owner = scope.enclosing_class()
            return frozenset({linker.klass(owner)}) if owner is not None else NOTHING
        if scope.is_class:
            return frozenset({linker.inst(scope)})
        if scope.kind is ScopeKind.FUNCTION:
            own: Values = frozenset({linker.inst(scope)})
            return own if linker.strict else own | linker.cell(f"{scope.key}\0{RECEIVER}")
        if scope.kind is ScopeKind.MODULE:
            return frozenset({linker.module(scope.unit)})
        scope = scope.parent
    return NOTHING


# Bases


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """The class and what it derives from, depth first; a mixin's call is followed."""
    order: dict[Declaration, None] = {}
    stack = [made]
    while stack:
        top = stack.pop()
        if top not in order:
            order[top] = None
            stack.extend(reversed(_parents(linker, top)))
    return list(order)


def _parents(linker: Linker, made: Declaration) -> list[Declaration]:
    found = members.parents(linker, made)
    around = made.parent or made
    before = linker.strict
    linker.strict = False
    for expr in made.scope.bases:
        if type(expr) is Call:
            values = ev.evaluate(linker, around, expr)
            made_by = (value.decl for value in values if isinstance(value, Klass))
            found = [*sorted(made_by, key=lambda decl: decl.key), *found]
    linker.strict = before
    return [item for item in found if item is not made]
