"""How Ruby's constants and methods are found over the whole repository."""

from ...facts import Attr, Call, Import, This
from ...linking import evaluate as ev
from ...linking import members
from ...linking.linker import Linker
from ...linking.sites import Site, add_overrides, add_target, construct, reason_of
from ...linking.tree import Tree
from ...linking.units import Declaration, Unit
from ...linking.values import NOTHING, Coll, Func, Inst, Klass, Literal, Value, Values
from ...rules import Rules
from .expressions import INSTANCE
from .walk import META

_FAMILY = "ruby"
_KEEPS = frozenset(
    {
        "each",
        "select",
        "filter",
        "reject",
        "sort_by",
        "sort",
        "reverse",
        "compact",
        "uniq",
    }
    | {"take_while", "drop_while", "find_all", "shuffle", "to_a", "concat", "each_with_index"}
    | {"partition", "dup", "freeze", "flatten", "values", "take", "drop", "lazy", "push", "append"}
)
_PART = frozenset(
    {"first", "last", "find", "detect", "min_by", "max_by", "pop", "shift", "sample", "fetch"}
    | {"min", "max", "dig", "at", "delete"}
)
_MAPS = frozenset({"map", "collect", "flat_map", "filter_map"})


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """A file's own code is called by its path."""
    del tree, namespace
    return path.removesuffix(".rb")


def package(tree: Tree, path: str, namespace: str) -> str:
    """All files see each other's constants."""
    del tree, path, namespace
    return ""


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """A constant, looked up from the classes around, innermost first."""
    del unit
    path = expr.name
    if path.startswith("::"):
        places = [path[2:]]
    else:
        nesting = expr.module.split(" ") if expr.module else []
        places = [*(f"{around}::{path}" for around in nesting), path]
    for place in places:
        found = constant(linker, place)
        if found is not None:
            return found
    return frozenset({linker.ext(path.removeprefix("::").replace("::", "."))})


def constant(linker: Linker, name: str) -> Values | None:
    """What a full name is bound to, in the first of the files that bind it; None without one."""
    for path in linker.paths_of(_FAMILY, "", f"::{name}"):
        unit = linker.unit(path)
        if unit is not None:
            return ev.bound(linker, unit.module, f"::{name}")
    return None


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """A class by its full name; local variables are bound where they are seen."""
    del unit
    return constant(linker, name) or NOTHING


def function(linker: Linker, name: str) -> Values:
    """The methods that files define outside of any class: everybody's own."""
    values = NOTHING
    for path in linker.paths_of(_FAMILY, "", f"def {name}"):
        unit = linker.unit(path)
        if unit is not None:
            values |= ev.bound(linker, unit.module, f"def {name}")
    return values


def meta(linker: Linker, made: Declaration) -> Declaration | None:
    """The object that a class itself is, where a file gives it methods."""
    for value in constant(linker, made.name + META) or ():
        if isinstance(value, Klass):
            return value.decl
    return None


def plain(linker: Linker, made: Declaration) -> Declaration | None:
    """The class of a class object."""
    for value in constant(linker, made.name.removesuffix(META)) or ():
        if isinstance(value, Klass):
            return value.decl
    return None


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """The order of members; a class object goes on to those of the classes above its own."""
    order = members.depth_first(linker, made)
    if not made.name.endswith(META):
        return order
    of = plain(linker, made)
    if of is None:
        return order
    for above in members.mro(linker, of)[1:]:
        other = meta(linker, above)
        if other is not None:
            found = members.depth_first(linker, other)
            order += [item for item in found if item not in order]
    return order


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """Methods of a class are those of the object that it is."""
    if not isinstance(value, Klass):
        return None
    if name == INSTANCE:
        return frozenset({linker.inst(value.decl)})
    for item in members.mro(linker, value.decl):
        other = meta(linker, item)
        if other is not None and members.has_member(linker, other, name):
            return members.attribute(linker, linker.inst(other), name)
    if name in _KERNEL:
        return frozenset({linker.ext(f"<builtin>.{name}")})
    outside = members.outside_bases(linker, value.decl) if name != "new" else []
    return frozenset(linker.ext(f"{base.name}.{name}") for base in outside)


