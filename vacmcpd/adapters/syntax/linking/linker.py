"""Demand-driven evaluation: asked once, kept, with cycles solved and every read recorded.

An answer is the least fixed point of monotone functions, so it does not depend on where a cycle
was entered. What an answer rests on are *leaves*: one bound name, one function's body, one file's
existence. A leaf is a 32-bit number; two that share one cost a needless link, never a stale one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast
from zlib import crc32

from .tree import Tree
from .units import NAMED, Declaration, Unit
from .values import (
    DEEPEST,
    NOTHING,
    Coll,
    Ext,
    Func,
    Inst,
    Klass,
    Literal,
    Module,
    Package,
    Value,
    Values,
    depth_of,
    narrow,
)
from .values import Callable as CallableValue

_PATIENCE = 100
"""Rounds of a cycle whose functions turn out not to be monotone; monotone ones need fewer."""


TOO_DEEP = "too deep"
"""The leaf of what nests too deep; it counts as changed in every version."""

_CLOSED: set[int] = set()
"""The reads of answered questions; nothing is ever added to it."""

_LONG_NAME, _LONGEST_NAME = 5, 12
"""Dots in an outside name from which on it may be shortened, and that it never exceeds."""

_T = TypeVar("_T")
Names = Mapping[tuple[str, str], Mapping[str, list[str]]]


class Program(Protocol):
    """The version that is linked."""

    @property
    def tree(self) -> Tree:
        """Its files as names."""
        ...

    @property
    def packages(self) -> Names:
        """(family, package) -> the top-level names of its files -> their paths, sorted."""
        ...

    @property
    def members(self) -> Names:
        """(family, package) -> ``Type.method`` declared outside of its type -> paths, sorted."""
        ...

    @property
    def properties(self) -> Mapping[str, Mapping[str, int]]:
        """Family -> name of a property -> how many files have one."""
        ...

    def unit(self, path: str) -> Unit | None:
        """The facts of a code file of the tree, loaded when first asked for."""
        ...


class Node:
    """One question: its answer so far, what it rests on, and its place in a cycle.

    ``reads`` grows while the question is open. Once it is answered, they are ``rests`` and those of
    the answers ``under`` it, the widest of those that it asked for: many rest on nearly the same.
    """

    __slots__ = (
        "depth",
        "done",
        "holder",
        "looped",
        "low",
        "members",
        "reads",
        "rests",
        "size",
        "tainted",
        "under",
        "value",
    )

    def __init__(self, depth: int) -> None:
        self.value: Any = NOTHING
        self.reads: set[int] = set()
        self.rests: tuple[int, ...] = ()
        self.under: Node | None = None
        self.size = 0
        self.done = False
        self.tainted = False
        self.looped = False
        self.depth = depth
        self.low = depth
        self.holder: Node | None = None
        self.members: list[object] | None = None

    def add_to(self, other: "Node") -> None:
        """Let ``other`` rest on what this one does."""
        below = other.under
        if below is None or self.size > below.size:
            other.under = self
        reads = other.reads
        at: Node | None = self
        while at is not None:
            reads.update(at.rests)
            at = at.under

    def close(self) -> None:
        """Keep what it rests on, as little as can be."""
        reads = self.reads
        self.size = len(reads)
        at = below = self.under
        if below is not None and below.size:
            rests = set(reads)
            while at is not None:
                rests.difference_update(at.rests)
                at = at.under
            self.rests = tuple(rests)
            # What adds nothing stands for what is under it.
            if not rests:
                self.rests, self.under = below.rests, below.under
        else:
            self.rests, self.under = tuple(reads), None
        self.reads = _CLOSED


class Linker:
    """Evaluates one version in one round.

    ``cells`` are the values that the round before passed into parameters and stores, ``below``
    the classes directly derived from a class, both by key. ``strict`` is on while types and bases
    are looked up: no calls, parameters or stores are followed then.
    """

    def __init__(
        self,
        program: Program,
        *,
        round_: int = 1,
        cells: Mapping[str, tuple[str, ...]] | None = None,
        below: Mapping[str, tuple[str, ...]] | None = None,
        earlier: "Linker | None" = None,
    ) -> None:
        self.program = program
        self.tree = program.tree
        self.round = round_
        self.cells = cells or {}
        self.below = below or {}
        self.strict = False
        self.memo: dict[object, Node] = {}
        self.values: dict[object, Value] = {}
        self.before: dict[object, Any] = {}
        """What members of the cycles that are being solved were in the round before."""
        self.stack: list[Node] = []
        self.top = Node(-1)
        self._leaves: dict[str, int] = {}
        self._calls: list[int] = []
        if earlier is not None:
            self.values = earlier.values
            self._leaves = earlier._leaves
            kept = earlier.memo.items()
            self.memo = {key: node for key, node in kept if node.done and not node.tainted}

    # Asking

    def ask(self, key: object, compute: Callable[..., _T], *args: Any) -> _T:
        """The value of ``compute(self, *args)``, computed once."""
        node = self.memo.get(key)
        if node is not None:
            return cast("_T", self._known(node))
        stack = self.stack
        depth = len(stack)
        node = Node(depth)
        if self.before:
            node.value = self.before.get(key, NOTHING)
        outside = self.top
        self.memo[key] = node
        stack.append(node)
        self.top = node
        value = compute(self, *args)
        if node.looped:
            value = self._settle(node, value, compute, args)
        stack.pop()
        self.top = outside
        node.value = value
        outside.reads |= node.reads
        if node.tainted:
            outside.tainted = True
        if node.low < depth:
            self._join(key, node, outside)
        else:
            self._finish(node)
        return value

    def of_call(self, key: int, compute: Callable[..., _T], *args: Any) -> _T:
        """As :meth:`ask`, until :meth:`forget_calls`: what one call gives is asked around it."""
        if key not in self.memo:
            self._calls.append(key)
        return self.ask(key, compute, *args)

    def forget_calls(self) -> None:
        """Forget what calls gave, at the end of a file: by far most answers are of them."""
        for key in self._calls:
            self.memo.pop(key, None)
        self._calls.clear()

    def _known(self, node: Node) -> Any:
        top = self.top
        if node.done:
            if node.size:
                node.add_to(top)
            if node.tainted:
                top.tainted = True
            return node.value
        head = node
        while head.holder is not None:
            head = head.holder
        head.looped = True
        if head.low < top.low:
            top.low = head.low
        return node.value

    def _settle(
        self, node: Node, value: Any, compute: Callable[..., Any], args: tuple[Any, ...]
    ) -> Any:
        """Compute the head of a cycle again until its value and those of its members stand.

        A member starts from what it was: what reads it while it is open would miss that else.
        """
        patience = _PATIENCE
        while node.low >= node.depth and patience:
            members = [(key, self.memo[key]) for key in node.members or () if key in self.memo]
            looped = [(key, member.value) for key, member in members if member.looped]
            settled = all(self.before.get(key, NOTHING) == known for key, known in looped)
            if settled and value == node.value:
                break
            patience -= 1
            node.value = value
            self.before.update(looped)
            for key, _ in members:
                del self.memo[key]
            node.members = []
            value = compute(self, *args)
        if node.low >= node.depth:
            for key in node.members or ():
                self.before.pop(key, None)
        return value

    def _join(self, key: object, node: Node, outside: Node) -> None:
        """``node`` is part of a cycle whose head is further out: it stays open until that is."""
        head = self.stack[node.low]
        node.holder = head
        if head.members is None:
            head.members = []
        head.members.append(key)
        head.members.extend(node.members or ())
        node.members = None
        if node.low < outside.low:
            outside.low = node.low

    def _finish(self, node: Node) -> None:
        node.done = True
        node.close()
        outside = self.top
        if outside.under is None or node.size > outside.under.size:
            outside.under = node
        for key in node.members or ():
            member = self.memo.get(key)
            if member is not None:
                member.done = True
                member.holder = None
                member.rests, member.under, member.size = node.rests, node.under, node.size
                member.reads = _CLOSED
                member.tainted = node.tainted
        node.members = None

    def within(self, work: Callable[[], _T], instead: _T) -> _T:
        """What ``work`` gives, or ``instead`` where it nests too deep to be followed.

        Who asked for that is linked again in every version, since not all was read.
        """
        try:
            return work()
        except RecursionError:
            self._give_up()
            return instead

    def _give_up(self) -> None:
        """Let every open question stand as it is, so that none is asked as deep again."""
        deep = (leaf_of(TOO_DEEP),)
        for node in self.memo.values():
            if not node.done:
                node.done = True
                node.holder = None
                node.members = None
                node.rests, node.under, node.size = deep, None, 1
                node.reads = _CLOSED
        self.stack.clear()
        self.strict = False
        self.top = Node(-1)
        self.read(TOO_DEEP)

    # Reading

    def read(self, text: str) -> None:
        """Record the leaf that ``text`` names."""
        leaf = self._leaves.get(text)
        if leaf is None:
            leaf = self._leaves[text] = leaf_of(text)
        self.top.reads.add(leaf)

    def read_name(self, made: Declaration, name: str) -> None:
        """Record what ``name`` is bound to in a scope; for a function, all that it says."""
        self.top.reads.add(name_leaf_of(made, name))

    def read_body(self, made: Declaration) -> None:
        """Record all that a function says: parameters, types, statements."""
        self.top.reads.add(body_leaf_of(made))

    def exists(self, path: str) -> bool:
        """Whether the version has a file of that path."""
        self.read(f"path\0{path}")
        return self.tree.has(path)

    def exists_folder(self, path: str) -> bool:
        """Whether the version has files below that path."""
        self.read(f"folder\0{path}")
        return self.tree.has_folder(path)

    def files_in(self, folder: str) -> list[str]:
        """The names of the files directly in a folder, whatever they hold."""
        self.read(f"listing\0{folder}")
        return self.tree.files_in(folder)

    def places(self, name: str) -> list[str]:
        """The files of that name in any folder, whatever they hold."""
        self.read(f"places\0{name}")
        return self.tree.named(name)

    def named(self, name: str) -> list[str]:
        """The files of that name in any folder; what they hold counts as read too."""
        self.read(f"named\0{name}")
        return self.tree.named(name)

    def text(self, path: str) -> bytes | None:
        """The content of a file that says how modules are found; None when there is none."""
        self.read(f"blob\0{path}")
        return self.tree.sources.read(path) if self.tree.has(path) else None

    def unit(self, path: str) -> Unit | None:
        """The facts of a code file; None when there is no such file or it has none."""
        self.read(f"path\0{path}")
        return self.program.unit(path)

    def declaration(self, key: str) -> Declaration | None:
        """The scope that a key names, in this version."""
        path, _, qual = key.partition("\0")
        unit = self.program.unit(path)
        return unit.quals.get(qual) if unit is not None else None

    def paths_of(self, family: str, package: str, name: str) -> list[str]:
        """The files of a package that bind ``name`` at their top."""
        self.read(f"package\0{family}\0{package}\0{name}")
        return self.program.packages.get((family, package), {}).get(name, [])

    def members_of(self, family: str, package: str, type_name: str, name: str) -> list[str]:
        """The files of a package that declare the method ``name`` for a type outside of it."""
        self.read(f"member\0{family}\0{package}\0{type_name}.{name}")
        return self.program.members.get((family, package), {}).get(f"{type_name}.{name}", [])

    def has_property(self, family: str, name: str) -> bool:
        """Whether any class has a property of that name."""
        self.read(f"property\0{family}\0{name}")
        return name in self.program.properties.get(family, ())

    def has_package(self, family: str, package: str) -> bool:
        """Whether any file is part of a package."""
        self.read(f"package\0{family}\0{package}")
        return (family, package) in self.program.packages

    def derived(self, made: Declaration) -> list[Declaration]:
        """The classes directly derived from ``made``, in the order of their keys."""
        self.read(f"below\0{made.key}")
        found = (self.declaration(key) for key in self.below.get(made.key, ()))
        return [item for item in found if item is not None]

    def cell(self, name: str) -> Values:
        """What the round before passed into a parameter or a store; none in the first."""
        self.top.tainted = True
        if self.round == 1:
            return NOTHING
        self.read(f"cell\0{name}")
        values = frozenset(
            value for key in self.cells.get(name, ()) if (value := self.parse(key)) is not None
        )
        return narrow(values)

    # Values

    def module(self, unit: Unit) -> Module:
        return self._value(("m", unit), Module, unit)

    def package(self, family: str, name: str) -> Package:
        return self._value(("p", family, name), Package, family, name)

    def klass(self, made: Declaration, args: tuple[Values, ...] = ()) -> Klass:
        args = self.shallow(args)
        return self._value(("c", made, args), Klass, made, args)

    def func(self, made: Declaration, *, bound: bool = False) -> Func:
        return self._value(("f", made, bound), Func, made, bound)

    def inst(
        self, made: Declaration, args: tuple[Values, ...] = (), *, exact: bool = False
    ) -> Inst:
        args = self.shallow(args)
        return self._value(("i", made, exact, args), Inst, made, exact, args)

    def ext(self, name: str, args: tuple[Values, ...] = (), *, inst: bool = False) -> Ext:
        # Languages that keep methods apart from fields mark their names.
        name = name.removesuffix("()")
        if name.count(".") > _LONG_NAME:
            name = steady(name)
        args = self.shallow(args)
        return self._value(("e", name, inst, args), Ext, name, inst, args)

    def make(self, kind: Callable[..., _T], *args: Any) -> _T:
        """Any other value, interned by its arguments."""
        if kind is Coll:
            args = (args[0], self.shallow(args[1]))
        elif kind is CallableValue:
            args = self.shallow(args)
        return self._value((kind, *args), kind, *args)

    def shallow(self, args: tuple[Values, ...], room: int = DEEPEST) -> tuple[Values, ...]:
        """``args`` down to a depth: what nests without end comes to a stop there."""
        if not args or depth_of(args) <= room:
            return args
        if not room:
            return ()
        return tuple(frozenset(self._cut(value, room - 1) for value in each) for each in args)

    def _cut(self, value: Value, room: int) -> Value:
        if value.depth <= room:
            return value
        match value:
            case Coll(kind=kind, args=args):
                return self.make(Coll, kind, self.shallow(args, room))
            case Inst(decl=decl, exact=exact, args=args):
                return self.inst(decl, self.shallow(args, room), exact=exact)
            case Klass(decl=decl, args=args):
                return self.klass(decl, self.shallow(args, room))
            case Ext(name=name, inst=inst, args=args):
                return self.ext(name, self.shallow(args, room), inst=inst)
            case CallableValue(returns=returns):
                (inner,) = self.shallow((returns,), room) or (NOTHING,)
                return self.make(CallableValue, inner)
            case _:
                return value

    def literal(self, made: Declaration, expr: Any) -> Literal:
        """The container that ``expr`` writes out in ``made``."""
        found = self.values.get(id(expr))
        if not isinstance(found, Literal):
            found = Literal(made, expr, made.unit.ordinal(made, expr))
            self.values[id(expr)] = found
        return found

    def _value(self, key: object, kind: Callable[..., _T], *args: Any) -> _T:
        found = self.values.get(key)
        if found is None:
            found = self.values[key] = cast("Value", kind(*args))
        return cast("_T", found)

    def parse(self, key: str) -> Value | None:
        """The value of a key that :func:`portable` gave; None when this version lacks it."""
        kind, rest = key[0], key[1:]
        if kind == "e":
            return self.ext(rest)
        if kind == "m":
            unit = self.unit(rest)
            return self.module(unit) if unit is not None else None
        if kind == "l":
            rest, _, ordinal = rest.rpartition("\0")
        made = self.declaration(rest)
        if made is None:
            return None
        if kind == "l":
            if made.kind in NAMED:
                self.read_name(made, "")
            else:
                self.read_body(made)
            expr = made.unit.literal(made, int(ordinal))
            return self.literal(made, expr) if expr is not None else None
        if kind == "c":
            return self.klass(made)
        if kind in "fb":
            return self.func(made, bound=kind == "b")
        return self.inst(made, exact=kind == "x")


def steady(name: str) -> str:
    """The name of what is outside; one that only grows, in a cycle or a chain, stays what it was.

    ``a.b.filter.order.filter`` is ``a.b.filter``.
    """
    head, _, last = name.rpartition(".")
    again = f"{head}.".find(f".{last}.")
    if again >= 0:
        return head[: again + 1 + len(last)]
    return head if head.count(".") >= _LONGEST_NAME else name


def portable(value: Value) -> str | None:
    """A key for ``value`` that another file's link can read; None for what is not passed on."""
    match value:
        case Func() | Literal() | Module():
            return value.key
        case Klass(decl=decl):
            return f"c{decl.key}"
        case Inst(decl=decl, exact=exact):
            return f"{'x' if exact else 'i'}{decl.key}"
        case Ext(inst=False, name=name):
            return f"e{name}"
        case _:
            return None


def leaf_of(text: str) -> int:
    """The number of a leaf."""
    return crc32(text.encode("utf-8", "surrogateescape"))


def name_leaf_of(made: Declaration, name: str) -> int:
    """The number of the leaf of one name of a module or class."""
    leaf = made.leaves.get(name)
    if leaf is None:
        leaf = made.leaves[name] = leaf_of(name_leaf(made, name))
    return leaf


def body_leaf_of(made: Declaration) -> int:
    """The number of the leaf of a function."""
    if made.leaf < 0:
        made.leaf = leaf_of(body_leaf(made))
    return made.leaf


def name_leaf(made: Declaration, name: str) -> str:
    """The leaf of one name of a module or class; functions have one for all of theirs."""
    return f"name\0{made.key}\0{name}"


def body_leaf(made: Declaration) -> str:
    """The leaf of a function."""
    return f"body\0{made.key}"
