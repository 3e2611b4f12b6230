"""Rust types as type expressions: what a value of them can be called on.

Pointers, locks, options and results count as what is in them: their own methods give it back.
"""

from collections.abc import Callable

from tree_sitter import Node

from ...facts import AnyOf, Attr, Expr, Function, Generic, Lit, Map, Name, Seq, TypeParam
from .walk import DEEPEST, Walk

_INSIDE = frozenset(
    {"Box", "Rc", "Arc", "RefCell", "Cell", "Mutex", "RwLock", "Option", "Result", "Pin", "Cow"}
    | {"Weak", "Ref", "RefMut", "MutexGuard", "OnceCell", "OnceLock", "LazyLock", "Lazy"}
    | {"ManuallyDrop", "MaybeUninit", "NonNull", "Wrapping", "Reverse", "Poll", "UnsafeCell"}
)
_LISTS = frozenset(
    {"Vec", "VecDeque", "LinkedList", "HashSet", "BTreeSet", "BinaryHeap", "IndexSet", "SmallVec"}
    | {"Iterator", "IntoIterator", "DoubleEndedIterator", "ExactSizeIterator", "Peekable"}
    | {"Stream", "Sender", "Receiver"}
)
_MAPS = frozenset({"HashMap", "BTreeMap", "IndexMap", "FxHashMap"})
_CALLS = frozenset({"Fn", "FnMut", "FnOnce"})
_BUILT_IN = frozenset({"String", "str", "Self"})


def type_of(walk: Walk, node: Node | None) -> Expr | None:
    """A type; None for what says nothing about its values."""
    if node is None or walk.depth > DEEPEST:
        return None
    handler = _TYPES.get(node.type)
    if handler is None:
        return None
    walk.depth += 1
    made = handler(walk, node)
    walk.depth -= 1
    return made


def path_of(walk: Walk, node: Node) -> Expr:
    """A path, of a type or a value: names, ``crate::a::b``, ``<T as Trait>::f``."""
    if walk.depth > DEEPEST:
        return Lit("deep")
    walk.depth += 1
    made = _path(walk, node)
    walk.depth -= 1
    return made


def _path(walk: Walk, node: Node) -> Expr:
    kind = node.type
    if kind in ("scoped_identifier", "scoped_type_identifier"):
        path, named = node.child_by_field_name("path"), node.child_by_field_name("name")
        last = walk.text(named) if named is not None else ""
        if path is None:
            return walk.root(last)
        ups = _ups(path)
        if ups:
            return Attr(walk.module(ups), last)
        if path.type == "identifier":
            return Attr(_first(walk, walk.text(path)), last)
        return Attr(path_of(walk, path), last)
    if kind in ("generic_type", "generic_type_with_turbofish", "generic_function"):
        inner = node.child_by_field_name("type") or node.child_by_field_name("function")
        return path_of(walk, inner) if inner is not None else Lit("unknown")
    if kind in ("bracketed_type", "qualified_type"):
        return _qualified(walk, node)
    if kind == "self":
        return walk.module()
    if kind == "super":
        return walk.module(1)
    name = walk.text(node)
    if kind == "crate":
        return walk.root("crate")
    if name == "Self" and walk.own_type is not None:
        return walk.own_type
    return Name(walk.locals.get(name, name))


def _first(walk: Walk, name: str) -> Expr:
    if name == "Self" and walk.own_type is not None:
        return walk.own_type
    return walk.root(name)


def _ups(node: Node) -> int:
    """How many ``super`` a path consists of; 0 when of anything else."""
    count = 0
    while node.type == "scoped_identifier":
        name, path = node.child_by_field_name("name"), node.child_by_field_name("path")
        if name is None or path is None or name.type != "super":
            return 0
        count += 1
        node = path
    return count + 1 if node.type == "super" else 0


def _qualified(walk: Walk, node: Node) -> Expr:
    """``<T>`` and ``<T as Trait>``: the type, and what the trait gives it."""
    while node.type == "bracketed_type" and node.named_child_count:
        node = node.named_children[0]
    if node.type != "qualified_type":
        return type_of(walk, node) or Lit("unknown")
    of = type_of(walk, node.child_by_field_name("type"))
    alias = node.child_by_field_name("alias")
    if of is None or type(of) is Lit:
        return path_of(walk, alias) if alias is not None else Lit("unknown")
    return of


def _named(walk: Walk, node: Node) -> Expr:
    name = walk.text(node)
    if name in ("String", "str"):
        return Lit("str")
    return path_of(walk, node)


