"""The HTTP endpoint: what it answers to well-formed, odd and hostile requests."""

import json
import socket
from typing import Any

import pytest

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def modern_list(conftest_meta: Any) -> dict[str, Any]:
    return {**LIST, "params": {"_meta": conftest_meta}}


@pytest.fixture(scope="module")
def meta() -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def raw(port: int, data: bytes) -> bytes:
    """What comes back on a raw connection until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    return received


def test_the_plain_curl_call_works_at_the_root(http_server: Any) -> None:
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_code",\n'
        b'       "arguments":{"context":"v2","query":"total"}}}'
    )
    answer = http_server.request(body, path="/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.wire["matches"] == [
        {
            "path": "cart.py",
            "line": 1,
            "snippet": "def total():",
            "columns": [5, 10],
            "bytes": [4, 9],
        }
    ]
    assert answer.result["isError"] is False


def test_both_eras_give_the_same_answer(http_server: Any) -> None:
    old = http_server.call("get_code", context="v1", path="cart.py", start_line=1, end_line=2)
    new = http_server.call("get_code", True, context="v1", path="cart.py", start_line=1, end_line=2)
    assert old.status == new.status == 200
    assert old.wire == new.wire
    assert "resultType" not in old.result
    assert new.result["resultType"] == "complete"
    assert new.result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "vacmcp"


def test_a_failing_query_is_an_error_result_with_the_envelope(http_server: Any) -> None:
    for modern in (False, True):
        answer = http_server.call("search_code", modern, context="none", query="x")
        assert answer.status == 200
        assert answer.result["isError"] is True
        assert answer.wire["error"]["code"] == "CONTEXT_NOT_FOUND"


def test_bad_arguments_are_an_error_result_too(http_server: Any) -> None:
    for modern in (False, True):
        answer = http_server.call("search_code", modern, context="v1", query=None)
        assert answer.wire["error"] == {
            "code": "INVALID_ARGUMENT",
            "message": "search_code: query is a JSON null, not a JSON string",
            "details": {"argument": "query", "expected": "string", "actual": "null"},
        }


def test_an_unknown_tool_is_an_invalid_parameter(http_server: Any) -> None:
    assert http_server.call("nope").message["error"]["code"] == -32602
    modern = http_server.call("nope", True)
    assert (modern.status, modern.message["error"]["code"]) == (400, -32602)


def test_tools_list_is_the_same_for_everybody_and_may_be_kept(http_server: Any, meta: Any) -> None:
    new = http_server.request(modern_list(meta), headers=MODERN).result
    old = http_server.request(LIST).result
    assert [tool["name"] for tool in old["tools"]] == sorted(tool["name"] for tool in old["tools"])
    assert len(old["tools"]) == 7
    assert new["tools"] == old["tools"]
    assert new["ttlMs"] >= 3_600_000
    assert new["cacheScope"] == "public"


def test_discovery_names_tools_and_nothing_else(http_server: Any, meta: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    result = http_server.request(body, headers=headers).result
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "2026-07-28" in result["supportedVersions"]
    assert result["cacheScope"] == "public"
    assert "list_contexts" in result["instructions"]


@pytest.mark.parametrize("version", [*LEGACY, "2026-07-28", "1999-01-01"])
def test_initialize_agrees_on_a_version(http_server: Any, version: str) -> None:
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    result = http_server.request(body).result
    assert result["protocolVersion"] == (version if version in LEGACY else "2025-11-25")
    assert result["serverInfo"]["name"] == "vacmcp"


@pytest.mark.parametrize("version", LEGACY)
def test_every_older_version_is_served_on_the_same_endpoint(http_server: Any, version: str) -> None:
    answer = http_server.request(LIST, headers={"MCP-Protocol-Version": version})
    assert len(answer.result["tools"]) == 7


def test_an_unsupported_version_is_told_what_is_supported(http_server: Any, meta: Any) -> None:
    asked = {**meta, "io.modelcontextprotocol/protocolVersion": "1900-01-01"}
    answer = http_server.request(
        {**LIST, "params": {"_meta": asked}},
        headers={**MODERN, "MCP-Protocol-Version": "1900-01-01"},
    )
    assert answer.status == 400
    assert answer.message["error"]["code"] == -32022


def test_a_new_envelope_without_its_header_is_refused(http_server: Any, meta: Any) -> None:
    for headers in ({}, {"MCP-Protocol-Version": "2025-11-25"}):
        answer = http_server.request(modern_list(meta), headers=headers)
        assert (answer.status, answer.message["error"]["code"]) == (400, -32020)


def test_a_call_that_wants_progress_is_answered_on_a_stream(http_server: Any) -> None:
    params = {"name": "list_contexts", "arguments": {}, "_meta": {"progressToken": "p"}}
    answer = http_server.request(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [context["id"] for context in answer.wire["contexts"]] == ["v1", "v2"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/mcp"])
def test_only_post_is_allowed(http_server: Any, method: str, path: str) -> None:
    answer = http_server.request(method=method, path=path)
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/mcp/", "/x", "//", "/metrics", "/mcp/../x"])
def test_nothing_else_is_there(http_server: Any, path: str) -> None:
    assert http_server.request(LIST, path=path).status == 404


def test_health_is_told_without_a_host_check(http_server: Any) -> None:
    for path in ("/healthz", "/readyz"):
        answer = http_server.request(method="GET", path=path, headers={"Host": "10.1.2.3"})
        assert (answer.status, answer.body) == (200, b"ok\n")
        assert http_server.request(PING, path=path).status == 405


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "127.0.0.1:1", "LOCALHOST:8080", "[::1]:8080"]
)
def test_loopback_names_are_answered_with_and_without_port(http_server: Any, host: str) -> None:
    assert http_server.request(LIST, headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8080",
        "localhost:80@evil.example",
        "::1",
        "0.0.0.0",
        "10.0.0.1:8080",
    ],
)
def test_another_host_is_misdirected(http_server: Any, host: str) -> None:
    assert http_server.request(LIST, headers={"Host": host}).status == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "file://", "http://localhost.evil.example", "https://a@b", ""],
)
def test_a_foreign_origin_is_forbidden(http_server: Any, origin: str) -> None:
    assert http_server.request(LIST, headers={"Origin": origin}).status == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1"])
def test_a_local_origin_is_answered_but_given_no_cors(http_server: Any, origin: str) -> None:
    answer = http_server.request(LIST, headers={"Origin": origin})
    assert answer.status == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_configured_names_are_answered_on_another_bind(start: Any) -> None:
    server = start("http", "--address", ":0", "--host", "vacmcp.internal").ready()
    for host, status in (("vacmcp.internal:8080", 200), ("localhost", 200), ("evil.example", 421)):
        assert server.request(LIST, headers={"Host": host}).status == status


@pytest.mark.parametrize("kind", [None, "text/plain", "application/jsonp", ""])
def test_another_content_type_is_refused(http_server: Any, kind: str | None) -> None:
    assert http_server.request(LIST, headers={"Content-Type": kind}).status == 415


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_content_type_may_have_parameters(http_server: Any, kind: str) -> None:
    assert http_server.request(LIST, headers={"Content-Type": kind}).status == 200


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 406),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("*/*", 200),
        ("text/*;q=0.5, application/*", 200),
    ],
)
def test_both_forms_of_an_answer_have_to_be_acceptable(
    http_server: Any, accept: str | None, status: int
) -> None:
    assert http_server.request(LIST, headers={"Accept": accept}).status == status


def test_an_accept_may_come_in_two_headers(http_server: Any) -> None:
    lines = ("Accept: application/json", "Accept: text/event-stream")
    assert http_server.status_of(LIST, "Host: localhost", *lines) == 200


def test_a_second_origin_hides_behind_no_first(http_server: Any) -> None:
    lines = ("Accept: */*", "Origin: http://localhost", "Origin: http://evil.example")
    assert http_server.status_of(LIST, "Host: localhost", *lines) == 403


def test_a_second_host_is_refused(http_server: Any) -> None:
    assert http_server.status_of(LIST, "Host: localhost", "Host: evil", "Accept: */*") == 400


@pytest.mark.parametrize("message", ["notifications/initialized", "notifications/cancelled"])
def test_a_notification_is_accepted_without_an_answer(http_server: Any, message: str) -> None:
    body = {"jsonrpc": "2.0", "method": message, "params": {"requestId": 1}}
    answer = http_server.request(body)
    assert (answer.status, answer.body) == (202, b"")
    answer = http_server.request(body, headers={"MCP-Protocol-Version": "2026-07-28"})
    assert (answer.status, answer.body) == (202, b"")


def test_a_posted_response_is_accepted_and_ignored(http_server: Any) -> None:
    assert http_server.request({"jsonrpc": "2.0", "id": 1, "result": {}}).status == 202


DEEP = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 100 + b"]" * 100 + b"}}"
ABYSS = b"[" * 200_000 + b"]" * 200_000

MALFORMED = [
    (b"", -32700),
    (b"{not json", -32700),
    (b"\xff\xfe", -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}', -32700),
    (b"1" * 5000, -32700),
    (ABYSS, -32700),
    (DEEP, -32600),
    (b"[]", -32600),
    (json.dumps([PING, PING]).encode(), -32600),
    (b"5", -32600),
    (b"null", -32600),
    (b'{"id":1,"method":"ping"}', -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"p\\udc00"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600),
]


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize(("body", "code"), MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_message_gets_a_json_rpc_error(
    http_server: Any, body: bytes, code: int, modern: bool
) -> None:
    headers = MODERN if modern else {}
    answer = http_server.request(body, headers=headers)
    assert answer.status == 400
    assert answer.message["error"]["code"] == code
    assert "id" in answer.message
    assert "pydantic" not in answer.body.decode()
    assert http_server.request(PING).result == {}


def test_malformed_parameters_are_refused_without_the_validators_prose(http_server: Any) -> None:
    for params in (None, {}, {"name": 5}, {"name": "get_code", "arguments": [1]}):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        answer = http_server.request(body if params is None else {**body, "params": params})
        assert answer.message["error"] == {
            "code": -32602,
            "message": "invalid request parameters",
        }


@pytest.mark.parametrize("method", ["no/such", "resources/list", "prompts/list", "x" * 5000])
def test_an_unknown_method_is_not_found(http_server: Any, method: str) -> None:
    assert (
        http_server.request({"jsonrpc": "2.0", "id": 1, "method": method}).message["error"]["code"]
        == -32601
    )


def test_an_unknown_method_of_the_new_version_is_404(http_server: Any, meta: Any) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {"_meta": meta}}
    answer = http_server.request(body, headers={**MODERN, "Mcp-Method": "no/such"})
    assert (answer.status, answer.message["error"]["code"]) == (404, -32601)


def test_text_ids_come_back_as_they_were(http_server: Any) -> None:
    for number in ("abc", "1", "", 0, -3, 2**53, "é" * 300):
        assert http_server.request({**PING, "id": number}).message["id"] == number


def test_a_body_over_one_mebibyte_is_too_large(http_server: Any) -> None:
    body = json.dumps({**PING, "params": {"_meta": {"pad": "x" * 1_048_576}}}).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
    )
    declared = raw(http_server.port, f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
    assert declared.startswith(b"HTTP/1.1 413 ")
    chunk = f"{0x110000:x}\r\n".encode() + b" " * 0x110000 + b"\r\n"
    chunked = raw(http_server.port, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk)
    assert chunked.startswith(b"HTTP/1.1 413 ")


def test_a_body_of_one_mebibyte_is_read(http_server: Any) -> None:
    body = json.dumps({**PING, "params": {"pad": ""}}).encode()
    padded = body.replace(b'""', b'"' + b"x" * (1_048_576 - len(body)) + b'"')
    assert len(padded) == 1_048_576
    assert http_server.request(padded).result == {}


def test_lone_surrogates_in_arguments_are_an_invalid_argument(http_server: Any) -> None:
    for modern in (False, True):
        answer = http_server.call("search_code", modern, context="v1", query="caf\udce9")
        assert answer.wire["error"]["details"] == {"argument": "query"}


def test_lone_surrogates_in_answers_are_replaced(http_server: Any) -> None:
    for modern in (False, True):
        answer = http_server.call("search_code", modern, context="v1", query="surrogate")
        assert answer.wire["matches"][0]["snippet"] == "caf\N{REPLACEMENT CHARACTER}"


def test_a_defect_is_logged_without_words_and_answered_without_a_leak(http_server: Any) -> None:
    for modern in (False, True):
        answer = http_server.call("search_code", modern, context="v1", query="explode in private")
        assert answer.message["error"]["code"] == -32603
        assert b"secret" not in answer.body
        assert b"private" not in answer.body
    said = http_server.heard("served.py")
    assert "builtins.RuntimeError" in said
    assert "secret" not in said
    assert "private" not in said


def test_two_requests_on_one_connection_are_both_answered(http_server: Any) -> None:
    body = json.dumps(PING).encode()
    head = (
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: */*\r\nContent-Length: {len(body)}\r\n"
    )
    one = f"{head}\r\n".encode() + body
    last = f"{head}Connection: close\r\n\r\n".encode() + body
    assert raw(http_server.port, one + last).count(b'"result":{}') == 2


def test_no_header_names_the_software(http_server: Any) -> None:
    assert "server" not in http_server.request(PING).headers
