"""What every GraphProvider promises, run against the fake and the engines that are plugged in.

An engine is plugged in by a function that builds a :class:`Case` from FILES and OTHER_FILES, the
two commits' sources, and stands in the list of the ``case`` fixture.
"""

import threading
from collections.abc import Callable, Iterable

import pytest

from vacmcpd.adapters.syntax.embedded import EmbeddedGraph, EmbeddedGraphBuilder
from vacmcpd.errors import Cancelled, OperationTimeout, QueryError, WireCode
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.graph import (
    TRUSTED,
    CallEdge,
    CallGraph,
    Direction,
    EdgeKind,
    GraphProvider,
    LanguageCoverage,
    Symbol,
    Tier,
    TraceQuery,
    UntracedSites,
)
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.graph import MemoryCalls, MemoryGraph
from vacmcpd.testing.objects import MemoryObjects
from vacmcpd.testing.source import commit_id

CALLERS, CALLEES = Direction.CALLERS, Direction.CALLEES
RESOLVED, DISPATCH = EdgeKind.RESOLVED, EdgeKind.DISPATCH
INFERRED, CANDIDATE, EXTERNAL = EdgeKind.INFERRED, EdgeKind.CANDIDATE, EdgeKind.EXTERNAL

CART = b"""from shop.price import keep as remember, total


class Cart:
    def add(self, item):
        return len(item)

    def keep(self, item):
        self.add(item)
        self.add(item)

    def cost(self):
        return total()


class Basket(Cart):
    def cost(self):
        return 0


def checkout(cart: Cart):
    cart.add("bag")
    remember("bag")
    return cart.cost()


checkout(None)
"""
PRICE = b"""def total():
    return 3


def keep(item):
    return total()


def never():
    return 0
"""
FLOW = b"""def apply(fn):
    return fn()


def hook():
    return 1


def use():
    return apply(hook)


class Only:
    def lone(self):
        return 1


def guess(thing):
    return thing.lone()
"""
NEST = b"""def outer():
    def inner():
        return helper()

    return inner()


def helper():
    return 1
"""
RING = b"""def ping(n):
    return pong(n)


def pong(n):
    return ping(n)
"""
# A module and variables that are named like functions are no rivals of these.
NAMESAKES = b"total = 1\nadd = 2\n"
FILES: dict[str, bytes] = {
    "shop/__init__.py": b"",
    "shop/cart.py": CART,
    "shop/checkout.py": NAMESAKES,
    "shop/flow.py": FLOW,
    "shop/nest.py": NEST,
    "shop/price.py": PRICE,
    "shop/ring.py": RING,
    "README.md": b"A shop.\n",
}
OTHER_FILES: dict[str, bytes] = {
    **FILES,
    "shop/ring.py": b"def pong(n):\n    return n\n",
    "shop/price.py": PRICE.replace(b"return total()", b"return item"),
}

DEFINED = {
    "shop.cart": (1, "module"),
    "shop.cart.Cart": (4, "class"),
    "shop.cart.Cart.add": (5, "method"),
    "shop.cart.Cart.keep": (8, "method"),
    "shop.cart.Cart.cost": (12, "method"),
    "shop.cart.Basket": (16, "class"),
    "shop.cart.Basket.cost": (17, "method"),
    "shop.cart.checkout": (21, "function"),
    "shop.checkout": (1, "module"),
    "shop.flow.apply": (1, "function"),
    "shop.flow.hook": (5, "function"),
    "shop.flow.use": (9, "function"),
    "shop.flow.Only": (13, "class"),
    "shop.flow.Only.lone": (14, "method"),
    "shop.flow.guess": (18, "function"),
    "shop.nest.outer": (1, "function"),
    "shop.nest.outer.inner": (2, "function"),
    "shop.nest.helper": (8, "function"),
    "shop.price.total": (1, "function"),
    "shop.price.keep": (5, "function"),
    "shop.price.never": (9, "function"),
    "shop.ring.ping": (1, "function"),
    "shop.ring.pong": (5, "function"),
}
EDGES = [
    ("shop.cart.Cart.add", "<builtin>.len", 6, EXTERNAL),
    ("shop.cart.Cart.keep", "shop.cart.Cart.add", 9, RESOLVED),
    ("shop.cart.Cart.keep", "shop.cart.Cart.add", 10, RESOLVED),
    ("shop.cart.Cart.cost", "shop.price.total", 13, RESOLVED),
    ("shop.cart.checkout", "shop.cart.Cart.add", 22, RESOLVED),
    ("shop.cart.checkout", "shop.price.keep", 23, RESOLVED),
    ("shop.cart.checkout", "shop.cart.Cart.cost", 24, RESOLVED),
    ("shop.cart.checkout", "shop.cart.Basket.cost", 24, DISPATCH),
    ("shop.cart", "shop.cart.checkout", 27, RESOLVED),
    ("shop.price.keep", "shop.price.total", 6, RESOLVED),
    ("shop.flow.apply", "shop.flow.hook", 2, INFERRED),
    ("shop.flow.use", "shop.flow.apply", 10, RESOLVED),
    ("shop.flow.guess", "shop.flow.Only.lone", 19, CANDIDATE),
    ("shop.nest.outer.inner", "shop.nest.helper", 3, RESOLVED),
    ("shop.nest.outer", "shop.nest.outer.inner", 5, RESOLVED),
    ("shop.ring.ping", "shop.ring.pong", 2, RESOLVED),
    ("shop.ring.pong", "shop.ring.ping", 6, RESOLVED),
]


