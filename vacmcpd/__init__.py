"""vacmcp: version-aware code intelligence for AI coding agents.

The engine without a server: build an :class:`vacmcpd.engine.Engine` over the ports of
:mod:`vacmcpd.ports`, or let :mod:`vacmcpd.composition` wire one from a data directory.
"""

from .version import __version__

__all__ = ["__version__"]
