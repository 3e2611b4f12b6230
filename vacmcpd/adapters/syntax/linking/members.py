"""Attributes of values: members of classes, names of modules, items of containers."""

from collections.abc import Iterator, Sequence

from ..facts import Call, Expr, Flag, Map, ScopeKind, Seq, Spread, Store
from ..languages import known
from . import evaluate as ev
from .linker import Linker
from .units import Declaration, Unit
from .values import (
    NOTHING,
    TOP,
    Above,
    Coll,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Module,
    Package,
    TypeVar,
    Value,
    Values,
    narrow,
)

DEEPEST = 7
"""Attributes of attributes of what is outside that are told apart: ``x = x.next`` has no end."""

IMPLEMENTS = "<impl>"
"""What a block that says outside of a type what the type derives from is called."""


def read(linker: Linker, value: Value, name: str) -> Values:
    """What reading ``value.name`` gives; a property gives what it returns."""
    values = attribute(linker, value, name)
    if not any(isinstance(v, Func) and v.decl.kind is ScopeKind.PROPERTY for v in values):
        return values
    out = NOTHING
    for item in values:
        if isinstance(item, Func) and item.decl.kind is ScopeKind.PROPERTY:
            if not item.decl.scope.flags & Flag.SETTER:
                out |= ev.returned(linker, item.decl)
        else:
            out |= frozenset({item})
    return out


def attribute(linker: Linker, value: Value, name: str) -> Values:
    """``value.name`` as it is bound, a property being its function."""
    special = _rules_of(value)
    if special is not None and special.value_attr is not None:
        given: Values | None = special.value_attr(linker, value, name)
        if given is not None:
            return given
    match value:
        case Inst(decl=decl, args=args):
            found = _on_instance(linker, member(linker, decl, name))
            return _filled(linker, found, decl, args) if args else found
        case Klass(decl=decl):
            return _on_class(linker, member(linker, decl, name))
        case Module(unit=unit):
            return of_module(linker, unit, name)
        case Package(family=family, name=package):
            return of_package(linker, family, package, name)
        case Ext(name=outside, inst=inst):
            if _repeats(outside, name, inst):
                return frozenset({value})
            return frozenset({linker.ext(f"{outside}.{name}")})
        case Literal():
            return ev.item_of(linker, value, name)
        case Above(decl=decl, static=static):
            found = _after(linker, decl, name)
            return _on_class(linker, found) if static else _on_instance(linker, found)
        case Coll(kind="object"):
            return ev.item_of(linker, value, name)
        case Coll(kind=kind):
            return frozenset({linker.ext(f"<builtin>.{kind}.{name}")})
        case TypeVar(decl=decl, name=param):
            return _of_type_var(linker, decl, param, name)
        case Func(decl=decl):
            if decl.unit.rules.lambda_members and decl.kind is ScopeKind.LAMBDA:
                return frozenset({value})
            return stored(linker, value, name, decl.unit)
        case _:
            return frozenset({value}) if value is TOP else NOTHING


def _repeats(outside: str, name: str, inst: bool) -> bool:
    """Whether ``outside.name`` may be a step of a chain without end, as in ``x = x.next()``."""
    if inst and outside.endswith(f".{name}"):
        return True
    return outside.count(".") >= DEEPEST or outside.endswith(f".{name}.{name}")


def _rules_of(value: Value):  # type: ignore[no-untyped-def]
    match value:
        case Func(decl=decl) | Inst(decl=decl) | Klass(decl=decl) | Literal(decl=decl):
            return decl.unit.rules
        case Above(decl=decl):
            return decl.unit.rules
        case Module(unit=unit):
            return unit.rules
        case Package(family=family):
            language = known().get(family)
            return language.rules if language is not None else None
        case _:
            return None


def of_module(linker: Linker, unit: Unit, name: str) -> Values:
    """A top-level name of a file."""
    linker.read_name(unit.module, name)
    if unit.module.binds_name(name):
        return ev.bound(linker, unit.module, name)
    hook = unit.rules.module_attr
    if hook is not None:
        return linker.ask((unit, name, linker.strict, "attr"), hook, unit, name)
    return NOTHING


def of_package(linker: Linker, family: str, package: str, name: str) -> Values:
    """A top-level name of the files of a package."""
    values = NOTHING
    for path in linker.paths_of(family, package, name):
        unit = linker.unit(path)
        if unit is not None:
            values |= ev.bound(linker, unit.module, name)
    return values


