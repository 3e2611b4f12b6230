"""What is asked of a stored graph: names, walks, rows, what is counted, what is written out."""

import threading

import pytest
from store.places import ALL, Place, said

from vacmcpd.adapters.syntax import embedded
from vacmcpd.adapters.syntax.tracing import candidates
from vacmcpd.adapters.syntax.tracing.near import Near
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.ports.graph import Direction, EdgeKind, UntracedSites

CALLERS, CALLEES = Direction.CALLERS, Direction.CALLEES
CANDIDATE, EXTERNAL = frozenset({EdgeKind.CANDIDATE}), frozenset({EdgeKind.EXTERNAL})

SHOP = b"""import os


class Box:
    def __init__(self, size):
        self.size = check(size)

    def open(self):
        return os.getcwd()


class Lid:
    def open(self):
        return None


def check(size):
    return size


def check(size):
    return size + 1


def pack(items):
    return sorted(items, key=lambda item: weigh(item))


def weigh(item):
    return item.heft()


def fill():
    return Box(3).open()


def heft():
    return 1
"""
OTHER = b"function heft() {}\nfunction run(a) { a.heft(); }\n"


@pytest.fixture(scope="module")
def shop():
    place = Place()
    target, _ = place.made(
        {"shop.py": SHOP, "lib/shop.py": b"def fill():\n    pass\n", "o.js": OTHER}
    )
    return place, target


def rows(graph):
    return [
        (edge.caller_symbol.qualified_name, edge.callee_symbol.qualified_name, edge.line)
        for edge in graph.edges
    ]


def refused(shop, asked):
    place, target = shop
    with pytest.raises(QueryError) as caught:
        place.trace(target, asked)
    return caught.value


def test_asking_for_a_class_is_asking_for_its_constructor(shop):
    place, target = shop
    assert rows(place.trace(target, "Box")) == [("shop.fill", "shop.Box.__init__", 34)]
    assert rows(place.trace(target, "Box", CALLEES)) == [("shop.Box.__init__", "shop.check", 6)]
    assert place.trace(target, "Box").resolved.kind == "class"


def test_functions_of_one_name_in_one_place_are_one_symbol(shop):
    place, target = shop
    found = place.trace(target, "check")
    assert found.resolved.qualified_name == "shop.check"
    assert [row[0] for row in rows(found)] == ["shop.Box.__init__"]


def test_a_call_in_a_lambda_is_its_functions_and_the_export_names_the_lambda(shop):
    place, target = shop
    assert rows(place.trace(target, "weigh")) == [("shop.pack", "shop.weigh", 26)]
    assert rows(place.trace(target, "pack", CALLEES)) == [("shop.pack", "shop.weigh", 26)]
    written = [edge for edge in said(place.edges(target)) if edge[1] == "shop.weigh"]
    assert written == [("shop.pack.<lambda1>", "shop.weigh", "shop.py", 26, "resolved")]


def test_a_name_with_its_path_means_one_of_several(shop):
    place, target = shop
    error = refused(shop, "fill")
    assert error.code is WireCode.SYMBOL_AMBIGUOUS
    named = {each["path"]: each["symbol"] for each in error.details["candidates"]}
    assert sorted(named) == ["lib/shop.py", "shop.py"]
    for path, symbol in named.items():
        assert place.trace(target, symbol).resolved.path == path
    assert place.trace(target, "lib/shop.py:fill").resolved.path == "lib/shop.py"
    assert place.trace(target, "shop.py:check#2").resolved.line == 21


@pytest.mark.parametrize(
    "asked",
    [
        "Box::open",
        "Box#open",
        "shop.Box.open",
        "shop.py:Box.open",
        "shop.py:Box::open",
        "Box->open",
    ],
)
def test_other_languages_spellings_of_a_method_mean_it(shop, asked):
    place, target = shop
    assert place.trace(target, asked).resolved.qualified_name == "shop.Box.open"


@pytest.mark.parametrize(
    "asked", ["", ".", ":", "Box.", ".open", "open.Box", "shop.py:", "  ", "\0"]
)
def test_what_names_nothing_is_not_found(shop, asked):
    assert refused(shop, asked).code is WireCode.SYMBOL_NOT_FOUND


def test_a_dotted_suffix_means_a_name_that_is_joined_otherwise():
    place = Place()
    target, _ = place.made({"src/lib.rs": b"struct Box;\nimpl Box { fn open(&self) {} }\n"})
    for asked in ("Box.open", "Box::open", "src/lib.rs:Box.open"):
        assert place.trace(target, asked).resolved.line == 2


def test_a_bare_name_of_several_methods_has_each_as_a_candidate(shop):
    error = refused(shop, "open")
    named = [each["qualified_name"] for each in error.details["candidates"]]
    assert named == ["shop.Box.open", "shop.Lid.open"]
    assert [each["symbol"] for each in error.details["candidates"]] == named


