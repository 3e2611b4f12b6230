"""How Rust's names are found across files, and what the standard library hands on."""

from ...facts import Attr, Call, Expr, Generic, Import
from ...linking import evaluate as ev
from ...linking import members
from ...linking.linker import Linker
from ...linking.tree import Tree
from ...linking.units import Declaration, Unit
from ...linking.values import NOTHING, Coll, Func, Inst, Klass, Module, Value, Values
from ...rules import Rules
from . import crates

_SAME = frozenset(
    {"unwrap", "expect", "unwrap_or", "unwrap_or_default", "unwrap_or_else", "clone", "as_ref"}
    | {"as_mut", "borrow", "borrow_mut", "lock", "read", "write", "to_owned", "deref", "ok", "err"}
    | {"ok_or", "ok_or_else", "as_deref", "as_deref_mut", "take", "cloned", "copied", "into"}
    | {"unwrap_unchecked", "get_mut", "into_inner", "get", "upgrade", "or_else", "or", "filter"}
    | {"get_or_insert_with", "insert", "replace", "map_err", "context", "with_context", "as_slice"}
    | {"try_into", "to_vec", "into_boxed_slice", "then", "inspect", "inspect_err", "iter"}
)
"""What gives back what it is called on, or what is in it."""

_LISTED = frozenset(
    {
        "iter",
        "iter_mut",
        "into_iter",
        "filter",
        "skip",
        "take",
        "rev",
        "chain",
        "collect",
        "peekable",
    }
    | {"cloned", "copied", "by_ref", "step_by", "skip_while", "take_while", "drain", "values"}
    | {"values_mut", "into_values", "inspect", "to_vec", "as_slice", "clone", "as_ref", "as_mut"}
    | {"windows", "chunks", "sorted", "unwrap", "split_off", "fuse", "cycle", "dedup", "to_owned"}
    | {"into_boxed_slice", "borrow", "borrow_mut", "lock", "read", "write"}
)
_PART = frozenset(
    {"next", "first", "last", "first_mut", "last_mut", "nth", "pop", "pop_front", "pop_back", "get"}
    | {"get_mut", "find", "min", "max", "min_by_key", "max_by_key", "min_by", "max_by", "peek"}
    | {"remove", "swap_remove", "front", "back", "entry", "or_insert", "or_insert_with", "recv"}
    | {"or_default", "get_or_insert_with", "next_back", "reduce", "front_mut", "back_mut"}
)
_MAPPED = frozenset({"map", "filter_map", "flat_map", "and_then", "map_while", "find_map"})

_PRELUDE = frozenset(
    {"Box", "Vec", "String", "Option", "Result", "Some", "None", "Ok", "Err", "drop", "Drop"}
    | {"Clone", "Copy", "Send", "Sync", "Sized", "Fn", "FnMut", "FnOnce", "ToString", "Default"}
    | {"Iterator", "IntoIterator", "Extend", "From", "Into", "TryFrom", "TryInto", "AsRef", "AsMut"}
    | {"PartialEq", "Eq", "PartialOrd", "Ord", "Debug", "Hash", "ToOwned", "FromIterator", "Unpin"}
    | {"i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"}
    | {"f32", "f64", "bool", "char", "str"}
)


def import_value(linker: Linker, unit: Unit, expr: Import) -> Values:
    """Modules of the crate, crates of the tree, external crates."""
    name = expr.module
    if name == "self":
        return frozenset({linker.module(unit)})
    if name == "crate":
        return _modules(linker, crates.roots(linker, unit.path))
    if name == "super":
        return _above(linker, unit, expr.level)
    if name.startswith("mod "):
        for path in crates.declared(unit.path, name[4:]):
            if linker.exists(path):
                return _modules(linker, [path])
        return NOTHING
    if name.startswith("file "):
        folder = unit.path.rpartition("/")[0]
        return _modules(linker, [f"{folder}/{name[5:]}" if folder else name[5:]])
    return _crate(linker, unit, name)


def _crate(linker: Linker, unit: Unit, name: str) -> Values:
    root = crates.library(linker, name)
    if root is not None:
        return _modules(linker, [root])
    linker.read_name(unit.module, name)
    if unit.module.binds_name(name) and not _is_itself(unit, name):
        return ev.bound(linker, unit.module, name)
    return global_value(linker, unit, name) or frozenset({linker.ext(name)})


