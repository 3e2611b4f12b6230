import pytest

from vacmcpd.datadir import DataDirectory


@pytest.fixture
def data(data_root) -> DataDirectory:  # type: ignore[no-untyped-def]
    directory = DataDirectory(data_root)
    directory.create()
    return directory
