"""The state of one walk over a JavaScript or TypeScript tree: scopes, names and ``this``."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder, Draft
from ...facts import AnyOf, Attr, Def, Expr, Flag, Import, Lit, Name, This

DEEPEST = 180
"""Nested expressions and statements below this are left out; Python's own stack ends later."""

_MENTIONS = frozenset(
    {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}
)
_OPEN = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "class_body",
    }
)

_SHORT, _WIDE, _LONG = 20_000, 120, 1_500_000
"""A file with more bytes and wider lines than the first two was written by a minifier, one with
more bytes than the last by a bundler."""

_REPEATABLE = frozenset({Name, Lit, This, Def, Import})

NONE = AnyOf([])
"""No value that anything can be done with."""

STRING = Lit("String")

EXPORT = "export:"
"""What an export is bound under in the module's scope: exports are names of their own."""

WHOLE = f"{EXPORT}="
"""The value of the module itself: ``module.exports = …``, ``export = …``."""

GLOBAL = "window:"
"""A name that a script gives to all, by a member of ``window``."""

STATIC = "static:"
"""What a static member is bound under; one of the instances may have the same name."""


@dataclass(slots=True)
class ThisSource:
    """What ``this`` is in a function that is no method of a class: a name in ``draft``.

    The name is made when ``this`` is first met, so that most objects cost nothing.
    """

    draft: Draft
    value: Expr | None = None
    name: str = ""

    def expr(self) -> Name:
        """A name for ``this`` that the functions inside of :attr:`draft` can see."""
        if not self.name:
            if self.value is not None:
                self.name = self.draft.temporary(self.value)
            else:
                self.draft.temporaries += 1
                self.name = f"${self.draft.temporaries}"
        return Name(self.name)


