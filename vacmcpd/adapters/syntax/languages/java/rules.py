"""How Java's names are found across files, and which overload a call means."""

from ...facts import Attr, Call, Generic, Import, Lit, ScopeKind
from ...linking import evaluate as ev
from ...linking import members
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Declaration, Unit
from ...linking.values import NOTHING, Ext, Func, Inst, Klass, Value, Values
from ...rules import Rules
from .walk import CONSTRUCTOR

FAMILY = "java"

_LANG = frozenset(
    {"String", "Object", "Integer", "Long", "Double", "Float", "Boolean", "Character", "Byte"}
    | {"Short", "Number", "Math", "System", "Thread", "Runnable", "Iterable", "Comparable", "Enum"}
    | {"Exception", "RuntimeException", "Error", "Throwable", "StringBuilder", "StringBuffer"}
    | {"Class", "ClassLoader", "Process", "Runtime", "Void", "Record", "CharSequence", "Override"}
    | {"AutoCloseable", "Cloneable", "IllegalArgumentException", "IllegalStateException"}
    | {"NullPointerException", "IndexOutOfBoundsException", "UnsupportedOperationException"}
    | {"ThreadLocal", "StackTraceElement", "AssertionError", "InterruptedException", "Package"}
    | {"ArithmeticException", "ClassCastException", "NumberFormatException", "StrictMath"}
)
_PART = frozenset(
    {"get", "next", "previous", "remove", "poll", "peek", "pop", "element", "first", "last"}
    | {"getFirst", "getLast", "orElse", "orElseThrow", "orElseGet", "getValue", "getOrDefault"}
    | {"take", "pollFirst", "pollLast", "peekFirst", "peekLast", "removeFirst", "removeLast"}
    | {"computeIfAbsent", "put", "set", "join", "firstElement", "lastElement", "elementAt"}
)
_SAME = frozenset(
    {"iterator", "listIterator", "stream", "parallelStream", "filter", "sorted", "distinct"}
    | {"limit", "skip", "values", "findFirst", "findAny", "subList", "toList", "descendingIterator"}
    | {"max", "min", "peek", "headSet", "tailSet", "subSet", "collect", "entrySet"}
)
_WIDER = ("byte", "short", "char", "int", "long", "float", "double")
_BOXES = {
    "int": "Integer", "long": "Long", "double": "Double", "float": "Float", "boolean": "Boolean",
    "char": "Character", "byte": "Byte", "short": "Short",
}  # fmt: skip


def module_name(tree: Tree, path: str, namespace: str) -> str:
    """What a file declares is called by its package."""
    del tree, path
    return namespace


def package(tree: Tree, path: str, namespace: str) -> str:
    """The files of a package see each other's classes."""
    del tree, path
    return namespace


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """A class by its qualified name; a static member of one."""
    del unit
    if expr.name in ("*", "**"):
        return NOTHING
    found = qualified(linker, expr.module)
    if not expr.name:
        return found
    values = NOTHING
    for value in found:
        values |= members.attribute(linker, value, expr.name)
    return values


def qualified(linker: Linker, name: str) -> Values:
    """A class of the tree by package and name, nested ones too; else one outside."""
    parts = name.split(".")
    for cut in range(len(parts) - 1, -1, -1):
        around, top = ".".join(parts[:cut]), parts[cut]
        if not linker.paths_of(FAMILY, around, top):
            continue
        values = members.of_package(linker, FAMILY, around, top)
        for inner in parts[cut + 1 :]:
            values = frozenset(
                item for value in values for item in members.attribute(linker, value, inner)
            )
        return values
    return frozenset({linker.ext(name)})


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """Classes of the package, what imports on demand bring, ``java.lang``."""
    return linker.ask((unit, name, linker.strict, "java global"), _global, unit, name)


