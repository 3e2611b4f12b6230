"""vacmcp: version-aware code intelligence for AI coding agents.

The engine without a server: build an :class:`vacmcpd.engine.Engine` over the ports of
:mod:`vacmcpd.ports`, or let :mod:`vacmcpd.composition` wire one from a data directory.
"""

from typing import Any

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    # Asking the installation for its version costs more than most commands have to spare.
    if name == "__version__":
        from .version import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
