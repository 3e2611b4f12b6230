"""Languages whose calls are told by their names alone: every edge of theirs is a candidate.

Their files have symbols and call sites; nothing is bound, so nothing resolves. Each needs its
grammar, which an extra of the distribution installs.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial

from tree_sitter import Node

from ....ports.graph import Tier
from ..building import Builder, Draft
from ..facts import Def, FileFacts, Import, Name, ScopeKind
from ..linking.linker import Linker
from ..linking.tree import Tree
from ..linking.units import Unit
from ..linking.values import NOTHING, Values
from ..rules import Rules
from .registry import Language

_NAMES = frozenset(
    {"identifier", "simple_identifier", "type_identifier", "word", "constant"}
    | {"field_identifier", "namespace_identifier", "destructor_name", "operator_name"}
)
_THROUGH = frozenset(
    {
        "navigation_expression",
        "navigation_suffix",
        "field_expression",
        "dot_index_expression",
        "method_index_expression",
        "pattern",
        "user_type",
        "command_name",
        "constructor_invocation",
        "qualified_identifier",
        "member_access_expression",
        "conditional_access_expression",
        "member_binding_expression",
        "qualified_name",
    }
)
"""What ends in the name that it stands for."""

_FIRST = frozenset(
    {"generic_function", "generic_type", "generic_name", "template_function", "template_type"}
)
"""What starts with it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The node types of a language that open scopes and that call.

    ``calls`` maps to the field of the callee; None for the first named child.
    """

    scopes: dict[str, ScopeKind]
    calls: dict[str, str | None]
    names: dict[str, str] = field(default_factory=dict)
    """The names of scopes that have none in the source, by node type."""
    bodies: frozenset[str] = frozenset()
    """The node types that open a scope only where they have a body."""


_CLASSES = (ScopeKind.CLASS, ScopeKind.INTERFACE)
_FUNCTION = ScopeKind.FUNCTION

KOTLIN = Shape(
    {
        "function_declaration": _FUNCTION,
        "class_declaration": ScopeKind.CLASS,
        "object_declaration": ScopeKind.CLASS,
        "secondary_constructor": ScopeKind.CONSTRUCTOR,
    },
    {"call_expression": None, "constructor_invocation": None},
    {"secondary_constructor": "constructor"},
)
SWIFT = Shape(
    {
        "function_declaration": _FUNCTION,
        "protocol_function_declaration": _FUNCTION,
        "class_declaration": ScopeKind.CLASS,
        "protocol_declaration": ScopeKind.INTERFACE,
        "init_declaration": ScopeKind.CONSTRUCTOR,
        "deinit_declaration": _FUNCTION,
    },
    {"call_expression": None},
    {"init_declaration": "init", "deinit_declaration": "deinit"},
)
SCALA = Shape(
    {
        "function_definition": _FUNCTION,
        "function_declaration": _FUNCTION,
        "class_definition": ScopeKind.CLASS,
        "object_definition": ScopeKind.CLASS,
        "trait_definition": ScopeKind.INTERFACE,
        "enum_definition": ScopeKind.CLASS,
    },
    {"call_expression": "function", "instance_expression": None},
)
BASH = Shape({"function_definition": _FUNCTION}, {"command": "name"})
CSHARP = Shape(
    {
        "method_declaration": _FUNCTION,
        "local_function_statement": _FUNCTION,
        "property_declaration": _FUNCTION,
        "constructor_declaration": ScopeKind.CONSTRUCTOR,
        "class_declaration": ScopeKind.CLASS,
        "struct_declaration": ScopeKind.CLASS,
        "record_declaration": ScopeKind.CLASS,
        "interface_declaration": ScopeKind.INTERFACE,
        "namespace_declaration": ScopeKind.NAMESPACE,
    },
    {"invocation_expression": "function", "object_creation_expression": "type"},
)
CPP = Shape(
    {
        "function_definition": _FUNCTION,
        "class_specifier": ScopeKind.CLASS,
        "struct_specifier": ScopeKind.CLASS,
        "namespace_definition": ScopeKind.NAMESPACE,
    },
    {"call_expression": "function", "new_expression": "type"},
    bodies=frozenset({"class_specifier", "struct_specifier", "namespace_definition"}),
)
LUA = Shape({"function_declaration": _FUNCTION}, {"function_call": "name"})
ZIG = Shape({"function_declaration": _FUNCTION}, {"call_expression": "function"})
GROOVY = Shape(
    {
        "method_declaration": _FUNCTION,
        "function_definition": _FUNCTION,
        "constructor_declaration": ScopeKind.CONSTRUCTOR,
        "class_declaration": ScopeKind.CLASS,
        "interface_declaration": ScopeKind.INTERFACE,
    },
    {"method_invocation": "name", "object_creation_expression": "type"},
)


def lower(name: str, shape: Shape, source: bytes, root: Node) -> FileFacts:
    """The symbols and the call sites of a file."""
    build = Builder(name, source.count(b"\n") + 1)
    stack: list[Node | AbstractContextManager[tuple[Draft, Def]]] = [root]
    while stack:
        top = stack.pop()
        if not isinstance(top, Node):
            top.__exit__(None, None, None)
            continue
        if top.type in shape.scopes:
            opened = _opened(build, shape, source, top)
            if opened is not None:
                opened.__enter__()
                stack.append(opened)
        elif top.type in shape.calls:
            _call(build, shape, source, top)
        stack.extend(reversed(top.named_children))
    return build.finish()


def _opened(
    build: Builder, shape: Shape, source: bytes, node: Node
) -> AbstractContextManager[tuple[Draft, Def]] | None:
    if node.type in shape.bodies and node.child_by_field_name("body") is None:
        return None
    name = shape.names.get(node.type)
    if name is None:
        named = node.child_by_field_name("name") or _declared(node) or _first_name(node)
        found = _last_name(named)
        if found is None:
            return None
        name = _text(source, found)
    kind = shape.scopes[node.type]
    if kind is _FUNCTION and build.here.kind in _CLASSES:
        kind = ScopeKind.METHOD
    return build.scope(kind, name, node.start_point.row + 1, node.end_point.row + 1)


def _call(build: Builder, shape: Shape, source: bytes, node: Node) -> None:
    where = shape.calls[node.type]
    callee = node.child_by_field_name(where) if where is not None else _first(node)
    found = _last_name(callee)
    if found is not None:
        line = found.start_point.row + 1
        build.here.do(build.call(Name(_text(source, found)), line=line))


def _first(node: Node) -> Node | None:
    return node.named_child(0) if node.named_child_count else None


def _declared(node: Node) -> Node | None:
    """The name that a declarator ends in, as C++ nests them."""
    found = node.child_by_field_name("declarator")
    while found is not None and found.type not in _NAMES | _THROUGH:
        found = found.child_by_field_name("declarator") or _first(found)
    return found


def _first_name(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type in _NAMES), None)


def _last_name(node: Node | None) -> Node | None:
    """The name that an expression ends in; None for a computed one."""
    while node is not None and node.type not in _NAMES:
        count = node.named_child_count
        if not count or node.type not in _THROUGH | _FIRST:
            return None
        node = node.named_child(0 if node.type in _FIRST else count - 1)
    return node


def _text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _module_name(tree: Tree, path: str, namespace: str) -> str:
    del tree, namespace
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)


def _nothing(linker: Linker, unit: Unit, what: Import | str) -> Values:
    del linker, unit, what
    return NOTHING


_RULES = Rules(_module_name, _nothing, _nothing, separator=":")


def _language(
    name: str, shape: Shape, suffixes: tuple[str, ...], interpreters: tuple[str, ...] = ()
) -> Language:
    extract: Callable[[bytes, Node], FileFacts] = partial(lower, name, shape)
    distribution = f"tree-sitter-{name}"
    return Language(
        name,
        Tier.BY_NAME,
        suffixes,
        distribution,
        distribution.replace("-", "_"),
        extract,
        _RULES,
        interpreters=interpreters,
    )


LANGUAGES = (
    _language("kotlin", KOTLIN, (".kt", ".kts")),
    _language("swift", SWIFT, (".swift",)),
    _language("scala", SCALA, (".scala", ".sc")),
    _language("bash", BASH, (".sh", ".bash"), ("sh", "bash", "dash", "ksh", "zsh")),
    _language("c-sharp", CSHARP, (".cs",)),
    _language("cpp", CPP, (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".cu", ".cuh")),
    _language("lua", LUA, (".lua",), ("lua", "luajit")),
    _language("zig", ZIG, (".zig",)),
    _language("groovy", GROOVY, (".groovy", ".gradle"), ("groovy",)),
)
