"""What containers hold: items that are written out, and what statements store."""

from collections.abc import Iterator

from ..facts import Expr, Map, Seq, Spread, Store
from . import evaluate as ev
from . import members
from .linker import Linker
from .units import Declaration, Unit
from .values import (
    NOTHING,
    TOP,
    Coll,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Value,
    Values,
)


def stored(linker: Linker, value: Value, name: str | int | None, unit: Unit) -> Values:
    """What the statements of ``unit`` store in ``value.name``."""
    return linker.ask(("stored", value, name, unit), _stored, value, name, unit)


def _stored(linker: Linker, value: Value, name: str | int | None, unit: Unit) -> Values:
    values = NOTHING
    holder = _holder(value)
    # Where members have names, one that is not known is not taken for every one that is.
    named = type(name) is str and unit.rules.class_objects
    for held in _held(linker, value, name, unit):
        for made, statement in held.get(holder, ()) if held else ():
            if not named or statement.name is not None or type(statement.value) is Spread:
                values |= _put(linker, made, statement.value, name)
    return values


def _held(linker: Linker, value: Value, name: str | int | None, unit: Unit) -> "Iterator[Holders]":
    if name is None:
        items = isinstance(value, Literal) and type(value.expr) is Seq
        yield linker.ask(("all holders", unit, items), _all_holders, unit, items)
    else:
        for key in (str(name), "*"):
            yield linker.ask(("holders", unit, key), _holders, unit, key)


Holders = dict[object, tuple[tuple[Declaration, Store], ...]]


def _holders(linker: Linker, unit: Unit, key: str) -> Holders:
    """The stores of a name by what they are into."""
    linker.read(f"stores\0{unit.path}\0{key}")
    found: dict[object, list[tuple[Declaration, Store]]] = {}
    for made, statement in unit.stores.get(key, ()):
        values = ev.evaluate(linker, made, statement.of)
        for holder in dict.fromkeys(_holder(value) for value in values):
            found.setdefault(holder, []).append((made, statement))
    return {holder: tuple(stores) for holder, stores in found.items()}


def _all_holders(linker: Linker, unit: Unit, items: bool) -> Holders:
    """The stores of any name by what they are into; with ``items`` not those of attributes."""
    linker.read(f"stores\0{unit.path}")
    found: dict[object, list[tuple[Declaration, Store]]] = {}
    for key, listed in unit.stores.items():
        if items and all(statement.attr for _, statement in listed):
            continue
        held = linker.ask(("holders", unit, key), _holders, unit, key)
        for holder, stores in held.items() if held else ():
            found.setdefault(holder, []).extend(stores)
    return {holder: tuple(stores) for holder, stores in found.items()}


def _holder(value: Value) -> object:
    """What is stored in a value is stored in it, or in every instance of its class."""
    return ("instance", value.decl) if isinstance(value, Inst) else value


def _put(linker: Linker, made: Declaration, expr: Expr, name: str | int | None) -> Values:
    """What a store of ``expr`` gives to ``name``; of a spread, what that has under it."""
    if type(expr) is not Spread:
        return ev.evaluate(linker, made, expr)
    values = NOTHING
    for value in ev.evaluate(linker, made, expr.of):
        values |= part_of(linker, value, name)
    return values


def part_of(linker: Linker, value: Value, name: str | int | None) -> Values:
    """What a copy of all that ``value`` holds has under ``name``."""
    if type(name) is str and not isinstance(value, Coll | Ext | Literal):
        return members.attribute(linker, value, name)
    return ev.item_of(linker, value, name)


def iterated(linker: Linker, value: Value) -> Values:
    """What iterating over ``value`` gives."""
    match value:
        case Literal(expr=expr) if type(expr) is Map:
            return NOTHING
        case Literal() | Coll() | Ext():
            return ev.item_of(linker, value, None)
        case Inst(decl=decl):
            names = decl.unit.rules.iter_members
            return _through(linker, value, names)
        case _:
            return frozenset({value}) if value is TOP else NOTHING


def _through(linker: Linker, value: Value, names: tuple[str, ...]) -> Values:
    """What calling ``names`` one on what the other gives comes to."""
    values: Values = frozenset({value})
    for name in names:
        found = NOTHING
        for item in values:
            if isinstance(item, Coll):
                found |= iterated(linker, item)
                continue
            for method in members.attribute(linker, item, name):
                if isinstance(method, Func):
                    found |= ev.returned(linker, method.decl)
        values = found
    return values


def item_of_object(linker: Linker, value: Value, key: str | int | None) -> Values:
    """Subscripting a class gives the class, an instance what its method returns."""
    del key
    if isinstance(value, Klass):
        return frozenset({value})
    name = value.decl.unit.rules.item_member if isinstance(value, Inst) else ""
    return _through(linker, value, (name,)) if name else NOTHING
