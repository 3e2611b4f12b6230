"""What is there without an import, and what the functions among it do with functions."""

from collections.abc import Callable

from ...facts import Call, Expr, Flag, Generic, Name, ScopeKind, calls_of
from ...linking import containers
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.units import Declaration
from ...linking.values import NOTHING, Coll, Ext, Func, Inst, Klass, Literal, Value, Values
from .words import words

PREFIX = "<builtin>."
KINDS = {"object": "Object", "generator": "Generator", "future": "Promise", "tuple": "Array"}
"""What containers that are known by their type are called."""

ELEMENTS = words(
    """
    forEach map filter find findIndex findLast findLastIndex some every flatMap
    """
)
_FOLDS = frozenset({"reduce", "reduceRight"})
_SORTS = frozenset({"sort", "toSorted"})
_PROMISED = frozenset({"then", "catch", "finally"})
_REPLACES = frozenset({"replace", "replaceAll"})
CALLING = ELEMENTS | _FOLDS | _SORTS | _PROMISED | _REPLACES
"""Methods that call the functions that they are given, whatever they are of."""

LATER = words("then catch finally")
"""Methods that call what they are given after whoever calls them is done."""

TIMERS = words(
    """
    setTimeout setInterval setImmediate queueMicrotask requestAnimationFrame
    requestIdleCallback nextTick
    """
)
_SAME = words(
    """
    filter slice concat reverse sort splice toSorted toReversed toSpliced fill copyWithin
    values with flat
    """
)
_ONE = words(
    """
    find findLast at pop shift get
    """
)
_STRINGS = words(
    """
    charAt concat normalize padEnd padStart repeat replace replaceAll slice substr substring
    toLocaleLowerCase toLocaleUpperCase toLowerCase toString toUpperCase trim trimEnd
    trimStart
    """
)


def shown(name: str) -> str:
    """What an external name is called, containers by JavaScript's names."""
    if not name.startswith(PREFIX):
        return name
    kind, dot, rest = name[len(PREFIX) :].partition(".")
    return f"{PREFIX}{KINDS.get(kind, kind)}{dot}{rest}"


def items_of(linker: Linker, value: Value) -> Values:
    """The items of a container."""
    if isinstance(value, Literal | Coll) or (isinstance(value, Ext) and value.args):
        return ev.item_of(linker, value, None)
    return NOTHING


def awaited(linker: Linker, values: Values) -> Values:
    """What waiting for ``values`` gives."""
    found = NOTHING
    for value in values:
        if isinstance(value, Coll) and value.kind == "future":
            found |= value.args[0]
        else:
            found |= frozenset({value})
    return found


def future(linker: Linker, values: Values) -> Values:
    """A promise of ``values``."""
    return frozenset({linker.make(Coll, "future", (awaited(linker, values),))})


def _array(linker: Linker, values: Values) -> Values:
    return frozenset({linker.make(Coll, "Array", (values,))})


def passes(linker: Linker, name: str, on: Values) -> list[Values]:
    """What ``on.name(f)`` passes to ``f``."""
    if name == "then":
        return [awaited(linker, frozenset(v for v in on if isinstance(v, Coll)))]
    if name in _REPLACES or name in LATER:
        return []
    items = frozenset(item for value in on for item in items_of(linker, value))
    if name in _FOLDS:
        return [NOTHING, items]
    return [items, items] if name in _SORTS else [items]


# What calls give


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """What a call gives."""
    found = NOTHING
    for value, on in ev.callees(linker, made, call):
        if isinstance(value, Ext) and value.name.startswith(PREFIX):
            found |= _builtin(linker, made, call, value, on)
        elif isinstance(value, Func):
            found |= _function(linker, made, call, value, on)
        else:
            found |= ev.result(linker, made, call, value, on)
    return found


def _function(
    linker: Linker, made: Declaration, call: Call, value: Func, on: Value | None
) -> Values:
    values = ev.result(linker, made, call, value, on)
    scope = value.decl.scope
    if call.new and value.decl.kind is ScopeKind.FUNCTION:
        kept = frozenset(v for v in values if isinstance(v, Literal | Inst | Func | Klass))
        return kept | frozenset({linker.inst(value.decl)})
    if scope.flags & Flag.ASYNC and not scope.flags & Flag.GENERATOR:
        return future(linker, values)
    return values


Giver = Callable[[Linker, Declaration, Call, Value | None], Values]


def _builtin(linker: Linker, made: Declaration, call: Call, value: Ext, on: Value | None) -> Values:
    kind, _, name = value.name[len(PREFIX) :].partition(".")
    if not name:
        return _constructed(linker, made, call, value)
    if kind == "Function":
        return _applied(linker, made, call, name, on)
    if kind in ("Array", "tuple", "Set", "generator", "Map"):
        return _of_container(linker, made, call, name, on)
    if kind == "future":
        return _of_promise(linker, made, call, name, on)
    if kind == "String":
        return _of_string(linker, name)
    giver = _GIVERS.get(f"{kind}.{name}")
    return giver(linker, made, call, on) if giver is not None else NOTHING


def _constructed(linker: Linker, made: Declaration, call: Call, value: Ext) -> Values:
    if value.inst:
        return NOTHING
    kind = value.name[len(PREFIX) :]
    args = value.args
    if type(call.fn) is Generic:
        args = tuple(ev.instances(linker, made, arg) for arg in call.fn.args)
    if kind in ("Map", "WeakMap") and len(args) > 1:
        return frozenset({linker.make(Coll, "Map", (args[1],))})
    if kind in ("Set", "WeakSet", "Array") and args:
        return frozenset({linker.make(Coll, kind.removeprefix("Weak"), (args[0],))})
    if kind == "Promise" and call.new:
        return future(linker, args[0] if args else _settled(linker, made, call))
    if kind in ("String", "Number", "Boolean") and not call.new:
        return frozenset({linker.ext(value.name, inst=True)})
    return frozenset({linker.ext(value.name, inst=True)}) if call.new else NOTHING