@dataclass(slots=True)
class Frame:
    """One function, or the module, and the names that its own code binds."""

    draft: Draft
    node: Node
    parent: "Frame | None" = None
    this: ThisSource | None = None
    arrow: bool = False
    around: ThisSource | None = None
    """The ``this`` of this function as the named arrow functions in it see it."""
    declared: dict[str, object] = field(default_factory=dict)
    """Each name and the block that declares it."""
    versions: dict[str, int] = field(default_factory=dict)
    captured: set[bytes] | None = None
    arguments: str = ""
    """The name of the parameter that takes what no other does, where the function asks for it."""
    scanned: bool = False
    bound: set[str] = field(default_factory=set)
    """The variables that were given a value in the block that declares them."""
    keys: dict[str, str] = field(default_factory=dict)
    """Constants that are bound to a string."""

    def sees(self, name: str) -> bool:
        """Whether this function or one around it binds ``name``."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.declared:
                return True
            frame = frame.parent
        return False

    def fresh(self, name: str) -> str:
        """A name for another binding of ``name`` in this function."""
        number = self.versions.get(name, 1) + 1
        self.versions[name] = number
        return f"{name}@{number}"


Handler = Callable[["Walk", Node, str], Expr]
StatementHandler = Callable[["Walk", Node], None]
CallHandler = Callable[["Walk", Node, Expr, Node], Expr | None]
TypeHandler = Callable[["Walk", Node], Expr | None]


@dataclass(slots=True)
class Tables:
    """What lowers each type of node."""

    expressions: dict[str, Handler] = field(default_factory=dict)
    statements: dict[str, StatementHandler] = field(default_factory=dict)
    types: dict[str, TypeHandler] = field(default_factory=dict)
    calls: dict[str, CallHandler] = field(default_factory=dict)
    """By the name that is called; None for a call like any other."""


@dataclass(slots=True)
class Walk:
    """A walk over one file. ``block`` is the innermost block, an identity only."""

    source: bytes
    build: Builder
    tables: Tables
    frame: Frame
    renames: dict[str, str] = field(default_factory=dict)
    block: object = None
    depth: int = 0
    direct: bool = False
    """The next assignment is a statement of its own, so it happens whenever its block runs."""
    versioned: bool = True
    minified: bool = False
    modular: bool = False
    """Whether the file is a module: it imports or exports."""
    lexical: bool = False
    """The next ``function`` runs with the ``this`` around it (``f.bind(this)`` and the like)."""
    last: Draft | None = None
    """The function expression that was lowered last."""
    fields: list[tuple[str, Expr | None]] = field(default_factory=list)
    """Parameters that are fields too, of the constructor that is being walked."""
    exports: list[tuple[str, str]] = field(default_factory=list)
    """(exported name, local name) of export clauses, bound when the module ends."""
    constructors: dict[tuple[int, str], Draft] = field(default_factory=dict)
    """Functions by the identity of the frame that declares them and their name."""

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def name(self, node: Node) -> str:
        """What the linker is to call the variable that the identifier ``node`` names."""
        written = self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return self.renames.get(written, written) if self.renames else written

    def expr(self, node: Node | None, hint: str = "") -> Expr:
        """The value of an expression; ``hint`` names the functions in it that have no name."""
        if node is None:
            return NONE
        handler = self.tables.expressions.get(node.type)
        if handler is None:
            return self.parts(node)
        if self.depth > DEEPEST:
            return NONE
        self.depth += 1
        made = handler(self, node, hint)
        self.depth -= 1
        return made

    def parts(self, node: Node) -> Expr:
        """An expression of which only the calls inside matter."""
        if self.depth <= DEEPEST and node.named_child_count:
            self.depth += 1
            for child in node.named_children:
                self.run(child)
            self.depth -= 1
        return NONE

    def run(self, node: Node) -> None:
        """A statement, or an expression whose value nobody takes."""
        handler = self.tables.statements.get(node.type)
        if handler is None:
            made = self.expr(node)
            if made is not NONE and type(made) is not Lit and type(made) is not Name:
                self.build.here.do(made)
        elif self.depth <= DEEPEST:
            self.depth += 1
            handler(self, node)
            self.depth -= 1

    def run_all(self, nodes: list[Node]) -> None:
        """Statements that are not known to be anything more."""
        for node in nodes:
            self.run(node)

    def type_of(self, node: Node | None) -> Expr | None:
        """A type, None for what says nothing about its values."""
        if node is None or self.depth > DEEPEST:
            return None
        handler = self.tables.types.get(node.type)
        if handler is None:
            return None
        self.depth += 1
        made = handler(self, node)
        self.depth -= 1
        return made

    def this(self) -> Expr:
        """What ``this`` is in the function that is being walked."""
        source = self.frame.this
        return This() if source is None else source.expr()

    def keep(self, of: Expr, name: str | int | None, value: Expr, *, attr: bool = True) -> None:
        """``of.name = value``, unless nothing can be done with the value.

        Of code that a minifier wrote only prototypes count: its names say nothing, everything
        may be anything, and nobody asks for them.
        """
        here = self.build.here
        known = not self.minified or (type(of) is Attr and of.name == "prototype")
        if value is not NONE and known:
            here.store(of, name, value, attr=attr)
        else:
            here.do(of)
            here.do(value)

    def read(self, of: Expr, name: str, line: int) -> Attr:
        """``of.name`` where ``name`` may be a getter."""
        return Attr(of, name) if self.minified else self.build.read(of, name, line=line)

    def simple(self, value: Expr) -> Expr:
        """``value`` in a form that may stand in two places."""
        inner, reads = value, False
        while type(inner) is Attr:
            reads = reads or inner.read
            inner = inner.of
        if type(inner) in _REPEATABLE or inner is NONE:
            if reads:
                self.build.here.do(value)
                return unread(value)
            return value
        return Name(self.build.here.temporary(value))

    def key_of(self, name: str) -> str | None:
        """The string that the constant ``name`` holds."""
        frame: Frame | None = self.frame
        while frame is not None:
            if name in frame.declared or name in frame.keys:
                return frame.keys.get(name)
            frame = frame.parent
        return None

    def is_captured(self, name: str) -> bool:
        """Whether a function inside of this one mentions ``name``."""
        frame = self.frame
        if frame.captured is None:
            frame.captured = set(self._inside(frame.node))
        return name.encode() in frame.captured

    def _inside(self, node: Node) -> Iterator[bytes]:
        stack = [(child, False) for child in node.children]
        while stack:
            top, inside = stack.pop()
            if inside and top.type in _MENTIONS:
                yield self.source[top.start_byte : top.end_byte]
            inside = inside or top.type in _OPEN
            stack.extend((child, inside) for child in top.named_children)

    def assigned_once(self, name: str) -> bool:
        """Whether the file has one ``name =`` and no more."""
        word = re.escape(name.encode())
        pattern = rb"\b" + word + rb"\s*(?:[-+*/%|&^?<>]*=(?![=>])|\+\+|--)"
        return sum(1 for _ in re.finditer(pattern, self.source)) < 2

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Code that may run never or often: what it binds adds to what was bound before."""
        block, renames = self.block, self.renames
        self.block = object()
        yield
        self.block, self.renames = block, renames

    @contextmanager
    def function(
        self, draft: Draft, node: Node, this: ThisSource | None, *, arrow: bool = False
    ) -> Iterator[Frame]:
        """Code of a function of its own."""
        frame, block, renames = self.frame, self.block, self.renames
        self.frame = self.block = Frame(draft, node, frame, this, arrow)
        yield self.frame
        self.frame, self.block, self.renames = frame, block, renames

    def declare(self, name: str, *, everywhere: bool = False) -> None:
        """``name`` is bound by the innermost block, or with ``everywhere`` by the function."""
        frame = self.frame
        if everywhere or self.block is frame:
            frame.declared.setdefault(name, frame)
            if name in self.renames and self.block is frame:
                self.renames = {old: new for old, new in self.renames.items() if old != name}
        elif frame.sees(name):
            other = frame.fresh(name)
            self.renames = {**self.renames, name: other}
            frame.declared[other] = self.block
        else:
            frame.declared[name] = self.block

    def export(self, name: str, value: Expr) -> None:
        """The module exports ``value``, as the scope that is being walked sees it."""
        here = self.build.here
        written = EXPORT + name
        self.modular = True
        if here is not self.build.module and written not in here.outermost:
            here.outermost.append(written)
        here.bind(written, value, flags=Flag.EXPORTED)

    def assign(self, name: str, value: Expr, declared: Expr | None = None) -> None:
        """``name``, which any function around may have declared, is bound to ``value``."""
        frame, here = self.frame, self.build.here
        if name not in frame.declared and frame.parent is not None:
            target = here.outer if frame.sees(name) else here.outermost
            if name not in target:
                target.append(name)
        here.bind(name, value, declared)


def unread(value: Expr) -> Expr:
    """``value`` without the sites of the properties that it reads."""
    if type(value) is Attr:
        return Attr(unread(value.of), value.name)
    return value


def is_plain(value: Expr | None) -> bool:
    """Whether nothing in ``value`` can be called."""
    return value is NONE or type(value) is Lit


def first(node: Node) -> Node | None:
    """The first part of ``node`` that is no punctuation."""
    found = node.named_child(0) if node.named_child_count else None
    if found is not None and found.type == "comment":
        return next((child for child in node.named_children if child.type != "comment"), None)
    return found


def line_of(node: Node) -> int:
    """The 1-based line that ``node`` starts on."""
    return node.start_point[0] + 1


def walk_of(source: bytes, root: Node, language: str, tables: Tables) -> Walk:
    """A walk that stands at the start of ``root``."""
    build = Builder(language, root.end_point[0] + 1)
    frame = Frame(build.module, root)
    walk = Walk(source, build, tables, frame)
    walk.block = frame
    lines = root.end_point[0] + 1
    wide = len(source) > _SHORT and len(source) > lines * _WIDE
    walk.minified = wide or len(source) > _LONG
    return walk
