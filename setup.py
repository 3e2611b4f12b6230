"""The packages, found rather than listed; everything else is in ``pyproject.toml``."""

from setuptools import find_packages, setup

# These three folders stand at the top and are installed inside vacmcpd, so they can't be found.
_ELSEWHERE = ["vacmcpd.cli", "vacmcpd.migrations", "vacmcpd.migrations.versions", "vacmcpd.systemd"]

setup(packages=[*find_packages(include=["vacmcpd", "vacmcpd.*"]), *_ELSEWHERE])
