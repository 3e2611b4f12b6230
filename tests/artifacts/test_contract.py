"""What every artifact store promises, held against the folder and the one in memory."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from vacmcpd.adapters.artifacts import FolderArtifacts
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.ports.artifacts import ArtifactStore, StoredFile
from vacmcpd.testing.artifacts import MemoryArtifacts


class Damage(Protocol):
    def flip_bit(self, repository: str, file: StoredFile, at: int = 0) -> None: ...
    def truncate(self, repository: str, file: StoredFile, size: int) -> None: ...
    def lose(self, repository: str, file: StoredFile) -> None: ...


class FolderDamage:
    def __init__(self, root: Path) -> None:
        self._root = root

    def flip_bit(self, repository: str, file: StoredFile, at: int = 0) -> None:
        data = bytearray(self._path(repository, file).read_bytes())
        data[at] ^= 1
        self._path(repository, file).write_bytes(data)

    def truncate(self, repository: str, file: StoredFile, size: int) -> None:
        data = self._path(repository, file).read_bytes()
        self._path(repository, file).write_bytes(data[:size])

    def lose(self, repository: str, file: StoredFile) -> None:
        self._path(repository, file).unlink()

    def _path(self, repository: str, file: StoredFile) -> Path:
        return self._root / repository / file.digest


@pytest.fixture(params=["folder", "memory"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[ArtifactStore, Damage]:
    if request.param == "memory":
        memory = MemoryArtifacts()
        return memory, memory
    return FolderArtifacts(lambda name: tmp_path / name), FolderDamage(tmp_path)


@pytest.fixture
def store(both: tuple[ArtifactStore, Damage]) -> ArtifactStore:
    return both[0]


@pytest.fixture
def damage(both: tuple[ArtifactStore, Damage]) -> Damage:
    return both[1]


def missing(store: ArtifactStore, file: StoredFile, verb: str = "open") -> str:
    with pytest.raises(LifecycleError) as caught:
        getattr(store, verb)("demo", file)
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    assert caught.value.details["repository"] == "demo"
    assert "vacmcp context rebuild --all" in caught.value.message
    assert "/" not in caught.value.message
    return caught.value.message


PARTS = [b"one", memoryview(b"two"), b"", memoryview(b"abcd")[1:3]]


def test_what_was_put_comes_back_under_its_digest(store: ArtifactStore) -> None:
    made = store.put("demo", "segment.0", iter(PARTS))
    whole = b"onetwobc"
    assert made == StoredFile("segment.0", hashlib.sha256(whole).hexdigest(), len(whole))
    view = store.open("demo", made)
    assert (bytes(view), view.readonly) == (whole, True)
    store.verify("demo", made)


@pytest.mark.parametrize("parts", [[], [b""]])
def test_an_empty_file_is_a_file(store: ArtifactStore, parts: list[bytes]) -> None:
    made = store.put("demo", "nothing", parts)
    assert made.size == 0
    assert bytes(store.open("demo", made)) == b""
    store.verify("demo", made)


def test_a_view_of_wide_elements_is_written_by_its_bytes(store: ArtifactStore) -> None:
    wide = memoryview(b"12345678").cast("I")
    assert bytes(store.open("demo", store.put("demo", "r", [wide]))) == b"12345678"


def test_the_same_content_is_one_file_whatever_its_role(store: ArtifactStore) -> None:
    first = store.put("demo", "a", [b"same"])
    second = store.put("demo", "b", [b"sa", b"me"])
    assert (first.digest, second.role) == (second.digest, "b")
    assert store.sweep("demo", ()) == 1


def test_repositories_hold_their_own_files(store: ArtifactStore) -> None:
    made = store.put("demo", "a", [b"x"])
    store.put("other", "a", [b"x"])
    store.remove("other")
    store.verify("demo", made)
    with pytest.raises(LifecycleError):
        store.open("other", made)


def test_a_file_that_is_gone_is_missing(store: ArtifactStore, damage: Damage) -> None:
    made = store.put("demo", "segment.0", [b"x"])
    damage.lose("demo", made)
    assert "segment.0" in missing(store, made)
    assert missing(store, made, "verify") == missing(store, made)
    missing(store, StoredFile("never", "0" * 64, 0))


@pytest.mark.parametrize("verb", ["open", "verify"])
def test_a_file_of_another_size_is_missing(store: ArtifactStore, damage: Damage, verb: str) -> None:
    made = store.put("demo", "a", [b"12345"])
    damage.truncate("demo", made, 3)
    assert "3 bytes instead of 5" in missing(store, made, verb)
    damage.truncate("demo", made, 0)
    missing(store, made, verb)


def test_other_content_is_opened_and_found_by_verifying(
    store: ArtifactStore, damage: Damage
) -> None:
    made = store.put("demo", "a", [b"12345"])
    damage.flip_bit("demo", made, -1)
    assert bytes(store.open("demo", made)) != b"12345"
    assert "damaged" in missing(store, made, "verify")


@pytest.mark.parametrize("how", ["flip", "truncate", "lose"])
def test_putting_a_damaged_file_again_mends_it(
    store: ArtifactStore, damage: Damage, how: str
) -> None:
    made = store.put("demo", "a", [b"12345"])
    before = store.open("demo", made)
    if how == "flip":
        damage.flip_bit("demo", made)
    elif how == "truncate":
        damage.truncate("demo", made, 2)
    else:
        damage.lose("demo", made)
    assert store.put("demo", "a", [b"12345"]) == made
    store.verify("demo", made)
    assert len(before) == 5


def test_sweeping_deletes_what_is_not_kept_and_only_that(store: ArtifactStore) -> None:
    kept = store.put("demo", "a", [b"kept"])
    gone = [store.put("demo", f"b{number}", [b"%d" % number]) for number in range(3)]
    other = store.put("other", "a", [b"other"])
    assert store.sweep("demo", {kept.digest, "f" * 64}) == 3
    assert store.sweep("demo", {kept.digest}) == 0
    store.verify("demo", kept)
    store.verify("other", other)
    for file in gone:
        missing(store, file)
    assert store.sweep("nobody", ()) == 0


def test_an_open_file_stays_readable_when_it_is_swept_or_removed(store: ArtifactStore) -> None:
    first, second = store.put("demo", "a", [b"a" * 5000]), store.put("demo", "b", [b"b" * 5000])
    views = [store.open("demo", file) for file in (first, second)]
    store.sweep("demo", {second.digest})
    store.remove("demo")
    assert [bytes(view[4998:]) for view in views] == [b"aa", b"bb"]


def test_removing_is_idempotent_and_leaves_room_for_new_files(store: ArtifactStore) -> None:
    made = store.put("demo", "a", [b"x"])
    store.remove("demo")
    store.remove("demo")
    missing(store, made)
    store.verify("demo", store.put("demo", "a", [b"x"]))


def test_parts_that_fail_leave_nothing(store: ArtifactStore) -> None:
    def broken() -> Iterator[bytes]:
        yield b"begun"
        raise LifecycleError(BuildCode.SOURCE_MISMATCH, "not there")

    with pytest.raises(LifecycleError, match="not there"):
        store.put("demo", "a", broken())
    assert store.sweep("demo", ()) == 0


def test_a_store_in_memory_can_be_full() -> None:
    store = MemoryArtifacts(room=4)
    store.put("demo", "a", [b"1234"])
    with pytest.raises(LifecycleError) as caught:
        store.put("demo", "b", [b"5"])
    assert caught.value.code is BuildCode.NO_SPACE
