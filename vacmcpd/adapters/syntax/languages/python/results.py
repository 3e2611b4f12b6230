"""What calls give: built-in functions, containers' methods, operators, context managers."""

from collections.abc import Callable

from ...facts import Attr, Call, Def, Expr, Flag, Map, Name, Spread
from ...linking import containers, members
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.sites import IMPLICIT
from ...linking.units import Declaration
from ...linking.values import (
    NOTHING,
    TOP,
    Above,
    Coll,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Value,
    Values,
)
from .passing import passed_through

Give = Callable[[Linker, Declaration, Call], Values]


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """What a call gives."""
    if call.names == [IMPLICIT]:
        return _implicit(linker, made, call) if call.new else NOTHING
    decorates = is_decoration(call)
    found = NOTHING
    for value, on in ev.callees(linker, made, call):
        if isinstance(value, Ext):
            if not decorates:
                found |= _outside(linker, made, call, value, on)
        elif isinstance(value, Klass) and is_receiver_class(made, call.fn):
            found |= frozenset({linker.inst(value.decl)})
        elif isinstance(value, Func):
            given = passed_through(linker, made, call, value, on)
            found |= ev.result(linker, made, call, value, on) if given is None else given
        else:
            found |= ev.result(linker, made, call, value, on)
    return found


def is_decoration(call: Call) -> bool:
    """Whether the call is that of a decorator."""
    args = call.args
    if len(args) != 1:
        return False
    first = args[0]
    if type(first) is Call:
        return is_decoration(first)
    return type(first) is Def and not first.child.startswith("<")


def is_receiver_class(made: Declaration, fn: Expr) -> bool:
    """Whether ``fn`` is the class of the receiver, by syntax: ``cls``, ``type(self)``."""
    if type(fn) is Name:
        method = made.method()
        if method is None or not method.scope.flags & Flag.CLASSMETHOD:
            return False
        params = method.scope.params
        return bool(params) and params[0].name == fn.id
    if type(fn) is Attr:
        return fn.name == "__class__"
    return type(fn) is Call and fn.fn == Name("type") and len(fn.args) == 1


def _outside(linker: Linker, made: Declaration, call: Call, value: Ext, on: Value | None) -> Values:
    give = _GIVEN.get(value.name)
    if give is not None and not value.inst:
        return give(linker, made, call)
    if value.inst:
        if value.name == "<builtin>.type" and value.args:
            return value.args[0]
        if value.name in ("functools.wraps", *WRAPPERS):
            return argument(linker, made, call, 0)
        return frozenset({value})
    name = value.name.rpartition(".")[2]
    if isinstance(on, Literal | Coll) or (isinstance(on, Ext) and on.args):
        method = _METHODS.get(name)
        if method is not None:
            return method(linker, on)
    if isinstance(on, Ext) and on.name in ("<builtin>.str", "<builtin>.bytes"):
        kind = _TEXTS.get(name)
        if kind is not None:
            return frozenset({linker.ext(f"<builtin>.{kind}", inst=True)})
    return frozenset({linker.ext(value.name, value.args, inst=True)})


# What the syntax gives


def _implicit(linker: Linker, made: Declaration, call: Call) -> Values:
    fn = call.fn
    if type(fn) is not Attr or not fn.name.startswith("__"):
        return NOTHING
    found = NOTHING
    values = ev.evaluate(linker, made, fn.of)
    how = _SYNTAX.get(fn.name, _operated)
    for value in values:
        found |= how(linker, made, call, value)
    return found


def elements(linker: Linker, value: Value) -> Values:
    """What iterating over ``value`` gives; of a dictionary, its keys."""
    if isinstance(value, Ext) and value.name == "<builtin>.dict":
        return value.args[0] if len(value.args) == 2 else NOTHING
    if isinstance(value, Coll) and value.kind == "dict":
        return NOTHING
    if isinstance(value, Inst):
        found = NOTHING
        names = ("__aiter__", "__anext__")
        asynchronous = members.has_member(linker, value.decl, "__aiter__")
        if not asynchronous:
            return containers.iterated(linker, value)
        for method in members.attribute(linker, value, names[0]):
            if isinstance(method, Func):
                for iterator in ev.returned(linker, method.decl):
                    found |= _stepped(linker, iterator, names[1])
        return found
    return containers.iterated(linker, value)


def _stepped(linker: Linker, value: Value, name: str) -> Values:
    if isinstance(value, Coll):
        return containers.iterated(linker, value)
    found = NOTHING
    if isinstance(value, Inst):
        for method in members.attribute(linker, value, name):
            if isinstance(method, Func):
                found |= ev.returned(linker, method.decl)
    return found


def _iterated(linker: Linker, made: Declaration, call: Call, value: Value) -> Values:
    del made, call
    return elements(linker, value)


