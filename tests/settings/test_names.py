import pytest

from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.names import check_name

GOOD = [
    "a",
    "A1",
    "flask",
    "redis.py",
    "v1.2_3-x",
    "0",
    "a" * 100,
    "console",
    "com",
    "lpt10",
    "x.lockx",
]
BAD = [
    "",
    "-a",
    ".a",
    "_a",
    "a b",
    "a/b",
    "a\\b",
    "a..b",
    "a.",
    "a" * 101,
    "a\n",
    "a\0b",
    "naïve",
    "x.lock",
    "x.LOCK",
    "x.git",
    "x.Git",
    "con",
    "NUL",
    "nul.txt",
    "Com1",
    "lpt9.tar.gz",
    "aux.",
    "\udcff",
    "../a",
    "--upload-pack=x",
]


@pytest.mark.parametrize("name", GOOD)
def test_an_ordinary_name_is_accepted(name: str) -> None:
    check_name("repository", name)
    check_name("context", name)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["repository", "context"])
def test_a_name_that_could_be_more_than_a_name_is_refused(kind: str, name: str) -> None:
    with pytest.raises(LifecycleError) as caught:
        check_name(kind, name)  # type: ignore[arg-type]
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert kind in caught.value.details
    caught.value.message.encode("utf-8")


def test_a_huge_name_is_not_echoed_whole() -> None:
    with pytest.raises(LifecycleError) as caught:
        check_name("context", "x" * 100_000)
    assert len(caught.value.message) < 500
