"""What an expression may be, in the scope that it stands in."""

from collections.abc import Callable
from typing import Any

from ..facts import (
    AnyOf,
    Attr,
    Await,
    Call,
    Cast,
    Def,
    Elem,
    Expr,
    Flag,
    Function,
    Generic,
    Import,
    Item,
    Lit,
    Map,
    Name,
    Return,
    ScopeKind,
    Seq,
    Spread,
    Super,
    This,
    Yield,
)
from . import containers, generics, members
from .binding import bound as bound
from .binding import lookup
from .binding import receiver as receiver
from .linker import Linker
from .units import Declaration
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
    TypeVar,
    Value,
    Values,
    narrow,
)
from .values import (
    Callable as CallableValue,
)


def evaluate(linker: Linker, made: Declaration, expr: Expr) -> Values:
    """The values that ``expr`` may have in ``made``; empty for what nothing is known of."""
    return _HOW[type(expr)](linker, made, expr)


def instances(linker: Linker, made: Declaration, expr: Expr) -> Values:
    """What something is that the source declares to be of the type ``expr``."""
    args: tuple[Values, ...] = ()
    match expr:
        case Seq():
            return _declared_seq(linker, made, expr)
        case Map(values=values):
            inner = _union(linker, made, values, instances)
            return frozenset({linker.make(Coll, made.unit.rules.map_kind, (inner,))})
        case AnyOf(of=several):
            return _union(linker, made, several, instances)
        case Function(returns=returns):
            inner = instances(linker, made, returns) if returns is not None else NOTHING
            return frozenset({linker.make(CallableValue, inner)})
        case Await(of=of):
            inner = instances(linker, made, of)
            return frozenset({linker.make(Coll, "future", (inner,))})
        case Lit():
            return evaluate(linker, made, expr)
        case Generic(of=of, args=given):
            args = tuple(instances(linker, made, arg) for arg in given)
            expr = of
    return frozenset(
        item for value in symbols(linker, made, expr) for item in _instance(linker, value, args)
    )


def symbols(linker: Linker, made: Declaration, expr: Expr) -> Values:
    """What a type expression or a base names: classes and external names, by scopes alone."""
    before = linker.strict
    linker.strict = True
    try:
        return evaluate(linker, made, expr)
    finally:
        linker.strict = before


def _instance(linker: Linker, value: Value, args: tuple[Values, ...]) -> Values:
    match value:
        case Klass(decl=decl):
            return frozenset({linker.inst(decl, args or value.args)})
        case Ext(name=name):
            return frozenset({linker.ext(name, args or value.args, inst=True)})
        case TypeVar() | Coll() | CallableValue():
            return frozenset({value})
        case _:
            return NOTHING


def _declared_seq(linker: Linker, made: Declaration, expr: Seq) -> Values:
    if expr.kind == "tuple":
        parts = tuple(instances(linker, made, item) for item in expr.items)
    else:
        parts = (_union(linker, made, expr.items, instances),)
    return frozenset({linker.make(Coll, expr.kind, parts)})


def _union(
    linker: Linker,
    made: Declaration,
    exprs: list[Expr],
    how: Callable[[Linker, Declaration, Expr], Values],
) -> Values:
    values = NOTHING
    for expr in exprs:
        values |= how(linker, made, expr)
    return values


# Calls


def called(linker: Linker, made: Declaration, expr: Call) -> Values:
    """What a call gives."""
    if linker.strict:
        return NOTHING
    return linker.of_call(id(expr), _called, made, expr)


def _called(linker: Linker, made: Declaration, expr: Call) -> Values:
    special = made.unit.rules.call_value
    if special is not None:
        values = special(linker, made, expr)
        if values is not None:
            return narrow(values)
    found = NOTHING
    for value, on in callees(linker, made, expr):
        found |= result(linker, made, expr, value, on)
    return narrow(found)


def callees(linker: Linker, made: Declaration, expr: Call) -> list[tuple[Value, Value | None]]:
    """What a call site calls, each with the receiver that it was found on."""
    return linker.of_call(~id(expr), _callees, made, expr) or []


def _callees(linker: Linker, made: Declaration, expr: Call) -> list[tuple[Value, Value | None]]:
    fn = expr.fn
    while type(fn) is Generic:
        fn = fn.of
    if type(fn) is Attr:
        found: dict[tuple[Value, Value | None], None] = {}
        for on in _ordered(evaluate(linker, made, fn.of)):
            for value in _ordered(members.read(linker, on, fn.name)):
                found[value, on] = None
        pairs = list(found)
    else:
        pairs = [(value, None) for value in _ordered(evaluate(linker, made, fn))]
    if made.unit.rules.overloads and len(pairs) > 1:
        pairs = generics.applicable(linker, made, expr, pairs)
    return pairs


