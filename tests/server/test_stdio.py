"""The stdio server: both eras, hostile lines, the end of input, signals and dead parents."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Poll = Callable[..., Any]
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
posix = pytest.mark.skipif(os.name != "posix", reason="signals and parents are POSIX")


def text_of(message: Any) -> Any:
    result = message["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


@pytest.mark.parametrize("version", LEGACY)
def test_a_handshake_opens_a_session_of_that_version(stdio_server: Any, version: str) -> None:
    assert stdio_server.initialize(version)["result"]["protocolVersion"] == version
    stdio_server.call(1, "search_code", context="v1", query="total")
    assert text_of(stdio_server.answer(1))["total_matches"] == 1
    stdio_server.send(PING)
    assert stdio_server.answer("ping")["result"] == {}


def test_the_new_version_needs_no_handshake(stdio_server: Any) -> None:
    stdio_server.call(1, "search_code", meta=True, context="v1", query="total")
    answer = stdio_server.answer(1)
    assert text_of(answer)["total_matches"] == 1
    assert answer["result"]["resultType"] == "complete"


def test_an_unknown_tool_and_method_are_errors(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "nope")
    stdio_server.send({"jsonrpc": "2.0", "id": 2, "method": "no/such"})
    assert stdio_server.answer(1)["error"]["code"] == -32602
    assert stdio_server.answer(2)["error"]["code"] == -32601


HOSTILE = [
    (b"{not json", -32700),
    (b"\xff\xfe\x00", -32700),
    (b"[" * 200_000, -32700),
    (
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 90 + b"]" * 90 + b"}}",
        -32600,
    ),
    (b"[]", -32600),
    (json.dumps([PING, PING]).encode(), -32600),
    (b"null", -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"x\\ud800"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":7}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"error":7}', -32600),
    (b" " * 1_100_000 + json.dumps(PING).encode(), -32600),
]


@pytest.mark.parametrize("opened", [False, True], ids=["first", "later"])
def test_a_hostile_line_is_answered_and_never_ends_the_server(
    stdio_server: Any, opened: bool
) -> None:
    if opened:
        stdio_server.initialize()
    stdio_server.send(*(line for line, _ in HOSTILE), b"", b"  ")
    stdio_server.send({"jsonrpc": "2.0", "method": "no/such/notification"})
    stdio_server.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    if not opened:
        stdio_server.initialize()
    stdio_server.send(PING)
    stdio_server.answer("ping")
    errors = [message for message in stdio_server.messages if "error" in message]
    assert [error["error"]["code"] for error in errors] == [code for _, code in HOSTILE]
    assert "pydantic" not in str(errors)


def test_lone_surrogates_neither_come_out_nor_end_the_server(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "search_code", context="v1", query="surrogate")
    stdio_server.call(2, "search_code", context="v1", query="caf\udce9")
    stdio_server.call(3, "none\udce9")
    found = text_of(stdio_server.answer(1))["matches"][0]["snippet"]
    assert found == "caf\N{REPLACEMENT CHARACTER}"
    assert text_of(stdio_server.answer(2))["error"]["details"] == {"argument": "query"}
    assert stdio_server.answer(3)["error"]["code"] == -32600


def test_only_the_protocol_reaches_standard_output(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "search_code", context="v1", query="print")
    assert text_of(stdio_server.answer(1))["total_matches"] == 1
    stdio_server.close()
    assert all(message["jsonrpc"] == "2.0" for message in stdio_server.all())
    assert "noise from a provider" in stdio_server.server.stderr
    assert "noise from a child" in stdio_server.server.stderr


def test_a_defect_is_logged_without_words_and_answered_without_a_leak(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "search_code", context="v1", query="explode in private")
    answer = stdio_server.answer(1)
    assert answer["error"]["code"] == -32603
    for said in (str(answer), stdio_server.server.stderr):
        assert "secret" not in said
        assert "private" not in said
    assert "builtins.RuntimeError" in stdio_server.server.stderr


def test_calls_that_were_read_are_answered_after_the_end_of_input(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "search_code", context="v1", query="slow 0.5")
    stdio_server.call(2, "search_code", context="v1", query="total")
    stdio_server.close()
    answered = {message["id"]: message for message in stdio_server.all()}
    assert text_of(answered[1])["total_matches"] == 1
    assert text_of(answered[2])["total_matches"] == 1
    assert stdio_server.server.wait() == 0


def test_a_call_that_outlasts_the_end_of_input_is_cancelled(stdio_server: Any, poll: Poll) -> None:
    stdio_server.initialize()
    stdio_server.call(1, "search_code", context="v1", query="slow 60")
    poll(lambda: stdio_server.server.notes("started"), "the call's start")
    stdio_server.close()
    assert stdio_server.server.wait() == 0
    assert stdio_server.server.notes("ended")


def test_the_last_line_needs_no_line_end(stdio_server: Any) -> None:
    stdio_server.initialize()
    stdio_server.server.process.stdin.write(json.dumps(PING).encode())
    stdio_server.close()
    assert stdio_server.all()[-1] == {"jsonrpc": "2.0", "id": "ping", "result": {}}


def test_an_end_of_input_without_a_word_is_a_clean_end(stdio_server: Any) -> None:
    stdio_server.close()
    assert stdio_server.all() == []
    assert stdio_server.server.wait() == 0


def test_input_may_be_a_file(start: Any, tmp_path: Path) -> None:
    lines = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "0"},
            },
        },
        PING,
    ]
    script = tmp_path / "input"
    script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    driver = Path(__file__).with_name("driver.py")
    with script.open("rb") as file:
        done = subprocess.run(
            [sys.executable, str(driver), "stdio"], stdin=file, capture_output=True, check=True
        )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, "ping"]


@pytest.mark.parametrize("meta", [False, True])
def test_a_cancelled_call_stops_and_is_not_answered(
    stdio_server: Any, poll: Poll, meta: bool
) -> None:
    if not meta:
        stdio_server.initialize()
    stdio_server.call(5, "search_code", meta=meta, context="v1", query="slow 60")
    poll(lambda: stdio_server.server.notes("started"), "the call's start")
    stdio_server.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    )
    poll(lambda: stdio_server.server.notes("ended"), "the cancel")
    stdio_server.call(6, "list_contexts", meta=meta)
    stdio_server.answer(6)
    stdio_server.close()
    assert 5 not in [message.get("id") for message in stdio_server.all()]


def test_an_engine_that_overruns_its_budgets_is_answered_for(start: Any, pipe: Any) -> None:
    client = pipe(start("stdio", SERVED_SEARCH="0.1", SERVED_RESOLVE="0.1").ready())
    client.initialize()
    client.call(1, "search_code", context="v1", query="stuck 60")
    assert text_of(client.answer(1))["error"]["details"] == {
        "operation": "search",
        "provider": "engine",
        "timeout_ms": 200,
    }
    client.close()
    assert client.server.wait() == 0


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_signal_ends_the_server_while_input_stays_open(
    stdio_server: Any, poll: Poll, number: int, busy: bool
) -> None:
    stdio_server.initialize()
    if busy:
        stdio_server.call(1, "search_code", context="v1", query="stuck 60")
        poll(lambda: stdio_server.server.notes("started"), "the call's start")
    assert stdio_server.server.stop(number) == 0


@posix
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_readiness_ends_the_server(start: Any, poll: Poll, number: int) -> None:
    server = start("stdio", "--engine", "build_never")
    poll(lambda: server.notes("building"), "the engine")
    assert server.stop(number) == 0


@posix
def test_a_server_whose_client_dies_ends_though_the_pipe_stays_open(start: Any, poll: Poll) -> None:
    # A client between us and the server, which hands the server our end of the pipe.
    client = (
        "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]); "
        "os.write(2, b'driver: listening %d\\n' % child.pid); child.wait()"
    )
    server = start("stdio", prefix=(sys.executable, "-c", client)).ready()
    served = server.port
    server.process.kill()
    poll(lambda: gone(served), "the end of the orphan")


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@posix
def test_a_client_that_stops_reading_does_not_hold_a_signal_up(start: Any, poll: Poll) -> None:
    server = start("stdio").ready()
    big = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"}).encode()
    for _ in range(2000):
        server.process.stdin.write(big + b"\n")
    server.process.stdin.flush()
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 20


def test_an_engine_that_can_not_be_built_ends_the_server_with_the_reason(start: Any) -> None:
    server = start("stdio", "--engine", "build_broken")
    assert server.wait() == 1
    assert server.process.stdout.read() == b""
    assert "driver: ARTIFACT_MISSING: the index is gone; rebuild it" in server.said