def _is_itself(unit: Unit, name: str) -> bool:
    """Whether a file binds a name to something out of the crate of that name."""
    return any(_root(item.value) == Import(name) for item in unit.module.binds.get(name, ()))


def _root(expr: Expr | None) -> Expr | None:
    while type(expr) is Attr:
        expr = expr.of
    return expr


def _modules(linker: Linker, paths: list[str]) -> Values:
    units = [unit for path in paths if (unit := linker.unit(path)) is not None]
    return frozenset(linker.module(unit) for unit in units)


def _above(linker: Linker, unit: Unit, levels: int) -> Values:
    path = unit.path
    for _ in range(max(levels, 1)):
        found = next((place for place in crates.parents(path) if linker.exists(place)), None)
        if found is None:
            return NOTHING
        path = found
    return _modules(linker, [path])


def global_value(linker: Linker, unit: Unit, name: str) -> Values:
    """What globs bring, and what needs no import."""
    values = from_globs(linker, unit, name)
    if name in _PRELUDE:
        values |= frozenset({linker.ext(f"<builtin>.{name}")})
    return values


def from_globs(linker: Linker, unit: Unit, name: str) -> Values:
    """What the globs of a module bring under a name."""
    linker.read_name(unit.module, "*")
    if "*" not in unit.module.binds or name == "*":
        return NOTHING
    return linker.ask((unit, name, linker.strict, "glob"), _from_globs, unit, name)


def _from_globs(linker: Linker, unit: Unit, name: str) -> Values:
    values = NOTHING
    for item in unit.module.binds["*"]:
        if item.value is None:
            continue
        for value in ev.evaluate(linker, unit.module, item.value):
            if isinstance(value, Module) and value.unit is not unit:
                values |= members.of_module(linker, value.unit, name)
            elif isinstance(value, Klass) and members.has_own(linker, value.decl, name):
                values |= members.attribute(linker, value, name)
    return values


def _package(tree: Tree, path: str, namespace: str) -> str:
    """Methods are attached to types of their own crate."""
    del namespace
    return crates.home(tree, path) or ""


def value_attr(linker: Linker, value: Value, name: str) -> Values | None:
    """The standard library's methods of a type of the repository are outside of it."""
    if not isinstance(value, Inst) or name not in _SAME | _MAPPED:
        return None
    if members.has_member(linker, value.decl, name):
        return None
    return frozenset({linker.ext(f"<builtin>.{name}")})


def call_value(linker: Linker, made: Declaration, call: Call) -> Values | None:
    """What iterators, options and the like give of what is in them."""
    fn = call.fn
    while type(fn) is Generic:
        fn = fn.of
    if type(fn) is not Attr or fn.name not in _SAME | _LISTED | _PART | _MAPPED:
        return None
    values, plain = NOTHING, NOTHING
    for value in ev.evaluate(linker, made, fn.of):
        if isinstance(value, Coll):
            values |= _of_list(linker, made, call, fn.name, value)
        elif isinstance(value, Inst) and not members.has_member(linker, value.decl, fn.name):
            if fn.name in _MAPPED:
                values |= _mapped(linker, made, call)
            elif fn.name in _SAME:
                values |= frozenset({value})
        else:
            plain |= frozenset({value})
    for on in plain:
        for target in members.read(linker, on, fn.name):
            values |= ev.result(linker, made, call, target, on)
    return values


def _of_list(linker: Linker, made: Declaration, call: Call, name: str, value: Coll) -> Values:
    if name in _MAPPED:
        return frozenset({linker.make(Coll, "list", (_mapped(linker, made, call),))})
    if name in _LISTED:
        return frozenset({value})
    return ev.item_of(linker, value, None) if name in _PART else NOTHING


def _mapped(linker: Linker, made: Declaration, call: Call) -> Values:
    values = NOTHING
    for arg in call.args[:1]:
        for target in ev.evaluate(linker, made, arg):
            if isinstance(target, Func):
                values |= ev.returned(linker, target.decl)
    return values


RULES = Rules(
    crates.module_name,
    import_value,
    global_value,
    separator="::",
    member_separator="::",
    package=_package,
    essences={"Cargo.toml": crates.essence},
    attached=True,
    module_attr=from_globs,
    value_attr=value_attr,
    call_value=call_value,
)