class Case:
    """One provider over the two commits; a third one was never built."""

    def __init__(self, provider: GraphProvider, revision: str, other: str) -> None:
        self.provider = provider
        self.revision = revision
        self.other = other

    def trace(
        self,
        symbol: str,
        direction: Direction = CALLERS,
        depth: int = 1,
        *,
        kinds: Iterable[EdgeKind] = TRUSTED,
        revision: str = "",
        budget: Budget | None = None,
    ) -> CallGraph:
        scope = Scope("ctx", Member("shop", "main", revision or self.revision))
        budget = budget or Budget("trace", self.provider.name, 60.0)
        query = TraceQuery(symbol, direction, depth, frozenset(kinds))
        return self.provider.trace(scope, query, budget)

    def refused(self, symbol: str, **options: str) -> QueryError:
        with pytest.raises(QueryError) as caught:
            self.trace(symbol, **options)  # type: ignore[arg-type]
        return caught.value


def memory() -> Case:
    revision, other = commit_id("one"), commit_id("two")
    python = LanguageCoverage("python", Tier.SCOPED, 7, 0)
    calls = MemoryCalls(
        tuple(_edge(*each) for each in EDGES), tuple(map(_symbol, DEFINED)), (), (python,)
    )
    gone = {"shop.ring.ping", ("shop.price.keep", "shop.price.total")}
    later = [each for each in EDGES if not {each[0], each[1], each[:2]} & gone]
    known = tuple(_symbol(name) for name in DEFINED if name not in gone)
    graph = MemoryGraph(
        {
            ("shop", revision): calls,
            ("shop", other): MemoryCalls(tuple(_edge(*each) for each in later), known),
        }
    )
    return Case(graph, revision, other)


def embedded() -> Case:
    objects, artifacts = MemoryObjects(), MemoryArtifacts()
    builder = EmbeddedGraphBuilder(objects, artifacts, max_file_bytes=100_000, processes=1)
    state = StoreState()
    revisions = []
    for files in (FILES, OTHER_FILES):
        tree = {path.encode(): content for path, content in files.items()}
        target = BuildTarget("ctx", "shop", "main", objects.commit("shop", tree))
        built = builder.build(target, state, lambda *step: None, None)
        assert built.files is not None
        state = StoreState(built.files, state.live | {built.artifact.key})
        revisions.append(target.revision)
    graph = EmbeddedGraph(Unbuilt(objects), artifacts, lambda repository: state.files)
    return Case(graph, *revisions)


class Unbuilt:
    """Objects that know one commit more than was built."""

    def __init__(self, objects: MemoryObjects) -> None:
        self._objects = objects
        self.leaves, self.size, self.blob = objects.leaves, objects.size, objects.blob

    def prove(self, scope: Scope) -> str:
        if scope.revision == commit_id("never built"):
            return scope.revision
        return self._objects.prove(scope)


def _symbol(name: str) -> Symbol:
    line, kind = DEFINED[name]
    parts = name.split(".")
    path = "/".join(parts[:2]) + ".py"
    return Symbol(parts[-1], name, path, line, kind)


def _edge(caller: str, callee: str, line: int, kind: EdgeKind) -> CallEdge:
    source = _symbol(caller)
    if kind is EXTERNAL:
        target = Symbol(callee.rpartition(".")[2], callee, "", 0, "external")
        return CallEdge(source.name, callee, source.path, line, kind, source, target)
    target = _symbol(callee)
    return CallEdge(source.name, target.name, source.path, line, kind, source, target)


@pytest.fixture(scope="module")
def built() -> Case:
    return embedded()


@pytest.fixture(params=[memory, embedded])
def case(request: pytest.FixtureRequest) -> Case:
    build: Callable[[], Case] = request.param
    if build is embedded:
        # Asking changes nothing in it, and building it takes a process.
        shared: Case = request.getfixturevalue("built")
        return shared
    return build()


def callers(graph: CallGraph) -> list[tuple[str, int]]:
    return sorted((edge.caller_symbol.qualified_name, edge.line) for edge in graph.edges)  # type: ignore[union-attr]