def _global(linker: Linker, unit: Unit, name: str) -> Values:
    own = package(linker.tree, unit.path, unit.facts.namespace)
    if linker.paths_of(FAMILY, own, name):
        return members.of_package(linker, FAMILY, own, name)
    linker.read_name(unit.module, "*")
    for item in unit.module.binds.get("*", ()):
        found = _on_demand(linker, item.value, name) if type(item.value) is Import else None
        if found is not None:
            return found
    if name in _LANG:
        return frozenset({linker.ext(f"java.lang.{name}")})
    return frozenset({linker.ext(_outside(linker, unit, name))}) if name[:1].isupper() else NOTHING


def _outside(linker: Linker, unit: Unit, name: str) -> str:
    """A class that the tree lacks: of the one outside package that is imported on demand, if so."""
    brought = [
        item.value.module
        for item in unit.module.binds.get("*", ())
        if type(item.value) is Import and item.value.name == "*"
    ]
    outside = [each for each in brought if not linker.has_package(FAMILY, each)]
    return f"{outside[0]}.{name}" if len(outside) == 1 else name


def _on_demand(linker: Linker, brought: Import, name: str) -> Values | None:
    if brought.name == "*" and linker.paths_of(FAMILY, brought.module, name):
        return members.of_package(linker, FAMILY, brought.module, name)
    for value in qualified(linker, brought.module):
        if isinstance(value, Klass) and members.has_member(linker, value.decl, name):
            return members.attribute(linker, value, name)
    return None


def mro(linker: Linker, made: Declaration) -> list[Declaration]:
    """The classes above first, then interfaces, one that extends another before it."""
    order = [made]
    for item in order:
        above = (each for each in members.parents(linker, item) if each.kind is ScopeKind.CLASS)
        order.extend(each for each in above if each not in order)
    found: dict[Declaration, list[Declaration]] = {}
    stack = [each for item in reversed(order) for each in reversed(_interfaces(linker, item))]
    while stack:
        top = stack.pop()
        if top not in found and top not in order:
            found[top] = _interfaces(linker, top)
            stack.extend(reversed(found[top]))
    extended = {each: _above(found, each) for each in found}
    return order + sorted(found, key=lambda each: sum(each in above for above in extended.values()))


def _interfaces(linker: Linker, made: Declaration) -> list[Declaration]:
    above = members.parents(linker, made)
    return [each for each in above if each.kind is ScopeKind.INTERFACE]


def _above(found: dict[Declaration, list[Declaration]], made: Declaration) -> set[Declaration]:
    """Every interface that one extends."""
    seen: set[Declaration] = set()
    stack = list(found[made])
    while stack:
        top = stack.pop()
        if top not in seen:
            seen.add(top)
            stack.extend(found.get(top, ()))
    return seen


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """Methods of a name from every class above, an override standing for what it overrides."""
    if not isinstance(value, Inst | Klass) or name == CONSTRUCTOR:
        return None
    order = members.mro(linker, value.decl)
    with_it = [item for item in order if members.has_own(linker, item, name)]
    if len(with_it) < 2 or not any(_methods(item, name) for item in with_it[1:]):
        return None
    first = members.own(linker, with_it[0], name)
    if not any(isinstance(item, Func) for item in first):
        return None
    found: dict[str, Func] = {}
    others = NOTHING
    for item in with_it:
        for each in sorted(members.own(linker, item, name), key=lambda v: v.key):
            if isinstance(each, Func):
                found.setdefault(_signature(each.decl), each)
            elif item is with_it[0]:
                others |= frozenset({each})
    return others | frozenset(found.values())


def _methods(made: Declaration, name: str) -> bool:
    bare = name.removesuffix("()")
    return any(child.name == bare for child in made.children.values())


def _signature(made: Declaration) -> str:
    texts = [text.partition("<")[0] for text in made.scope.signature.strip("()").split(", ")]
    return ",".join(texts)


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """What collections and the like of the standard library give of what is in them."""
    fn = call.fn
    while type(fn) is Generic:
        fn = fn.of
    if type(fn) is not Attr:
        return None
    name = fn.name.removesuffix("()")
    if name not in _PART | _SAME | {"getKey"}:
        return None
    values = NOTHING
    for value in ev.evaluate(linker, made, fn.of):
        if isinstance(value, Ext) and value.inst and value.args:
            if name in _SAME:
                values |= frozenset({value})
            else:
                values |= value.args[0 if name == "getKey" else -1]
    for target, on in ev.callees(linker, made, call):
        if not (isinstance(on, Ext) and on.args):
            values |= ev.result(linker, made, call, target, on)
    return values


