"""The HTTP server's life: readiness, cancelling, draining, and workers that die or hang."""

import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and kill -9 are POSIX")

Poll = Callable[..., Any]


def slow_body(seconds: float, meta: dict[str, Any]) -> dict[str, Any]:
    arguments = {"context": "v1", "query": f"slow {seconds}"}
    params = {"name": "search_code", "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
MODERN = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "search_code",
}


def test_a_client_may_connect_before_the_server_is_ready(start: Any) -> None:
    server = start("http")
    # The port is known before the heavy imports; the request waits for them.
    assert server.call("list_contexts").wire["contexts"]
    server.ready()
    assert server.request(method="GET", path="/readyz").status == 200


def test_an_engine_that_can_not_be_built_ends_the_server_with_the_reason(start: Any) -> None:
    server = start("http", "--engine", "build_broken")
    assert server.wait() == 1
    assert "driver: ARTIFACT_MISSING: the index is gone; rebuild it" in server.said


@pytest.mark.parametrize(
    ("headers", "meta"),
    [({}, {}), ({}, {"progressToken": 1}), (MODERN, MODERN_META)],
    ids=["plain", "stream", "modern"],
)
def test_a_client_that_disconnects_cancels_its_call(
    start: Any, poll: Poll, headers: dict[str, str], meta: dict[str, Any]
) -> None:
    server = start("http").ready()
    with server.connect(slow_body(60, meta), headers):
        poll(lambda: server.notes("started"), "the call's start")
    # Cancelled, and by polling: the provider left its loop and its process lives on.
    poll(lambda: server.notes("ended"), "the cancel")
    assert server.notes("ended") == server.notes("started")
    assert server.call("list_contexts").status == 200
    assert not [line for line in server.said if "did not stop" in line]


def test_an_engine_that_ignores_a_cancel_is_replaced(start: Any, poll: Poll) -> None:
    server = start("http", "--workers", "1").ready()
    with server.connect({**slow_body(60, {}), "params": stuck_params(60)}):
        (worker,) = poll(lambda: server.notes("started"), "the call's start")
    poll(lambda: gone(worker), "the end of the worker")
    assert server.call("list_contexts").wire["contexts"]


def stuck_params(seconds: float) -> dict[str, Any]:
    return {"name": "search_code", "arguments": {"context": "v1", "query": f"stuck {seconds}"}}


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_an_engine_that_overruns_its_budgets_is_replaced_and_answered_for(start: Any) -> None:
    server = start("http", "--workers", "1", SERVED_SEARCH="0.1", SERVED_RESOLVE="0.1").ready()
    for modern in (False, True):
        answer = server.call("search_code", modern, context="v1", query="stuck 60")
        assert answer.wire["error"]["code"] == "OPERATION_TIMEOUT"
        assert answer.wire["error"]["details"] == {
            "operation": "search",
            "provider": "engine",
            "timeout_ms": 200,
        }
    first, second = server.notes("started")
    assert first != second
    assert gone(first)


def test_an_engine_that_keeps_its_budgets_says_so_itself(start: Any) -> None:
    server = start("http", "--workers", "1", SERVED_SEARCH="0.1").ready()
    answer = server.call("search_code", context="v1", query="slow 60")
    assert answer.wire["error"]["details"] == {
        "operation": "search",
        "provider": "odd",
        "timeout_ms": 100,
    }


def test_a_call_whose_worker_is_killed_is_tried_again(start: Any, poll: Poll) -> None:
    server = start("http", "--workers", "1").ready()
    call = server.begin("slow 1")
    os.kill(server.notes("started")[0], signal.SIGKILL)
    assert call.result(30).wire["total_matches"] == 1
    first, second = server.notes("started")
    assert first != second


def test_a_call_that_kills_its_worker_once_is_answered(start: Any, tmp_path: Any) -> None:
    server = start("http", "--workers", "1").ready()
    answer = server.call("search_code", context="v1", query=f"crashonce {tmp_path / 'crashed'}")
    assert answer.wire["total_matches"] == 1
    assert len(server.notes("crash")) == 1


def test_a_call_that_kills_every_worker_fails_alone(start: Any) -> None:
    server = start("http", "--workers", "2").ready()
    for modern in (False, True):
        answer = server.call("search_code", modern, context="v1", query="crash")
        assert answer.message["error"]["code"] == -32603
    assert len(server.notes("crash")) == 4
    assert server.call("list_contexts").wire["contexts"]


def test_an_idle_worker_that_is_killed_is_replaced(start: Any, poll: Poll) -> None:
    server = start("http", "--workers", "1").ready()
    server.begin("slow 0").result(30)
    os.kill(server.notes("started")[0], signal.SIGKILL)
    assert server.begin("slow 0").result(30).wire["total_matches"] == 1


