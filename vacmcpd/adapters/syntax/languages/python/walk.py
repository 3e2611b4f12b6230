"""The state of one walk over a Python tree: scopes, and which binding a name means here."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from ...building import Builder, Draft
from ...facts import AnyOf, Attr, Call, Def, Expr, Lit, Name, ScopeKind
from ...linking.sites import IMPLICIT

DEEPEST = 160
"""Nested expressions and statements below this are left out; C code recurses over them too."""

WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_OPENS = re.compile(rb"\b(?:def|lambda|class)\b")
_DEFINITIONS = frozenset({"function_definition", "class_definition"})
_COMPOUND = frozenset(
    {
        "module",
        "block",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "match_statement",
        "case_clause",
    }
)

SETS = "__set__ "
"""Before the name of an attribute: that of the call which setting it may be."""

_MOST = 8
"""Versions of a variable that are kept apart until it is read."""

UNKNOWN = AnyOf([])
"""A value that nothing is known of."""

Version = str | tuple[str, ...]
"""What the linker is to call a variable here; several where branches met and none asked yet."""


@dataclass(slots=True)
class Frame:
    """One function, class or module, and what its names mean at this point of it."""

    draft: Draft
    kind: ScopeKind
    node: Node
    free: set[str] = field(default_factory=set)
    """Names that ``global`` and ``nonlocal`` give away."""
    bound: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    """Names that ``def`` or ``class`` bound."""
    versions: dict[str, int] = field(default_factory=dict)
    narrowed: dict[str, Version] = field(default_factory=dict)
    """Versions that ``isinstance`` made, and what they were made from."""
    frozen: int = 0
    """How many loops and the like are open: what they bind adds to what was bound before."""
    again: frozenset[str] = frozenset()
    """In a module, the names that are bound more than once: each time to a version of its own."""
    captured: set[bytes] | None = None
    type_vars: set[str] = field(default_factory=set)
    overloads: dict[str, list[Expr]] = field(default_factory=dict)

    @property
    def is_class(self) -> bool:
        return self.kind is ScopeKind.CLASS or self.kind is ScopeKind.INTERFACE

    def fresh(self, name: str) -> str:
        """A name for another binding of ``name``."""
        number = self.versions.get(name, 1) + 1
        self.versions[name] = number
        return f"{name}@{number}"


Handler = Callable[["Walk", Node], Expr]
StatementHandler = Callable[["Walk", Node], bool]
"""Says whether what comes after the statement can't be reached."""


@dataclass(slots=True)
class Tables:
    """What lowers each type of node; the tables by number fill as trees are walked."""

    expressions: dict[str, Handler]
    statements: dict[str, StatementHandler]
    by_kind: dict[int, Handler | None] = field(default_factory=dict)
    statement_by_kind: dict[int, StatementHandler | None] = field(default_factory=dict)


