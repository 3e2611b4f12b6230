"""What each call site of a file calls, and what it passes on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..facts import Attr, Call, Expr, Flag, Generic, Name, ScopeKind, Spread, Super, This
from . import evaluate as ev
from . import generics, members
from .linker import Linker, portable
from .records import DISPATCH, RESOLVED
from .units import METHODS, Declaration
from .values import TOP, Ext, Func, Inst, Klass, TypeVar, Value, Values

IMPLICIT = "<implicit>"
"""The keyword of a call that the syntax makes without naming it; only internal targets count."""

RECEIVER = "this"
"""The parameter, in cells, that is the receiver of a function that is no method."""

UNKNOWN_NAME, UNKNOWN_RECEIVER, NO_MEMBER, PARAMETER, COMPUTED, TOO_MANY = range(6)


@dataclass(slots=True)
class Site:
    """The targets of one call site: kinds by declaration, and external names."""

    targets: dict[Declaration, int] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    reason: int = COMPUTED
    applied: dict[Declaration, list[Values]] = field(default_factory=dict)
    """What reaches the parameters of a target that the call's own arguments don't go to."""
    receivers: dict[Declaration, Values] = field(default_factory=dict)
    """What a target has as its receiver, where the call says so."""

    def add(self, made: Declaration, kind: int) -> None:
        """Record a target; the surest kind wins."""
        self.targets[made] = min(kind, self.targets.get(made, kind))


def is_silent(call: Call | Attr) -> bool:
    """Whether only functions of the repository count as what is called here."""
    return type(call) is Attr or call.names == [IMPLICIT]  # type: ignore[union-attr]


def site_of(linker: Linker, made: Declaration, call: Call | Attr) -> Site:
    """What a call site calls."""
    site = Site()
    if type(call) is Attr:
        _property(linker, made, call, site)
        return site
    assert type(call) is Call
    special = made.unit.rules.site_targets
    if special is not None and special(linker, made, call, site):
        return site
    pairs = ev.callees(linker, made, call)
    for value, on in pairs:
        add_target(linker, made, call, site, value, on)
    fn = bare(call.fn)
    if type(fn) is Attr:
        add_overrides(linker, made, fn, site)
    elif type(fn) is Name and made.unit.rules.implicit_this:
        _implicit(linker, made, site, fn.id)
    if not site.targets and not site.outside:
        site.reason = reason_of(linker, made, fn, pairs)
    return site


def _property(linker: Linker, made: Declaration, read: Attr, site: Site) -> None:
    """The properties that reading an attribute runs."""
    family = made.unit.language.family or made.unit.language.name
    if not linker.has_property(family, read.name):
        return
    for on in ev.evaluate(linker, made, read.of):
        for value in members.attribute(linker, on, read.name):
            if isinstance(value, Func) and _is_getter(value.decl):
                site.add(value.decl, DISPATCH if members.is_abstract(value.decl) else RESOLVED)
        for owner in _owners(linker, on):
            for target in members.overriding(linker, owner, read.name):
                if _is_getter(target) and _overridable(made, target):
                    site.add(target, DISPATCH)


def _is_getter(made: Declaration) -> bool:
    return made.kind is ScopeKind.PROPERTY and not made.scope.flags & Flag.SETTER


def bare(expr: Expr) -> Expr:
    """``expr`` without type arguments."""
    while type(expr) is Generic:
        expr = expr.of
    return expr


def name_of(call: Call | Attr) -> str:
    """The name that a call site calls; "" for a computed one."""
    fn = bare(call.fn) if type(call) is Call else call
    if type(fn) is Attr:
        return fn.name.removesuffix("()")
    return fn.id.partition("@")[0].removesuffix("()") if type(fn) is Name else ""


def add_target(
    linker: Linker,
    made: Declaration,
    call: Call,
    site: Site,
    value: Value,
    on: Value | None,
) -> None:
    """Record what calling ``value`` runs."""
    match value:
        case Func(decl=decl):
            site.add(decl, DISPATCH if members.is_abstract(decl) else RESOLVED)
        case Klass(decl=decl):
            construct(linker, made, call, site, decl)
        case Ext(name=name):
            site.outside.add(name)
        case Inst():
            hook = made.unit.rules.call_member
            for inner in members.attribute(linker, value, hook) if hook else ():
                if not isinstance(inner, Inst):
                    add_target(linker, made, call, site, inner, value)
        case _:
            pass


def construct(
    linker: Linker, made: Declaration, call: Call, site: Site, owner: Declaration
) -> None:
    """The constructor of a class that is called, or the class when it has none of its own."""
    rules = owner.unit.rules
    for name in rules.constructors:
        if not members.has_member(linker, owner, name):
            continue
        found: list[tuple[Value, Value | None]] = [
            (value, None)
            for value in sorted(members.member(linker, owner, name), key=lambda v: v.key)
        ]
        if rules.overloads and len(found) > 1:
            found = generics.applicable(linker, made, call, found)
        for value, _ in found:
            if isinstance(value, Func):
                site.add(value.decl, RESOLVED)
        return
    site.add(owner, RESOLVED)


def add_overrides(linker: Linker, made: Declaration, fn: Attr, site: Site) -> None:
    """Overrides that a receiver of a derived class would run; constructors have none."""
    if fn.name in made.unit.rules.constructors:
        return
    for on in ev.evaluate(linker, made, fn.of):
        for owner in _owners(linker, on):
            for target in members.overriding(linker, owner, fn.name):
                if _overridable(made, target):
                    site.add(target, DISPATCH)


def _owners(linker: Linker, on: Value) -> list[Declaration]:
    if isinstance(on, Inst) and not on.exact:
        return [on.decl]
    if isinstance(on, TypeVar):
        bounds = [p.bound for p in on.decl.scope.type_params if p.name == on.name and p.bound]
        found = (value for bound in bounds for value in ev.instances(linker, on.decl, bound))
        return [value.decl for value in found if isinstance(value, Inst)]
    return []


def _overridable(made: Declaration, target: Declaration) -> bool:
    flags = target.scope.flags
    if flags & (Flag.STATIC | Flag.PRIVATE):
        return False
    return not made.unit.rules.final_by_default or bool(flags & Flag.OVERRIDE)


def _implicit(linker: Linker, made: Declaration, site: Site, name: str) -> None:
    """A method called without a receiver may be overridden below the class it stands in."""
    for target in list(site.targets):
        if target.kind not in METHODS or target.scope.flags & (Flag.STATIC | Flag.PRIVATE):
            continue
        owner = made.enclosing_class() or members.owner(linker, made)
        while owner is not None and not members.has_member(linker, owner, name):
            owner = owner.parent.enclosing_class() if owner.parent is not None else None
        for other in members.overriding(linker, owner, name) if owner is not None else ():
            if _overridable(made, other):
                site.add(other, DISPATCH)


def reason_of(
    linker: Linker, made: Declaration, fn: Expr, pairs: list[tuple[Value, Value | None]]
) -> int:
    """Why a site with no target has none."""
    if any(value is TOP for value, _ in pairs):
        return TOO_MANY
    if type(fn) is Name:
        scope: Declaration | None = made
        while scope is not None:
            if fn.id in scope.params:
                return PARAMETER
            if fn.id in scope.binds:
                return COMPUTED
            scope = scope.parent
        return UNKNOWN_NAME
    if type(fn) is Attr:
        return NO_MEMBER if ev.evaluate(linker, made, fn.of) else UNKNOWN_RECEIVER
    return COMPUTED if type(fn) not in (This, Super) else NO_MEMBER


def passed(
    linker: Linker, made: Declaration, call: Call | Attr, site: Site
) -> Iterator[tuple[str, set[str]]]:
    """What a call site passes into parameters: (cell, keys of values)."""
    for target, on in site.receivers.items():
        if keys := _portable(on):
            yield f"{target.key}\0{RECEIVER}", keys
    for target, parts in site.applied.items():
        for index, part in enumerate(parts):
            place = _parameter(target, index, None)
            if place is not None and (keys := _portable(part)):
                yield f"{target.key}\0{place}", keys
    if type(call) is not Call or not call.args or call.names == [IMPLICIT]:
        return
    targets = [made for made in site.targets if made.is_callable and made not in site.applied]
    if not targets:
        return
    positional = len(call.args) - len(call.names)
    values = [_keys(linker, made, arg) for arg in call.args]
    if not any(values):
        return
    for target in targets:
        shift = _shift(linker, made, call, target)
        for index, keys in enumerate(values):
            if not keys:
                continue
            name = call.names[index - positional] if index >= positional else None
            place = _parameter(target, index + shift, name)
            if place is not None:
                yield f"{target.key}\0{place}", keys


def _keys(linker: Linker, made: Declaration, arg: Expr) -> set[str]:
    if type(arg) is Spread:
        values = {
            item
            for value in ev.evaluate(linker, made, arg.of)
            for item in ev.item_of(linker, value, None)
        }
    else:
        values = set(ev.evaluate(linker, made, arg))
    return _portable(values)


def _portable(values: Iterable[Value]) -> set[str]:
    return {key for value in values if (key := portable(value)) is not None}


def _shift(linker: Linker, made: Declaration, call: Call, target: Declaration) -> int:
    """How many parameters come before the first argument: one for a receiver given already."""
    if not target.unit.rules.receiver_param or target.kind not in METHODS:
        return 0
    if target.scope.flags & Flag.STATIC:
        return 0
    if target.kind is ScopeKind.CONSTRUCTOR:
        fn = bare(call.fn)
        named = type(fn) is Attr and fn.name in target.unit.rules.constructors
        if not named:
            return 1
    values = [value for value, _ in ev.callees(linker, made, call)]
    for value in values:
        if isinstance(value, Func) and value.decl is target:
            return 1 if value.bound else 0
    return 1


def _parameter(target: Declaration, index: int, name: str | None) -> int | None:
    """The number of the parameter that an argument goes to."""
    params = target.scope.params
    if name is not None:
        if name in target.params:
            return target.params[name]
        return next((n for n, param in enumerate(params) if param.star == 2), None)
    for number, param in enumerate(params):
        if param.star == 1 and index >= number:
            return number
        if number == index and not param.star:
            return number
    return None