def _entered(linker: Linker, made: Declaration, call: Call, value: Value) -> Values:
    """What ``with`` binds: a generator's value when a decorator made a manager of it."""
    if isinstance(value, Coll):
        return containers.iterated(linker, value)
    if isinstance(value, Inst):
        assert type(call.fn) is Attr
        if members.has_member(linker, value.decl, call.fn.name):
            return _method_result(linker, made, call, value, call.fn.name)
    return frozenset({value})


def _operated(linker: Linker, made: Declaration, call: Call, value: Value) -> Values:
    """An operator gives what the object's method does, or for others one of their own kind."""
    if isinstance(value, Inst):
        assert type(call.fn) is Attr
        return _method_result(linker, made, call, value, call.fn.name)
    if isinstance(value, Ext) and value.inst and value.name.startswith("<builtin>."):
        return frozenset({value})
    return frozenset({value}) if isinstance(value, Literal | Coll) or value is TOP else NOTHING


def _sliced(linker: Linker, made: Declaration, call: Call, value: Value) -> Values:
    if isinstance(value, Literal) and type(value.expr) is not Map:
        if call.args:
            return ev.evaluate(linker, made, call.args[0])
        every = ev.item_of(linker, value, None)
        return frozenset({linker.make(Coll, "list", (every,))})
    return _operated(linker, made, call, value)


def _method_result(linker: Linker, made: Declaration, call: Call, value: Inst, name: str) -> Values:
    found = NOTHING
    for method in members.attribute(linker, value, name):
        if isinstance(method, Func):
            found |= ev.result(linker, made, call, method, value)
    return found


_SYNTAX: dict[str, Callable[[Linker, Declaration, Call, Value], Values]] = {
    "__iter__": _iterated,
    "__aiter__": _iterated,
    "__enter__": _entered,
    "__aenter__": _entered,
    "__getitem__": _sliced,
}


# Built-in functions and those of the standard library that give back what they are given


def argument(linker: Linker, made: Declaration, call: Call, place: int) -> Values:
    """The values of a positional argument."""
    if place >= len(call.args) - len(call.names) or type(call.args[place]) is Spread:
        return NOTHING
    return ev.evaluate(linker, made, call.args[place])


def keyword(linker: Linker, made: Declaration, call: Call, name: str) -> Values:
    """The values of an argument given by its name."""
    if name not in call.names:
        return NOTHING
    place = len(call.args) - len(call.names) + call.names.index(name)
    return ev.evaluate(linker, made, call.args[place])


def each(linker: Linker, values: Values) -> Values:
    """What iterating over any of ``values`` gives."""
    found = NOTHING
    for value in values:
        found |= elements(linker, value)
    return found


def _collection(kind: str, place: int = 0) -> Give:
    def give(linker: Linker, made: Declaration, call: Call) -> Values:
        inner = each(linker, argument(linker, made, call, place))
        return frozenset({linker.make(Coll, kind, (flat(linker, inner),))})

    return give


def flat(linker: Linker, values: Values) -> Values:
    """``values`` with containers of containers cut off, so that they can't grow without end."""
    return linker.shallow((values,), 2)[0]


def _elements_of(linker: Linker, made: Declaration, call: Call) -> Values:
    found = each(linker, argument(linker, made, call, 0))
    return found | argument(linker, made, call, 1)


def _extreme(linker: Linker, made: Declaration, call: Call) -> Values:
    """``max(xs)``, ``max(a, b)``."""
    placed = len(call.args) - len(call.names)
    if placed == 1:
        return each(linker, argument(linker, made, call, 0))
    found = NOTHING
    for place in range(placed):
        found |= argument(linker, made, call, place)
    return found


def _unknown(linker: Linker, made: Declaration, call: Call) -> Values:
    """Only a constant name says what attribute it is, and that is read as one."""
    del linker, made, call
    return NOTHING


def _same(linker: Linker, made: Declaration, call: Call) -> Values:
    return argument(linker, made, call, 0)


def _same_of_all(linker: Linker, made: Declaration, call: Call) -> Values:
    found = NOTHING
    for place in range(len(call.args) - len(call.names)):
        found |= argument(linker, made, call, place)
    return frozenset({linker.make(Coll, "list", (flat(linker, found),))})


def _enumerate(linker: Linker, made: Declaration, call: Call) -> Values:
    inner = flat(linker, each(linker, argument(linker, made, call, 0)))
    number = frozenset({linker.ext("<builtin>.int", inst=True)})
    pair = linker.make(Coll, "tuple", (number, inner))
    return frozenset({linker.make(Coll, "generator", (frozenset({pair}),))})


def _zip(linker: Linker, made: Declaration, call: Call) -> Values:
    placed = range(len(call.args) - len(call.names))
    parts = tuple(
        flat(linker, each(linker, argument(linker, made, call, place))) for place in placed
    )
    row = linker.make(Coll, "tuple", parts)
    return frozenset({linker.make(Coll, "generator", (frozenset({row}),))})