def _settled(linker: Linker, made: Declaration, call: Call) -> Values:
    """What the function that a promise is made with passes to its first parameter."""
    found = NOTHING
    for value in _argument(linker, made, call):
        if isinstance(value, Func) and value.decl.scope.params:
            resolve = Name(value.decl.scope.params[0].name)
            stack = [value.decl]
            while stack:
                scope = stack.pop()
                linker.read_body(scope)
                for site in calls_of(scope.scope):
                    if type(site) is Call and site.fn == resolve and site.args:
                        found |= ev.evaluate(linker, scope, site.args[0])
                stack.extend(scope.children.values())
    return found


def _applied(linker: Linker, made: Declaration, call: Call, name: str, on: Value | None) -> Values:
    if not isinstance(on, Func):
        return NOTHING
    if name == "bind":
        return frozenset({on})
    values = ev.returned(linker, on.decl)
    return future(linker, values) if on.decl.scope.flags & Flag.ASYNC else values


def _of_container(
    linker: Linker, made: Declaration, call: Call, name: str, on: Value | None
) -> Values:
    if on is None:
        return NOTHING
    if name in _ONE:
        return items_of(linker, on)
    if name == "next":
        return frozenset({linker.make(Coll, "object", (items_of(linker, on),))})
    if name == "concat":
        inner = items_of(linker, on)
        for arg in call.args:
            for value in ev.evaluate(linker, made, arg):
                inner |= items_of(linker, value)
        return _array(linker, inner)
    if name in _SAME:
        return _array(linker, items_of(linker, on))
    if name == "entries":
        pair = linker.make(Coll, "tuple", (NOTHING, items_of(linker, on)))
        return _array(linker, frozenset({pair}))
    if name == "join":
        return frozenset({linker.ext("<builtin>.String", inst=True)})
    if name not in ("map", "flatMap", *_FOLDS) or not call.args:
        return NOTHING
    values = results(linker, made, call.args[0])
    if name in _FOLDS:
        for arg in call.args[1:2]:
            values |= ev.evaluate(linker, made, arg)
        return values
    if name == "flatMap":
        values = frozenset(item for value in values for item in items_of(linker, value))
    return _array(linker, values)


def results(linker: Linker, made: Declaration, expr: Expr) -> Values:
    """What the functions that ``expr`` may be give."""
    found = NOTHING
    for value in ev.evaluate(linker, made, expr):
        if isinstance(value, Func):
            given = ev.returned(linker, value.decl)
            is_async = value.decl.scope.flags & Flag.ASYNC
            found |= future(linker, given) if is_async else given
    return found


def _of_promise(
    linker: Linker, made: Declaration, call: Call, name: str, on: Value | None
) -> Values:
    before = frozenset({on}) if on is not None else NOTHING
    if name == "finally" or not call.args:
        return before
    values = results(linker, made, call.args[0])
    if name == "then":
        for arg in call.args[1:2]:
            values |= results(linker, made, arg)
        return future(linker, awaited(linker, values))
    return before | future(linker, values) if name == "catch" else NOTHING


def _of_string(linker: Linker, name: str) -> Values:
    string: Values = frozenset({linker.ext("<builtin>.String", inst=True)})
    if name in _STRINGS:
        return string
    return _array(linker, string) if name in ("split", "match", "matchAll") else NOTHING


def _argument(linker: Linker, made: Declaration, call: Call) -> Values:
    return ev.evaluate(linker, made, call.args[0]) if call.args else NOTHING


def _strings(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    return _array(linker, frozenset({linker.ext("<builtin>.String", inst=True)}))


def _values(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    given = _argument(linker, made, call)
    return _array(linker, frozenset(i for value in given for i in items_of(linker, value)))


def _entries(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    given = _argument(linker, made, call)
    inner = frozenset(item for value in given for item in items_of(linker, value))
    pair = linker.make(Coll, "tuple", (_string(linker), inner))
    return _array(linker, frozenset({pair}))


def _string(linker: Linker) -> Values:
    return frozenset({linker.ext("<builtin>.String", inst=True)})


def _from(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    if len(call.args) > 1:
        return _array(linker, results(linker, made, call.args[1]))
    found = NOTHING
    for value in _argument(linker, made, call):
        found |= containers.iterated(linker, value)
    return _array(linker, found)


def _promised(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    return future(linker, _argument(linker, made, call))


def _all(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    given = _argument(linker, made, call)
    inner = frozenset(item for value in given for item in items_of(linker, value))
    return future(linker, _array(linker, awaited(linker, inner)))


def _any(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    given = _argument(linker, made, call)
    return future(linker, frozenset(i for value in given for i in items_of(linker, value)))


def _same(linker: Linker, made: Declaration, call: Call, on: Value | None) -> Values:
    return _argument(linker, made, call)


_GIVERS: dict[str, Giver] = {
    "Object.keys": _strings,
    "Object.getOwnPropertyNames": _strings,
    "Object.values": _values,
    "Object.entries": _entries,
    "Object.getPrototypeOf": _same,
    "Object.defineProperty": _same,
    "Array.from": _from,
    "Promise.resolve": _promised,
    "Promise.all": _all,
    "Promise.allSettled": _all,
    "Promise.race": _any,
    "Promise.any": _any,
}