def applicable(
    linker: Linker, made: Declaration, call: Call, several: list[Declaration]
) -> list[Declaration]:
    """The overloads that the types of the arguments fit best."""
    given = [_types(linker, made, arg) for arg in call.args]
    best: list[Declaration] = []
    most = -1
    for target in several:
        score = _fit(linker, target, given)
        if score > most:
            best, most = [], score
        if score == most >= 0:
            best.append(target)
    return best or several


def _types(linker: Linker, made: Declaration, arg: object) -> Values:
    if type(arg) is Lit and arg.kind == "null":
        return NOTHING
    return ev.evaluate(linker, made, arg)  # type: ignore[arg-type]


def _fit(linker: Linker, target: Declaration, given: list[Values]) -> int:
    """How well the arguments fit, below 0 for not at all."""
    params = target.scope.params
    score = 0
    for index, values in enumerate(given):
        param = params[min(index, len(params) - 1)] if params else None
        if param is None or param.declared is None or not values:
            continue
        wanted = ev.instances(linker, target, param.declared)
        fits = max((_fits(linker, value, wanted) for value in values), default=0)
        if fits < 0:
            return -1
        score += fits
    if any(param.star for param in params):
        return score
    return score + 1


def _fits(linker: Linker, value: Value, wanted: Values) -> int:
    """3 for the very type, 2 for one above, 0 for what can't be told, below for what can't be."""
    if not wanted:
        return 0
    best = -1
    for want in wanted:
        if isinstance(value, Inst) and isinstance(want, Inst):
            if value.decl is want.decl:
                best = max(best, 3)
            elif want.decl in members.mro(linker, value.decl):
                best = max(best, 2)
            elif _may_be(linker, value.decl, want.decl):
                best = max(best, 0)
        elif isinstance(value, Ext) and isinstance(want, Ext):
            best = max(best, _outside_fits(value.name, want.name))
        elif isinstance(want, Ext):
            known = isinstance(value, Inst) and want.name in ("java.lang.String", "<builtin>.int")
            simple = isinstance(value, Inst) and want.name.startswith("<builtin>.")
            best = max(best, -1 if known or simple else 0)
        elif isinstance(value, Ext):
            plain = value.name.startswith("<builtin>.") or value.name in ("java.lang.String",)
            best = max(best, -1 if plain and isinstance(want, Inst) else 0)
        else:
            best = max(best, 0)
    return best


def _may_be(linker: Linker, made: Declaration, interface: Declaration) -> bool:
    """Whether what a class has from outside may implement an interface."""
    above = interface.kind is ScopeKind.INTERFACE
    return above and bool(members.outside_bases(linker, made))


def _outside_fits(value: str, want: str) -> int:
    given, wanted = (name.removeprefix("<builtin>.").rpartition(".")[2] for name in (value, want))
    if given == wanted:
        return 3
    if given in _WIDER and wanted in _WIDER:
        return 2 if _WIDER.index(given) < _WIDER.index(wanted) else -1
    if _BOXES.get(given) == wanted or _BOXES.get(wanted) == given:
        return 1
    if wanted in ("Object", "Serializable", "Comparable"):
        return 1
    if wanted == "CharSequence" and given in ("String", "StringBuilder", "StringBuffer"):
        return 2
    simple = {*_WIDER, "boolean", "String", *_BOXES.values()}
    return -1 if given in simple and wanted in simple else 0


RULES = Rules(
    module_name,
    import_value,
    global_value,
    package=package,
    implicit_this=True,
    constructors=(CONSTRUCTOR,),
    overloads=True,
    lambda_members=True,
    class_body_caller=True,
    mro=mro,
    value_attr=value_attr,
    call_value=call_value,
    overload=applicable,
)