# Classes


def owner(linker: Linker, method: Declaration) -> Declaration | None:
    """The class that a method belongs to."""
    if method.parent is not None and method.parent.is_class:
        return method.parent
    if method.scope.receiver is None:
        return None
    return linker.ask(("owner", method), _owner, method)


def _owner(linker: Linker, method: Declaration) -> Declaration | None:
    linker.read_body(method)
    around = method.parent or method
    assert method.scope.receiver is not None
    found = ev.symbols(linker, around, method.scope.receiver)
    classes = sorted((v.decl for v in found if isinstance(v, Klass)), key=lambda d: d.key)
    return classes[0] if classes else None


def own_args(linker: Linker, made: Declaration) -> tuple[Values, ...]:
    """The type parameters of a class as arguments of itself."""
    params = made.scope.type_params
    if not params:
        return ()
    return tuple(frozenset({linker.make(TypeVar, made, param.name)}) for param in params)


def bases(linker: Linker, made: Declaration) -> list[list[Value]]:
    """What each base of a class names, by scopes alone."""
    return linker.ask(("bases", made), _bases, made) or []


def _bases(linker: Linker, made: Declaration) -> list[list[Value]]:
    linker.read_name(made, "<bases>")
    around = made.parent or made
    found = []
    for expr in made.scope.bases:
        values = ev.symbols(linker, around, expr)
        found.append(_sorted(values))
    for item in _attached(linker, made, IMPLEMENTS):
        around = item.parent or item
        found.extend(_sorted(ev.symbols(linker, around, expr)) for expr in item.scope.bases)
    return found


def _sorted(values: Values) -> list[Value]:
    return sorted((value for value in values if value is not TOP), key=lambda value: value.key)


def parents(linker: Linker, made: Declaration) -> list[Declaration]:
    """The classes of the repository that ``made`` derives from directly."""
    return [
        value.decl
        for values in bases(linker, made)
        for value in values
        if isinstance(value, Klass | Inst) and value.decl is not made
    ]


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """The classes that a member of ``made`` is looked up in, in order; itself first."""
    return linker.ask(("mro", made), _mro, made) or [made]


def _mro(linker: Linker, made: Declaration) -> list[Declaration]:
    rule = made.unit.rules.mro
    return rule(linker, made) if rule is not None else depth_first(linker, made)


def depth_first(linker: Linker, made: Declaration) -> list[Declaration]:
    """``made`` and its bases, depth first, each once."""
    order: dict[Declaration, None] = {}
    stack = [made]
    while stack:
        top = stack.pop()
        if top not in order:
            order[top] = None
            stack.extend(reversed(parents(linker, top)))
    return list(order)


def outside_bases(linker: Linker, made: Declaration) -> list[Ext]:
    """The bases outside the repository of ``made`` and of what it derives from."""
    found: dict[Ext, None] = {}
    for item in mro(linker, made):
        for values in bases(linker, item):
            found.update((value, None) for value in values if isinstance(value, Ext))
    return list(found)


def has_own(linker: Linker, made: Declaration, name: str) -> bool:
    """Whether a class itself has a member of that name, whatever its value."""
    linker.read_name(made, name)
    return made.binds_name(name) or name in made.fields or bool(_attached(linker, made, name))


def has_member(linker: Linker, made: Declaration, name: str) -> bool:
    """Whether a class or what it derives from has a member of that name."""
    return any(has_own(linker, item, name) for item in mro(linker, made))


def _attached(linker: Linker, made: Declaration, name: str) -> list[Declaration]:
    """Methods that are declared for ``made`` outside of it."""
    unit = made.unit
    package_of = unit.rules.package
    if package_of is None or not unit.rules.attached:
        return []
    package = package_of(linker.tree, unit.path, unit.facts.namespace)
    family = unit.language.family or unit.language.name
    found: list[Declaration] = []
    for path in linker.members_of(family, package, made.name, name):
        other = linker.unit(path)
        if other is not None:
            items = other.attached.get(f"{made.name}.{name}", ())
            found.extend(item for item in items if owner(linker, item) is made)
    return found


def member(linker: Linker, made: Declaration, name: str) -> Values:
    """A member of a class, found first in its resolution order."""
    return linker.ask((made, name, "member", linker.strict), _member, made, name)


