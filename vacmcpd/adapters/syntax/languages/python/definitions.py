"""Functions, classes and what decorates them."""

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Draft
from ...facts import AnyOf, Attr, Def, Expr, Flag, Generic, Name, ScopeKind, TypeParam
from . import parameters, types
from .walk import Walk, line_of

_CLASS_KINDS = (ScopeKind.CLASS, ScopeKind.INTERFACE)
_NO_BASES = frozenset({"object", "Generic", "Protocol", "ABC"})
_SILENT = frozenset(
    {
        "property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "abstractproperty",
        "abstractclassmethod",
        "abstractstaticmethod",
        "overload",
        "override",
        "final",
        "no_type_check",
        "setter",
        "getter",
        "deleter",
    }
)
"""Decorators that only say what a function is."""


@dataclass(slots=True)
class Decorators:
    """What stands above a definition."""

    nodes: list[Node] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """The last part of each one's name."""

    def has(self, *names: str) -> bool:
        """Whether one of ``names`` is there."""
        return any(name in self.names for name in names)

    @property
    def is_property(self) -> bool:
        """Whether reading the attribute runs the function."""
        return any(
            name.endswith("property") or name in ("reify", "setter", "getter", "deleter")
            for name in self.names
        )


def owner(w: Walk) -> str:
    """The name of the class that is being walked, or whose method is."""
    found = w.build.enclosing(_CLASS_KINDS)
    return found.name if found is not None else ""


def decorated(w: Walk, node: Node) -> bool:
    """``@a`` above a definition."""
    above = Decorators()
    for child in node.named_children:
        kind = child.type
        if kind == "decorator":
            above.nodes.append(child)
            above.names.append(_last_name(w, child))
        elif kind == "function_definition":
            function(w, child, above)
        elif kind == "class_definition":
            klass(w, child, above)
    return False


def _last_name(w: Walk, node: Node) -> str:
    inner = node.named_children[0] if node.named_children else node
    if inner.type == "call":
        inner = inner.children[0]
    return w.text(inner).rpartition(".")[2].strip()


def _bind(w: Walk, name: str, ref: Def, above: Decorators, *, keeps: bool) -> None:
    """Bind a definition: to itself, and with ``keeps`` off also to what decorators give."""
    value: Expr = ref
    for node, last in zip(reversed(above.nodes), reversed(above.names), strict=True):
        if last in _SILENT:
            continue
        inner = node.named_children[0] if node.named_children else None
        if inner is None:
            continue
        line = line_of(inner)
        fn = w.expr(inner)
        if type(fn) is Attr and fn.read:
            fn = Attr(fn.of, fn.name)
        value = w.build.call(fn, [value], line=line)
    if value is ref:
        w.bind(name, ref, defines=True)
    elif keeps:
        w.bind(name, ref, defines=True)
        w.build.here.do(value)
    else:
        w.bind(name, AnyOf([ref, value]), defines=True)


# Functions


def function(w: Walk, node: Node, above: Decorators | None = None) -> bool:
    """``def``; ``async def``."""
    above = above or Decorators()
    named, head = node.child_by_field_name("name"), node.child_by_field_name("parameters")
    if named is None:
        w.run_all(node.named_children)
        return False
    name = w.text(named)
    if above.has("overload"):
        _overload(w, node, name)
        return False
    kind = _kind(w, name, above)
    own = owner(w)
    type_params = _type_params(w, node)
    params = parameters.of(w, head, own) if head is not None else []
    flags = _flags(node, above)
    if kind in (ScopeKind.METHOD, ScopeKind.CONSTRUCTOR) and name in _STATICS:
        flags |= _STATICS[name]
    line, end = line_of(node), node.end_point[0] + 1
    returns = _returns(w, node, own, name)
    body = node.child_by_field_name("body")
    if w.frame.kind is ScopeKind.INTERFACE and body is not None and _is_empty(body):
        flags |= Flag.ABSTRACT
    with w.build.scope(kind, name, line, end) as (draft, ref):
        draft.flags = flags
        draft.params = params
        draft.returns = returns
        draft.type_params = type_params
        _used_type_vars(w, draft, w.source[node.start_byte : body.start_byte if body else None])
        with w.inside(draft, kind, body if body is not None else node) as frame:
            parameters.enter(w, frame, params)
            if body is not None:
                w.run_all(body.named_children)
    _bind(w, name, ref, above, keeps=kind is ScopeKind.PROPERTY)
    return False


def _is_empty(body: Node) -> bool:
    """Whether a body has nothing to run: ``...``, a text."""
    for child in body.named_children:
        if child.type == "expression_statement":
            inner = child.named_children
            if len(inner) != 1 or inner[0].type not in ("ellipsis", "string"):
                return False
        elif child.type not in ("pass_statement", "comment"):
            return False
    return True


_STATICS = {
    "__new__": Flag.CLASSMETHOD,
    "__init_subclass__": Flag.CLASSMETHOD,
    "__class_getitem__": Flag.CLASSMETHOD,
}
"""Methods that get the class without a decorator that says so."""


