"""A search of several members is one ranked answer, whatever its pages are cut by."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.engine import Engine, SearchCodeRequest
from vacmcpd.engine.evidence import cited_rows
from vacmcpd.engine.tokens import tokens
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Context, Member, MemberCoverage, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import QueryMode, SearchMatch, SearchPage, SearchQuery
from vacmcpd.testing.contexts import MemoryContexts, pinned
from vacmcpd.testing.source import commit_id

REVISION = commit_id("any")
LONG = "\N{SNOWMAN}\x01\"'\\" * 120


@dataclass
class Ranked:
    """Answers windows of fixed matches; ``lazy`` stops counting where its window is full.

    ``reach`` is how many matches it finds before its time is up.
    """

    matches: Mapping[str, Sequence[SearchMatch]]
    lazy: bool = False
    reach: int | None = None
    name: str = "ranked"

    def __post_init__(self) -> None:
        self.asked: list[tuple[str, SearchQuery]] = []

    def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
        self.asked.append((scope.repository, query))
        found = self.matches[scope.repository][: self.reach]
        window = tuple(found[query.offset : query.offset + query.limit])
        late = self.reach is not None and self.reach < len(self.matches[scope.repository])
        stopped = self.lazy and not query.exact_total and len(window) == query.limit > 0
        return SearchPage(
            scope.revision,
            window,
            query.offset + len(window) if stopped else len(found),
            not stopped and not late,
            MemberCoverage(scope.repository, scope.revision, 9, 5 if late else 9),
        )


def ranked(
    name: str, ranks: Sequence[tuple[int, int]], text: str = "x", around: int = 0
) -> list[SearchMatch]:
    lines = (text,) * around
    return [
        SearchMatch(f"{name}/{at}.c", at + 1, f"{text}{at}", False, (0, 1), lines, lines, rank)
        for at, rank in enumerate(sorted(ranks))
    ]


def over(search: Any, names: Sequence[str]) -> Engine:
    context = pinned("c", *((name, "main", REVISION) for name in names))
    return Engine(MemoryContexts([context]), search)


def pages(engine: Engine, request: SearchCodeRequest) -> Iterator[dict[str, Any]]:
    cursors = {""}
    while True:
        wire = engine.answer(request).to_wire()
        yield wire
        if "next_cursor" not in wire:
            return
        assert wire["truncated"] is True
        assert wire["next_cursor"] not in cursors
        cursors.add(wire["next_cursor"])
        request = replace(request, cursor=wire["next_cursor"])


def places(*wires: dict[str, Any]) -> list[tuple[str, int]]:
    return [(row["path"], row["line"]) for wire in wires for row in wire["matches"]]


def in_order(worlds: Mapping[str, Sequence[SearchMatch]]) -> list[tuple[str, int]]:
    every = [match for matches in worlds.values() for match in matches]
    return [(match.path, match.line) for match in sorted(every, key=lambda match: match.rank)]


_ranks = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=25)
worlds_ = st.lists(_ranks, min_size=1, max_size=5).map(
    lambda members: {f"r{at}": ranked(f"r{at}", ranks) for at, ranks in enumerate(members)}
)


@given(worlds_, st.sampled_from([1, 2, 3, 7, 30]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_pages_of_any_size_join_to_the_whole_ranked_answer(
    worlds: dict[str, list[SearchMatch]], limit: int, lazy: bool
) -> None:
    expected = in_order(worlds)
    engine = over(Ranked(worlds, lazy), list(worlds))
    found = list(pages(engine, SearchCodeRequest("c", "q", limit=limit)))
    assert places(*found) == expected
    # No page but the only one is empty, and the last one knows that it is the last.
    assert len(found) == max(1, -(-len(expected) // limit))
    assert (found[-1]["truncated"], found[-1]["total_is_exact"]) == (False, True)
    assert found[-1]["total_matches"] == len(expected)
    for page in found:
        assert page["coverage"]["complete"] is True
        assert page["total_matches"] <= len(expected)
        assert page["total_is_exact"] is (page["total_matches"] == len(expected)) or lazy


@given(worlds_, st.integers(0, 3), st.sampled_from([256, 300, 700, 2_000]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_pages_of_any_budget_join_to_the_whole_ranked_answer(
    worlds: dict[str, list[SearchMatch]], around: int, budget: int, lazy: bool
) -> None:
    expected = in_order(worlds)
    worlds = {
        name: ranked(name, [match.rank for match in matches], LONG, around)
        for name, matches in worlds.items()
    }
    engine = over(Ranked(worlds, lazy), list(worlds))
    request = SearchCodeRequest("c", "q", max_tokens=budget, context_lines=around)
    found = list(pages(engine, request))
    assert places(*found) == expected
    for page in found:
        assert tokens(page) <= budget or len(page["matches"]) <= 1


def test_where_ranks_are_equal_the_members_keep_their_order() -> None:
    worlds = {name: ranked(name, [(0, 1), (0, 2)]) for name in ("b", "a")}
    wire = over(Ranked(worlds), ["b", "a"]).answer(SearchCodeRequest("c", "q")).to_wire()
    assert places(wire) == [("b/0.c", 1), ("a/0.c", 1), ("b/1.c", 2), ("a/1.c", 2)]
    assert [row["repository"] for row in wire["matches"]] == ["b", "a", "b", "a"]
    assert {row["revision"] for row in wire["matches"]} == {REVISION}
    assert [row["repository"] for row in wire["evidence"]] == ["b", "a", "b", "a"]


def test_fifty_members_are_paged_through() -> None:
    worlds = {f"r{at:02}": ranked(f"r{at:02}", [(at % 7, at), (9, 9)]) for at in range(50)}
    engine = over(Ranked(worlds), list(worlds))
    found = list(pages(engine, SearchCodeRequest("c", "q", limit=9)))
    assert places(*found) == in_order(worlds)
    assert len(found) == 12


def test_every_page_asks_every_member_for_one_match_more_than_it_holds() -> None:
    search = Ranked({name: ranked(name, [(0, 0)] * 3) for name in "ab"})
    engine = over(search, "ab")
    request = SearchCodeRequest("c", "q", limit=2, context_lines=1, exact_total=True)
    assert len(list(pages(engine, request))) == 3
    assert {(name, query.limit) for name, query in search.asked} == {("a", 3), ("b", 3)}
    assert [query.offset for _, query in search.asked] == [0, 0, 2, 0, 3, 1]
    assert {(query.context_lines, query.exact_total) for _, query in search.asked} == {(1, True)}


def test_a_full_window_has_complete_coverage_and_a_cursor() -> None:
    engine = over(Ranked({"r": ranked("r", [(0, 0)] * 30)}, lazy=True), ["r"])
    wire = engine.answer(SearchCodeRequest("c", "q", limit=10)).to_wire()
    assert wire["coverage"]["complete"] is True
    assert (wire["total_matches"], wire["total_is_exact"]) == (11, False)
    assert (wire["truncated"], "next_cursor" in wire) == (True, True)
    counted = engine.answer(SearchCodeRequest("c", "q", limit=10, exact_total=True)).to_wire()
    assert (counted["total_matches"], counted["total_is_exact"]) == (30, True)


def test_a_last_page_that_is_exactly_full_gives_no_cursor() -> None:
    engine = over(Ranked({"r": ranked("r", [(0, 0)] * 20)}, lazy=True), ["r"])
    found = list(pages(engine, SearchCodeRequest("c", "q", limit=10)))
    assert [len(page["matches"]) for page in found] == [10, 10]
    assert (found[-1]["truncated"], found[-1]["total_is_exact"]) == (False, True)


@pytest.mark.parametrize(("reach", "sizes"), [(0, [0]), (3, [3]), (10, [10]), (25, [10, 10, 5])])
def test_a_deadline_ends_the_pages_where_it_ended_the_search(reach: int, sizes: list[int]) -> None:
    engine = over(Ranked({"r": ranked("r", [(0, 0)] * 30)}, reach=reach), ["r"])
    found = list(pages(engine, SearchCodeRequest("c", "q", limit=10)))
    assert [len(page["matches"]) for page in found] == sizes
    for page in found:
        assert (page["truncated"], page["total_is_exact"]) == (True, False)
        assert page["coverage"]["complete"] is False
        assert "hint" not in page


def test_a_total_over_files_that_were_not_looked_at_is_not_exact() -> None:
    class Forgetful(Ranked):
        def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
            page = super().search(scope, query, budget)
            return replace(page, coverage=replace(page.coverage, searched=1))

    engine = over(Forgetful({"r": ranked("r", [(0, 0)])}), ["r"])
    wire = engine.answer(SearchCodeRequest("c", "q")).to_wire()
    assert (wire["total_is_exact"], wire["truncated"]) == (False, True)


def test_one_member_that_can_not_answer_fails_the_call() -> None:
    class Half(Ranked):
        def search(self, scope: Scope, query: SearchQuery, budget: Budget) -> SearchPage:
            if scope.repository == "b":
                raise QueryError(WireCode.SEARCH_PROVIDER_UNAVAILABLE, "gone", {})
            return super().search(scope, query, budget)

    engine = over(Half({"a": ranked("a", [(0, 0)])}), "ab")
    with pytest.raises(QueryError) as failure:
        engine.answer(SearchCodeRequest("c", "q", limit=1))
    assert failure.value.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE


def one_match(match: SearchMatch, **asked: Any) -> dict[str, Any]:
    engine = over(Ranked({"r": [match]}), ["r"])
    return engine.answer(SearchCodeRequest("c", "q", **asked)).to_wire()


SPANS = [
    ("plain", (1, 3), [2, 4], [1, 3]),
    ("plain", (0, 0), [1, 1], [0, 0]),
    ("plain", (2, 99), [3, 6], [2, 5]),
    ("naïve", (3, 6), [3, 6], [3, 6]),
    ("naïve", (4, 6), [4, 6], [4, 6]),
    ("naïve", (2, 3), [3, 4], [2, 3]),
    ("\N{SNOWMAN}x\N{GRINNING FACE}y", (3, 8), [2, 4], [3, 8]),
    ("\N{SNOWMAN}x\N{GRINNING FACE}y", (4, 6), [3, 4], [4, 6]),
    ("a\ud800b", (4, 5), [3, 4], [4, 5]),
    ("x" * 1_500, (990, 1_200), [991, 1_001], [990, 1_000]),
    ("x" * 1_500, (1_200, 1_300), [1_001, 1_001], [1_000, 1_000]),
    ("ï" * 1_500, (1_998, 2_100), [1_000, 1_001], [1_998, 2_000]),
]


@pytest.mark.parametrize(("snippet", "span", "columns", "within"), SPANS)
def test_columns_and_bytes_are_those_of_the_shown_snippet(
    snippet: str, span: tuple[int, int], columns: list[int], within: list[int]
) -> None:
    row = one_match(SearchMatch("f", 3, snippet, span=span))["matches"][0]
    assert (row["columns"], row["bytes"]) == (columns, within)
    assert ("snippet_truncated" in row) is (len(snippet) > 1_000)
    shown = row["snippet"].encode("utf-8")
    assert within[1] <= len(shown)
    cut = shown[within[0] : within[1]].decode("utf-8", "ignore")
    assert cut in row["snippet"][columns[0] - 1 : columns[1] - 1]


@given(st.text(max_size=40), st.integers(0, 170), st.integers(0, 20))
def test_the_columns_hold_exactly_the_characters_of_the_bytes(
    text: str, start: int, length: int
) -> None:
    whole = len(text.encode("utf-8"))
    match = SearchMatch("f", 1, text, span=(start, start + length))
    row = one_match(match)["matches"][0]
    first, last = row["bytes"]
    assert (first, last) == (min(start, whole), min(start + length, whole))
    ends = [len(text[:at].encode("utf-8")) for at in range(len(text) + 1)]
    before, until = row["columns"]
    assert ends[before - 1] <= first
    assert last <= ends[until - 1]
    if first in ends and last in ends:
        assert (ends[before - 1], ends[until - 1]) == (first, last)


def test_lines_around_a_match_are_shown_where_they_were_asked_for() -> None:
    match = SearchMatch("f", 3, "hit", span=(0, 3), before=("1", "2"), after=("4", "y" * 1_200))
    row = one_match(match, context_lines=2)["matches"][0]
    assert (row["before"], row["after"]) == (["1", "2"], ["4", "y" * 1_000])
    assert row["context_truncated"] is True
    fewer = one_match(match, context_lines=1)["matches"][0]
    assert (fewer["before"], fewer["after"]) == (["2"], ["4"])
    assert not {"before", "after", "context_truncated"} & one_match(match)["matches"][0].keys()


def test_a_name_has_neither_line_nor_columns_and_is_cited_as_a_whole() -> None:
    wire = one_match(SearchMatch("d/f", 0, "d/f", file_name=True), context_lines=3)
    assert wire["matches"] == [{"path": "d/f", "snippet": "d/f", "file_name": True}]
    location = {"path": "d/f", "start_line": 0, "end_line": 0}
    assert wire["evidence"] == [{"location": location, "snippet": "d/f"}]


def test_the_rows_keep_the_order_of_their_keys() -> None:
    match = SearchMatch("f", 1, "x" * 1_001, before=("a",), after=("b",))
    engine = over(Ranked({"r": [match], "s": []}), "rs")
    row = engine.answer(SearchCodeRequest("c", "q", context_lines=1)).to_wire()["matches"][0]
    assert list(row) == [
        "path",
        "line",
        "snippet",
        "columns",
        "bytes",
        "before",
        "after",
        "snippet_truncated",
        "repository",
        "revision",
    ]


@pytest.mark.parametrize("names", ["r", "rs"])
def test_the_evidence_of_a_search_is_its_matches(names: str) -> None:
    found = [
        SearchMatch("f", 2, "caf\N{SNOWMAN}"),
        SearchMatch("f\ud800", 3, "\udcff" * 1_200),
        SearchMatch("empty", 4, ""),
        SearchMatch("n", 0, "n", file_name=True),
    ]
    engine = over(Ranked(dict.fromkeys(names, found)), names)
    result: Any = engine.answer(SearchCodeRequest("c", "q"))
    assert len(result.evidence) == len(result.matches) == 4 * len(names)
    assert result.to_wire()["evidence"] == cited_rows(result.evidence, result.context.members)


def test_a_first_match_that_does_not_fit_loses_the_lines_farthest_from_it() -> None:
    def lines(first: int) -> tuple[str, ...]:
        return tuple(f"{number} {'z' * 80}" for number in range(first, first + 10))

    match = SearchMatch("f", 11, "hit", span=(0, 3), before=lines(1), after=lines(12))
    whole = one_match(match, context_lines=10)["matches"][0]
    assert "context_truncated" not in whole
    shown: list[int] = []
    for budget in (256, 400, 600):
        wire = one_match(match, context_lines=10, max_tokens=budget)
        assert tokens(wire) <= budget
        row = wire["matches"][0]
        assert row["context_truncated"] is True
        assert row["snippet"] == "hit"
        before, after = row.get("before", []), row.get("after", [])
        assert whole["before"][10 - len(before) :] == before
        assert whole["after"][: len(after)] == after
        assert abs(len(before) - len(after)) <= 1
        shown.append(len(before) + len(after))
    assert 0 < shown[0] < shown[1] < shown[2] < 20


def test_lines_around_a_match_don_t_keep_the_next_ones_from_being_paged_to() -> None:
    lines = ("z" * 900,) * 5
    found = [
        SearchMatch(f"{at}", 6, "hit", False, (0, 3), lines, lines, (0, at)) for at in range(4)
    ]
    engine = over(Ranked({"r": found}), ["r"])
    request = SearchCodeRequest("c", "q", max_tokens=1_000, context_lines=5)
    wires = list(pages(engine, request))
    assert [row["path"] for wire in wires for row in wire["matches"]] == ["0", "1", "2", "3"]
    for wire in wires:
        assert tokens(wire) <= 1_000
        assert wire["matches"][0]["context_truncated"] is True


@pytest.mark.parametrize("budget", range(256, 2_600, 29))
@pytest.mark.parametrize("text", ["plain", '"\\\x00\x1f', "\N{GRINNING FACE}\ud800", "x" * 1_100])
def test_no_answer_of_several_matches_is_over_its_budget(budget: int, text: str) -> None:
    found = ranked("r", [(0, 0)] * 12, text, around=2)
    names = SearchMatch(text.replace("\0", "?"), 0, text, file_name=True, rank=(9, 9))
    engine = over(Ranked({"r": [*found, names], "s": []}, lazy=True), "rs")
    request = SearchCodeRequest("c", "q", max_tokens=budget, context_lines=2)
    for wire in pages(engine, request):
        assert tokens(wire) <= budget or len(wire["matches"]) == 1


@pytest.mark.parametrize("mode", ["", *QueryMode])
def test_a_query_is_handed_over_in_its_mode(mode: str) -> None:
    search = Ranked({"r": []})
    over(search, ["r"]).answer(SearchCodeRequest("c", " a  b ", mode=mode))
    _, query = search.asked[0]
    assert query.mode is QueryMode(mode or "zoekt")
    # What stands around a text or an expression is a part of it.
    assert query.text == ("a  b" if query.mode is QueryMode.ZOEKT else " a  b ")


def test_a_cursor_belongs_to_its_mode_and_to_no_number_of_lines() -> None:
    engine = over(Ranked({"r": ranked("r", [(0, 0)] * 3)}), ["r"])
    request = SearchCodeRequest("c", "q", limit=1)
    after = replace(request, cursor=engine.answer(request).to_wire()["next_cursor"])
    assert engine.answer(replace(after, mode="zoekt")) == engine.answer(after)
    for same in ({"context_lines": 3}, {"limit": 2}, {"exact_total": True}):
        assert places(engine.answer(replace(after, **same)).to_wire())[0] == ("r/1.c", 2)
    with pytest.raises(QueryError, match="another query"):
        engine.answer(replace(after, mode="literal"))


def test_a_cursor_of_fewer_members_is_no_cursor_of_more() -> None:
    worlds = {name: ranked(name, [(0, 0)] * 3) for name in "ab"}
    members = [Member(name, "main", REVISION) for name in "ab"]
    engine = Engine(MemoryContexts([Context("c", tuple(members))]), Ranked(worlds))
    narrowed = SearchCodeRequest("c", "q", repository="a", limit=1)
    cursor = engine.answer(narrowed).to_wire()["next_cursor"]
    with pytest.raises(QueryError, match="another query"):
        engine.answer(SearchCodeRequest("c", "q", cursor=cursor))


@pytest.mark.parametrize("text", ["plain", '"\\\x00\x1f', "\N{GRINNING FACE}", "x" * 300])
def test_a_page_that_is_cut_for_its_budget_uses_it(text: str) -> None:
    engine = over(Ranked({"r": ranked("r", [(0, 0)] * 200, text)}), ["r"])
    wire = engine.answer(SearchCodeRequest("c", "q", max_tokens=4_000)).to_wire()
    assert wire["truncated"] is True
    one = tokens(wire["matches"][-1]) + tokens(wire["evidence"][-1])
    assert 0.9 * 4_000 - one < tokens(wire) <= 4_000
