"""How a language module writes facts while it walks a syntax tree."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from .facts import (
    Attr,
    Bind,
    Call,
    Def,
    Do,
    Expr,
    FileFacts,
    Param,
    Place,
    Return,
    Scope,
    ScopeKind,
    Statement,
    Store,
    TypeParam,
    Yield,
    calls_in,
    calls_of,
)


@dataclass(slots=True)
class Draft:
    """A scope that is still being written."""

    kind: ScopeKind
    name: str
    parent: int
    line: int
    end_line: int
    flags: int = 0
    params: list[Param] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)
    returns: Expr | None = None
    bases: list[Expr] = field(default_factory=list)
    decorators: list[Expr] = field(default_factory=list)
    type_params: list[TypeParam] = field(default_factory=list)
    outer: list[str] = field(default_factory=list)
    outermost: list[str] = field(default_factory=list)
    receiver: Expr | None = None
    signature: str = ""
    children: dict[str, int] = field(default_factory=dict)
    lambdas: int = 0
    temporaries: int = 0

    def bind(
        self, name: str, value: Expr | None = None, declared: Expr | None = None, flags: int = 0
    ) -> None:
        """``name`` is bound here."""
        self.body.append(Bind(name, value, declared, flags))

    def store(self, of: Expr, name: str | int | None, value: Expr, *, attr: bool = True) -> None:
        """``of.name = value``, or ``of[name] = value``."""
        self.body.append(Store(of, name, value, attr))

    def give(self, value: Expr) -> None:
        """``return value``."""
        self.body.append(Return(value))

    def emit(self, value: Expr) -> None:
        """``yield value``."""
        self.body.append(Yield(value))

    def do(self, value: Expr) -> None:
        """An expression statement; dropped when there is no call in it."""
        self.body.append(Do(value))

    def temporary(self, value: Expr) -> str:
        """A name, new in this scope and in no language's source, that is bound to ``value``."""
        self.temporaries += 1
        name = f"${self.temporaries}"
        self.bind(name, value)
        return name

    def anonymous(self) -> str:
        """``<lambda1>``, ``<lambda2>`` … in source order."""
        self.lambdas += 1
        return f"<lambda{self.lambdas}>"


@dataclass(slots=True)
class Builder:
    """The facts of one file, scope by scope; :attr:`here` is the one being written."""

    language: str
    lines: int
    namespace: str = ""
    _drafts: list[Draft] = field(default_factory=list)
    _open: list[int] = field(default_factory=list)
    _lines: dict[int, int] = field(default_factory=dict)
    _kept: list[Call | Attr] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._drafts.append(Draft(ScopeKind.MODULE, "", -1, 1, max(self.lines, 1)))
        self._open.append(0)

    @property
    def here(self) -> Draft:
        """The innermost open scope."""
        return self._drafts[self._open[-1]]

    @property
    def module(self) -> Draft:
        """The file's own scope."""
        return self._drafts[0]

    def enclosing(self, kinds: Sequence[ScopeKind]) -> Draft | None:
        """The innermost open scope of one of ``kinds``."""
        drafts = (self._drafts[number] for number in reversed(self._open))
        return next((draft for draft in drafts if draft.kind in kinds), None)

    @contextmanager
    def scope(
        self, kind: ScopeKind, name: str, line: int, end_line: int
    ) -> Iterator[tuple[Draft, Def]]:
        """Open a scope in the current one; lines are 1-based. The Def refers to it from there."""
        parent = self._open[-1]
        outside = self._drafts[parent]
        made = Draft(kind, name, parent, line, end_line)
        count = outside.children[name] = outside.children.get(name, 0) + 1
        reference = Def(name if count == 1 else f"{name}#{count}")
        self._open.append(len(self._drafts))
        self._drafts.append(made)
        yield made, reference
        self._open.pop()

    def call(
        self,
        fn: Expr,
        args: Sequence[Expr] = (),
        *,
        line: int,
        names: Sequence[str] = (),
        new: bool = False,
    ) -> Call:
        """A call site at ``line`` (1-based): where the name that is called stands.

        It must end up in the scope that it stands in, once.
        """
        made = Call(fn, list(args), list(names), new)
        self._lines[id(made)] = line
        self._kept.append(made)
        return made

    def read(self, of: Expr, name: str, *, line: int) -> Attr:
        """``of.name`` where ``name`` may be a property, at ``line`` (1-based), where it stands.

        Like a call it must end up in the scope that it stands in, once.
        """
        made = Attr(of, name, read=True)
        self._lines[id(made)] = line
        self._kept.append(made)
        return made

    def finish(self) -> FileFacts:
        """The facts; nothing may be written afterwards."""
        scopes, places = [], []
        for draft in self._drafts:
            body = [item for item in draft.body if type(item) is not Do or _has_call(item)]
            scope = Scope(
                draft.kind,
                draft.name,
                draft.flags,
                draft.params,
                body,
                draft.returns,
                draft.bases,
                draft.decorators,
                draft.type_params,
                draft.outer,
                draft.outermost,
                draft.receiver,
                draft.signature,
            )
            calls = [self._lines[id(call)] for call in calls_of(scope)]
            scopes.append(scope)
            places.append(Place(draft.parent, draft.line, draft.end_line, calls))
        return FileFacts(self.language, scopes, places, self.namespace)


def _has_call(item: Do) -> bool:
    return bool(calls_in(item.value))