def _ordered(values: Values) -> list[Value]:
    return sorted(values, key=_key) if len(values) > 1 else list(values)


def _key(value: Value) -> str:
    return value.key


def result(linker: Linker, made: Declaration, expr: Call, value: Value, on: Value | None) -> Values:
    """What calling ``value`` gives at this call site."""
    match value:
        case Klass(decl=decl):
            args = value.args
            if type(expr.fn) is Generic:
                args = tuple(instances(linker, made, arg) for arg in expr.fn.args)
            return frozenset({linker.inst(decl, args, exact=True)})
        case Func(decl=decl):
            given = returned(linker, decl)
            if isinstance(on, Inst) and _returns_receiver(decl):
                given = given - {linker.inst(on.decl)} - receiver(linker, decl) | {on}
            return generics.substitute(linker, given, made, expr, decl, on)
        case CallableValue(returns=returns):
            return returns
        case Ext(name=name, inst=inst):
            return frozenset({value if inst else linker.ext(name, value.args, inst=True)})
        case Inst():
            return _call_instance(linker, made, expr, value)
        case _:
            return frozenset({value}) if value is TOP else NOTHING


def _returns_receiver(made: Declaration) -> bool:
    declared = made.scope.returns
    if declared is not None and made.unit.rules.class_objects:
        return type(declared) is This
    return any(
        type(statement) is Return and made.is_receiver(statement.value)
        for statement in made.scope.body
    )


def _call_instance(linker: Linker, made: Declaration, expr: Call, value: Inst) -> Values:
    name = made.unit.rules.call_member
    if not name:
        return NOTHING
    values = NOTHING
    for inner in _ordered(members.read(linker, value, name)):
        if not isinstance(inner, Inst):
            values |= result(linker, made, expr, inner, value)
    return values


def returned(linker: Linker, made: Declaration) -> Values:
    """What a function gives back: what it declares, else what it returns or yields."""
    return linker.ask(("returned", made), _returned, made)


def _returned(linker: Linker, made: Declaration) -> Values:
    linker.read_body(made)
    scope = made.scope
    if scope.returns is not None:
        declared = instances(linker, made, scope.returns)
        if not made.unit.rules.trusts_values:
            return declared
    else:
        declared = NOTHING
    values, yielded, yields = declared, NOTHING, False
    for place in made.with_blocks():
        linker.read_body(place)
        for statement in place.scope.body:
            if type(statement) is Return:
                values |= evaluate(linker, place, statement.value)
            elif type(statement) is Yield:
                yields = True
                yielded |= evaluate(linker, place, statement.value)
    if yields:
        values |= frozenset({linker.make(Coll, "generator", (yielded,))})
    return narrow(values)


# One function for each kind of expression


def _name(linker: Linker, made: Declaration, expr: Name) -> Values:
    return lookup(linker, made, expr.id)


def _attr(linker: Linker, made: Declaration, expr: Attr) -> Values:
    values = NOTHING
    for value in evaluate(linker, made, expr.of):
        values |= members.read(linker, value, expr.name)
    return values


def _item(linker: Linker, made: Declaration, expr: Item) -> Values:
    values = NOTHING
    for value in evaluate(linker, made, expr.of):
        values |= item_of(linker, value, expr.key)
    return values


def item_of(linker: Linker, value: Value, key: str | int | None) -> Values:
    """``value[key]``; every item for a key that is not a constant."""
    match value:
        case Literal():
            return linker.ask(("item", value, key), _literal_item, value, key)
        case Coll(kind="tuple", args=args) if type(key) is int and len(args) > 1:
            return args[key] if -len(args) <= key < len(args) else NOTHING
        case Coll(args=args):
            return frozenset().union(*args)
        case Ext(args=args, inst=True) if args:
            return args[-1]
        case Inst() | Klass():
            return containers.item_of_object(linker, value, key)
        case _:
            return frozenset({value}) if value is TOP else NOTHING


def _literal_item(linker: Linker, value: Literal, key: str | int | None) -> Values:
    made, expr = value.decl, value.expr
    values = NOTHING
    if type(expr) is Seq:
        for index, item in enumerate(expr.items):
            if type(item) is Spread:
                values |= _spread(linker, made, item)
            elif key is None or key == index or _from_end(key, expr):
                values |= evaluate(linker, made, item)
    elif type(expr) is Map:
        for name, item in zip(expr.keys, expr.values, strict=True):
            if type(item) is Spread:
                for inner in evaluate(linker, made, item.of):
                    values |= containers.part_of(linker, inner, key)
            elif key is None or name is None or _is_key(made, name, key):
                values |= evaluate(linker, made, item)
    return narrow(values | containers.stored(linker, value, key, made.unit))


