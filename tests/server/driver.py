"""Runs the real server over the fakes of served.py, as the command line would over real data."""

import argparse
import os
import sys
from pathlib import Path

import served

from vacmcpd.errors import VacmcpError
from vacmcpd.server.http import bind
from vacmcpd.server.proxy import run_proxy
from vacmcpd.server.run import run_http, run_stdio


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["http", "stdio", "proxy"])
    parser.add_argument("--address", default="127.0.0.1:0")
    parser.add_argument("--engine", default="build")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--drain", type=float, default=30.0)
    parser.add_argument("--host", action="append", default=[])
    parser.add_argument("--socket", type=Path)
    options = parser.parse_args()
    factory = getattr(served, options.engine)
    if options.mode == "proxy":
        return run_proxy(options.socket)
    if options.mode == "stdio":
        return run_stdio(
            factory=factory,
            budgets=served.budgets(),
            proxy_socket_path=options.socket,
            on_ready=lambda: say("ready"),
        )
    with bind(options.address) as socket:
        say(f"listening {socket.getsockname()[1]}")
        return run_http(
            socket=socket,
            factory=factory,
            workers=options.workers,
            budgets=served.budgets(),
            drain_seconds=options.drain,
            allowed_hosts=options.host,
            proxy_socket_path=options.socket,
            on_ready=lambda: say("ready"),
        )


def say(line: str) -> None:
    os.write(2, f"driver: {line}\n".encode())


if __name__ == "__main__":
    try:
        sys.exit(main())
    except VacmcpError as failure:
        say(str(failure))
        sys.exit(1)
