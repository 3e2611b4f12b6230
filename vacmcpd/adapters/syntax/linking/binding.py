"""What names are bound to: in the scopes around, in classes, by parameters."""

from ..facts import Bind, Call, Def, Flag, Map, ScopeKind, Seq
from . import evaluate as ev
from . import members
from .linker import Linker, body_leaf_of, name_leaf_of
from .units import METHODS, NAMED, Declaration
from .values import NOTHING, Coll, Ext, TypeVar, Values, narrow

_LOCAL = frozenset({ScopeKind.FUNCTION, ScopeKind.LAMBDA, *METHODS})


def lookup(linker: Linker, made: Declaration, name: str) -> Values:
    """What a bare name means in ``made``."""
    rules = made.unit.rules
    if rules.implicit_this:
        return _lookup_members(linker, made, name)
    found = made.found.get(name)
    if found is None:
        found = made.found[name] = _find(made, name)
    scope, lacking = found
    if lacking:
        linker.top.reads.update(lacking)
    if scope is None:
        values: Values = rules.global_value(linker, made.unit, name)
        return values
    if scope.binds_name(name) and not (scope.is_class and scope is not made):
        return bound(linker, scope, name)
    return frozenset({linker.make(TypeVar, scope, name)})


def _find(made: Declaration, name: str) -> tuple[Declaration | None, tuple[int, ...]]:
    """The scope that says what ``name`` means in ``made``, and the leaves of those that don't."""
    scope: Declaration | None = made
    lacking: list[int] = []
    while scope is not None:
        hidden = scope.is_class and scope is not made
        if scope.binds_name(name) and not hidden:
            break
        if any(param.name == name for param in scope.scope.type_params):
            break
        lacking.append(name_leaf_of(scope, name) if scope.kind in NAMED else body_leaf_of(scope))
        scope = scope.parent
    return scope, tuple(lacking)


def _lookup_members(linker: Linker, made: Declaration, name: str) -> Values:
    """What a bare name means where it may be a member of a class around."""
    rules = made.unit.rules
    scope: Declaration | None = made
    outside: list[Ext] = []
    while scope is not None:
        if scope.is_class:
            if members.has_member(linker, scope, name):
                return members.implicit(linker, made, scope, name)
            outside = outside or members.outside_bases(linker, scope)[:1]
        elif scope.binds_name(name):
            return bound(linker, scope, name)
        if any(param.name == name for param in scope.scope.type_params):
            return frozenset({linker.make(TypeVar, scope, name)})
        _read_absence(linker, scope, name)
        scope = scope.parent
    values: Values = rules.global_value(linker, made.unit, name)
    if not values and not linker.strict:
        # What names are bound to is known from their syntax, so nothing comes to this later.
        return frozenset(linker.ext(f"{base.name}.{name}") for base in outside)
    return values


def bound(linker: Linker, scope: Declaration, name: str) -> Values:
    """The values of ``name`` in the scope that binds it."""
    return linker.ask((scope, name, linker.strict), _bound, scope, name)


def _bound(linker: Linker, scope: Declaration, name: str) -> Values:
    _read(linker, scope, name)
    values = NOTHING
    index = scope.params.get(name)
    if index is not None and not linker.strict:
        values |= parameter(linker, scope, index)
    binds = scope.binds.get(name, ())
    for item in binds:
        values |= _binding(linker, scope, item, only=len(binds) == 1)
    for origin, item in scope.elsewhere.get(name, ()):
        _read(linker, origin, name)
        values |= _binding(linker, origin, item, only=False)
    return narrow(values)


def _binding(linker: Linker, scope: Declaration, item: Bind, *, only: bool) -> Values:
    """A declared type says what the value is, but for a name that is bound once, to a new one."""
    value, declared = item.value, item.declared
    if declared is None:
        if value is None:
            return NOTHING
        if item.flags & Flag.ALIAS:
            return ev.evaluate(linker, scope, value)
        return ev.evaluate(linker, scope, value)
    if linker.strict:
        return NOTHING
    known = (type(value) is Call and value.new) or type(value) in (Def, Map)
    settled = only and (scope.kind in _LOCAL or item.flags & Flag.FINAL)
    if known and settled and value is not None:
        return ev.evaluate(linker, scope, value)
    values = ev.instances(linker, scope, declared)
    if value is not None and type(value) in (Def, Map, Seq):
        values |= ev.evaluate(linker, scope, value)
    return values


def parameter(linker: Linker, made: Declaration, index: int) -> Values:
    """The values of a parameter: its receiver, its type, its default, what calls pass."""
    param = made.scope.params[index]
    if index == 0 and made.unit.rules.receiver_param and made.kind in METHODS:
        return receiver(linker, made)
    values = NOTHING
    if param.default is not None and made.parent is not None:
        values |= ev.evaluate(linker, made.parent, param.default)
    if param.declared is not None:
        values |= ev.instances(linker, made, param.declared)
    if param.star:
        kind = made.unit.rules.map_kind if param.star == 2 else "tuple"
        passed = linker.cell(f"{made.key}\0{index}")
        return frozenset({linker.make(Coll, kind, (values | passed,))})
    return values | linker.cell(f"{made.key}\0{index}")


def receiver(linker: Linker, made: Declaration) -> Values:
    """What ``this`` is in a method."""
    owner = members.owner(linker, made)
    if owner is None:
        return NOTHING
    if made.scope.flags & Flag.STATIC and made.unit.rules.receiver_param:
        return NOTHING
    if made.scope.flags & (Flag.CLASSMETHOD | Flag.STATIC):
        return frozenset({linker.klass(owner)})
    return frozenset({linker.inst(owner, members.own_args(linker, owner))})


def _read(linker: Linker, scope: Declaration, name: str) -> None:
    if scope.kind in NAMED:
        linker.read_name(scope, name)
    else:
        linker.read_body(scope)


def _read_absence(linker: Linker, scope: Declaration, name: str) -> None:
    """A name that a scope lacks may come to be bound there."""
    _read(linker, scope, name)