def _is_key(made: Declaration, name: str | int, key: str | int) -> bool:
    """Whether both name the same entry: where keys are properties, 1 and "1" are one."""
    return name == key or (made.unit.rules.class_objects and str(name) == str(key))


def _from_end(key: str | int | None, expr: Seq) -> bool:
    return type(key) is int and key < 0 and len(expr.items) > 0


def _spread(linker: Linker, made: Declaration, expr: Spread) -> Values:
    values = NOTHING
    for inner in evaluate(linker, made, expr.of):
        values |= item_of(linker, inner, None)
    return values


def _elem(linker: Linker, made: Declaration, expr: Elem) -> Values:
    values = NOTHING
    for value in evaluate(linker, made, expr.of):
        values |= containers.iterated(linker, value)
    return values


def _def(linker: Linker, made: Declaration, expr: Def) -> Values:
    return defined(linker, made.children[expr.child])


def defined(linker: Linker, child: Declaration) -> Values:
    """A scope as the value that its definition makes."""
    if child.is_class or child.kind is ScopeKind.NAMESPACE:
        return frozenset({linker.klass(child)})
    return frozenset({linker.func(child)})


def _lit(linker: Linker, made: Declaration, expr: Lit) -> Values:
    return frozenset({linker.ext(f"<builtin>.{expr.kind}", inst=True)})


def _container(linker: Linker, made: Declaration, expr: Seq | Map) -> Values:
    if linker.strict:
        return instances(linker, made, expr)
    return frozenset({linker.literal(made, expr)})


def _any(linker: Linker, made: Declaration, expr: AnyOf) -> Values:
    return _union(linker, made, expr.of, evaluate)


def _this(linker: Linker, made: Declaration, expr: This) -> Values:
    method = made.method()
    if method is not None:
        return receiver(linker, method)
    if made.unit.rules.this_value is not None:
        values: Values = made.unit.rules.this_value(linker, made)
        return values
    owner = made.enclosing_class()
    return frozenset({linker.inst(owner)}) if owner is not None else NOTHING


def _super(linker: Linker, made: Declaration, expr: Super) -> Values:
    method = made.method()
    owner = members.owner(linker, method) if method is not None else made.enclosing_class()
    if owner is None:
        return NOTHING
    static = method is not None and bool(method.scope.flags & (Flag.STATIC | Flag.CLASSMETHOD))
    return frozenset({linker.make(Above, owner, static)})


def _import(linker: Linker, made: Declaration, expr: Import) -> Values:
    values: Values = made.unit.rules.import_value(linker, made.unit, expr)
    return values


def _generic(linker: Linker, made: Declaration, expr: Generic) -> Values:
    values = evaluate(linker, made, expr.of)
    if not any(isinstance(value, Klass | Ext) for value in values):
        return values
    args = tuple(instances(linker, made, arg) for arg in expr.args)
    return frozenset(
        linker.klass(value.decl, args)
        if isinstance(value, Klass)
        else linker.ext(value.name, args, inst=value.inst)
        if isinstance(value, Ext)
        else value
        for value in values
    )


def _cast(linker: Linker, made: Declaration, expr: Cast) -> Values:
    values = instances(linker, made, expr.to)
    if expr.of is not None and type(expr.of) in (Def, Map, Seq):
        values |= evaluate(linker, made, expr.of)
    return values


def _await(linker: Linker, made: Declaration, expr: Await) -> Values:
    values = NOTHING
    for value in evaluate(linker, made, expr.of):
        if isinstance(value, Coll) and value.kind == "future":
            values |= value.args[0]
        else:
            values |= frozenset({value})
    return values


def _same(linker: Linker, made: Declaration, expr: Spread) -> Values:
    return evaluate(linker, made, expr.of)


def _function(linker: Linker, made: Declaration, expr: Function) -> Values:
    return instances(linker, made, expr)


_HOW: dict[type, Callable[[Linker, Declaration, Any], Values]] = {
    Name: _name,
    Attr: _attr,
    Call: called,
    Item: _item,
    Elem: _elem,
    Def: _def,
    Lit: _lit,
    Seq: _container,
    Map: _container,
    AnyOf: _any,
    This: _this,
    Super: _super,
    Import: _import,
    Generic: _generic,
    Cast: _cast,
    Await: _await,
    Spread: _same,
    Function: _function,
}
