"""The state of one walk over a Ruby tree: the classes around, the local variables in sight."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder
from ...facts import Expr, Import, Name, This

DEEPEST = 150
"""Expressions and statements nested deeper are left out."""

META = "<class>"
"""What follows the name of a class in that of the object that the class itself is."""


@dataclass(slots=True)
class Opened:
    """A class or module that the file opens, once or more often."""

    name: str
    line: int
    end_line: int
    module: bool
    bases: list[Expr] = field(default_factory=list)
    extended: list[Expr] = field(default_factory=list)
    singleton: bool = False
    """Whether the file defines methods of the class itself."""


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    statement: "Callable[[Walk, Node], None]"
    """Lowers a definition, or anything that may hold one."""
    parameters: "Callable[[Walk, list[Node], Expr | None], None]"
    """Lowers the parameters of what was just opened."""
    nesting: list[str] = field(default_factory=list)
    """The classes around, by full name, outermost first."""
    singleton: bool = False
    """Whether methods that are defined here are the class's own."""
    method: str = ""
    """The method that is being walked."""
    locals: frozenset[str] = frozenset()
    opened: dict[str, Opened] = field(default_factory=dict)
    depth: int = 0

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def constant(self, path: str) -> Expr:
        """What a constant means here: looked up from the classes around, innermost first."""
        return Import(" ".join(reversed(self.nesting)), path)

    def this(self) -> Expr:
        """``self``: the receiver in a method, the class in its body."""
        if self.method or not self.nesting:
            return This()
        return Name(self.nesting[-1])

    def declare(self, name: str) -> None:
        """A local variable is in sight from here on."""
        self.locals |= {name}

    def full(self, name: str) -> str:
        """The full name of a class that is defined here."""
        if name.startswith("::"):
            return name[2:]
        return f"{self.nesting[-1]}::{name}" if self.nesting else name

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """The body of a class."""
        before = self.locals, self.singleton, self.method
        self.locals, self.singleton, self.method = frozenset(), False, ""
        self.nesting.append(name)
        yield
        self.nesting.pop()
        self.locals, self.singleton, self.method = before

    @contextmanager
    def inside(self, method: str) -> Iterator[None]:
        """The body of a method."""
        before = self.locals, self.method
        self.locals, self.method = frozenset(), method
        yield
        self.locals, self.method = before

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: variables that it declares end with it."""
        before = self.locals
        yield
        self.locals = before


def walk_of(
    source: bytes,
    root: Node,
    statement: Callable[[Walk, Node], None],
    parameters: Callable[[Walk, list[Node], Expr | None], None],
) -> Walk:
    """A walk at the start of a file."""
    build = Builder("ruby", root.end_point.row + 1)
    return Walk(source, build, statement, parameters)
