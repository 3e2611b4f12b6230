"""What one file says about calls, in one form for every language: scopes, expressions, sites.

Facts follow from a blob's bytes alone: no path, no other file, no version. A language module
lowers its syntax tree into them (:mod:`.languages`), the linker evaluates them (:mod:`.linking`).

Lines are kept apart from what they belong to (:class:`Place`), and nothing refers to anything by
its position in the file, so a scope whose code did not change encodes to the same bytes wherever
it moved. The linker's record of what a file read rests on that.
"""

from collections.abc import Callable
from enum import IntEnum, IntFlag
from typing import Any, Union

import msgspec

ANALYSER = 1
"""Counts up when the facts of unchanged bytes change; part of every key they are stored under."""


class ScopeKind(IntEnum):
    """What opens a scope. Everything but a namespace and a block can be a symbol."""

    MODULE = 0
    CLASS = 1
    INTERFACE = 2
    """Also traits and protocols: calls through it dispatch to what implements it."""
    FUNCTION = 3
    METHOD = 4
    """A function of a class: called on an instance unless :attr:`Flag.STATIC`."""
    CONSTRUCTOR = 5
    LAMBDA = 6
    PROPERTY = 7
    """A method that reading the attribute runs."""
    NAMESPACE = 8
    BLOCK = 9
    """A lexical block with bindings of its own, in languages that have them."""
    INITIALIZER = 10
    """Code that runs when a class is loaded or an instance is made, outside any method."""


class Flag(IntFlag):
    """What a scope or a binding is besides; languages set those that they know."""

    NONE = 0
    STATIC = 1
    CLASSMETHOD = 2
    ABSTRACT = 4
    """Declared without a body; calls never run it itself."""
    ASYNC = 8
    GENERATOR = 16
    EXPORTED = 32
    DEFAULT = 64
    """The default export of its module."""
    FINAL = 128
    """Cannot be overridden or, for a binding, rebound."""
    EXTENSION = 256
    """A function that is called as a method of its first parameter's type."""
    POINTER = 512
    OVERRIDE = 1024
    PRIVATE = 2048
    SETTER = 4096
    CONSTRUCTIBLE = 8192
    """A function that `new` may be applied to, in languages where functions are classes."""
    PARTIAL = 16384
    """One of several declarations of the same class, all of which count."""
    ALIAS = 32768
    """A name for a type: the binding's value is the type that it stands for."""


