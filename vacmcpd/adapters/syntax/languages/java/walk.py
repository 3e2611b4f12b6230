"""The state of one walk over a Java tree: local variables, and the classes around."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder
from ...facts import Expr, Name

DEEPEST = 150
"""Expressions and statements nested deeper are left out."""

CONSTRUCTOR = "<init>"
"""What constructors are called."""


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    members: "Callable[[Walk, Node], None]" = lambda walk, node: None
    """Lowers the body of a class."""
    declare_class: "Callable[[Walk, Node], None]" = lambda walk, node: None
    """Lowers a class that a block declares."""
    locals: dict[str, str] = field(default_factory=dict)
    """The variables in sight, by what the linker calls them."""
    versions: dict[str, int] = field(default_factory=dict)
    depth: int = 0
    anonymous: int = 0

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def name(self, node: Node) -> Expr:
        """What an identifier names."""
        written = self.text(node)
        return Name(self.locals.get(written, written))

    def fresh(self, name: str) -> str:
        """Declare a variable; the name by which the linker knows this one."""
        number = self.versions[name] = self.versions.get(name, 0) + 1
        # Never the bare name: a call of that name means a method.
        made = f"{name}@{number}"
        self.locals = {**self.locals, name: made}
        return made

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: variables that it declares end with it."""
        before = self.locals
        yield
        self.locals = before

    @contextmanager
    def body(self, *, inside: bool = False) -> Iterator[None]:
        """The body of a method; ``inside`` of one it sees the variables around."""
        before = self.locals, self.versions
        if not inside:
            self.locals, self.versions = {}, {}
        yield
        self.locals = before[0]
        if not inside:
            self.versions = before[1]


def walk_of(source: bytes, root: Node) -> Walk:
    """A walk at the start of a file."""
    build = Builder("java", root.end_point.row + 1)
    return Walk(source, build)


def line_of(node: Node) -> int:
    """The line that a node starts on, 1-based."""
    return node.start_point.row + 1


def lines_of(node: Node) -> tuple[int, int]:
    """The first and the last line of a node."""
    return node.start_point.row + 1, node.end_point.row + 1
