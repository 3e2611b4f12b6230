"""What a call site calls besides what it names, and what the syntax calls without naming it."""

from collections.abc import Callable

from ...facts import Attr, Call, Expr, Flag, Name, ScopeKind
from ...linking import evaluate as ev
from ...linking import members
from ...linking.linker import Linker
from ...linking.records import DISPATCH, RESOLVED
from ...linking.sites import IMPLICIT, Site, construct
from ...linking.units import Declaration
from ...linking.values import Ext, Func, Inst, Klass, TypeVar, Value, Values
from . import results
from .modules import FAMILY
from .walk import SETS

_INSTEAD = {
    "__str__": ("__str__", "__repr__"),
    "__format__": ("__format__", "__str__", "__repr__"),
    "__bool__": ("__bool__", "__len__"),
    "__ne__": ("__ne__", "__eq__"),
    "__contains__": ("__contains__", "__iter__"),
    "__int__": ("__int__", "__index__"),
}
"""The methods that are asked for one after the other."""

_THEN = {"__enter__": "__exit__", "__aenter__": "__aexit__"}
"""The method that is called after another on the same object."""

_STEPS = {"__iter__": "__next__", "__aiter__": "__anext__"}
"""The method that is called on what the other gives."""


def site_targets(linker: Linker, made: Declaration, call: Call, site: Site) -> bool:
    """Fill in what is called besides; whether that is all."""
    if call.names == [IMPLICIT]:
        _implicit(linker, made, call, site)
        return True
    fn = call.fn
    if type(fn) is Name:
        values = ev.evaluate(linker, made, fn)
        _named(linker, made, call, site, values)
        if values and all(_is_class_of(value) for value in values):
            return True
    elif type(fn) is Attr:
        _of_attribute(linker, made, call, site, fn)
    if results.is_receiver_class(made, fn):
        _derived_constructors(linker, made, call, site)
    return False


# Syntax