class _Node(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """An expression or a statement; compared by value."""


class Name(_Node, tag=0, frozen=True):
    """A bare name, looked up from the scope it stands in."""

    id: str


class Attr(_Node, tag=1, frozen=True):
    """``of.name``; also ``of::name``, ``of->name`` and ``of[0].name`` of a constant key.

    ``read`` makes it a site of its own: where ``name`` is a property, reading it calls it.
    """

    of: "Expr"
    name: str
    read: bool = False


class Call(_Node, tag=2, frozen=True):
    """A call site. ``names`` are the keywords of the last ``len(names)`` arguments.

    ``new`` says that the language's syntax makes an instance (``new C()``, a struct literal).
    """

    fn: "Expr"
    args: "list[Expr]" = []
    names: list[str] = []
    new: bool = False


class Item(_Node, tag=3, frozen=True):
    """``of[key]``; None for a key that is not a constant. Also the nth part of a tuple."""

    of: "Expr"
    key: str | int | None = None


class Elem(_Node, tag=4, frozen=True):
    """What iterating over ``of`` gives."""

    of: "Expr"


class Def(_Node, tag=5, frozen=True):
    """A scope that stands directly in this one: a function, a lambda, a class.

    ``child`` is its name, with ``#2``, ``#3`` … for the second and third of that name.
    """

    child: str


class Lit(_Node, tag=6, frozen=True):
    """A value of a type that the language has built in: ``str``, ``int``, ``regexp`` and so on."""

    kind: str


class Seq(_Node, tag=7, frozen=True):
    """A list, tuple, set or array of ``items``; as a type, of elements of that type."""

    kind: str
    items: "list[Expr]" = []


class Map(_Node, tag=8, frozen=True):
    """A dict, map or object literal; None for a key that is not a constant.

    As a type, one value type under the key None.
    """

    keys: list[str | int | None] = []
    values: "list[Expr]" = []


class AnyOf(_Node, tag=9, frozen=True):
    """One of several: conditional expressions, ``or``, union types."""

    of: "list[Expr]"


class This(_Node, tag=10, frozen=True):
    """The receiver of the method that this stands in (``this``, ``self`` where it is a keyword)."""


class Super(_Node, tag=11, frozen=True):
    """The receiver, seen from the class after this one in its method resolution order."""


class Import(_Node, tag=12, frozen=True):
    """A name of another module.

    ``module`` is as written, ``name`` what is taken out of it: "" for the module itself, "*" for
    everything. ``level`` counts the dots of a relative import.
    """

    module: str
    name: str = ""
    level: int = 0


class Generic(_Node, tag=13, frozen=True):
    """``of<args>``: a type or a callable with type arguments."""

    of: "Expr"
    args: "list[Expr]"


class Cast(_Node, tag=14, frozen=True):
    """A value that the source says is of type ``to``, made from the expression ``of``."""

    to: "Expr"
    of: "Expr | None" = None


class Await(_Node, tag=15, frozen=True):
    """What ``await of`` gives; for a type, what a future of it gives."""

    of: "Expr"


class Spread(_Node, tag=16, frozen=True):
    """``*of`` or ``...of`` among arguments or items."""

    of: "Expr"


class Function(_Node, tag=17, frozen=True):
    """As a type: a callable that returns ``returns``."""

    returns: "Expr | None" = None


Expr = Union[  # noqa: UP007 - msgspec resolves it by name
    Name, Attr, Call, Item, Elem, Def, Lit, Seq, Map, AnyOf, This, Super, Import, Generic, Cast,
    Await, Spread, Function,
]  # fmt: skip


class Bind(_Node, tag=32, frozen=True):
    """``name`` is bound to ``value``, and declared to be of a type; either may be unknown.

    In a class scope it is a member: an attribute, a field, a method (``Def``).
    """

    name: str
    value: Expr | None = None
    declared: Expr | None = None
    flags: int = 0


class Store(_Node, tag=33, frozen=True):
    """``of.name = value`` when ``attr``, else ``of[name] = value``; None for an unknown key."""

    of: Expr
    name: str | int | None
    value: Expr
    attr: bool = True


class Return(_Node, tag=34, frozen=True):
    """``return value``."""

    value: Expr


class Yield(_Node, tag=35, frozen=True):
    """``yield value``."""

    value: Expr


class Do(_Node, tag=36, frozen=True):
    """An expression whose value nobody takes, kept for the calls in it."""

    value: Expr


Statement = Union[Bind, Store, Return, Yield, Do]  # noqa: UP007 - as above


class Param(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """A parameter; ``star`` is 1 for one that takes the further arguments, 2 for keywords."""

    name: str
    declared: Expr | None = None
    default: Expr | None = None
    star: int = 0


class TypeParam(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """A type parameter and what it is known to extend."""

    name: str
    bound: Expr | None = None


class Scope(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """What one function, class or module says, without what its inner scopes say.

    ``body`` is in source order. ``outer`` are names that it binds in an enclosing function,
    ``outermost`` in the module. ``receiver`` is the type that a method is declared for outside
    of its class (Go, Rust, C++, extension functions). ``signature`` is the text that tells
    overloads apart, "" in languages without.
    """

    kind: ScopeKind
    name: str
    flags: int = 0
    params: list[Param] = []
    body: list[Statement] = []
    returns: Expr | None = None
    bases: list[Expr] = []
    decorators: list[Expr] = []
    type_params: list[TypeParam] = []
    outer: list[str] = []
    outermost: list[str] = []
    receiver: Expr | None = None
    signature: str = ""


class Place(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """Where a scope is: its parent's number, its lines, and the line of each of its sites.

    ``calls`` are in the order of :func:`calls_of`.
    """

    parent: int
    line: int
    end_line: int
    calls: list[int] = []


class FileFacts(msgspec.Struct, array_like=True, frozen=True, gc=False, omit_defaults=True):
    """The facts of one blob. Scope 0 is the module; a scope comes after the one it stands in.

    ``namespace`` is the package that the file says it is part of. ``errors`` counts the syntax
    tree's error nodes: what stands in them is not in the facts.
    """

    language: str
    scopes: list[Scope]
    places: list[Place]
    namespace: str = ""
    errors: int = 0


def calls_of(scope: Scope) -> list[Call | Attr]:
    """Every call site and property read of ``scope`` in a fixed order, outer before inner.

    The defaults of parameters first, then the bases, the body. Decorators are called by the scope
    around, whose body has these calls; :attr:`Scope.decorators` only says which there are.
    """
    found: list[Call | Attr] = []
    for param in scope.params:
        if param.default is not None:
            _gather(param.default, found)
    for expr in scope.bases:
        _gather(expr, found)
    for statement in scope.body:
        if type(statement) is Store:
            _gather(statement.of, found)
        value = statement.value
        if value is not None and type(value) in _PARTS:
            _gather(value, found)
    return found


def calls_in(expr: Expr) -> list[Call | Attr]:
    """Every call and property read in ``expr``, outer before inner, left to right."""
    found: list[Call | Attr] = []
    _gather(expr, found)
    return found


def _gather(expr: Expr, found: list[Call | Attr]) -> None:
    stack: list[Any] = [expr]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is Call:
            found.append(top)
            stack.extend(reversed(top.args))
            stack.append(top.fn)
        elif kind is Attr:
            if top.read:
                found.append(top)
            stack.append(top.of)
        else:
            parts = _PARTS.get(kind)
            if parts is not None:
                stack.extend(reversed(parts(top)))


def parts_of(expr: Expr) -> "list[Expr]":
    """The expressions that ``expr`` is made of, left to right; types are not among them."""
    parts = _PARTS.get(type(expr))
    return parts(expr) if parts is not None else []


def _of(expr: Any) -> "list[Expr]":
    return [expr.of]


_PARTS: "dict[type, Callable[[Any], list[Expr]]]" = {
    Call: lambda expr: [expr.fn, *expr.args],
    Attr: _of,
    Item: _of,
    Elem: _of,
    Await: _of,
    Spread: _of,
    Generic: _of,
    Cast: lambda expr: [expr.of] if expr.of is not None else [],
    Seq: lambda expr: expr.items,
    Map: lambda expr: expr.values,
    AnyOf: lambda expr: expr.of,
}
"""The parts of each kind of expression that has some."""


encode = msgspec.msgpack.Encoder().encode
"""Any struct of this module into bytes that are equal for equal values."""

decode = msgspec.msgpack.Decoder(FileFacts).decode
"""The facts that :func:`encode` wrote; ``msgspec.DecodeError`` for anything else."""