def callees(graph: CallGraph) -> list[tuple[str, int]]:
    return sorted((edge.callee_symbol.qualified_name, edge.line) for edge in graph.edges)  # type: ignore[union-attr]


def told(graph: CallGraph) -> tuple[object, ...]:
    return graph.symbol, graph.resolved, list(graph.edges), graph.sites, graph.languages


def test_one_edge_for_each_call(case: Case) -> None:
    graph = case.trace("add")
    assert callers(graph) == [
        ("shop.cart.Cart.keep", 9),
        ("shop.cart.Cart.keep", 10),
        ("shop.cart.checkout", 22),
    ]
    assert {edge.path for edge in graph.edges} == {"shop/cart.py"}
    assert {(edge.caller, edge.callee) for edge in graph.edges} == {
        ("keep", "add"),
        ("checkout", "add"),
    }


def test_both_ends_say_where_they_are_defined(case: Case) -> None:
    (edge,) = case.trace("shop.price.keep").edges
    assert edge.caller_symbol == Symbol(
        "checkout", "shop.cart.checkout", "shop/cart.py", 21, "function"
    )
    assert edge.callee_symbol == Symbol("keep", "shop.price.keep", "shop/price.py", 5, "function")
    assert (edge.path, edge.line, edge.kind) == ("shop/cart.py", 23, RESOLVED)


def test_the_answer_says_which_symbol_was_meant(case: Case) -> None:
    graph = case.trace("Cart.keep", CALLEES)
    assert graph.symbol == "keep"
    assert graph.resolved is not None
    assert graph.resolved.qualified_name == "shop.cart.Cart.keep"
    assert (graph.resolved.path, graph.resolved.line) == ("shop/cart.py", 8)


@pytest.mark.parametrize(
    "asked",
    [
        "Cart.add",
        "cart.Cart.add",
        "shop.cart.Cart.add",
        "shop/cart.py:add",
        "shop/cart.py:Cart.add",
        "shop/cart.py:shop.cart.Cart.add",
    ],
)
def test_every_spelling_of_a_symbol_means_it(case: Case, asked: str) -> None:
    assert told(case.trace(asked)) == told(case.trace("add"))


def test_a_module_and_a_variable_make_no_name_ambiguous(case: Case) -> None:
    assert callers(case.trace("checkout")) == [("shop.cart", 27)]
    assert callers(case.trace("total")) == [("shop.cart.Cart.cost", 13), ("shop.price.keep", 6)]


def test_a_name_of_several_has_candidates_that_are_accepted_back(case: Case) -> None:
    error = case.refused("keep")
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    candidates = error.details["candidates"]
    named = {each["qualified_name"]: each for each in candidates}
    assert sorted(named) == ["shop.cart.Cart.keep", "shop.price.keep"]
    assert len(candidates) == 2
    method = named["shop.cart.Cart.keep"]
    assert (method["path"], method["line"]) == ("shop/cart.py", 8)
    assert all(each["kind"] for each in candidates)
    for name, each in named.items():
        resolved = case.trace(each["symbol"]).resolved
        assert resolved is not None
        assert resolved.qualified_name == name


def test_an_unknown_name_is_never_answered_for_another(case: Case) -> None:
    for asked in ("ad", "Add", "addd", "cart.add", "price.Cart.add", "shop/price.py:add", "a.*"):
        assert case.refused(asked).code is WireCode.SYMBOL_NOT_FOUND, asked


@pytest.mark.parametrize("asked", ["chekout", "Checkout", "checkouts"])
def test_an_unknown_name_is_told_the_ones_spelled_alike(case: Case, asked: str) -> None:
    error = case.refused(asked)
    assert error.code is WireCode.SYMBOL_NOT_FOUND
    assert any(name.rpartition(".")[2] == "checkout" for name in error.details["near"])
    assert case.refused("zzzzzz").details["near"] == []


def test_only_the_kinds_that_were_asked_for_are_walked(case: Case) -> None:
    assert callees(case.trace("checkout", CALLEES)) == [
        ("shop.cart.Basket.cost", 24),
        ("shop.cart.Cart.add", 22),
        ("shop.cart.Cart.cost", 24),
        ("shop.price.keep", 23),
    ]
    dispatched = case.trace("checkout", CALLEES, kinds=[DISPATCH])
    assert callees(dispatched) == [("shop.cart.Basket.cost", 24)]
    assert callers(case.trace("hook")) == []
    assert callers(case.trace("hook", kinds=[INFERRED])) == [("shop.flow.apply", 2)]
    assert callers(case.trace("lone", kinds=[CANDIDATE])) == [("shop.flow.guess", 19)]
    assert callees(case.trace("add", CALLEES, kinds=[EXTERNAL])) == [("<builtin>.len", 6)]


