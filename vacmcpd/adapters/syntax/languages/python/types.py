"""Annotations, read from their text: the same reader for quoted ones."""

import re
from collections.abc import Callable

from ...facts import AnyOf, Attr, Await, Expr, Function, Generic, Lit, Name, Seq
from .walk import Walk

_TOKEN = re.compile(
    r"""\s*(?:#[^\n]*)?(?:(\w+)|(\.\.\.)|("[^"\n]*"|'[^'\n]*')|([\[\](),.|*])|(\S))"""
)
_LONGEST = 2000
_DEEPEST = 12

_SEQUENCES = {
    "List": "list",
    "list": "list",
    "Sequence": "list",
    "MutableSequence": "list",
    "Collection": "list",
    "Container": "list",
    "Iterable": "list",
    "AsyncIterable": "list",
    "Reversible": "list",
    "Set": "set",
    "set": "set",
    "MutableSet": "set",
    "AbstractSet": "set",
    "FrozenSet": "frozenset",
    "frozenset": "frozenset",
    "Deque": "deque",
    "deque": "deque",
    "Iterator": "generator",
    "AsyncIterator": "generator",
    "Generator": "generator",
    "AsyncGenerator": "generator",
    "ContextManager": "generator",
    "AbstractContextManager": "generator",
    "AsyncContextManager": "generator",
    "AbstractAsyncContextManager": "generator",
}
_CONCRETE = frozenset({"tuple", "list", "set", "frozenset", "deque"})
_MAPS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"}
)
_INNER = frozenset({"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly"})
_INNER |= {"Optional", "TypeGuard", "InitVar", "Unpack"}
_FUTURES = frozenset({"Awaitable", "Future", "Task"})
_NOTHING = frozenset({"None", "Any", "Literal", "NoReturn", "Never", "LiteralString", "object"})
_CLASSES = frozenset({"Type", "type"})


def annotation(w: Walk, start: int, end: int, owner: str = "") -> Expr | None:
    """The type that the source from ``start`` to ``end`` names; None for one that says nothing.

    ``owner`` is the class around, what ``Self`` means.
    """
    text = w.source[start:end]
    if text in w.types:
        return w.types[text]
    made = read(text.decode("utf-8", "replace"), owner)
    if b"Self" not in text:
        w.types[text] = made
    return made


def read(text: str, owner: str = "", depth: int = 0) -> Expr | None:
    """The type that ``text`` names."""
    if len(text) > _LONGEST or depth > _DEEPEST:
        return None
    return _Reader(text, owner, depth).union()


def base(w: Walk, start: int, end: int) -> Expr | None:
    """The class that a base names, generic or not."""
    made = read(w.source[start:end].decode("utf-8", "replace"))
    if type(made) is Seq:
        return Generic(Lit(made.kind), made.items) if made.kind in _CONCRETE else None
    return made


class _Reader:
    """Reads one annotation, token by token."""

    __slots__ = ("at", "depth", "owner", "tokens")

    def __init__(self, text: str, owner: str, depth: int) -> None:
        self.tokens = [match[match.lastindex or 0] for match in _TOKEN.finditer(text)]
        self.at = 0
        self.owner = owner
        self.depth = depth

    def peek(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """The next token, read."""
        token = self.peek()
        self.at += 1
        return token

    def union(self) -> Expr | None:
        """``A | B``."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.at = len(self.tokens)
            return None
        found = [self.item()]
        while self.peek() == "|":
            self.take()
            found.append(self.item())
        self.depth -= 1
        return _any(found)

    def item(self) -> Expr | None:
        """One name, with its arguments."""
        word = self.take()
        if word == "*":
            return self.item()
        if word == "[":
            return Seq("tuple", _known(self.arguments("]")))
        if word == "(":
            found = self.arguments(")")
            return found[0] if found else None
        if word[:1] in ("'", '"'):
            return read(word[1:-1], self.owner, self.depth)
        if not word or not (word[0].isalpha() or word[0] == "_" or word[0] > "\x7f"):
            return None
        path = [word]
        while self.peek() == ".":
            self.take()
            path.append(self.take())
        if self.peek() != "[":
            return self.plain(path)
        self.take()
        return self.applied(path, self.arguments("]"))

    def arguments(self, close: str) -> list[Expr | None]:
        """Everything up to ``close``."""
        found: list[Expr | None] = []
        while self.peek() and self.peek() != close:
            if self.peek() in ("...", ","):
                self.take()
                continue
            before = self.at
            found.append(self.union())
            if self.peek() == "," or self.at == before:
                self.take()
        self.take()
        return found

    def plain(self, path: list[str]) -> Expr | None:
        """A name without arguments."""
        last = path[-1]
        if last in _NOTHING:
            return None
        if last == "Self" and self.owner:
            return Name(self.owner)
        if last in _SEQUENCES and last[0].isupper():
            return Seq(_SEQUENCES[last])
        if last == "Callable":
            return Function()
        return dotted(path)

    def applied(self, path: list[str], args: list[Expr | None]) -> Expr | None:
        """A name with arguments."""
        last = path[-1]
        if last in _INNER:
            return args[0] if args else None
        if last == "Union":
            return _any(args)
        if last in _SEQUENCES:
            return Seq(_SEQUENCES[last], _known(args[:1]))
        make = _APPLIED.get(last)
        if make is not None:
            return make(args)
        if last in _NOTHING:
            return None
        return Generic(dotted(path), [UNSAID if arg is None else arg for arg in args])


UNSAID: Expr = AnyOf([])


def _known(args: list[Expr | None]) -> list[Expr]:
    return [arg for arg in args if arg is not None]


def _any(found: list[Expr | None]) -> Expr | None:
    known = _known(found)
    if len(known) < 2:
        return known[0] if known else None
    return AnyOf(known)


def _tuple(args: list[Expr | None]) -> Expr:
    return Seq("tuple", [UNSAID if arg is None else arg for arg in args])


def _map(args: list[Expr | None]) -> Expr:
    return Generic(Lit("dict"), [UNSAID if arg is None else arg for arg in args[:2]])


def _function(args: list[Expr | None]) -> Expr:
    return Function(args[-1] if args else None)


def _future(args: list[Expr | None]) -> Expr | None:
    return Await(args[-1]) if args and args[-1] is not None else None


def _class(args: list[Expr | None]) -> Expr:
    return Generic(Lit("type"), _known(args[:1]))


_APPLIED: dict[str, Callable[[list[Expr | None]], Expr | None]] = {
    "Tuple": _tuple,
    "tuple": _tuple,
    "Callable": _function,
    "Coroutine": _future,
    **dict.fromkeys(_MAPS, _map),
    **dict.fromkeys(_FUTURES, _future),
    **dict.fromkeys(_CLASSES, _class),
}


def dotted(path: list[str]) -> Expr:
    """``a.b.c``."""
    made: Expr = Name(path[0])
    for name in path[1:]:
        made = Attr(made, name)
    return made