def _generic(walk: Walk, node: Node) -> Expr | None:
    of = node.child_by_field_name("type")
    listed = node.child_by_field_name("type_arguments")
    if of is None:
        return None
    name = walk.text(of).rpartition("::")[2]
    nodes = listed.named_children if listed is not None else []
    nodes = [child for child in nodes if child.type != "lifetime"]
    bound = next((child for child in nodes if child.type == "type_binding"), None)
    if name in _INSIDE and name not in walk.declared:
        return type_of(walk, nodes[0]) if nodes else None
    if name in ("Future", "IntoFuture") and bound is not None:
        return type_of(walk, bound.child_by_field_name("type"))
    if name in _LISTS and name not in walk.declared:
        if bound is not None:
            nodes = bound.named_children[1:2]
        return Seq("list", [inner for inner in (type_of(walk, child) for child in nodes) if inner])
    if name in _MAPS and name not in walk.declared:
        value = type_of(walk, nodes[1]) if len(nodes) > 1 else None
        return Map([None], [value] if value is not None else [])
    args = [type_of(walk, child) or Lit("unknown") for child in nodes]
    return Generic(path_of(walk, of), args) if args else path_of(walk, of)


def _inner(walk: Walk, node: Node) -> Expr | None:
    of = node.child_by_field_name("type") or node.child_by_field_name("element")
    return type_of(walk, of)


def _list(walk: Walk, node: Node) -> Expr:
    inner = _inner(walk, node)
    return Seq("list", [inner] if inner is not None else [])


def _tuple(walk: Walk, node: Node) -> Expr:
    return Seq("tuple", [type_of(walk, child) or Lit("unknown") for child in node.named_children])


def _trait(walk: Walk, node: Node) -> Expr | None:
    return type_of(walk, node.child_by_field_name("trait") or _only(node))


def _only(node: Node) -> Node | None:
    return node.named_children[0] if node.named_child_count else None


def _bounds(walk: Walk, node: Node) -> Expr | None:
    found = [type_of(walk, child) for child in node.named_children]
    known = [item for item in found if item is not None]
    if not known:
        return None
    return known[0] if len(known) == 1 else AnyOf(known)


def _callable(walk: Walk, node: Node) -> Expr | None:
    trait = node.child_by_field_name("trait")
    if trait is not None and walk.text(trait) not in _CALLS:
        return type_of(walk, trait)
    return Function(type_of(walk, node.child_by_field_name("return_type")))


def type_params(walk: Walk, node: Node) -> list[TypeParam]:
    """The type parameters of an item with their bounds, those of its where clause too."""
    params: dict[str, list[Expr]] = {}
    listed = node.child_by_field_name("type_parameters")
    for child in listed.named_children if listed is not None else []:
        name = child.child_by_field_name("name") or child
        if child.type in ("type_parameter", "constrained_type_parameter", "type_identifier"):
            params.setdefault(walk.text(name), [])
            _add_bounds(walk, child.child_by_field_name("bounds"), params[walk.text(name)])
    for clause in node.named_children:
        if clause.type == "where_clause":
            for predicate in clause.named_children:
                left = predicate.child_by_field_name("left")
                if left is not None and walk.text(left) in params:
                    bounds = predicate.child_by_field_name("bounds")
                    _add_bounds(walk, bounds, params[walk.text(left)])
    return [
        TypeParam(name, None if not bounds else bounds[0] if len(bounds) == 1 else AnyOf(bounds))
        for name, bounds in params.items()
    ]


def _add_bounds(walk: Walk, node: Node | None, into: list[Expr]) -> None:
    if node is not None:
        found = (type_of(walk, child) for child in node.named_children)
        into.extend(item for item in found if item is not None)


def _primitive(walk: Walk, node: Node) -> Expr:
    return Lit(walk.text(node))


_TYPES: dict[str, Callable[[Walk, Node], Expr | None]] = {
    "type_identifier": _named,
    "identifier": _named,
    "scoped_type_identifier": _named,
    "generic_type": _generic,
    "reference_type": _inner,
    "pointer_type": _inner,
    "array_type": _list,
    "tuple_type": _tuple,
    "dynamic_type": _trait,
    "abstract_type": _trait,
    "bounded_type": _bounds,
    "trait_bounds": _bounds,
    "function_type": _callable,
    "primitive_type": _primitive,
    "bracketed_type": _qualified,
    "higher_ranked_trait_bound": _inner,
}