def _implicit(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    fn = call.fn
    if type(fn) is Attr and fn.name.startswith(SETS):
        _set(linker, made, site, fn)
        return
    if type(fn) is Attr and fn.name.startswith("__"):
        names = _INSTEAD.get(fn.name, (fn.name,))
        if any(linker.has_property(FAMILY, name) for name in names):
            method_targets(linker, made, site, ev.evaluate(linker, made, fn.of), fn.name)
        return
    for value in ev.evaluate(linker, made, fn):
        if isinstance(value, Klass):
            construct(linker, made, call, site, value.decl)


def _set(linker: Linker, made: Declaration, site: Site, fn: Attr) -> None:
    """The setters that setting an attribute runs."""
    name = fn.name[len(SETS) :]
    if not linker.has_property(FAMILY, name):
        return
    for value in ev.evaluate(linker, made, fn.of):
        if not isinstance(value, Inst):
            continue
        for found in members.member(linker, value.decl, name):
            if isinstance(found, Func) and _is_setter(found.decl):
                site.add(found.decl, RESOLVED)
        if not value.exact:
            for other in members.overriding(linker, value.decl, name):
                if _is_setter(other):
                    site.add(other, DISPATCH)


def _is_setter(made: Declaration) -> bool:
    flags = made.scope.flags
    return made.kind is ScopeKind.PROPERTY and flags & (Flag.SETTER | Flag.PRIVATE) == Flag.SETTER


def method_targets(
    linker: Linker, made: Declaration, site: Site, values: Values, name: str
) -> None:
    """The method ``name`` of each of ``values``, as the language asks objects for it."""
    for value in sorted(values, key=lambda item: item.key):
        for owner in _classes(linker, value):
            _method(linker, site, value, owner, name)


def _classes(linker: Linker, value: Value) -> list[Declaration]:
    if isinstance(value, Inst):
        return [value.decl]
    if isinstance(value, TypeVar):
        bounds = [p.bound for p in value.decl.scope.type_params if p.name == value.name and p.bound]
        found = (item for bound in bounds for item in ev.instances(linker, value.decl, bound))
        return [item.decl for item in found if isinstance(item, Inst)]
    return []


def _method(linker: Linker, site: Site, value: Value, owner: Declaration, name: str) -> None:
    for asked in _INSTEAD.get(name, (name,)):
        if members.has_member(linker, owner, asked):
            _add(linker, site, value, owner, asked)
            break
    else:
        # Only classes below have it.
        _add(linker, site, value, owner, name)
        return
    then = _THEN.get(asked)
    if then is not None:
        _add(linker, site, value, owner, then)
    step = _STEPS.get(asked)
    if step is not None:
        for method in members.member(linker, owner, asked):
            if isinstance(method, Func):
                _step(linker, site, method.decl, value, owner, step)


def _step(
    linker: Linker, site: Site, method: Declaration, value: Value, owner: Declaration, step: str
) -> None:
    for iterator in sorted(ev.returned(linker, method), key=lambda item: item.key):
        if not isinstance(iterator, Inst):
            continue
        own = iterator.decl is owner
        _add(linker, site, value if own else iterator, iterator.decl, step)


def _add(linker: Linker, site: Site, value: Value, owner: Declaration, name: str) -> None:
    for method in members.member(linker, owner, name):
        if isinstance(method, Func):
            kind = DISPATCH if members.is_abstract(method.decl) else RESOLVED
            site.add(method.decl, kind)
    if not (isinstance(value, Inst) and value.exact):
        for other in members.overriding(linker, owner, name):
            if not other.scope.flags & (Flag.STATIC | Flag.PRIVATE):
                site.add(other, DISPATCH)


# Names


def _named(linker: Linker, made: Declaration, call: Call, site: Site, values: Values) -> None:
    for value in values:
        if isinstance(value, Ext):
            _outside(linker, made, call, site, value)
        elif isinstance(value, Klass):
            _constructed(linker, site, value.decl)


def _is_class_of(value: Value) -> bool:
    """Whether it is a class of which only the instances are known."""
    return isinstance(value, Ext) and value.name == "<builtin>.type" and value.inst


def _outside(linker: Linker, made: Declaration, call: Call, site: Site, value: Ext) -> None:
    name = value.name
    if value.inst:
        if name == "<builtin>.type" and value.args:
            for item in value.args[0]:
                if isinstance(item, Inst):
                    construct(linker, made, call, site, item.decl)
        return
    asked = _ASKED.get(name)
    if asked is not None:
        for place in range(len(call.args) - len(call.names)):
            method_targets(linker, made, site, results.argument(linker, made, call, place), asked)
    runs = _RUNS.get(name)
    if runs is not None:
        runs(linker, made, call, site)


def _constructed(linker: Linker, site: Site, owner: Declaration) -> None:
    """``__new__`` beside ``__init__``; the constructor of an outside base when there is none."""
    if members.has_member(linker, owner, "__init__"):
        if members.has_member(linker, owner, "__new__"):
            for value in members.member(linker, owner, "__new__"):
                if isinstance(value, Func):
                    site.add(value.decl, RESOLVED)
    elif not members.has_member(linker, owner, "__new__"):
        for base in members.outside_bases(linker, owner)[:1]:
            site.outside.add(f"{base.name}.__init__")


def _derived_constructors(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    """``cls()`` may make an instance of any class below."""
    for value in ev.evaluate(linker, made, call.fn):
        if not isinstance(value, Klass):
            continue
        for name in ("__init__", "__new__"):
            for target in members.overriding(linker, value.decl, name):
                site.add(target, DISPATCH)


# Attributes


def _of_attribute(linker: Linker, made: Declaration, call: Call, site: Site, fn: Attr) -> None:
    of = fn.of
    if type(of) is Call and of.fn == Name("super"):
        _sideways(linker, made, call, site, of, fn.name)
    elif results.is_receiver_class(made, of) or _is_class_of_receiver(made, of):
        for value in ev.evaluate(linker, made, of):
            if isinstance(value, Klass):
                for target in members.overriding(linker, value.decl, fn.name):
                    site.add(target, DISPATCH)
    if fn.name in _OUTSIDE_NAMES or fn.name[:1].isupper():
        _named(linker, made, call, site, ev.evaluate(linker, made, Attr(of, fn.name)))


def _is_class_of_receiver(made: Declaration, of: Expr) -> bool:
    return type(of) is Call and of.fn == Name("type") and len(of.args) == 1


def _sideways(
    linker: Linker, made: Declaration, call: Call, site: Site, of: Call, name: str
) -> None:
    """``super().m()`` of a mixin runs what stands after it in the order of the classes below."""
    del call
    for above in ev.evaluate(linker, made, of):
        owner = getattr(above, "decl", None)
        if owner is None:
            continue
        for item in members.descendants(linker, owner):
            # Only where bases come together does something else stand after it.
            if len(members.bases(linker, item)) < 2:
                continue
            order = members.mro(linker, item)
            if owner not in order:
                continue
            for after in order[order.index(owner) + 1 :]:
                if members.has_own(linker, after, name):
                    for value in members.own(linker, after, name):
                        if isinstance(value, Func):
                            site.add(value.decl, DISPATCH)
                    break


# Functions that run what they are given


def run(
    linker: Linker, made: Declaration, call: Call, site: Site, values: Values, kind: int
) -> None:
    """The functions among ``values`` are called."""
    for value in sorted(values, key=lambda item: item.key):
        if isinstance(value, Func):
            site.add(value.decl, kind)
        elif isinstance(value, Klass) and kind == RESOLVED:
            construct(linker, made, call, site, value.decl)
        elif isinstance(value, Inst):
            for method in members.attribute(linker, value, "__call__"):
                if isinstance(method, Func):
                    site.add(method.decl, kind)


Run = Callable[[Linker, Declaration, Call, Site], None]


def _all(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    for place in range(len(call.args) - len(call.names)):
        run(linker, made, call, site, results.argument(linker, made, call, place), RESOLVED)


def _first(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    run(linker, made, call, site, results.argument(linker, made, call, 0), RESOLVED)


def _key(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    run(linker, made, call, site, results.keyword(linker, made, call, "key"), RESOLVED)


def _later(*names: str, place: int) -> Run:
    """It runs the function in a thread, a process or a loop."""

    def runs(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
        values = results.argument(linker, made, call, place)
        for name in names:
            values |= results.keyword(linker, made, call, name)
        run(linker, made, call, site, values, DISPATCH)

    return runs


_RUNS: dict[str, Run] = {
    "<builtin>.map": _all,
    "<builtin>.filter": _first,
    "<builtin>.sorted": _key,
    "<builtin>.min": _key,
    "<builtin>.max": _key,
    "<builtin>.list.sort": _key,
    "functools.reduce": _first,
    "itertools.groupby": _key,
    "itertools.starmap": _first,
    "itertools.takewhile": _first,
    "itertools.dropwhile": _first,
    "itertools.filterfalse": _first,
    "threading.Thread": _later("target", place=1),
    "threading.Timer": _later("function", place=1),
    "multiprocessing.Process": _later("target", place=1),
    "asyncio.to_thread": _later("func", place=0),
    "concurrent.futures.ThreadPoolExecutor.submit": _later("fn", place=0),
    "concurrent.futures.ProcessPoolExecutor.submit": _later("fn", place=0),
    "concurrent.futures.ThreadPoolExecutor.map": _later("fn", place=0),
    "concurrent.futures.ProcessPoolExecutor.map": _later("fn", place=0),
}
_OUTSIDE_NAMES = frozenset(name.rpartition(".")[2] for name in _RUNS)

_ASKED = {
    "<builtin>.str": "__str__",
    "<builtin>.print": "__str__",
    "<builtin>.repr": "__repr__",
    "<builtin>.len": "__len__",
    "<builtin>.iter": "__iter__",
    "<builtin>.next": "__next__",
    "<builtin>.bool": "__bool__",
    "<builtin>.int": "__int__",
    "<builtin>.float": "__float__",
    "<builtin>.abs": "__abs__",
    "<builtin>.hash": "__hash__",
    "<builtin>.round": "__round__",
    "<builtin>.reversed": "__reversed__",
    "<builtin>.bytes": "__bytes__",
    "<builtin>.format": "__format__",
    **dict.fromkeys(
        [f"<builtin>.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted", "sum")]
        + [f"<builtin>.{name}" for name in ("any", "all", "enumerate", "zip", "min", "max")],
        "__iter__",
    ),
}