def _classes(linker: Linker, values: Values) -> list[Declaration]:
    """The classes that making an instance of ``values`` is asked of."""
    found = []
    for value in values:
        if isinstance(value, Klass):
            found.append(value.decl)
        elif isinstance(value, Inst) and value.decl.name.endswith(META):
            of = plain(linker, value.decl)
            if of is not None:
                found.append(of)
    return sorted(found, key=lambda made: made.key)


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """Instances that ``new`` makes, and what collections give."""
    fn = call.fn
    if type(fn) is not Attr:
        return None
    on = ev.evaluate(linker, made, fn.of)
    values = NOTHING
    if fn.name == "new":
        for decl in _classes(linker, on):
            values |= frozenset({linker.inst(decl, exact=True)})
    elif fn.name == "class":
        values |= frozenset(linker.klass(v.decl) for v in on if isinstance(v, Inst))
    elif fn.name in _KEEPS | _PART | _MAPS:
        for value in on:
            if isinstance(value, Coll | Literal):
                values |= _of_list(linker, made, call, fn.name, value)
    for target, receiver in ev.callees(linker, made, call):
        values |= ev.result(linker, made, call, target, receiver)
    if _is_own(fn):
        for value in _fallback(linker, made, fn.name):
            values |= ev.result(linker, made, call, value, None)
    return values


def _of_list(
    linker: Linker, made: Declaration, call: Call, name: str, value: Coll | Literal
) -> Values:
    if name in _KEEPS:
        return frozenset({value})
    if name in _PART:
        return ev.item_of(linker, value, None)
    values = NOTHING
    for arg in call.args[-1:]:
        for target in ev.evaluate(linker, made, arg):
            if isinstance(target, Func):
                values |= ev.returned(linker, target.decl)
    return frozenset({linker.make(Coll, "list", (values,))})


def _is_own(fn: Attr) -> bool:
    return type(fn.of) is This


def _fallback(linker: Linker, made: Declaration, name: str) -> Values:
    """What a call without a receiver means that the class around has no method for."""
    method = made.method()
    owner = members.owner(linker, method) if method is not None else None
    if owner is not None and members.has_member(linker, owner, name):
        return NOTHING
    found = function(linker, name)
    if found or name not in _KERNEL:
        return found
    return frozenset({linker.ext(f"<builtin>.{name}")})


def site_targets(linker: Linker, made: Declaration, call: Call, site: Site) -> bool:
    """``new`` runs ``initialize``; calls without a receiver reach functions of any file."""
    fn = call.fn
    if type(fn) is not Attr:
        return False
    pairs = ev.callees(linker, made, call)
    for value, on in pairs:
        add_target(linker, made, call, site, value, on)
    add_overrides(linker, made, fn, site)
    if fn.name == "new":
        for decl in _classes(linker, ev.evaluate(linker, made, fn.of)):
            construct(linker, made, call, site, decl)
    if _is_own(fn):
        for value in _fallback(linker, made, fn.name):
            add_target(linker, made, call, site, value, None)
    if not site.targets and not site.outside:
        site.reason = reason_of(linker, made, fn, pairs)
    return True


_KERNEL = frozenset(
    {"puts", "print", "p", "require", "require_relative", "raise", "format", "sprintf", "loop"}
    | {"lambda", "proc", "rand", "sleep", "exit", "abort", "at_exit", "catch", "throw", "warn"}
    | {"Integer", "Float", "String", "Array", "Hash", "gets", "open", "system", "exec", "fork"}
    | {"block_given?", "binding", "caller", "load", "autoload", "freeze", "nil?", "is_a?", "send"}
    | {
        "respond_to?",
        "instance_variable_get",
        "instance_variable_set",
        "object_id",
        "class",
    }
    | {"private", "public", "protected", "attr_writer", "module_function", "private_constant"}
    | {"instance_of?", "kind_of?", "tap", "then", "dup", "clone", "extend", "inspect", "to_s"}
)


RULES = Rules(
    module_name,
    import_value,
    global_value,
    global_names=True,
    package=package,
    attached=True,
    constructors=("initialize",),
    mro=mro,
    value_attr=value_attr,
    call_value=call_value,
    site_targets=site_targets,
)
