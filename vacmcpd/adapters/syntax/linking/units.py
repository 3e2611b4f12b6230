"""One file's facts with its scopes tied together."""

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from ..facts import (
    Attr,
    Bind,
    Call,
    Expr,
    FileFacts,
    Flag,
    Generic,
    Map,
    Name,
    Place,
    Scope,
    ScopeKind,
    Seq,
    Store,
    This,
    calls_in,
    calls_of,
    parts_of,
)

if TYPE_CHECKING:
    from ..languages.registry import Language

CLASSES = frozenset({ScopeKind.CLASS, ScopeKind.INTERFACE})
NAMED = CLASSES | {ScopeKind.MODULE, ScopeKind.NAMESPACE}
"""Scopes whose names are leaves of their own; of others the whole body is one."""
METHODS = frozenset({ScopeKind.METHOD, ScopeKind.CONSTRUCTOR, ScopeKind.PROPERTY})
CALLABLE = frozenset(
    {
        ScopeKind.FUNCTION,
        ScopeKind.METHOD,
        ScopeKind.CONSTRUCTOR,
        ScopeKind.LAMBDA,
        ScopeKind.PROPERTY,
    }
)


class Declaration:
    """A scope of a unit. ``key`` is its path and its dotted local name, unique in a version."""

    __slots__ = (
        "_binds",
        "_fields",
        "children",
        "elsewhere",
        "found",
        "key",
        "kind",
        "leaf",
        "leaves",
        "number",
        "params",
        "parent",
        "place",
        "qual",
        "scope",
        "unit",
    )

    def __init__(
        self, unit: "Unit", number: int, scope: Scope, place: Place, parent: "Declaration | None"
    ) -> None:
        self.unit = unit
        self.number = number
        self.scope = scope
        self.place = place
        self.parent = parent
        self.kind = scope.kind
        self.children: dict[str, Declaration] = {}
        self.params = {param.name: index for index, param in enumerate(scope.params)}
        self._binds: dict[str, list[Bind]] | None = None
        self._fields: dict[str, list[tuple[Declaration, Expr]]] | None = None
        self.elsewhere: dict[str, list[tuple[Declaration, Bind]]] = {}
        self.found: dict[str, tuple[Declaration | None, tuple[int, ...]]] = {}
        self.leaf = -1
        self.leaves: dict[str, int] = {}
        self.qual = self._place_in(parent)
        self.key = f"{unit.path}\0{self.qual}"

    def _place_in(self, parent: "Declaration | None") -> str:
        if parent is None:
            return ""
        name = self.scope.name
        parent.children[_unused(name, parent.children)] = self
        if self.scope.receiver is not None:
            name = f"{type_name(self.scope.receiver)}.{name}"
        return _unused(f"{parent.qual}.{name}" if parent.qual else name, self.unit.quals)

    @property
    def name(self) -> str:
        """Its bare name."""
        return self.scope.name

    @property
    def is_class(self) -> bool:
        return self.kind in CLASSES

    @property
    def is_callable(self) -> bool:
        return self.kind in CALLABLE

    @property
    def binds(self) -> dict[str, list[Bind]]:
        """The bindings of each name in this scope, by name, each list in source order."""
        if self._binds is None:
            binds: dict[str, list[Bind]] = {}
            for statement in self.scope.body:
                if type(statement) is Bind:
                    binds.setdefault(statement.name, []).append(statement)
            for name in (*self.scope.outer, *self.scope.outermost):
                binds.pop(name, None)
            self._binds = binds
        return self._binds

    def lend(self, name: str, target: "Declaration") -> None:
        """Give this scope's bindings of ``name`` to ``target``."""
        given = [
            (self, item) for item in self.scope.body if type(item) is Bind and item.name == name
        ]
        target.elsewhere.setdefault(name, []).extend(given)

    def binds_name(self, name: str) -> bool:
        """Whether this scope has ``name``, whatever its value."""
        return name in self.binds or name in self.params or name in self.elsewhere

    @property
    def fields(self) -> dict[str, list[tuple["Declaration", Expr]]]:
        """What methods of this class store in their receiver: (method, value) by name."""
        if self._fields is None:
            self._fields = {}
            for method in self.children.values():
                if method.kind in METHODS or method.kind is ScopeKind.INITIALIZER:
                    self._gather(method, method)
            for key, methods in self.unit.attached.items():
                if key.rpartition(".")[0] == self.name:
                    for method in methods:
                        self._gather(method, method)
        return self._fields

    def _gather(self, method: "Declaration", scope: "Declaration") -> None:
        assert self._fields is not None
        for statement in scope.scope.body:
            if type(statement) is Store and statement.attr and method.is_receiver(statement.of):
                name = statement.name
                if type(name) is str:
                    self._fields.setdefault(name, []).append((scope, statement.value))
        for inner in scope.children.values():
            if inner.kind not in CLASSES and not inner.has_this:
                self._gather(method, inner)

    def is_receiver(self, expr: Expr) -> bool:
        """Whether ``expr`` is, by its syntax, the receiver of this method."""
        if type(expr) is This:
            return not self.scope.flags & Flag.STATIC
        if type(expr) is Name and self.unit.rules.receiver_param:
            params = self.scope.params
            flags = self.scope.flags
            return bool(
                params
                and params[0].name == expr.id
                and not flags & (Flag.STATIC | Flag.CLASSMETHOD)
            )
        return False

    def sites(self) -> Iterator[tuple["Declaration", Call | Attr, int]]:
        """Every call site and property read: the scope whose code it is, what it is, its line.

        Defaults and bases are evaluated where the scope is defined, not in it.
        """
        lines = self.place.calls
        if not lines:
            return
        around = self.parent or self
        outside = sum(len(calls_in(expr)) for expr in self.heads())
        for number, (call, line) in enumerate(zip(calls_of(self.scope), lines, strict=True)):
            yield (around if number < outside else self), call, line

    def with_blocks(self) -> Iterator["Declaration"]:
        """It and the blocks in it, which are the same function's code."""
        yield self
        for child in self.children.values():
            if child.kind is ScopeKind.BLOCK:
                yield from child.with_blocks()

    def heads(self) -> Iterator[Expr]:
        """The expressions that are evaluated where this scope is defined."""
        yield from (param.default for param in self.scope.params if param.default is not None)
        yield from self.scope.bases

    @property
    def caller(self) -> "Declaration":
        """The symbol whose code this is: itself, or what it stands in."""
        found = self
        while not found.is_caller and found.parent is not None:
            found = found.parent
        return found

    @property
    def is_caller(self) -> bool:
        """Whether calls that stand directly in it are its own."""
        if self.is_class:
            return bool(self.unit.rules.class_body_caller)
        return self.is_callable or self.kind in (ScopeKind.MODULE, ScopeKind.INITIALIZER)

    def enclosing_class(self) -> "Declaration | None":
        """The class whose member this is or stands in; a class is its own."""
        found: Declaration | None = self
        while found is not None and not found.is_class:
            found = found.parent
        return found

    def method(self) -> "Declaration | None":
        """The method this is or stands in, whose receiver ``this`` is."""
        found: Declaration | None = self
        while found is not None and found.kind not in METHODS:
            if found.is_class or found.has_this:
                return None
            found = found.parent
        return found

    @property
    def has_this(self) -> bool:
        """Whether it is no method, but has a receiver of its own as one has."""
        return self.kind is ScopeKind.FUNCTION and bool(self.unit.rules.class_objects)