def test_open_sites_are_candidates_of_functions_of_their_own_languages(shop):
    place, target = shop
    python = place.trace(target, "shop.py:heft")
    assert python.sites == UntracedSites(candidate=1, unresolved=1) or (
        python.sites == UntracedSites(candidate=2)
    )
    named = place.trace(target, "shop.py:heft", kinds=CANDIDATE)
    assert rows(named) == [("shop.weigh", "shop.heft", 30)]
    assert [edge.kind for edge in named.edges] == [EdgeKind.CANDIDATE]
    back = place.trace(target, "weigh", CALLEES, kinds=CANDIDATE)
    assert rows(back) == rows(named)


def test_the_callers_of_a_name_outside_are_found_when_such_edges_are_asked_for(shop):
    place, target = shop
    found = place.trace(target, "os.getcwd", kinds=EXTERNAL)
    assert rows(found) == [("shop.Box.open", "os.getcwd", 9)]
    assert (found.symbol, found.resolved) == ("os.getcwd", None)
    assert refused(shop, "os.getcwd").code is WireCode.SYMBOL_NOT_FOUND


def test_every_edge_is_written_out_in_order(shop):
    place, target = shop
    edges = place.edges(target)
    placed = [(edge.path, edge.line) for edge in edges]
    assert placed == sorted(placed)
    assert {edge.kind for edge in edges} >= {
        EdgeKind.RESOLVED,
        EdgeKind.CANDIDATE,
        EdgeKind.EXTERNAL,
    }
    assert said(place.edges(target, CANDIDATE)) == [
        edge for edge in said(edges) if edge[-1] == "candidate"
    ]
    assert place.edges(target, frozenset()) == []


def test_rows_are_a_sequence(shop):
    place, target = shop
    edges = place.trace(target, "check", depth=3, kinds=ALL).edges
    listed = list(edges)
    assert edges == listed
    assert edges == tuple(listed)
    assert edges != [*listed, *listed]
    assert edges[-1] == listed[-1]
    assert edges[::2] == listed[::2]
    assert listed[0] in edges
    with pytest.raises(IndexError):
        edges[len(edges)]


def test_two_calls_on_one_line_are_one_row():
    place = Place()
    target, _ = place.made({"a.py": b"def f(x):\n    return x\n\n\nf(f(1))\n"})
    assert rows(place.trace(target, "f")) == [("a", "a.f", 5)]


def test_edges_by_name_are_bounded_with_a_total_that_is_a_floor(monkeypatch):
    monkeypatch.setattr(candidates, "MOST", 10)
    from vacmcpd.adapters.syntax.tracing import walking

    monkeypatch.setattr(walking, "MOST", 10)
    place = Place()
    calls = b"".join(b"def c%d(x):\n    x.go()\n\n\n" % at for at in range(30))
    target, _ = place.made(
        {"a.py": calls + b"def go():\n    pass\n\n\ndef lone(x):\n    x.off()\n"}
    )
    found = place.trace(target, "go", kinds=CANDIDATE)
    assert (len(found.edges), found.total, found.exact) == (0, 0, False)
    assert found.sites.candidate == 0
    whole = place.trace(target, "lone", CALLEES, kinds=CANDIDATE)
    assert (whole.total, whole.exact) == (None, True)


def test_many_namesakes_are_cut_and_each_that_is_shown_is_accepted():
    place = Place()
    files = {f"d{at:03}/m.py": b"def same():\n    pass\n" for at in range(130)}
    target, _ = place.made(files)
    with pytest.raises(QueryError) as caught:
        place.trace(target, "same")
    shown = caught.value.details["candidates"]
    assert "130 symbols" in caught.value.message
    assert len(shown) == 100
    for each in shown[::25]:
        assert place.trace(target, each["symbol"]).resolved.path == each["path"]


def test_code_that_makes_an_instance_is_called_where_the_class_is():
    place = Place()
    java = b"class A { B b = make(); static B make() { return null; } }\nclass C { A a() { return new A(); } }\n"
    target, built = place.made({"A.java": java})
    if not built.languages:
        pytest.skip("Java is not told apart yet")
    names = [row[0] for row in rows(place.trace(target, "make", depth=2))]
    assert any(name.endswith("C.a") for name in names)


def test_threads_share_a_version(shop):
    place, target = shop
    expected = rows(place.trace(target, "check", depth=5))
    place.graph.close()
    found = []

    def ask():
        found.append(rows(place.trace(target, "check", depth=5)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [expected] * 8


def test_few_versions_stay_in_memory(monkeypatch):
    monkeypatch.setattr(embedded, "_MOST_EDGES", 1)
    place = Place()
    targets = [place.made({"a.py": b"def f():\n    f()\n" + b"\n" * at})[0] for at in range(4)]
    for target in (*targets, *targets):
        assert len(place.trace(target, "f").edges) == 1
    assert len(place.graph._versions) == 2


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("reder", ["reader"]), ("READER", ["reader"]), ("caf\xe9", ["cafe"]), ("zzz", []), ("", [])],
)
def test_names_that_are_spelled_alike(asked, expected):
    near = Near(["writer", "reader", "cafe", "x", "close_all"])
    assert near.to(asked)[: len(expected) or None] == expected
    assert Near([]).to(asked) == []
