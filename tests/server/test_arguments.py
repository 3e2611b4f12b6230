"""What a call's arguments may be, and how each refusal reads."""

from typing import Any

import pytest

from vacmcpd.engine import (
    GetCodeRequest,
    ListContextsRequest,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.server.arguments import MAX_INTEGER, MAX_ITEMS, MAX_STRING
from vacmcpd.server.tools import ANNOTATIONS, BY_NAME, TOOLS

CODE = {"context": "v1", "path": "a.py", "start_line": 1, "end_line": 2}


def refusal(tool: str, given: Any) -> QueryError:
    with pytest.raises(QueryError) as caught:
        BY_NAME[tool].request(given)
    assert caught.value.code is WireCode.INVALID_ARGUMENT
    assert caught.value.message.startswith(f"{tool}: ")
    return caught.value


def test_there_are_exactly_the_seven_tools_in_alphabetical_order() -> None:
    assert [tool.name for tool in TOOLS] == [
        "compare_calls",
        "compare_code",
        "get_code",
        "list_contexts",
        "search_code",
        "search_history",
        "trace_calls",
    ]


def test_words_for_agents_are_short_and_give_no_orders() -> None:
    for tool in TOOLS:
        words = " ".join([tool.description, *(each.description for each in tool.arguments)])
        assert len(tool.description) < 600
        assert not {"important", "must", "always", "never use", "crucial"} & set(
            words.lower().replace(",", " ").replace(".", " ").split()
        )
        assert words.isprintable()
        assert words.isascii()


def test_every_argument_of_a_schema_is_described_and_none_has_a_range() -> None:
    for tool in TOOLS:
        schema = tool.input_schema()
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        for described in schema["properties"].values():
            assert set(described) - {"enum", "items"} == {"type", "description"}
            assert described["description"]
            assert ("items" in described) is (described["type"] == "array")


def test_arguments_are_shown_in_the_order_of_the_reference() -> None:
    shown = {tool.name: [each.name for each in tool.arguments] for tool in TOOLS}
    extra = ["limit", "max_tokens", "cursor"]
    assert shown == {
        "compare_calls": [
            "from_context",
            "to_context",
            "repository",
            "symbol",
            "direction",
            "depth",
            "kinds",
            *extra,
        ],
        "compare_code": ["from_context", "to_context", "repository", "path", *extra[1:]],
        "get_code": ["context", "repository", "path", "start_line", "end_line", "max_tokens"],
        "list_contexts": [],
        "search_code": [
            "context",
            "repository",
            "query",
            "mode",
            "context_lines",
            "exact_total",
            *extra,
        ],
        "search_history": ["context", "repository", "query", "symbol", "path", *extra],
        "trace_calls": [
            "context",
            "repository",
            "symbol",
            "direction",
            "depth",
            "kinds",
            *extra,
        ],
    }


def test_required_arguments_are_those_of_the_reference() -> None:
    required = {tool.name: tool.input_schema().get("required") for tool in TOOLS}
    assert required == {
        "compare_calls": None,
        "compare_code": ["from_context", "to_context", "path"],
        "get_code": ["context", "path", "start_line", "end_line"],
        "list_contexts": None,
        "search_code": ["context", "query"],
        "search_history": ["context"],
        "trace_calls": None,
    }


def test_an_output_schema_is_an_object_and_admits_the_error_envelope() -> None:
    import jsonschema

    schemas = [tool.output_schema for tool in TOOLS if tool.output_schema]
    assert schemas
    for schema in schemas:
        assert schema["type"] == "object"
        jsonschema.validate({"error": {"code": "X", "message": "m", "details": {}}}, schema)


def test_no_tool_changes_anything() -> None:
    assert ANNOTATIONS == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def test_what_is_not_given_gets_its_default() -> None:
    assert BY_NAME["search_history"].request({"context": "v1"}) == SearchHistoryRequest("v1")
    assert BY_NAME["trace_calls"].request({}) == TraceCallsRequest("", "", "", 0)


def test_the_modes_of_a_search_are_in_its_schema_and_in_words() -> None:
    mode = BY_NAME["search_code"].input_schema()["properties"]["mode"]
    assert mode["enum"] == ["zoekt", "literal", "regex"]
    for each in mode["enum"]:
        assert each in mode["description"]
    assert "literal, where nothing needs escaping" in BY_NAME["search_code"].description


def test_the_options_of_a_search_reach_its_request() -> None:
    given = {"context": "c", "query": "q", "mode": "literal", "context_lines": 2}
    asked = BY_NAME["search_code"].request({**given, "exact_total": True})
    assert asked == SearchCodeRequest("c", "q", mode="literal", context_lines=2, exact_total=True)
    plain = BY_NAME["search_code"].request({"context": "c", "query": "q", "exact_total": False})
    assert plain == SearchCodeRequest("c", "q")


@pytest.mark.parametrize(
    ("value", "actual"),
    [(None, "null"), (1, "number"), (0, "number"), ("true", "string"), ([True], "array")],
)
def test_what_is_no_boolean_is_refused(value: Any, actual: str) -> None:
    given = {"context": "c", "query": "q", "exact_total": value}
    assert refusal("search_code", given).details == {
        "argument": "exact_total",
        "expected": "boolean",
        "actual": actual,
    }


def test_the_kinds_of_calls_are_in_the_schemas_and_in_words() -> None:
    for tool in ("trace_calls", "compare_calls"):
        kinds = BY_NAME[tool].input_schema()["properties"]["kinds"]
        assert kinds["items"]["enum"] == [
            "resolved",
            "dispatch",
            "inferred",
            "candidate",
            "external",
        ]
        for each in kinds["items"]["enum"]:
            assert f"{each}: " in kinds["description"]


def test_the_kinds_of_calls_reach_the_request() -> None:
    asked = BY_NAME["trace_calls"].request({"kinds": ["candidate", "external"]})
    assert asked == TraceCallsRequest("", "", "", 0, kinds=("candidate", "external"))
    assert BY_NAME["compare_calls"].request({"kinds": []}).kinds == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "actual"), [(None, "null"), ("candidate", "string"), ({}, "object"), (1, "number")]
)
def test_what_is_no_array_is_refused(value: Any, actual: str) -> None:
    assert refusal("trace_calls", {"kinds": value}).details == {
        "argument": "kinds",
        "expected": "array",
        "actual": actual,
    }