def _member(linker: Linker, made: Declaration, name: str) -> Values:
    return _first(linker, mro(linker, made), made, name)


def _first(linker: Linker, order: Sequence[Declaration], made: Declaration, name: str) -> Values:
    for item in order:
        if has_own(linker, item, name):
            return own(linker, item, name)
    if not linker.strict and name in made.unit.stores:
        values = stored(linker, linker.inst(made), name, made.unit)
    else:
        values = NOTHING
    outside = outside_bases(linker, made)
    return values | frozenset(linker.ext(f"{base.name}.{name}") for base in outside)


def own(linker: Linker, made: Declaration, name: str) -> Values:
    """The values of a member that a class itself has."""
    return linker.ask((made, name, "own", linker.strict), _own, made, name)


def _own(linker: Linker, made: Declaration, name: str) -> Values:
    linker.read_name(made, name)
    values = ev.bound(linker, made, name) if made.binds_name(name) else NOTHING
    declared = any(item.declared is not None for item in made.binds.get(name, ()))
    if not linker.strict and (not declared or made.unit.rules.trusts_values):
        for method, expr in made.fields.get(name, ()):
            linker.read_body(method)
            values |= ev.evaluate(linker, method, expr)
    values |= frozenset(linker.func(item) for item in _attached(linker, made, name))
    return narrow(values)


def implicit(linker: Linker, made: Declaration, scope: Declaration, name: str) -> Values:
    """A member of the class ``scope`` named without a receiver in ``made``."""
    method = made.method()
    special = scope.unit.rules.value_attr
    given: Values | None = None
    if special is not None:
        given = special(linker, linker.inst(scope), name)
    found = member(linker, scope, name) if given is None else given
    static = method is not None and method.scope.flags & Flag.STATIC
    values = _on_class(linker, found) if static else _on_instance(linker, found)
    if linker.strict:
        return values
    return frozenset(
        inner
        for value in values
        for inner in (
            ev.returned(linker, value.decl)
            if isinstance(value, Func) and value.decl.kind is ScopeKind.PROPERTY
            else (value,)
        )
    )


def _after(linker: Linker, made: Declaration, name: str) -> Values:
    return linker.ask((made, name, "above"), _above, made, name)


def _above(linker: Linker, made: Declaration, name: str) -> Values:
    return _first(linker, mro(linker, made)[1:], made, name)


def _on_instance(linker: Linker, values: Values) -> Values:
    return frozenset(
        linker.func(value.decl, bound=True)
        if isinstance(value, Func) and _takes_receiver(value.decl)
        else value
        for value in values
    )


def _on_class(linker: Linker, values: Values) -> Values:
    return frozenset(
        linker.func(value.decl, bound=True)
        if isinstance(value, Func) and value.decl.scope.flags & Flag.CLASSMETHOD
        else value
        for value in values
    )


def _takes_receiver(made: Declaration) -> bool:
    return not made.scope.flags & Flag.STATIC and made.kind is not ScopeKind.LAMBDA


def overriding(linker: Linker, made: Declaration, name: str) -> tuple[Declaration, ...]:
    """What a call of ``name`` on a ``made`` may run in what derives from it, by key."""
    return linker.ask(("over", made, name), _overriding, made, name) or ()


def _overriding(linker: Linker, made: Declaration, name: str) -> tuple[Declaration, ...]:
    found: set[Declaration] = set()
    for item in descendants(linker, made):
        for value in member(linker, item, name):
            if isinstance(value, Func) and value.decl.kind is not ScopeKind.LAMBDA:
                found.add(value.decl)
    return tuple(sorted(found, key=lambda d: d.key))


def descendants(linker: Linker, made: Declaration) -> list[Declaration]:
    """The classes that derive from ``made``, at any distance."""
    seen: dict[Declaration, None] = {}
    stack = [made]
    while stack:
        for item in linker.derived(stack.pop()):
            if item not in seen and item is not made:
                seen[item] = None
                stack.append(item)
    return list(seen)


# Containers and stores


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
        return attribute(linker, value, name)
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
            for method in attribute(linker, item, name):
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


# Types with parameters