class Unit:
    """A file: its declarations by number and by local name."""

    __slots__ = (
        "_attached",
        "_containers",
        "_literals",
        "_sites",
        "_stores",
        "declarations",
        "facts",
        "language",
        "path",
        "quals",
    )

    def __init__(self, path: str, facts: FileFacts, language: "Language") -> None:
        self.path = path
        self.facts = facts
        self.language = language
        self.declarations: list[Declaration] = []
        self.quals: dict[str, Declaration] = {}
        self._sites: list[tuple[Declaration, Call | Attr, int]] | None = None
        self._literals: dict[int, int] | None = None
        self._containers: dict[int, list[Expr]] = {}
        self._stores: dict[str, list[tuple[Declaration, Store]]] | None = None
        self._attached: dict[str, list[Declaration]] | None = None
        for number, (scope, place) in enumerate(zip(facts.scopes, facts.places, strict=True)):
            parent = self.declarations[place.parent] if number else None
            made = Declaration(self, number, scope, place, parent)
            self.quals[made.qual] = made
            self.declarations.append(made)
        self._bind_outer()

    @property
    def rules(self):  # type: ignore[no-untyped-def]
        return self.language.rules

    @property
    def sites(self) -> list[tuple[Declaration, Call | Attr, int]]:
        """The sites of every scope in turn; a site's number counts them."""
        if self._sites is None:
            self._sites = [site for made in self.declarations for site in made.sites()]
        return self._sites

    def forget_sites(self) -> None:
        """Forget the list of sites until it is asked for again."""
        self._sites = None

    @property
    def module(self) -> Declaration:
        """The file's own scope."""
        return self.declarations[0]

    def _bind_outer(self) -> None:
        """Bindings of ``global`` and ``nonlocal`` names belong to the scope that they name."""
        for made in self.declarations:
            for name in made.scope.outermost:
                made.lend(name, self.module)
            for name in made.scope.outer:
                target = made.parent
                while target is not None and (target.is_class or not target.binds_name(name)):
                    target = target.parent
                made.lend(name, target or self.module)

    @property
    def stores(self) -> dict[str, list[tuple[Declaration, Store]]]:
        """The stores into attributes of anything but a method's receiver, by name."""
        if self._stores is None:
            self._stores = {}
            for made in self.declarations:
                method = made.method()
                for statement in made.scope.body:
                    if type(statement) is not Store:
                        continue
                    if statement.attr and method is not None and method.is_receiver(statement.of):
                        continue
                    name = str(statement.name) if statement.name is not None else "*"
                    self._stores.setdefault(name, []).append((made, statement))
        return self._stores

    @property
    def attached(self) -> dict[str, list[Declaration]]:
        """The methods declared outside of their type, by ``Type.method``."""
        if self._attached is None:
            self._attached = {}
            for made in self.declarations:
                if made.scope.receiver is not None:
                    name = f"{type_name(made.scope.receiver)}.{made.name}"
                    self._attached.setdefault(name, []).append(made)
        return self._attached

    def ordinal(self, made: Declaration, expr: Expr) -> int:
        """Which of the containers that ``made`` writes out ``expr`` is."""
        if self._literals is None:
            self._literals = {
                id(part): count
                for declaration in self.declarations
                for count, part in enumerate(self._containers_of(declaration))
            }
        return self._literals[id(expr)]

    def literal(self, made: Declaration, ordinal: int) -> Expr | None:
        """The container of that number."""
        found = self._containers_of(made)
        return found[ordinal] if ordinal < len(found) else None

    def _containers_of(self, made: Declaration) -> list[Expr]:
        found = self._containers.get(made.number)
        if found is None:
            parts = _parts(made.scope)
            found = [part for part in parts if type(part) is Seq or type(part) is Map]
            self._containers[made.number] = found
        return found


def _unused(name: str, taken: Container[str]) -> str:
    """``name``, or with ``#2``, ``#3`` … when there is one already."""
    count, found = 1, name
    while found in taken:
        count += 1
        found = f"{name}#{count}"
    return found


def type_name(expr: Expr) -> str:
    """The last name of a type expression; "" for one without."""
    while True:
        match expr:
            case Name(id=name) | Attr(name=name):
                return name
            case Generic(of=inner):
                expr = inner
            case _:
                return ""


def _parts(scope: Scope) -> Iterator[Expr]:
    """Every expression of ``scope`` that is evaluated, in a fixed order."""
    roots: list[Expr] = []
    roots.extend(param.default for param in scope.params if param.default is not None)
    roots.extend(scope.bases)
    for statement in scope.body:
        if type(statement) is Store:
            roots.append(statement.of)
        if statement.value is not None:
            roots.append(statement.value)
    stack = roots[::-1]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(parts_of(top)))
