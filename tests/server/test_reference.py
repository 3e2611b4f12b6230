"""The original's recorded HTTP and stdio exchanges, replayed against this server.

``tests/reference/http.json`` and ``stdio.json`` hold requests, statuses, JSON-RPC codes, result
keys and schemas' names, no prose. What differs everywhere is in ``told``; what differs in a case
stands in DIFFERENCES with its reason, and in ``docs/differences.md``.
"""

import json
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).parents[1] / "reference"
HTTP: dict[str, Any] = json.loads((REFERENCE / "http.json").read_text(encoding="utf-8"))
STDIO: dict[str, Any] = json.loads((REFERENCE / "stdio.json").read_text(encoding="utf-8"))
DOCUMENT = Path(__file__).parents[2] / "docs" / "differences.md"

ACCEPT = "what can't be answered acceptably is 406, which says so; the original gives 400"
ORIGIN = "a page of another origin is refused; the original does not look"
NO_METHOD = "methods of capabilities that are not advertised do not exist"
VERSIONS = "discovery names the versions that need no handshake, which are those it can be used for"
STATUS = "a JSON-RPC error travels in an HTTP success before 2026-07-28, as over stdio"
BATCH = "batches were dropped from the protocol in 2025-06-18; refused without ending anything"
SIGNAL = "a requested stop is a clean end, exit 0; the recorded version died of the signal"

DIFFERENCES: dict[str, tuple[str, dict[str, Any]]] = {
    "http/accept_json_only": (ACCEPT, {"status": 406}),
    "http/accept_sse_only": (ACCEPT, {"status": 406}),
    "http/batch": (BATCH, {"status": 400, "answer": {"id": None, "error": -32600}}),
    "http/call_no_params": (STATUS, {"status": 200, "answer": {"id": 1, "error": -32602}}),
    "http/float_id": (
        "an id with a fraction is refused; the original answers another id than was sent",
        {"status": 400, "answer": {"id": None, "error": -32600}},
    ),
    "http/host_evil": ("a request for another host is 421, as HTTP has it", {"status": 421}),
    "http/logging_setLevel": (NO_METHOD, {"answer": {"id": 1, "error": -32601}}),
    "http/no_accept": (ACCEPT, {"status": 406}),
    "http/origin_evil": (ORIGIN, {"status": 403, "answer": None}),
    "http/origin_null": (ORIGIN, {"status": 403, "answer": None}),
    "http/params_array": (
        "params that are no object are no request: -32600 and 400",
        {"status": 400, "answer": {"id": 1, "error": -32600}},
    ),
    "http/prompts_list": (NO_METHOD, {"answer": {"id": 1, "error": -32601}}),
    "http/resources_list": (NO_METHOD, {"answer": {"id": 1, "error": -32601}}),
    "http/sec_fetch_cross": (ORIGIN, {"status": 403, "answer": None}),
    "http/server_discover_meta_methodhdr": (VERSIONS, {}),
    "http/subscribe_listen": (NO_METHOD, {"answer": {"id": 1, "error": -32601}}),
    "http/unknown_method": (STATUS, {"status": 200, "answer": {"id": 1, "error": -32601}}),
    "stdio/batch": (
        BATCH,
        {"exit": 0, "received": [*STDIO["batch"]["received"], {"id": None, "error": -32600}]},
    ),
    "stdio/call_without_init": (
        "a call before the handshake is -32602; 0 is no code of the protocol",
        {"received": [{"id": 1, "error": -32602}]},
    ),
    "stdio/discover_then_call_2026": (VERSIONS, {}),
    "stdio/double_init": (
        "a second handshake starts over instead of failing with 0, which is no code",
        {"received": [{**STDIO["double_init"]["received"][0], "id": number} for number in (1, 2)]},
    ),
    "stdio/parse_error": (
        "a line that is not JSON is answered and the session goes on; the original ends",
        {
            "exit": 0,
            "received": [
                *STDIO["parse_error"]["received"],
                {"id": None, "error": -32700},
                {"id": 2, "keys": []},
            ],
        },
    ),
    "stdio/sigint": (SIGNAL, {"exit": 0}),
    "stdio/sigterm": (SIGNAL, {"exit": 0}),
}


