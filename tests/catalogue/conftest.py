"""Catalogues to test: the one in a file, the one in memory, and both in turn."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from vacmcpd.catalogue import SqliteCatalogue
from vacmcpd.datadir import DataDirectory
from vacmcpd.ports.catalogue import Catalogue
from vacmcpd.testing.catalogue import MemoryCatalogue


@pytest.fixture(scope="session")
def fresh_catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty catalogue's file; copying it is faster than migrating a new one."""
    data = DataDirectory(tmp_path_factory.mktemp("fresh"))
    SqliteCatalogue.open(data).close()
    assert sorted(path.name for path in data.root.glob("catalogue*")) == ["catalogue.sqlite3"]
    return data.catalogue


@pytest.fixture
def data(data_root: Path, fresh_catalogue: Path) -> DataDirectory:
    """A data directory with an empty catalogue."""
    found = DataDirectory(data_root)
    found.create()
    shutil.copy(fresh_catalogue, found.catalogue)
    return found


@pytest.fixture
def sqlite(data: DataDirectory) -> Iterator[SqliteCatalogue]:
    opened = SqliteCatalogue.open(data)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "memory"])
def catalogue(request: pytest.FixtureRequest) -> Iterator[Catalogue]:
    """Each implementation of the port, empty."""
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite")
        return
    memory = MemoryCatalogue()
    yield memory
    memory.close()
