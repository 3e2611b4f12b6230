"""Listen addresses, and the names that a server answers to."""

import socket

import pytest

from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.server.address import bind, is_loopback, split
from vacmcpd.server.hosts import HostPolicy


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:8080", ("127.0.0.1", 8080)),
        (":8080", ("", 8080)),
        ("[::1]:0", ("::1", 0)),
        ("localhost:1", ("localhost", 1)),
        (" 0.0.0.0:65535 ", ("0.0.0.0", 65535)),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, parts: tuple[str, int]) -> None:
    assert split(address) == parts


@pytest.mark.parametrize(
    "address",
    ["", "8080", "host", "host:", "host:x", "a:b:1", "::1:80", "[::1]", "h:65536", "a b:1"],
)
def test_what_is_no_address_is_refused_with_the_forms_there_are(address: str) -> None:
    with pytest.raises(LifecycleError, match="write host:port") as caught:
        bind(address)
    assert caught.value.code is BuildCode.INVALID_ARGUMENT


def test_an_address_in_use_is_refused_with_the_reason() -> None:
    with bind("127.0.0.1:0") as first:
        taken = f"127.0.0.1:{first.getsockname()[1]}"
        with pytest.raises(LifecycleError, match="choose another --address") as caught:
            bind(taken)
    assert caught.value.details["address"] == taken
    assert "in use" in caught.value.details["reason"]


def test_an_address_of_somebody_else_is_refused() -> None:
    with pytest.raises(LifecycleError, match=r"can't listen on 192\.0\.2\.1:1"):
        bind("192.0.2.1:1")


def test_a_bound_socket_takes_connections_at_once() -> None:
    with bind("127.0.0.1:0") as listener:
        socket.create_connection(listener.getsockname()[:2], timeout=5).close()


def test_no_host_means_every_interface() -> None:
    with bind(":0") as listener:
        assert not is_loopback(listener.getsockname()[0])
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=5).close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_is_told_from_the_rest(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_server_on_an_address_answers_to_it_and_to_what_was_configured() -> None:
    policy = HostPolicy("192.168.1.5", ["vacmcp.internal"])
    for host in ("192.168.1.5", "192.168.1.5:8080", "VACMCP.internal:1", "localhost"):
        assert policy.admits_host(host)
    for foreign in ("192.168.1.6", "internal", None, "", "vacmcp.internal:", "vacmcp.internal:x"):
        assert not policy.admits_host(foreign)
    assert HostPolicy("fd00::1").admits_host("[FD00::1]:8080")


@pytest.mark.parametrize("bound", ["0.0.0.0", "::"])
def test_a_server_on_every_interface_answers_to_any_address_and_to_no_other_name(
    bound: str,
) -> None:
    policy = HostPolicy(bound, ["box"])
    for host in ("192.168.1.5:8080", "10.0.0.1", "[fd00::1]:8080", "localhost:1", "Box:8080"):
        assert policy.admits_host(host)
    for foreign in ("evil.example", "10.0.0.1.evil.example", "1e3", "[box]", "10.0.0.1:x", None):
        assert not policy.admits_host(foreign)
    # A page can be served from any address; it still is not this server's own.
    assert not policy.admits_origin("http://10.0.0.1")


def test_no_origin_is_no_browser() -> None:
    assert HostPolicy("127.0.0.1").admits_origin(None)
