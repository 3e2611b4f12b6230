"""``vacmcpd``: what ``vacmcp serve --managed`` does, without the command line's libraries."""

import argparse
import os
import sys
from pathlib import Path

from .datadir import DataDirectory
from .errors import Locked, VacmcpError
from .version import __version__


def main() -> None:
    """Serve the data directory and end the process with the server's exit code."""
    parser = argparse.ArgumentParser(
        prog="vacmcpd", description="Serve the READY contexts of a vacmcp data directory over MCP."
    )
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--data-dir", type=Path, help="default: VACMCP_DATA_DIR, then ~/.vacmcp")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--address", metavar="HOST:PORT", help="default: from settings.toml")
    way.add_argument("--stdio", action="store_true", help="serve one client on stdin and stdout")
    options = parser.parse_args()
    try:
        sys.exit(_serve(options))
    except VacmcpError as error:
        print(f"vacmcpd: {error}", file=sys.stderr)
        sys.exit(4 if isinstance(error, Locked) else 1)


def _serve(options: argparse.Namespace) -> int:
    from . import settings
    from .server.managed import serve_http, serve_stdio

    root = options.data_dir or Path(os.environ.get("VACMCP_DATA_DIR") or Path.home() / ".vacmcp")
    overrides = {"server.address": options.address} if options.address else {}
    loaded = settings.load(DataDirectory(root), os.environ, overrides).settings
    if options.stdio:
        return serve_stdio(root, loaded)
    return serve_http(root, loaded, loaded.server.address)


if __name__ == "__main__":
    main()