def test_workers_end_with_a_server_that_is_killed(start: Any, poll: Poll) -> None:
    server = start("http").ready()
    for call in [server.begin("slow 60"), server.begin("slow 60")]:
        assert not call.done()
    workers = server.notes("started")
    assert len(set(workers)) == 2
    server.process.kill()
    poll(lambda: all(gone(worker) for worker in workers), "the end of the workers")


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_calls_in_flight_are_answered_after_a_signal(start: Any, modern: bool, number: int) -> None:
    server = start("http").ready()
    call = server.begin("slow 1", modern)
    server.process.send_signal(number)
    assert call.result(30).wire["total_matches"] == 1
    assert server.wait() == 0
    assert server.stderr == f"driver: listening {server.port}\ndriver: ready"


def test_a_streamed_call_in_flight_is_answered_after_a_signal(start: Any, poll: Poll) -> None:
    server = start("http").ready()
    with server.connect(slow_body(1, {"progressToken": "p"})) as connection:
        poll(lambda: server.notes("started"), "the call's start")
        server.process.send_signal(signal.SIGTERM)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert b'"isError":false' in received
    assert server.wait() == 0


def test_a_draining_server_takes_no_connections_and_is_not_ready(start: Any, poll: Poll) -> None:
    server = start("http").ready()
    port = server.port
    call = server.begin("slow 2")
    with socket.create_connection(("127.0.0.1", port), timeout=20):
        server.process.send_signal(signal.SIGTERM)
        poll(lambda: refused(port), "the end of the listening")
    assert not call.done()
    assert call.result(30).status == 200
    assert server.wait() == 0


def refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except ConnectionError:
        return True
    return False


def test_a_call_that_outlasts_the_drain_is_cut_off(start: Any) -> None:
    server = start("http", "--drain", "1").ready()
    call = server.begin("slow 60")
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 20
    assert call.result(30).status == 500


def test_a_second_signal_ends_the_server_at_once(start: Any, poll: Poll) -> None:
    server = start("http").ready()
    port = server.port
    call = server.begin("slow 60")
    server.process.send_signal(signal.SIGTERM)
    poll(lambda: refused(port), "the drain")
    assert server.stop(signal.SIGTERM) == 0
    assert call.exception(30) is not None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_readiness_ends_the_server(start: Any, poll: Poll, number: int) -> None:
    server = start("http", "--engine", "build_never")
    assert server.request(method="GET", path="/healthz").status == 200
    assert server.request(method="GET", path="/readyz").status == 503
    waiting = server.call_in_background("list_contexts")
    workers = poll(lambda: server.notes("building"), "the workers")
    assert server.stop(number) == 0
    assert waiting.exception(30) is not None or waiting.result().status == 503
    assert all(gone(worker) for worker in workers)


def test_two_hundred_calls_at_once_are_all_answered(start: Any) -> None:
    server = start("http").ready()

    def call(number: int) -> int:
        answer = server.call("search_code", bool(number % 2), context="v1", query="total")
        return int(answer.wire["total_matches"])

    with ThreadPoolExecutor(200) as pool:
        assert list(pool.map(call, range(200))) == [1] * 200


def test_more_than_can_wait_are_told_that_the_server_is_busy(start: Any, poll: Poll) -> None:
    server = start("http", "--workers", "1").ready()
    blocking = server.begin("slow 60")
    calls: list[Future[Any]] = []
    with ThreadPoolExecutor(300) as pool:
        calls = [pool.submit(server.call, "list_contexts") for _ in range(300)]
        busy = poll(lambda: [call for call in calls if call.done()], "a refusal")
        assert busy[0].result().message["error"]["code"] == -32603
        assert "busy" in busy[0].result().message["error"]["message"]
        assert not blocking.done()
        os.kill(server.notes("started")[0], signal.SIGKILL)
        poll(lambda: len(server.notes("started")) == 2, "the second attempt")
        os.kill(server.notes("started")[1], signal.SIGKILL)
    answered = [call for call in calls if "result" in call.result().message]
    assert len(answered) == 256


def test_nothing_is_written_to_standard_output(start: Any) -> None:
    server = start("http").ready()
    assert server.call("search_code", context="v1", query="print").status == 200
    assert server.stop() == 0
    assert server.process.stdout.read() == b""
    assert "noise from a provider" in server.stderr
    assert "noise from a child" in server.stderr


def test_workers_import_no_protocol_library(start: Any) -> None:
    import subprocess
    import sys

    check = (
        "import vacmcpd.server.worker, sys; "
        "print([name for name in sys.modules if name.split('.')[0] in "
        "('mcp', 'mcp_types', 'uvicorn', 'starlette', 'pydantic', 'anyio')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", check], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