def _map(linker: Linker, made: Declaration, call: Call) -> Values:
    """What the functions among the arguments give."""
    found = NOTHING
    for place in range(len(call.args) - len(call.names)):
        for value in argument(linker, made, call, place):
            if isinstance(value, Func | Klass):
                found |= ev.result(linker, made, call, value, None)
    return frozenset({linker.make(Coll, "generator", (flat(linker, found),))})


def _type(linker: Linker, made: Declaration, call: Call) -> Values:
    return frozenset(
        linker.klass(value.decl)
        for value in argument(linker, made, call, 0)
        if isinstance(value, Inst)
    )


def _super(linker: Linker, made: Declaration, call: Call) -> Values:
    method = made.method()
    static = method is not None and bool(method.scope.flags & (Flag.STATIC | Flag.CLASSMETHOD))
    if call.args:
        classes = argument(linker, made, call, 0)
        return frozenset(
            linker.make(Above, value.decl, static) for value in classes if isinstance(value, Klass)
        )
    owner = members.owner(linker, method) if method is not None else None
    return frozenset({linker.make(Above, owner, static)}) if owner is not None else NOTHING


def _wrapped(linker: Linker, made: Declaration, call: Call) -> Values:
    """``lru_cache(f)`` is ``f``; without a function it is a decorator."""
    if call.args and len(call.args) > len(call.names):
        return argument(linker, made, call, 0)
    fn = ev.evaluate(linker, made, call.fn)
    return frozenset(linker.ext(value.name, inst=True) for value in fn if isinstance(value, Ext))


WRAPPERS = (
    "functools.lru_cache",
    "functools.cache",
    "contextlib.contextmanager",
    "contextlib.asynccontextmanager",
    "functools.singledispatch",
    "<builtin>.staticmethod",
    "<builtin>.classmethod",
)
"""What gives back the function that it is given, more or less."""

_GIVEN: dict[str, Give] = {
    "<builtin>.list": _collection("list"),
    "<builtin>.tuple": _collection("tuple"),
    "<builtin>.set": _collection("set"),
    "<builtin>.frozenset": _collection("frozenset"),
    "<builtin>.sorted": _collection("list"),
    "<builtin>.reversed": _collection("generator"),
    "<builtin>.iter": _collection("generator"),
    "<builtin>.filter": _collection("generator", 1),
    "<builtin>.getattr": _unknown,
    "<builtin>.next": _elements_of,
    "<builtin>.min": _extreme,
    "<builtin>.max": _extreme,
    "<builtin>.enumerate": _enumerate,
    "<builtin>.zip": _zip,
    "<builtin>.map": _map,
    "<builtin>.type": _type,
    "<builtin>.super": _super,
    "collections.deque": _collection("deque"),
    "functools.partial": _same,
    "functools.partialmethod": _same,
    **dict.fromkeys(WRAPPERS, _wrapped),
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "weakref.proxy": _same,
    "asyncio.create_task": _same,
    "asyncio.ensure_future": _same,
    "asyncio.wait_for": _same,
    "asyncio.shield": _same,
    "asyncio.run": _same,
    "asyncio.gather": _same_of_all,
    "contextlib.closing": _same,
    "contextlib.aclosing": _same,
    "inspect.unwrap": _same,
}

Method = Callable[[Linker, Value], Values]


def _inner(linker: Linker, value: Value) -> Values:
    return ev.item_of(linker, value, None)


def _listed(linker: Linker, value: Value) -> Values:
    return frozenset({linker.make(Coll, "list", (flat(linker, ev.item_of(linker, value, None)),))})


def _paired(linker: Linker, value: Value) -> Values:
    key: Values = value.args[0] if isinstance(value, Ext) and len(value.args) == 2 else NOTHING
    pair = linker.make(
        Coll, "tuple", (flat(linker, key), flat(linker, ev.item_of(linker, value, None)))
    )
    return frozenset({linker.make(Coll, "list", (frozenset({pair}),))})


def _itself(linker: Linker, value: Value) -> Values:
    del linker
    return frozenset({value})


_METHODS: dict[str, Method] = {
    "get": _inner,
    "pop": _inner,
    "popleft": _inner,
    "setdefault": _inner,
    "send": _inner,
    "__next__": _inner,
    "__getitem__": _inner,
    "values": _listed,
    "items": _paired,
    "copy": _itself,
    "union": _itself,
    "intersection": _itself,
    "difference": _itself,
    "__iter__": _itself,
}
# fmt: off
_TEXT_METHODS = (
    "join", "format", "strip", "lstrip", "rstrip", "replace", "lower", "upper", "title",
    "capitalize", "decode", "casefold", "zfill", "center", "ljust", "rjust", "expandtabs",
    "translate", "removeprefix", "removesuffix", "swapcase",
)
# fmt: on
_TEXTS = {
    **dict.fromkeys(_TEXT_METHODS, "str"),
    "encode": "bytes",
    "split": "list",
    "splitlines": "list",
    "rsplit": "list",
}
