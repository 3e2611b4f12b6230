"""Where Python's linking differs."""

from ...facts import Bind, Map
from ...linking import members
from ...linking.linker import Linker
from ...linking.units import Declaration, Unit
from ...linking.values import Func, Inst, Klass, Literal, Package, Value, Values
from ...rules import Rules
from . import implied, modules, results
from .builtin_names import BUILTINS

_ENUMS = frozenset(
    {
        "Enum",
        "IntEnum",
        "StrEnum",
        "Flag",
        "IntFlag",
        "TextChoices",
        "IntegerChoices",
        "Choices",
    }
)


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """What a name means that no scope binds: of a star import, built in."""
    origin = modules.starred(linker, unit, name)
    if origin is not None:
        return members.of_module(linker, origin, name)
    if name in BUILTINS:
        return frozenset({linker.ext(f"<builtin>.{name}")})
    text = modules.module_text(linker, name)
    return text or modules.outside_star(linker, unit, name)


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """Attributes of containers, classes and enumerations; None for the usual."""
    match value:
        case Literal(expr=expr):
            kind = "dict" if type(expr) is Map else expr.kind  # type: ignore[union-attr]
            return frozenset({linker.ext(f"<builtin>.{kind}.{name}")})
        case Package():
            return modules.package_attr(linker, value, name)
        case Inst(decl=decl):
            if name == "__class__":
                return frozenset({linker.klass(decl)})
            if not linker.strict:
                return linker.ask((decl, name, "set"), _set_often, decl, name)
        case Func() if name == "__wrapped__":
            return frozenset({value})
        case Klass(decl=decl):
            return _enumerated(linker, decl, name)
        case _:
            pass
    return None


def _set_often(linker: Linker, made: Declaration, name: str) -> Values | None:
    """An attribute of instances that methods of several classes set; None for any other."""
    order = members.mro(linker, made)
    if len(order) < 2:
        return None
    setting = [
        item for item in order if members.has_own(linker, item, name) and name in item.fields
    ]
    if len(setting) < 2:
        return None
    return frozenset().union(*(members.own(linker, item, name) for item in setting))


def _enumerated(linker: Linker, made: Declaration, name: str) -> Values | None:
    """A member of an enumeration is an instance of it."""
    linker.read_name(made, name)
    if not any(_is_member(item) for item in made.binds.get(name, ())):
        return None
    if is_enumeration(linker, made):
        return frozenset({linker.inst(made, exact=True)})
    return None


def _is_member(item: Bind) -> bool:
    return item.declared is None and not item.name.startswith("_") and "@" not in item.name


def is_enumeration(linker: Linker, made: Declaration) -> bool:
    """Whether a class derives from one of the classes that make enumerations."""
    outside = members.outside_bases(linker, made)
    return any(base.name.rpartition(".")[2] in _ENUMS for base in outside)


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """The C3 order; depth first for classes that have none."""
    parents = list(dict.fromkeys(members.parents(linker, made)))
    if len(parents) == 1:
        order = members.mro(linker, parents[0])
        return [made, *(item for item in order if item is not made)]
    merged = _merged([*(list(members.mro(linker, parent)) for parent in parents), parents])
    return [made, *merged] if merged is not None else members.depth_first(linker, made)


def _merged(lists: list[list[Declaration]]) -> list[Declaration] | None:
    """Lists merged so that each keeps its order; None when they contradict each other."""
    order: list[Declaration] = []
    lists = [items[::-1] for items in lists if items]
    while lists:
        for items in lists:
            head = items[-1]
            if not any(head in other[:-1] for other in lists):
                break
        else:
            return None
        order.append(head)
        for items in lists:
            if items[-1] is head:
                items.pop()
        lists = [items for items in lists if items]
    return order


RULES = Rules(
    modules.module_name,
    modules.import_value,
    global_value,
    receiver_param=True,
    constructors=("__init__", "__new__"),
    mro=mro,
    map_kind="dict",
    builtin_types=BUILTINS,
    call_member="__call__",
    item_member="__getitem__",
    iter_members=("__iter__", "__next__"),
    structural=True,
    trusts_values=True,
    module_attr=modules.module_attr,
    value_attr=value_attr,
    call_value=results.call_value,
    site_targets=implied.site_targets,
)