@dataclass(slots=True)
class Walk:
    """A walk over one file."""

    source: bytes
    build: Builder
    tables: Tables
    frame: Frame
    env: dict[str, Version] = field(default_factory=dict)
    comprehended: dict[str, Version] = field(default_factory=dict)
    """The variables of the comprehensions around, which lambdas in them see."""
    depth: int = 0
    type_vars: dict[str, Expr | None] = field(default_factory=dict)
    """The type variables of the module, with their bounds."""
    modules: set[str] = field(default_factory=set)
    """Names that ``import`` binds to modules."""
    constants: dict[str, str | int] = field(default_factory=dict)
    once: frozenset[str] = frozenset()
    """The names that the module binds once."""
    filling: dict[str, tuple[Frame, int]] = field(default_factory=dict)
    """Names bound to containers that nothing read yet, and the number of the statement."""
    types: dict[bytes, Expr | None] = field(default_factory=dict)
    """Annotations that were read already, by their text."""

    def text(self, node: Node) -> str:
        """The source of ``node``."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def expr(self, node: Node) -> Expr:
        """The value of an expression."""
        kind = node.kind_id
        handler = self.tables.by_kind.get(kind)
        if handler is None:
            if kind not in self.tables.by_kind:
                self.tables.by_kind[kind] = self.tables.expressions.get(node.type)
                return self.expr(node)
            return self.parts(node)
        if self.depth > DEEPEST:
            return UNKNOWN
        self.depth += 1
        made = handler(self, node)
        self.depth -= 1
        return made

    def parts(self, node: Node) -> Expr:
        """An expression of which only the calls inside matter."""
        if self.depth <= DEEPEST and node.child_count:
            self.depth += 1
            for child in node.named_children:
                self.run(child)
            self.depth -= 1
        return UNKNOWN

    def run(self, node: Node) -> bool:
        """A statement; whether what comes after it can't be reached."""
        kind = node.kind_id
        handler = self.tables.statement_by_kind.get(kind)
        if handler is None:
            if kind not in self.tables.statement_by_kind:
                self.tables.statement_by_kind[kind] = self.tables.statements.get(node.type)
                return self.run(node)
            self.drop(self.expr(node))
            return False
        if self.depth > DEEPEST:
            return False
        self.depth += 1
        ended = handler(self, node)
        self.depth -= 1
        return ended

    def run_all(self, nodes: Iterable[Node]) -> bool:
        """Statements one after the other."""
        ended = False
        for node in nodes:
            ended = self.run(node) or ended
        return ended

    def drop(self, value: Expr) -> None:
        """Keep the calls of a value that nobody takes."""
        kind = type(value)
        if kind is not Lit and kind is not Name and kind is not Def and value is not UNKNOWN:
            self.build.here.do(value)

    def implicit(self, of: Expr, name: str, line: int, *, value: bool = False) -> Call:
        """A call of the method ``name`` that the syntax makes without naming it.

        With ``value`` it stands for what the syntax gives, else for what the method returns.
        """
        return self.build.call(Attr(of, name), (), line=line, names=[IMPLICIT], new=value)

    def simple(self, value: Expr) -> Expr:
        """``value`` in a form that may stand in two places."""
        inner = value
        while type(inner) is Attr and not inner.read:
            inner = inner.of
        if type(inner) in (Name, Lit, Def):
            return value
        return Name(self.build.here.temporary(value))

    # Names

    def name(self, written: str) -> Expr:
        """What a variable is here."""
        if self.filling:
            self.filling.pop(written, None)
        version = self.env.get(written, written)
        if type(version) is tuple:
            version = self._meet(written, version)
        return Name(version)  # type: ignore[arg-type]

    def _meet(self, name: str, versions: tuple[str, ...]) -> str:
        """One name for what several branches bound."""
        frame = self.frame
        made = frame.fresh(name)
        frame.draft.bind(made, AnyOf([Name(version) for version in versions]))
        self.env[name] = made
        return made

    def bind(
        self, name: str, value: Expr | None, declared: Expr | None = None, *, defines: bool = False
    ) -> None:
        """``name`` is bound in the scope that is being walked, or where it says."""
        frame = self.frame
        self.filling.pop(name, None)
        frame.draft.bind(self._target(name, value, defines=defines), value, declared)
        if defines:
            frame.defined.add(name)

    def _target(self, name: str, value: Expr | None, *, defines: bool) -> str:
        frame = self.frame
        if frame.is_class or name in frame.free:
            return name
        again = name in frame.bound
        frame.bound.add(name)
        current = self.env.get(name, name)
        if type(current) is str and current in frame.narrowed:
            current = frame.narrowed[current]
        in_module = frame.kind is ScopeKind.MODULE
        splits = name in frame.again if in_module else again
        if not splits or value is None or self.is_captured(name):
            made = name
        elif frame.frozen:
            made = self._meet(name, current) if type(current) is tuple else str(current)
            if made == name and in_module:
                made = frame.fresh(name)
        elif name in frame.defined and not defines:
            if current != name:
                frame.draft.bind(name, self.name(name))
            made = name
        else:
            made = frame.fresh(name)
        self.env[name] = made
        return made

    def bind_apart(self, name: str, value: Expr | None) -> str | None:
        """Bind ``name`` to a version of its own, and give that; None where it can't have one."""
        frame = self.frame
        splits = name in frame.again if frame.kind is ScopeKind.MODULE else name in frame.bound
        if frame.is_class or name in frame.free or not splits or self.is_captured(name):
            self.bind(name, value)
            return None
        made = frame.fresh(name)
        frame.draft.bind(made, value)
        self.env[name] = made
        return made

    def narrow(self, name: str, to: Expr) -> None:
        """From here on the variable ``name`` is only ``to``, as long as it is not bound again."""
        current = self.env.get(name, name)
        if type(current) is str and current in self.frame.narrowed:
            current = self.frame.narrowed[current]
        made = self.frame.fresh(name)
        self.frame.draft.bind(made, to)
        self.frame.narrowed[made] = current
        self.env[name] = made

    def widen(self, env: dict[str, Version]) -> dict[str, Version]:
        """``env`` without what was narrowed."""
        narrowed = self.frame.narrowed
        if not narrowed:
            return env
        return {
            name: narrowed.get(version, version) if type(version) is str else version
            for name, version in env.items()
        }

    def join(self, ends: list[dict[str, Version]]) -> None:
        """After branches: a name may be what any that ends here bound."""
        if len(ends) < 2:
            self.env = ends[0] if ends else self.env
            return
        ends = [self.widen(env) for env in ends]
        joined = dict(ends[0])
        for env in ends[1:]:
            for name, version in env.items():
                other = joined.get(name)
                if other is None:
                    joined[name] = version
                elif other != version:
                    joined[name] = _both(other, version)
        self.env = joined
        for name, version in joined.items():
            if type(version) is tuple and len(version) > _MOST:
                self._meet(name, version)

    def is_captured(self, name: str) -> bool:
        """Whether a function or class inside of this one mentions ``name``."""
        frame = self.frame
        if frame.captured is None:
            frame.captured = set()
            for start, end in self._inner(frame.node):
                frame.captured.update(WORD.findall(self.source, start, end))
        return name.encode("utf-8", "replace") in frame.captured

    def _inner(self, node: Node) -> Iterator[tuple[int, int]]:
        """The bytes that belong to inner scopes of the body ``node``."""
        if _OPENS.search(self.source, node.start_byte, node.end_byte) is None:
            return
        stack = [node]
        while stack:
            for child in stack.pop().named_children:
                start, end = child.start_byte, child.end_byte
                if child.type in _COMPOUND or child.type == "decorated_definition":
                    stack.append(child)
                elif child.type in _DEFINITIONS or b"lambda" in self.source[start:end]:
                    yield start, end

    @contextmanager
    def branch(self, env: dict[str, Version]) -> Iterator[None]:
        """Code that may not run, starting from ``env``."""
        self.env = dict(env)
        self.filling.clear()
        yield
        self.filling.clear()

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Code that may run never, often or in part."""
        self.frame.frozen += 1
        self.filling.clear()
        yield
        self.frame.frozen -= 1
        self.env = self.widen(self.env)

    @contextmanager
    def inside(self, draft: Draft, kind: ScopeKind, node: Node) -> Iterator[Frame]:
        """Code of a scope of its own; ``node`` is its body."""
        frame, env, comprehended = self.frame, self.env, self.comprehended
        self.frame = Frame(draft, kind, node)
        inner = kind is ScopeKind.LAMBDA
        self.env = dict(comprehended) if inner else {}
        self.comprehended = dict(comprehended) if inner else {}
        yield self.frame
        self.frame, self.env, self.comprehended = frame, env, comprehended


def _both(one: Version, other: Version) -> Version:
    versions = (one,) if type(one) is str else one
    more = (other,) if type(other) is str else other
    return tuple(dict.fromkeys((*versions, *more)))


def bound_often(walk: Walk, root: Node) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a module binds more than once, and those it binds once, by assignment."""
    counts: dict[bytes, int] = {}
    stack = [root]
    while stack:
        for child in stack.pop().named_children:
            kind = child.type
            if kind in _COMPOUND:
                stack.append(child)
            elif kind == "expression_statement":
                _count(walk.source, child, counts)
            elif kind == "function_definition":
                name = child.child_by_field_name("name")
                if name is not None:
                    text = walk.source[name.start_byte : name.end_byte]
                    counts[text] = counts.get(text, 0) + 1
    often = frozenset(_decoded(word) for word, count in counts.items() if count > 1)
    once = frozenset(_decoded(word) for word, count in counts.items() if count == 1)
    return often, once


def _count(source: bytes, statement: Node, counts: dict[bytes, int]) -> None:
    inner: Node | None = statement.named_child(0)
    while inner is not None and inner.type == "assignment":
        left = inner.child_by_field_name("left")
        if left is not None and left.type not in ("attribute", "subscript"):
            for word in WORD.findall(source, left.start_byte, left.end_byte):
                counts[word] = counts.get(word, 0) + 1
        inner = inner.child_by_field_name("right")


def _decoded(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def line_of(node: Node) -> int:
    """The 1-based line that ``node`` starts on."""
    return node.start_point[0] + 1
