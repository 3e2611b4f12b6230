"""What JavaScript's call sites call beside what is named: callbacks, ``call``, ``super()``."""

from ...facts import Attr, Call, Expr, Name, ScopeKind, Spread, Super
from ...linking import containers, members, sites
from ...linking import evaluate as ev
from ...linking.linker import Linker
from ...linking.records import INFERRED, RESOLVED
from ...linking.sites import Site
from ...linking.units import Declaration
from ...linking.values import NOTHING, Ext, Func, Klass, Value, Values
from .attributes import functions_below
from .builtins import CALLING, ELEMENTS, LATER, PREFIX, TIMERS, items_of, passes, shown

Pairs = list[tuple[Value, Value | None]]


def site_targets(linker: Linker, made: Declaration, call: Call, site: Site) -> bool:
    """Fill in a call site."""
    fn = sites.bare(call.fn)
    if type(fn) is Super:
        _super(linker, made, call, site)
        return True
    pairs = ev.callees(linker, made, call)
    for value, on in pairs:
        if isinstance(value, Ext):
            _outside(linker, made, call, site, value, on)
        elif isinstance(value, Func) and call.new:
            site.add(value.decl, RESOLVED)
        else:
            sites.add_target(linker, made, call, site, value, on)
    if type(fn) is Attr:
        sites.add_overrides(linker, made, fn, site)
    _callbacks(linker, made, call, site, fn)
    if not site.targets and not site.outside:
        site.reason = sites.reason_of(linker, made, fn, pairs)
    return True


def _super(linker: Linker, made: Declaration, call: Call, site: Site) -> None:
    """The constructor that the next class has, or the class itself."""
    owner = made.enclosing_class()
    if owner is None:
        return
    order = members.mro(linker, owner)
    for item in order[1:]:
        if members.has_own(linker, item, "constructor"):
            sites.construct(linker, made, call, site, item)
            return
    for item in order[1:2]:
        site.add(item, RESOLVED)
    for item in order:
        for base in functions_below(linker, item):
            site.add(base, RESOLVED)
    if not site.targets:
        site.outside.update(shown(base.name) for base in members.outside_bases(linker, owner))


def _outside(
    linker: Linker, made: Declaration, call: Call, site: Site, value: Ext, on: Value | None
) -> None:
    name = shown(value.name)
    known = name.startswith("<builtin>.Function.") and isinstance(on, Func | Klass)
    if known:
        _applied(linker, made, call, site, name, on)  # type: ignore[arg-type]
    if not known or name.endswith(".bind"):
        site.outside.add(name)


def _applied(
    linker: Linker, made: Declaration, call: Call, site: Site, name: str, on: Func | Klass
) -> None:
    """``f.call(self, a)``, ``f.apply(self, [a])``; ``f.bind(self)`` only gives a receiver."""
    target = on.decl
    if call.args:
        site.receivers[target] = ev.evaluate(linker, made, call.args[0])
    if name.endswith(".bind"):
        return
    if isinstance(on, Klass):
        sites.construct(linker, made, call, site, target)
        return
    site.add(target, RESOLVED)
    if name.endswith(".call"):
        site.applied[target] = [_argument(linker, made, arg) for arg in call.args[1:]]
    else:
        site.applied[target] = _spread(linker, made, call.args[1:2], target)


def _argument(linker: Linker, made: Declaration, expr: Expr) -> Values:
    if type(expr) is not Spread:
        return ev.evaluate(linker, made, expr)
    found = ev.evaluate(linker, made, expr.of)
    return frozenset(item for value in found for item in items_of(linker, value))


def _spread(
    linker: Linker, made: Declaration, args: list[Expr], target: Declaration
) -> list[Values]:
    count = max(len(target.scope.params), 1)
    given = [value for arg in args for value in ev.evaluate(linker, made, arg)]
    return [
        frozenset(item for value in given for item in ev.item_of(linker, value, index))
        for index in range(count)
    ]


def _callbacks(linker: Linker, made: Declaration, call: Call, site: Site, fn: Expr) -> None:
    """Functions that a function outside of the repository is given, and calls.

    What runs only later has this site as its caller when it has a name to be asked for.
    """
    name = fn.name if type(fn) is Attr else fn.id if type(fn) is Name else ""
    timed = name in TIMERS
    promised = call.new and fn == Name("Promise")
    made_from = fn == _FROM
    calling = timed or promised or made_from or (name in CALLING and type(fn) is Attr)
    if not call.args or not calling:
        return
    linker.top.tainted = True
    later = timed or name in LATER
    given: list[Values] = []
    if name in CALLING and type(fn) is Attr:
        given = passes(linker, name, ev.evaluate(linker, made, fn.of))
    elif made_from:
        given = [_iterated(linker, ev.evaluate(linker, made, call.args[0]))]
    own = {target for target in site.targets if target.kind is not ScopeKind.LAMBDA}
    first = 1 if name in ("replace", "replaceAll") or made_from else 0
    last = 2 if name == "then" or first else 1
    for number, arg in enumerate(call.args[first:last]):
        for value in ev.evaluate(linker, made, arg):
            if not isinstance(value, Func) or own:
                continue
            # What is passed to the second function of `then` is not what was waited for.
            site.applied[value.decl] = given if not number else []
            if len(call.args) > last and (name in ELEMENTS or made_from):
                site.receivers[value.decl] = _receiver(linker, made, call)
            named = value.decl.kind is not ScopeKind.LAMBDA and "<" not in value.decl.name
            if linker.round > 1 and (named or not later):
                site.add(value.decl, INFERRED)


_FROM = Attr(Name("Array"), "from")


def _iterated(linker: Linker, values: Values) -> Values:
    return frozenset(item for value in values for item in containers.iterated(linker, value))


def _receiver(linker: Linker, made: Declaration, call: Call) -> Values:
    arg = call.args[-1]
    return ev.evaluate(linker, made, arg) if type(arg) is not Spread else NOTHING


__all__ = ["PREFIX", "site_targets"]