def _kind(w: Walk, name: str, above: Decorators) -> ScopeKind:
    if not w.frame.is_class:
        return ScopeKind.FUNCTION
    if name == "__init__":
        return ScopeKind.CONSTRUCTOR
    return ScopeKind.PROPERTY if above.is_property else ScopeKind.METHOD


def _flags(node: Node, above: Decorators) -> int:
    flags = 0
    if above.has("staticmethod", "abstractstaticmethod"):
        flags |= Flag.STATIC
    if above.has("classmethod", "abstractclassmethod", "classproperty"):
        flags |= Flag.CLASSMETHOD
    if any(name.startswith("abstract") for name in above.names):
        flags |= Flag.ABSTRACT
    if above.has("setter"):
        flags |= Flag.SETTER
    if above.has("deleter"):
        # It is run by neither reading nor setting the attribute.
        flags |= Flag.SETTER | Flag.PRIVATE
    if node.children[0].type == "async":
        flags |= Flag.ASYNC
    return flags


def _returns(w: Walk, node: Node, own: str, name: str) -> Expr | None:
    hint = node.child_by_field_name("return_type")
    overloads = w.frame.overloads.pop(name, [])
    if hint is not None:
        declared = types.annotation(w, hint.start_byte, hint.end_byte, own)
        return declared if declared is not None or not overloads else AnyOf(overloads)
    return AnyOf(overloads) if overloads else None


def _overload(w: Walk, node: Node, name: str) -> None:
    """A signature of a function whose body follows."""
    hint = node.child_by_field_name("return_type")
    if hint is not None:
        declared = types.annotation(w, hint.start_byte, hint.end_byte, owner(w))
        if declared is not None:
            w.frame.overloads.setdefault(name, []).append(declared)


def _type_params(w: Walk, node: Node) -> list[TypeParam]:
    """``[T: B]`` after the name."""
    found: list[TypeParam] = []
    listed = node.child_by_field_name("type_parameters")
    for child in listed.named_children if listed is not None else ():
        text = w.text(child)
        name, _, bound = text.partition(":")
        plain = name.partition("=")[0].strip().lstrip("*")
        found.append(TypeParam(plain, types.read(bound.partition("=")[0]) if bound else None))
    return found


def _used_type_vars(w: Walk, draft: Draft, head: bytes) -> None:
    """The module's type variables that the head of a definition names are its parameters."""
    if not w.type_vars:
        return
    taken = {param.name for param in draft.type_params}
    around = w.build.enclosing(_CLASS_KINDS)
    if around is not None and around is not draft:
        taken |= {param.name for param in around.type_params}
    for name, bound in w.type_vars.items():
        if name not in taken and name.encode() in head and _mentions(head, name):
            draft.type_params.append(TypeParam(name, bound))


def _mentions(head: bytes, name: str) -> bool:
    return re.search(rb"\b" + name.encode() + rb"\b", head) is not None


# Classes


def klass(w: Walk, node: Node, above: Decorators | None = None) -> bool:
    """``class``."""
    above = above or Decorators()
    named, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if named is None:
        w.run_all(node.named_children)
        return False
    listed = node.child_by_field_name("superclasses")
    bases, protocol = _bases(w, listed)
    type_params = _type_params(w, node)
    name = w.text(named)
    kind = ScopeKind.INTERFACE if protocol else ScopeKind.CLASS
    with w.build.scope(kind, name, line_of(node), node.end_point[0] + 1) as (draft, ref):
        draft.bases = bases
        draft.type_params = type_params
        if listed is not None:
            _used_type_vars(w, draft, w.source[listed.start_byte : listed.end_byte])
        with w.inside(draft, kind, body if body is not None else node):
            if body is not None:
                w.run_all(body.named_children)
    _bind(w, name, ref, above, keeps=False)
    return False


def _bases(w: Walk, node: Node | None) -> tuple[list[Expr], bool]:
    """The bases, and whether the class is a protocol."""
    bases: list[Expr] = []
    protocol = False
    for child in node.named_children if node is not None else ():
        kind = child.type
        if kind == "identifier" or kind == "attribute" or kind == "subscript":
            start, end = child.start_byte, child.end_byte
            last = w.text(child).partition("[")[0].rpartition(".")[2]
            protocol = protocol or last == "Protocol"
            if last in _NO_BASES:
                continue
            base = types.base(w, start, end)
            if base is not None:
                bases.append(base)
        elif kind == "keyword_argument":
            w.drop(w.expr(child.named_children[-1]))
        elif kind != "comment":
            value = w.expr(child)
            bases.append(value)
            bases.extend(_given(value))
    return bases, protocol


def _given(value: Expr) -> list[Expr]:
    """The bases that ``with_metaclass(M, A, B)`` and its like pass on."""
    args = getattr(value, "args", None)
    if not isinstance(args, list) or isinstance(value, Generic):
        return []
    return [arg for arg in args[1:] if type(arg) is Name]