@pytest.mark.parametrize(("at", "value"), [(0, [1]), (1, ["resolved", None]), (0, [["x"]])])
def test_an_array_holds_strings_only(at: int, value: Any) -> None:
    details = refusal("trace_calls", {"kinds": value}).details
    assert (details["argument"], details["expected"]) == (f"kinds[{at}]", "string")


def test_an_array_without_end_is_refused() -> None:
    assert refusal("trace_calls", {"kinds": ["resolved"] * (MAX_ITEMS + 1)}).details == {
        "argument": "kinds",
        "length": MAX_ITEMS + 1,
        "limit": MAX_ITEMS,
    }


@pytest.mark.parametrize("given", [None, {}])
def test_absent_and_null_arguments_are_empty(given: Any) -> None:
    assert BY_NAME["list_contexts"].request(given) == ListContextsRequest()


def test_a_whole_number_may_be_written_with_a_fraction() -> None:
    assert BY_NAME["get_code"].request({**CODE, "start_line": 1.0}) == GetCodeRequest(
        "v1", "a.py", 1, 2
    )


def test_a_missing_argument_is_named() -> None:
    assert refusal("get_code", {"context": "v1"}).details == {"argument": "path"}


def test_an_unknown_argument_is_named_with_those_there_are() -> None:
    details = refusal("search_code", {"context": "v1", "query": "x", "branch": "main"}).details
    assert details["argument"] == "branch"
    assert "query" in details["accepted"]


@pytest.mark.parametrize(
    ("value", "actual"),
    [
        (None, "null"),
        (True, "boolean"),
        ("1", "string"),
        (1.5, "number"),
        ([1], "array"),
        ({}, "object"),
        (float("inf"), "number"),
    ],
)
def test_what_is_no_integer_is_refused(value: Any, actual: str) -> None:
    assert refusal("get_code", {**CODE, "start_line": value}).details == {
        "argument": "start_line",
        "expected": "integer",
        "actual": actual,
    }


@pytest.mark.parametrize(
    ("value", "actual"), [(None, "null"), (5, "number"), (False, "boolean"), (["x"], "array")]
)
def test_what_is_no_string_is_refused(value: Any, actual: str) -> None:
    assert refusal("get_code", {**CODE, "path": value}).details == {
        "argument": "path",
        "expected": "string",
        "actual": actual,
    }


@pytest.mark.parametrize("value", [2**53 + 1, -(2**63), 10**400, 1e300])
def test_a_number_that_not_every_reader_can_hold_is_refused(value: float) -> None:
    assert refusal("get_code", {**CODE, "end_line": value}).details == {
        "argument": "end_line",
        "limit": MAX_INTEGER,
    }


def test_a_string_without_end_is_refused() -> None:
    assert refusal("get_code", {**CODE, "path": "x" * (MAX_STRING + 1)}).details == {
        "argument": "path",
        "length": MAX_STRING + 1,
        "limit": MAX_STRING,
    }
    assert BY_NAME["get_code"].request({**CODE, "path": "x" * MAX_STRING})


@pytest.mark.parametrize("value", ["a\0b", "caf\udce9", "\ud83d"])
def test_text_that_can_not_be_written_is_refused(value: str) -> None:
    assert refusal("get_code", {**CODE, "path": value}).details == {"argument": "path"}


def test_a_refusal_never_repeats_what_can_not_be_written() -> None:
    failure = refusal("list_contexts", {"\ud800" + "x" * 1000: 1})
    failure.message.encode("utf-8")
    assert len(failure.message) < 300