def _of_type_var(linker: Linker, made: Declaration, param: str, name: str) -> Values:
    values = NOTHING
    for item in made.scope.type_params:
        if item.name == param and item.bound is not None:
            for value in ev.instances(linker, made, item.bound):
                values |= attribute(linker, value, name)
    return values


def _filled(linker: Linker, values: Values, made: Declaration, args: tuple[Values, ...]) -> Values:
    params = [param.name for param in made.scope.type_params]
    pairs = zip(params, args, strict=False)
    known: dict[Value, Values] = {linker.make(TypeVar, made, name): arg for name, arg in pairs}
    return _replace(linker, values, known)


def _replace(linker: Linker, values: Values, known: dict[Value, Values]) -> Values:
    out = NOTHING
    for value in values:
        if value in known:
            out |= known[value]
        elif isinstance(value, Coll):
            parts = tuple(_replace(linker, part, known) for part in value.args)
            out |= frozenset({linker.make(Coll, value.kind, parts)})
        elif isinstance(value, Inst) and value.args:
            parts = tuple(_replace(linker, part, known) for part in value.args)
            out |= frozenset({linker.inst(value.decl, parts, exact=value.exact)})
        else:
            out |= frozenset({value})
    return out


def substitute(
    linker: Linker,
    values: Values,
    made: Declaration,
    expr: Call,
    target: Declaration,
    on: Value | None,
) -> Values:
    """``values``, with the type parameters of the callee and its class filled in."""
    if not any(isinstance(value, TypeVar | Coll) or _has_args(value) for value in values):
        return values
    known: dict[Value, Values] = {}
    if isinstance(on, Inst) and on.args:
        for param, arg in zip(on.decl.scope.type_params, on.args, strict=False):
            known[linker.make(TypeVar, on.decl, param.name)] = arg
    for param in target.scope.type_params:
        variable = linker.make(TypeVar, target, param.name)
        known[variable] = _inferred(linker, made, expr, target, variable)
    return _replace(linker, values, known) if known else values


def _has_args(value: Value) -> bool:
    return isinstance(value, Inst) and bool(value.args)


def _inferred(
    linker: Linker, made: Declaration, expr: Call, target: Declaration, variable: Value
) -> Values:
    values = NOTHING
    for index, param in enumerate(target.scope.params):
        if param.declared is None or index >= len(expr.args):
            continue
        declared = ev.instances(linker, target, param.declared)
        given = ev.evaluate(linker, made, expr.args[index])
        if variable in declared:
            values |= given
        for item in declared:
            if isinstance(item, Coll) and any(variable in part for part in item.args):
                for value in given:
                    values |= iterated(linker, value)
    return values


# Overloads


def applicable(
    linker: Linker,
    made: Declaration,
    expr: Call,
    pairs: list[tuple[Value, Value | None]],
) -> list[tuple[Value, Value | None]]:
    """``pairs`` without the overloads that take other arguments; lambdas are no overloads."""
    by_receiver: dict[Value | None, list[Declaration]] = {}
    for value, on in pairs:
        if isinstance(value, Func) and value.decl.kind is not ScopeKind.LAMBDA:
            by_receiver.setdefault(on, []).append(value.decl)
    meant = {on: _meant(linker, made, expr, several) for on, several in by_receiver.items()}
    return [
        (value, on)
        for value, on in pairs
        if not isinstance(value, Func)
        or value.decl.kind is ScopeKind.LAMBDA
        or value.decl in meant[on]
    ]


def _meant(
    linker: Linker, made: Declaration, expr: Call, several: list[Declaration]
) -> list[Declaration]:
    """The overloads that a call may mean; all where none fits."""
    count = len(expr.args)
    fitting = [item for item in several if _fits(item, expr.args, count)]
    rule = made.unit.rules.overload
    if rule is not None and len(fitting) > 1:
        fitting = rule(linker, made, expr, fitting)
    return fitting or several


def _fits(made: Declaration, args: Sequence[Expr], count: int) -> bool:
    params = made.scope.params
    if any(type(arg) is Spread for arg in args):
        return True
    needed = sum(1 for param in params if param.default is None and not param.star)
    if made.scope.flags & Flag.EXTENSION:
        needed -= 1
    return needed <= count and (count <= len(params) or any(param.star for param in params))


def is_abstract(made: Declaration) -> bool:
    """Whether a function has no body to run."""
    return bool(made.scope.flags & Flag.ABSTRACT)
