"""The state of one walk over a C tree: the file being built, and the variables in sight."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder

DEEPEST = 300
"""What nests deeper is left out."""


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    locals: dict[str, str] | None = None
    """The variables in sight by what the linker calls them; None outside of functions."""
    versions: dict[str, int] = field(default_factory=dict)
    blocks: int = 0
    """How many blocks of the function are open; what those inside declare is renamed."""
    marks: set[str] = field(default_factory=set)
    depth: int = 0

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def fresh(self, name: str) -> str:
        """Declare a variable; the name by which the linker knows this one."""
        if self.locals is None:
            return name
        number = self.versions[name] = self.versions.get(name, 0) + 1
        made = name if number == 1 and self.blocks < 2 else f"{name}@{number}"
        self.locals = {**self.locals, name: made}
        return made

    def is_local(self, name: str) -> bool:
        """Whether a variable of the function has that name here."""
        return self.locals is not None and name in self.locals

    def mark(self, name: str) -> None:
        """Let other files find this one by ``name``, which no source can say."""
        if name not in self.marks:
            self.marks.add(name)
            self.build.module.bind(name)

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block: variables that it declares end with it."""
        before = self.locals
        self.blocks += 1
        yield
        self.blocks -= 1
        self.locals = before

    @contextmanager
    def function(self) -> Iterator[None]:
        """The body of a function."""
        before = self.locals, self.versions, self.blocks
        self.locals, self.versions, self.blocks = {}, {}, 0
        yield
        self.locals, self.versions, self.blocks = before


def line_of(node: Node) -> int:
    """The line that a node starts in, from 1."""
    return node.start_point.row + 1


def walk_of(source: bytes, root: Node) -> Walk:
    """A walk at the start of a file."""
    build = Builder("c", root.end_point.row + 1)
    return Walk(source, build)
