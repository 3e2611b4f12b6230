"""What is kept of a file's link. Everything in it follows from the facts and what was read."""

import msgspec

from ....ports.graph import EdgeKind

KINDS = (EdgeKind.RESOLVED, EdgeKind.DISPATCH, EdgeKind.INFERRED)
"""The kinds of stored edges by their number, the surest first."""

RESOLVED, DISPATCH, INFERRED = range(3)

REASONS = (
    "unknown name",
    "unknown receiver",
    "no such member",
    "parameter",
    "computed",
    "too many values",
)
"""Why a call site is unresolved, by its number."""


class Outline(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What other files can see of a file without linking: names, not values.

    ``namespace`` is what the file says, ``package`` what the version makes of it. ``names`` are
    bound at the top, ``members`` are ``Type.method`` of methods that are declared
    outside of their type, ``properties`` the names of properties of any
    class, and of methods that syntax calls.
    """

    namespace: str = ""
    package: str = ""
    names: list[str] = []
    members: list[str] = []
    properties: list[str] = []


class Bases(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What the classes of a file derive from: (key, keys of bases), in source order.

    ``methods`` are (key, names of its methods, whether it is an interface), for languages where
    having an interface's methods is implementing it. ``reads`` as in :class:`Linked`.
    """

    classes: list[tuple[str, list[str]]] = []
    methods: list[tuple[str, list[str], bool]] = []
    reads: bytes = b""


class Edges(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Call sites, column by column, by site, then callee.

    ``site`` counts the call sites of the file, ``caller`` is a scope's number, ``callee`` an
    index into ``symbols`` (``path NUL local name``), ``name`` one into ``names``: what an external
    callee is called, or the bare name that an open site calls. An external callee is resolved or
    inferred.
    """

    symbols: list[str] = []
    names: list[str] = []
    site: list[int] = []
    caller: list[int] = []
    callee: list[int] = []
    kind: list[int] = []
    line: list[int] = []
    external_site: list[int] = []
    external_caller: list[int] = []
    external_name: list[int] = []
    external_kind: list[int] = []
    external_line: list[int] = []
    open_site: list[int] = []
    open_caller: list[int] = []
    open_name: list[int] = []
    open_reason: list[int] = []
    open_line: list[int] = []


class Linked(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """The record of a file.

    ``given`` is what it passes into parameters, per round: (cell, keys of values). ``pending``
    are the call sites whose targets rest on parameters. ``reads`` are the leaves that each round
    rests on (uint32, little-endian, sorted).
    """

    outline: Outline
    bases: Bases
    edges: Edges
    pending: list[int] = []
    given: list[list[tuple[str, list[str]]]] = []
    reads: list[bytes] = []