def shape(message: dict[str, Any]) -> dict[str, Any]:
    """A message reduced as the recorded ones are."""
    if "error" in message:
        return {"id": message["id"], "error": message["error"]["code"]}
    result = message["result"]
    out: dict[str, Any] = {"id": message["id"], "keys": sorted(result)}
    for key in (
        "protocolVersion",
        "capabilities",
        "supportedVersions",
        "cacheScope",
        "resultType",
        "isError",
    ):
        if key in result:
            out[key] = result[key]
    if "serverInfo" in result:
        out["serverInfo"] = sorted(result["serverInfo"])
    if "tools" in result:
        out["tools"] = [tool(each) for each in result["tools"]]
    if "content" in result:
        body = json.loads(result["content"][0]["text"])
        error = body.get("error")
        kept = {"code": error["code"], "details": error["details"]} if error else None
        out["answer"] = {"error": kept} if kept else sorted(body)
    return out


def tool(listed: dict[str, Any]) -> dict[str, Any]:
    schema = listed["inputSchema"]
    return {
        "name": listed["name"],
        "arguments": list(schema.get("properties", {})),
        "required": schema.get("required", []),
        "annotations": sorted(listed["annotations"]),
    }


def told(recorded: dict[str, Any]) -> dict[str, Any]:
    """What the recorded message is here, after the differences that hold everywhere."""
    expected = dict(recorded)
    keys = set(expected.get("keys", ()))
    if "capabilities" in expected:
        # The tools never change, and clients are told what contexts are.
        expected["capabilities"] = {"tools": {"listChanged": False}}
        keys.add("instructions")
    if "supportedVersions" in expected:
        expected["supportedVersions"] = ["2026-07-28"]
    if "content" in keys:
        # isError is always there; an error carries its envelope in both forms.
        expected.setdefault("isError", False)
        keys |= {"isError", "structuredContent"}
    if "tools" in keys and "resultType" not in keys:
        # The versions before 2026-07-28 have no such fields.
        keys -= {"ttlMs", "cacheScope"}
        expected.pop("cacheScope", None)
    if keys:
        expected["keys"] = sorted(keys)
    return expected


def check(recorded: Any, ours: Any) -> None:
    """Compare two messages; tools may have more than the recorded ones, in the same order."""
    expected = told(recorded)
    listed = expected.pop("tools", [])
    found = {each["name"]: each for each in ours.pop("tools", [])}
    assert ours == expected
    for each in listed:
        mine = found.pop(each["name"])
        kept = [name for name in mine["arguments"] if name in each["arguments"]]
        assert kept == each["arguments"]
        assert mine["required"] == each["required"]
        assert set(mine["annotations"]) > set(each["annotations"])
    # The recorded version had six tools; the seventh came later.
    assert set(found) <= {"search_history"}


@pytest.mark.parametrize("case", HTTP)
def test_a_recorded_http_exchange_is_the_same_here(
    http_server: Any, request: pytest.FixtureRequest, case: str
) -> None:
    recorded = {**HTTP[case], **DIFFERENCES.get(f"http/{case}", ("", {}))[1]}
    server = http_server
    if case.startswith("noconfig"):
        server = request.getfixturevalue("empty_server")
    body = recorded["body"]
    answer = server.request(
        body.encode() if isinstance(body, str) else body,
        method=recorded["method"],
        path=recorded["path"],
        headers=recorded["headers"],
    )
    assert answer.status == recorded["status"]
    assert answer.headers.get("allow") == recorded.get("allow")
    if recorded["answer"] is not None:
        check(recorded["answer"], shape(answer.message))


@pytest.mark.parametrize("case", STDIO)
def test_a_recorded_stdio_exchange_is_the_same_here(start: Any, pipe: Any, case: str) -> None:
    recorded = {**STDIO[case], **DIFFERENCES.get(f"stdio/{case}", ("", {}))[1]}
    client = pipe(start("stdio").ready())
    client.send(*(line.encode() if isinstance(line, str) else line for line in recorded["sent"]))
    if case.startswith("sig"):
        client.answer(1)
        assert client.server.stop(15 if case == "sigterm" else 2) == recorded["exit"]
    else:
        client.close()
        assert client.server.wait() == recorded["exit"]
    ours = [shape(message) for message in client.all()]
    assert len(ours) == len(recorded["received"]), ours
    for expected in recorded["received"]:
        (mine,) = [message for message in ours if message["id"] == expected["id"]]
        check(expected, mine)


def test_every_difference_is_documented_and_of_a_recorded_case() -> None:
    cases = {f"http/{case}" for case in HTTP} | {f"stdio/{case}" for case in STDIO}
    assert set(DIFFERENCES) <= cases
    document = DOCUMENT.read_text(encoding="utf-8")
    rows = [f"| `{case}` | {reason} |" for case, (reason, _) in sorted(DIFFERENCES.items())]
    assert "\n".join(rows) in document
