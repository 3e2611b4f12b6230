"""The state of one walk over a PHP tree: the namespace, what ``use`` brings, the class around."""

from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder
from ...facts import AnyOf, Expr, Import

DEEPEST = 200
"""What nests deeper is left out."""


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    namespace: str = ""
    classes: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    """What ``use`` brings, by the name it has here."""
    own: Expr | None = None
    """The class around, as an expression, and what it extends."""
    parent: Expr | None = None
    inside: bool = False
    """In a function, which does not see the variables of the file."""
    narrowed: dict[str, str] = field(default_factory=dict)
    depth: int = 0

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def variable(self, text: str) -> str:
        """What the linker calls a variable."""
        name = text if self.inside else f"{text}@"
        return self.narrowed.get(name, name)

    def class_name(self, text: str) -> Expr:
        """The class that a name stands for."""
        lower = text.lower()
        if lower in ("self", "static") and self.own is not None:
            return self.own
        if lower == "parent" and self.parent is not None:
            return self.parent
        return Import(self._full(text, self.classes), "class")

    def function_name(self, text: str) -> Expr:
        """The function that a name stands for: of the namespace, or else the global one."""
        if "\\" not in text and text not in self.functions and self.namespace:
            return Import(f"{self.namespace}\\{text}", "function", level=1)
        if "\\" not in text:
            return Import(self.functions.get(text, text), "function")
        return Import(self._full(text, self.classes), "function")

    def _full(self, text: str, known: dict[str, str]) -> str:
        if text.startswith("\\"):
            return text[1:]
        head, slash, rest = text.partition("\\")
        if slash and head.lower() == "namespace":
            return self.qualified(rest)
        if head in known:
            return f"{known[head]}{slash}{rest}"
        return self.qualified(text)

    def qualified(self, name: str) -> str:
        """A name of the namespace that is being walked."""
        return f"{self.namespace}\\{name}" if self.namespace else name

    def type_of(self, node: Node | None) -> Expr | None:
        """A type; None for one that no method can be called on."""
        if node is None or self.depth > DEEPEST:
            return None
        if node.type == "named_type":
            return self.class_name(self.text(node))
        if node.type not in ("optional_type", "union_type", "intersection_type", "type_list"):
            return None
        self.depth += 1
        parts = [self.type_of(child) for child in node.named_children]
        self.depth -= 1
        known = [part for part in parts if part is not None]
        return known[0] if len(known) == 1 else AnyOf(known) if known else None


def line_of(node: Node) -> int:
    """The line that a node starts in, from 1."""
    return node.start_point.row + 1


def walk_of(source: bytes, root: Node) -> Walk:
    """A walk at the start of a file."""
    build = Builder("php", root.end_point.row + 1)
    return Walk(source, build)
