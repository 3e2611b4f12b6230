"""What an expression may be. Values are interned: equal ones are one object."""

from hashlib import blake2b
from typing import TYPE_CHECKING, Union

from ..facts import Expr

if TYPE_CHECKING:
    from .units import Declaration, Unit


class Module:
    """A file as a value; its attributes are its top-level names."""

    __slots__ = ("key", "unit")

    depth = 0

    def __init__(self, unit: "Unit") -> None:
        self.unit = unit
        self.key = f"m{unit.path}"


class Package:
    """A namespace or folder whose names come from several files."""

    __slots__ = ("family", "key", "name")

    depth = 0

    def __init__(self, family: str, name: str) -> None:
        self.family = family
        self.name = name
        self.key = f"p{family}\0{name}"


class Klass:
    """A class itself, as a value."""

    __slots__ = ("args", "decl", "depth", "key")

    def __init__(self, decl: "Declaration", args: tuple["Values", ...] = ()) -> None:
        self.decl = decl
        self.args = args
        self.depth = depth_of(args)
        self.key = f"c{decl.key}{_texts(args)}"


class Func:
    """A function. ``bound`` says that its receiver is already given."""

    __slots__ = ("bound", "decl", "key")

    depth = 0

    def __init__(self, decl: "Declaration", bound: bool) -> None:
        self.decl = decl
        self.bound = bound
        self.key = f"{'b' if bound else 'f'}{decl.key}"


class Inst:
    """An instance of a class, ``exact`` when of no class derived from it."""

    __slots__ = ("args", "decl", "depth", "exact", "key")

    def __init__(self, decl: "Declaration", exact: bool, args: tuple["Values", ...] = ()) -> None:
        self.decl = decl
        self.exact = exact
        self.args = args
        self.depth = depth_of(args)
        self.key = f"{'x' if exact else 'i'}{decl.key}{_texts(args)}"


class Literal:
    """A container that the source writes out, by the place where it does."""

    __slots__ = ("decl", "expr", "key")

    depth = 0

    def __init__(self, decl: "Declaration", expr: Expr, ordinal: int) -> None:
        self.decl = decl
        self.expr = expr
        self.key = f"l{decl.key}\0{ordinal}"


class Coll:
    """A container known by its type alone: ``kind`` of the values ``args``.

    One set of values for lists and maps (the values of a map), several for a tuple.
    """

    __slots__ = ("args", "depth", "key", "kind")

    def __init__(self, kind: str, args: tuple["Values", ...]) -> None:
        self.kind = kind
        self.args = args
        self.depth = depth_of(args)
        self.key = f"o{kind}{_texts(args)}"


class Ext:
    """A name outside the repository, or (``inst``) what calling it gives."""

    __slots__ = ("args", "depth", "inst", "key", "name")

    def __init__(self, name: str, inst: bool, args: tuple["Values", ...] = ()) -> None:
        self.name = name
        self.inst = inst
        self.args = args
        self.depth = depth_of(args)
        self.key = f"{'v' if inst else 'e'}{name}{_texts(args)}"


class Above:
    """``super``: the receiver of a method, looked at from the class after ``decl``."""

    __slots__ = ("decl", "key", "static")

    depth = 0

    def __init__(self, decl: "Declaration", static: bool) -> None:
        self.decl = decl
        self.static = static
        self.key = f"s{'c' if static else 'i'}{decl.key}"


class TypeVar:
    """A type parameter of a class or function, until it is known what it stands for."""

    __slots__ = ("decl", "key", "name")

    depth = 0

    def __init__(self, decl: "Declaration", name: str) -> None:
        self.decl = decl
        self.name = name
        self.key = f"t{decl.key}\0{name}"


class Callable:
    """Something that is declared to be a function; all that is known is what it returns."""

    __slots__ = ("depth", "key", "returns")

    def __init__(self, returns: "Values") -> None:
        self.returns = returns
        self.depth = depth_of((returns,))
        self.key = f"k{_texts((returns,))}"


class Top:
    """Too many values to tell; whatever is done with it gives it again."""

    __slots__ = ("key",)

    depth = 0

    def __init__(self) -> None:
        self.key = "*"


Value = Union[  # noqa: UP007 - one name for all of them
    Module, Package, Klass, Func, Inst, Literal, Coll, Ext, Above, TypeVar, Callable, Top
]  # fmt: skip
Values = frozenset[Value]

NOTHING: Values = frozenset()
TOP = Top()
ANYTHING: Values = frozenset({TOP})
DEEPEST = 4
"""Type arguments that nest deeper are left out, since recursive types never end."""

_LONGEST = 200
"""Longer keys of type arguments are replaced by their digest."""

WIDEST = 24
"""More values than this are :data:`TOP`."""


def narrow(values: Values) -> Values:
    """``values``, or :data:`ANYTHING` for too many of them."""
    return values if len(values) <= WIDEST and TOP not in values else ANYTHING


def _texts(args: tuple[Values, ...]) -> str:
    if not args:
        return ""
    text = "\1".join("\2".join(sorted(v.key for v in values)) for values in args)
    if len(text) > _LONGEST:
        text = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return f"<{text}>"


def depth_of(args: tuple[Values, ...]) -> int:
    """How deep the type arguments ``args`` nest."""
    return 1 + max((v.depth for values in args for v in values), default=0) if args else 0
