"""Type parameters, filled in, and the overloads that a call may mean."""

from collections.abc import Sequence

from ..facts import Call, Expr, Flag, ScopeKind, Spread
from . import containers, members
from . import evaluate as ev
from .linker import Linker
from .units import Declaration
from .values import (
    NOTHING,
    Coll,
    Func,
    Inst,
    TypeVar,
    Value,
    Values,
)


def of_type_var(linker: Linker, made: Declaration, param: str, name: str) -> Values:
    """An attribute of what a type parameter is known to extend."""
    values = NOTHING
    for item in made.scope.type_params:
        if item.name == param and item.bound is not None:
            for value in ev.instances(linker, made, item.bound):
                values |= members.attribute(linker, value, name)
    return values


def filled(linker: Linker, values: Values, made: Declaration, args: tuple[Values, ...]) -> Values:
    """``values`` with the type parameters of a class filled in."""
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
                    values |= containers.iterated(linker, value)
    return values


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
