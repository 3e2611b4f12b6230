"""What a search that found nothing suggests, and when it keeps quiet."""

from collections.abc import Callable

import pytest

from vacmcpd.engine import Budgets, Engine, SearchCodeRequest
from vacmcpd.engine.hints import hint
from vacmcpd.ports.search import QueryMode

HINTED = [
    (QueryMode.LITERAL, "LegacyHandler|NewHandler", "mode regex"),
    (QueryMode.LITERAL, "func .*Handler", "mode regex"),
    (QueryMode.LITERAL, r"\bhandler\b", "mode regex"),
    (QueryMode.LITERAL, r"handler\(", "mode regex"),
    (QueryMode.LITERAL, "^import", "mode regex"),
    (QueryMode.LITERAL, "end$", "mode regex"),
    (QueryMode.LITERAL, "[a-z]+_handler", "mode regex"),
    (QueryMode.LITERAL, "(foo|bar)?", "mode regex"),
    (QueryMode.LITERAL, "handler file:go", "mode zoekt"),
    (QueryMode.LITERAL, "-file:test handler", "mode zoekt"),
    (QueryMode.REGEX, "handler lang:go", "mode zoekt"),
    (QueryMode.REGEX, "case:yes Handler", "mode zoekt"),
    (QueryMode.REGEX, '"return nil"', "leave them out"),
    (QueryMode.ZOEKT, '"a(b"', "mode literal"),
    (QueryMode.ZOEKT, "handler(req)", "mode literal"),
    (QueryMode.ZOEKT, r"C:\temp", "mode literal"),
    (QueryMode.ZOEKT, r"foo\.bar file:x", "mode literal"),
    (QueryMode.ZOEKT, 'content:"x[0]"', "mode literal"),
]
QUIET = [
    (QueryMode.LITERAL, "handler(req)"),
    (QueryMode.LITERAL, "a.b[0] = *p;"),
    (QueryMode.LITERAL, "NewHandler"),
    (QueryMode.LITERAL, "profile: x"),
    (QueryMode.REGEX, r"func \w+\("),
    (QueryMode.REGEX, '"quoted" in the middle'),
    (QueryMode.REGEX, '"'),
    (QueryMode.ZOEKT, "NewHandler lang:go"),
    (QueryMode.ZOEKT, r"Handler file:\.go$ -file:_test\.go"),
    (QueryMode.ZOEKT, 'Handler file:"my \\"file"'),
    (QueryMode.ZOEKT, "(foo or bar) baz"),
    (QueryMode.ZOEKT, "foo.bar"),
]


@pytest.mark.parametrize(("mode", "text", "says"), HINTED)
def test_a_text_that_looks_like_another_mode_s_is_told_of_it(
    mode: QueryMode, text: str, says: str
) -> None:
    assert says in hint(text, mode)
    assert len(hint(text, mode)) < 150


@pytest.mark.parametrize(("mode", "text"), QUIET)
def test_a_text_that_fits_its_mode_is_told_nothing(mode: QueryMode, text: str) -> None:
    assert hint(text, mode) == ""


def test_an_answer_without_matches_carries_the_hint(engine: Engine) -> None:
    wire = engine.answer(SearchCodeRequest("both", "legacy|handler", mode="literal")).to_wire()
    assert (wire["matches"], wire["total_matches"], wire["truncated"]) == ([], 0, False)
    assert "mode regex" in wire["hint"]
    assert list(wire) == [
        "context",
        "coverage",
        "evidence",
        "hint",
        "matches",
        "total_is_exact",
        "total_matches",
        "truncated",
    ]


def test_the_mode_that_a_hint_names_finds_it(engine: Engine) -> None:
    wire = engine.answer(SearchCodeRequest("both", "legacy|handler", mode="regex")).to_wire()
    assert wire["total_matches"] == 3
    assert "hint" not in wire


def test_an_answer_with_matches_has_no_hint(engine: Engine) -> None:
    for query, mode in (("handler()", "literal"), ("handler()", "zoekt"), ("new.py", "literal")):
        assert "hint" not in engine.answer(SearchCodeRequest("v2", query, mode=mode)).to_wire()


def test_a_search_that_ran_out_of_time_has_no_hint(build: Callable[..., Engine]) -> None:
    engine = build(budgets=Budgets(search=1e-9))
    wire = engine.answer(SearchCodeRequest("v2", "a|b", mode="literal")).to_wire()
    assert (wire["total_matches"], wire["total_is_exact"]) == (0, False)
    assert "hint" not in wire