def test_a_walk_goes_on_over_the_kinds_that_were_asked_for(case: Case) -> None:
    walked = case.trace("hook", depth=2, kinds=[RESOLVED, INFERRED])
    assert callers(walked) == [("shop.flow.apply", 2), ("shop.flow.use", 10)]
    assert callers(case.trace("hook", depth=2, kinds=[INFERRED])) == [("shop.flow.apply", 2)]


def test_an_external_callee_is_nowhere_in_the_tree(case: Case) -> None:
    (edge,) = case.trace("add", CALLEES, kinds=[EXTERNAL]).edges
    assert (edge.path, edge.line, edge.kind) == ("shop/cart.py", 6, EXTERNAL)
    assert edge.callee_symbol is not None
    assert (edge.callee_symbol.path, edge.callee_symbol.line) == ("", 0)


def test_what_was_not_walked_is_counted(case: Case) -> None:
    assert case.trace("never").sites == UntracedSites()
    assert case.trace("lone").sites == UntracedSites(candidate=1)
    assert case.trace("guess", CALLEES).sites == UntracedSites(candidate=1)
    assert case.trace("hook").sites == UntracedSites(inferred=1)
    assert case.trace("apply", CALLEES).sites == UntracedSites(inferred=1)
    assert case.trace("add", CALLEES).sites == UntracedSites(external=1)


def test_what_was_walked_is_not_counted(case: Case) -> None:
    assert case.trace("lone", kinds=[CANDIDATE]).sites == UntracedSites()
    assert case.trace("hook", kinds=[INFERRED]).sites == UntracedSites()
    assert case.trace("add", CALLEES, kinds=[EXTERNAL]).sites == UntracedSites()


def test_the_caller_is_the_innermost_function_or_the_module(case: Case) -> None:
    assert callers(case.trace("helper")) == [("shop.nest.outer.inner", 3)]
    assert callers(case.trace("helper", depth=2)) == [
        ("shop.nest.outer", 5),
        ("shop.nest.outer.inner", 3),
    ]
    assert callers(case.trace("checkout")) == [("shop.cart", 27)]


def test_a_depth_is_a_number_of_calls_and_each_call_comes_once(case: Case) -> None:
    assert callees(case.trace("ping", CALLEES)) == [("shop.ring.pong", 2)]
    for depth in (2, 3, 5):
        ring = [("shop.ring.ping", 6), ("shop.ring.pong", 2)]
        assert callees(case.trace("ping", CALLEES, depth)) == ring
    two = case.trace("total", depth=2)
    assert callers(two) == [
        ("shop.cart.Cart.cost", 13),
        ("shop.cart.checkout", 23),
        ("shop.cart.checkout", 24),
        ("shop.price.keep", 6),
    ]


def test_edges_are_in_the_order_of_the_port_and_can_be_cut_anywhere(case: Case) -> None:
    graph = case.trace("total", depth=5)
    rows = list(graph.edges)
    assert rows == sorted(rows, key=lambda edge: (edge.caller, edge.callee, edge.path, edge.line))
    assert len(rows) == len(graph.edges) == 5
    assert graph.total in (None, len(rows))
    assert graph.exact is True
    for start in range(len(rows) + 2):
        assert list(graph.edges[start : start + 2]) == rows[start : start + 2]
    assert told(case.trace("total", depth=5)) == told(graph)


def test_each_commit_is_answered_from_itself(case: Case) -> None:
    one, other = case.trace("total"), case.trace("total", revision=case.other)
    assert (one.revision, other.revision) == (case.revision, case.other)
    assert callers(other) == [("shop.cart.Cart.cost", 13)]
    error = case.refused("ping", revision=case.other)
    assert error.code is WireCode.SYMBOL_NOT_FOUND
    assert "ping" not in error.details["near"]


def test_the_coverage_is_of_the_commit(case: Case) -> None:
    coverage = case.trace("total").coverage
    assert (coverage.repository, coverage.revision) == ("shop", case.revision)
    assert coverage.complete is True
    assert coverage.searched >= 6


def test_the_languages_are_named_with_their_tier(case: Case) -> None:
    assert case.trace("total").languages == (LanguageCoverage("python", Tier.SCOPED, 7, 0),)


def test_a_commit_that_was_never_built_is_unavailable(case: Case) -> None:
    error = case.refused("total", revision=commit_id("never built"))
    assert error.code is WireCode.GRAPH_PROVIDER_UNAVAILABLE


def test_a_budget_is_polled(case: Case) -> None:
    gone = threading.Event()
    gone.set()
    with pytest.raises(Cancelled):
        case.trace("total", depth=5, budget=Budget("trace", "graph", 60.0, gone))
    with pytest.raises(OperationTimeout):
        case.trace("total", depth=5, budget=Budget("trace", "graph", 1e-9))
