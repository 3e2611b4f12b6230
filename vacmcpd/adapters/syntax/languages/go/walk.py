"""What the walk over a Go file carries along: the builder, and which local a name means."""

from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder
from ...facts import Expr, Lit, Name, This

DEEPEST = 150
"""Expressions and statements that nest deeper are left out."""

NOTHING = Lit("value")
"""A value that nothing can be called on, as far as calls go."""

Locals = dict[str, Expr]


@dataclass(slots=True)
class Walk:
    """``blocks`` are the open lexical blocks of the function that is walked, inner ones last.

    Every local of a block is renamed ``x@1``, ``x@2`` …, so a function needs no scopes for its
    blocks. ``counts`` numbers them within one top-level function.
    """

    source: bytes
    root: Node
    build: Builder = field(init=False)
    blocks: list[Locals] = field(default_factory=list)
    hidden: list[set[str]] = field(default_factory=list)
    """The field names of the struct types that are open, which hide types of the same name."""
    imports: Locals = field(default_factory=dict)
    """The imported packages by the names that they have in the file."""
    counts: int = 0
    anonymous: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.build = Builder("go", self.root.end_point[0] + 1)

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def find(self, name: str) -> Expr:
        """What a bare name means here."""
        for block in reversed(self.blocks):
            found = block.get(name)
            if found is not None:
                return found
        return Name(name)

    def is_local(self, name: str) -> bool:
        """Whether a name is a local one here."""
        return any(name in block for block in self.blocks)

    def declare(self, name: str) -> str:
        """A new local of the innermost block; what it is called in the facts."""
        self.counts += 1
        given = f"{name}@{self.counts}"
        self.blocks[-1][name] = Name(given)
        return given

    def declare_type(self, name: str) -> None:
        """A type or function of that name in the innermost block, under its own name."""
        if self.blocks:
            self.blocks[-1][name] = Name(name)

    def receive(self, name: str) -> None:
        """The receiver of the method that is walked."""
        self.blocks[-1][name] = This()


def named(node: Node) -> list[Node]:
    """The named children of a node, without comments."""
    return [child for child in node.named_children if child.type != "comment"]


def line_of(node: Node) -> int:
    """The line of a node, counted from one."""
    return node.start_point[0] + 1


def end_of(node: Node) -> int:
    """The last line of a node, counted from one."""
    return node.end_point[0] + 1
