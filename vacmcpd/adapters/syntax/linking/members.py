"""Attributes of values: members of classes, names of modules, items of containers."""

from collections.abc import Sequence

from ..facts import Flag, ScopeKind
from ..languages import known
from . import containers, generics
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
            return generics.filled(linker, found, decl, args) if args else found
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
            return generics.of_type_var(linker, decl, param, name)
        case Func(decl=decl):
            if decl.unit.rules.lambda_members and decl.kind is ScopeKind.LAMBDA:
                return frozenset({value})
            return containers.stored(linker, value, name, decl.unit)
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
        values = containers.stored(linker, linker.inst(made), name, made.unit)
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


def is_abstract(made: Declaration) -> bool:
    """Whether a function has no body to run."""
    return bool(made.scope.flags & Flag.ABSTRACT)
