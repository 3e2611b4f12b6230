"""Functions that hand back what they are given: each call gives its own argument."""

from ...facts import AnyOf, Call, Expr, Name, Return, Spread, Yield
from ...linking import evaluate as ev
from ...linking import generics
from ...linking.linker import Linker
from ...linking.units import METHODS, Declaration
from ...linking.values import NOTHING, Func, Value, Values


def passed_through(
    linker: Linker, made: Declaration, call: Call, value: Func, on: Value | None
) -> Values | None:
    """What a call gives of a function that returns a parameter of its own; None for others."""
    target = value.decl
    if not _returns_parameter(target) or any(type(arg) is Spread for arg in call.args):
        return None
    linker.read_body(target)
    found = NOTHING
    if target.scope.returns is not None:
        declared = ev.instances(linker, target, target.scope.returns)
        found |= generics.substitute(linker, declared, made, call, target, on)
    for statement in target.scope.body:
        if type(statement) is Return:
            for part in _parts(statement.value):
                if _is_parameter(target, part):
                    found |= _given(linker, made, call, value, on, part)
                else:
                    found |= ev.evaluate(linker, target, part)
    return found


def _returns_parameter(target: Declaration) -> bool:
    found = False
    for statement in target.scope.body:
        if type(statement) is Yield:
            return False
        if type(statement) is Return and not found:
            found = any(_is_parameter(target, part) for part in _parts(statement.value))
    return found


def _parts(expr: Expr) -> list[Expr]:
    return expr.of if type(expr) is AnyOf else [expr]


def _is_parameter(target: Declaration, expr: Expr) -> bool:
    if type(expr) is not Name or expr.id not in target.params:
        return False
    bound = expr.id in target.binds or expr.id in target.elsewhere
    return not bound and not target.scope.params[target.params[expr.id]].star


def _given(
    linker: Linker,
    made: Declaration,
    call: Call,
    value: Func,
    on: Value | None,
    name: Expr,
) -> Values:
    """The argument for the parameter ``name``, or its default."""
    assert type(name) is Name
    target = value.decl
    index = target.params[name.id]
    param = target.scope.params[index]
    place = index
    if target.kind in METHODS and value.bound:
        if index == 0:
            return frozenset({on}) if on is not None else ev.receiver(linker, target)
        place -= 1
    count = len(call.args) - len(call.names)
    found = ev.instances(linker, target, param.declared) if param.declared is not None else NOTHING
    if param.name in call.names:
        return found | ev.evaluate(linker, made, call.args[count + call.names.index(param.name)])
    if place < count:
        return found | ev.evaluate(linker, made, call.args[place])
    if param.default is not None and target.parent is not None:
        found |= ev.evaluate(linker, target.parent, param.default)
    return found
