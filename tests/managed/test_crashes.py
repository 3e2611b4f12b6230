"""kill -9 at every point of every command: what the next command finds, and that it can go on."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, LifecycleError, VacmcpError
from vacmcpd.managed.engines import Builders
from vacmcpd.model import ArtifactKind, ContextState

World = Any
KILLED = -9
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork of POSIX"),
    pytest.mark.slow,
]


class Driver:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("crash_driver.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def run(self, action: str, data: DataDirectory, remote: str, **how: str) -> int:
        self.log.unlink(missing_ok=True)
        order = {
            "action": action,
            "root": str(data.root),
            "remote": remote,
            "log": str(self.log),
            **how,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())["code"]
        assert isinstance(code, int)
        return code

    @property
    def log(self) -> Path:
        return self._folder / "reached"

    def reached(self) -> list[str]:
        """Every point of the last run in order; those of clones and files as often as reached."""
        reached = self.log.read_text(encoding="utf-8").split()
        return [point for point in reached if "#" not in point or point.startswith(STORE_POINTS)]

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    made = Driver(tmp_path_factory.mktemp("driver"))
    yield made
    made.close()


def failed_context(world: World) -> None:
    def broken(_: object) -> None:
        raise LifecycleError(BuildCode.SOURCE_MISMATCH, "broken")

    world.search.on_build = broken
    with pytest.raises(LifecycleError):
        create(world)
    world.search.on_build = None


def create(world: World, name: str = "c", ref: str = "main") -> None:
    world.contexts.create(name, [("flask", ref)], activity=world.activity())


def moved(world: World, remote: Any) -> None:
    remote.tag("v1", remote.commit())
    del world


def damaged(world: World, remote: Any) -> None:
    del remote
    create(world, "other", "v1")
    world.damage("flask")


def with_contexts(world: World, remote: Any) -> None:
    del remote
    create(world)
    create(world, "other", "v1")


def of_the_scan(world: World, remote: Any) -> None:
    """Contexts as the version before the index left them."""
    del remote
    builders = world.builders
    world.builders = Builders(ArtifactKind.SEARCH, world.scan, (world.search,))
    world.wire()
    create(world)
    create(world, "other", "v1")
    world.builders = builders
    world.wire()


def with_many_versions(world: World, remote: Any) -> None:
    """So many segments that the next build joins some."""
    for number in range(4):
        remote.commit()
        world.repositories.sync("flask", activity=world.activity())
        create(world, f"other{number}")
    remote.commit()
    world.repositories.sync("flask", activity=world.activity())


def with_a_lost_segment(world: World, remote: Any) -> None:
    with_contexts(world, remote)
    (segment, *_) = world.catalogue.store_files("flask", "search")
    (world.data.store("flask") / segment.digest).write_bytes(b"x" * segment.size)


def built_and_removed(world: World, remote: Any) -> None:
    """A repository without contexts whose store's folder is there still."""
    del remote
    create(world)
    world.contexts.remove("c", activity=world.activity())


def nothing(world: World, remote: Any) -> None:
    del world, remote


PREPARE: dict[str, tuple[str, Callable[[World, Any], None]]] = {
    "add": ("add", nothing),
    "sync": ("sync", moved),
    "sync of a damaged clone": ("sync", damaged),
    "repo remove": ("repo_remove", built_and_removed),
    "create": ("create", nothing),
    "create that merges": ("create", with_many_versions),
    "rebuild of the scan's": ("rebuild_all", of_the_scan),
    "rebuild of a damaged store": ("rebuild_all", with_a_lost_segment),
    "retry": ("retry", lambda world, _: failed_context(world)),
    "retry over a missing clone": (
        "retry",
        lambda world, _: (failed_context(world), world.store.remove("flask")),
    ),
    "rebuild": ("rebuild", with_contexts),
    "remove": ("remove", with_contexts),
}
OF_STORES = frozenset({"create that merges", "rebuild of the scan's", "rebuild of a damaged store"})
"""What these do beside their stores, the others do too."""
STORE_POINTS = ("artifact.", "search.", "graph.", "store.", "build.publish.", "catalogue.publish")

STORE_WRITES = ("artifact.put", "search.", "graph.")


def prepared(make: Callable[[DataDirectory], World], folder: Path, case: str) -> tuple[Path, str]:
    """A template of the data directory before the command, and the remote's URL."""
    world = make(DataDirectory(folder / "template"))
    remote = world.remote("flask")
    if case != "add":
        world.repositories.add("flask", remote.url, activity=world.activity())
    PREPARE[case][1](world, remote)
    world.close()
    return world.data.root, remote.url


def check_truth(world: World, case: str) -> None:
    """What anybody may be served right after the crash is whole, and the catalogue too."""
    assert world.catalogue.integrity() == []
    for record in world.contexts.list():
        if record.shown_state == ContextState.READY and "damaged" not in case:
            world.contexts.verify(record.id)


def check_recovered(world: World) -> None:
    world.recover()
    assert world.recover() == ()
    assert world.catalogue.running_builds() == []
    assert world.catalogue.integrity() == []
    for record in world.contexts.list():
        if record.removing_since is None:
            assert record.state in {ContextState.READY, ContextState.FAILED}
        if record.state is ContextState.FAILED:
            assert record.failure_code
    names = {status.name for status in world.repositories.list()}
    assert {path.name for path in world.data.stores.iterdir()} <= names
    for name in names:
        assert world.on_disk(name) == world.catalogue.named_files(name)
    for path in world.data.repositories.iterdir():
        # What is left of a known repository goes with its next sync.
        assert path.name.removesuffix(".git").removeprefix(".tmp-")[:5] in names, path.name


def finish(world: World, case: str, url: str) -> None:
    """Do what a person would: the same command again, or the one that the state names."""
    activity = world.activity()
    names = [status.name for status in world.repositories.list()]
    states = {record.id: record for record in world.contexts.list()}
    if case == "add":
        if "flask" not in names:
            world.repositories.add("flask", url, activity=activity)
    elif case.startswith("sync"):
        world.repositories.sync("flask", activity=activity)
    elif case == "repo remove":
        if "flask" in names:
            world.repositories.remove("flask", activity=activity)
    elif case == "remove":
        if "c" in states:
            world.contexts.remove("c", activity=activity)
    elif case.startswith("rebuild of"):
        outcomes = world.contexts.rebuild_all(activity=activity)
        assert not [error for _, error in outcomes if isinstance(error, VacmcpError)]
    elif "c" not in states:
        create(world)
    elif states["c"].state is ContextState.FAILED:
        assert world.contexts.status("c").repair == "vacmcp context retry c"
        world.contexts.retry("c", activity=activity)


def check_finished(world: World, case: str) -> None:
    names = [status.name for status in world.repositories.list()]
    states = {record.id: record.shown_state for record in world.contexts.list()}
    if case == "repo remove":
        assert names == []
        assert list(world.data.repositories.iterdir()) == []
        assert list(world.data.stores.iterdir()) == []
        return
    assert [status.state for status in world.repositories.list()] == ["READY"]
    expected = {
        "add": set(),
        "sync": set(),
        "sync of a damaged clone": {"other"},
        "create that merges": {"c", "other0", "other1", "other2", "other3"},
        "rebuild": {"c", "other"},
        "rebuild of the scan's": {"c", "other"},
        "rebuild of a damaged store": {"c", "other"},
        "remove": {"other"},
    }.get(case, {"c"})
    assert states == dict.fromkeys(expected, "READY")
    for name in states:
        world.contexts.verify(name)
    assert world.on_disk("flask") == world.catalogue.named_files("flask")
    if case.startswith("rebuild of"):
        labels = {record.members[0].search.label for record in world.contexts.list()}
        assert labels == {"embedded/1"}


@pytest.mark.parametrize("case", sorted(PREPARE))
def test_a_command_that_is_killed_anywhere_leaves_a_truthful_state_that_can_be_finished(
    case: str, driver: Driver, make_world: Callable[[DataDirectory], World], tmp_path: Path
) -> None:
    template, url = prepared(make_world, tmp_path, case)
    action = PREPARE[case][0]
    whole = DataDirectory(tmp_path / "whole")
    shutil.copytree(template, whole.root, symlinks=True)
    assert driver.run(action, whole, url) == 0
    points = driver.reached()
    if case in OF_STORES:
        points = [point for point in points if point.startswith(STORE_POINTS)]
    assert len(points) > 3
    for number, point in enumerate(points):
        data = DataDirectory(tmp_path / f"run{number}")
        shutil.copytree(template, data.root, symlinks=True)
        assert driver.run(action, data, url, point=point) == KILLED, point
        world = make_world(data)
        try:
            check_truth(world, case)
            check_recovered(world)
            finish(world, case, url)
            check_finished(world, case)
            if point == points[-1] and case != "repo remove":
                create(world, "later", "v1")
        except (AssertionError, LifecycleError) as error:
            raise AssertionError(f"{case}, killed at {point}") from error
        finally:
            world.close()
        shutil.rmtree(data.root)


def test_a_recovery_that_is_killed_anywhere_is_finished_by_the_next(
    driver: Driver, make_world: Callable[[DataDirectory], World], tmp_path: Path
) -> None:
    template, url = prepared(make_world, tmp_path, "create")
    data = DataDirectory(template)
    assert driver.run("create", data, url, point="build.search.worked") == KILLED
    (data.store("flask") / ".tmp-0011223344556677").write_bytes(b"half")
    (template / "repos" / "half.git").mkdir()
    data.store("gone").mkdir()
    (data.store("gone") / ("a" * 64)).write_bytes(b"of a repository that was removed")
    whole = DataDirectory(tmp_path / "whole")
    shutil.copytree(template, whole.root, symlinks=True)
    assert driver.run("recover", whole, url) == 0
    points = driver.reached()
    assert {"artifact.sweep.after#2", "artifact.remove.after"} <= set(points)
    for number, point in enumerate(points):
        data = DataDirectory(tmp_path / f"run{number}")
        shutil.copytree(template, data.root, symlinks=True)
        assert driver.run("recover", data, url, point=point) == KILLED, point
        world = make_world(data)
        check_truth(world, "create")
        check_recovered(world)
        assert world.contexts.status("c").record.failure_code == "INTERRUPTED"
        finish(world, "create", url)
        check_finished(world, "create")
        world.close()


def test_a_build_that_is_killed_while_its_failure_is_recorded_is_found(
    driver: Driver, make_world: Callable[[DataDirectory], World], tmp_path: Path
) -> None:
    template, url = prepared(make_world, tmp_path, "create")
    data = DataDirectory(tmp_path / "whole")
    shutil.copytree(template, data.root, symlinks=True)
    full = "build.search.started"
    assert driver.run("create", data, url, full=full) == 1
    points = driver.reached()
    recording = points[points.index(full) + 1 :]
    assert "build.fail.before" in recording
    assert recording[-1] == "build.fail.after"
    for point in recording:
        data = DataDirectory(tmp_path / point)
        shutil.copytree(template, data.root, symlinks=True)
        assert driver.run("create", data, url, full=full, point=point) == KILLED, point
        world = make_world(data)
        check_truth(world, "create")
        check_recovered(world)
        assert world.contexts.status("c").record.failure_code in {"NO_SPACE", "INTERRUPTED"}
        finish(world, "create", url)
        check_finished(world, "create")
        world.close()


def test_a_disk_that_is_full_anywhere_in_an_index_fails_the_build_and_leaves_nothing(
    driver: Driver, make_world: Callable[[DataDirectory], World], tmp_path: Path
) -> None:
    template, url = prepared(make_world, tmp_path, "create that merges")
    whole = DataDirectory(tmp_path / "whole")
    shutil.copytree(template, whole.root, symlinks=True)
    assert driver.run("create", whole, url) == 0
    points = [point for point in driver.reached() if point.startswith(STORE_WRITES)]
    assert {"search.merge.before", "graph.segment.before"} <= set(points)
    for number, point in enumerate(points):
        data = DataDirectory(tmp_path / f"run{number}")
        shutil.copytree(template, data.root, symlinks=True)
        assert driver.run("create", data, url, full=point) == 1, point
        world = make_world(data)
        assert world.contexts.status("c").record.failure_code == "NO_SPACE", point
        check_truth(world, "create")
        assert world.on_disk("flask") == world.catalogue.named_files("flask"), point
        world.close()
        shutil.rmtree(data.root)


@pytest.mark.parametrize(
    ("action", "case", "word"), [("add", "add", "obj"), ("create", "create", "index")]
)
def test_a_kill_in_the_middle_of_a_clone_or_an_index_is_recovered_from(
    action: str,
    case: str,
    word: str,
    driver: Driver,
    make_world: Callable[[DataDirectory], World],
    tmp_path: Path,
) -> None:
    template, url = prepared(make_world, tmp_path, case)
    data = DataDirectory(template)
    assert driver.run(action, data, url, progress=word) == KILLED
    world = make_world(data)
    check_truth(world, case)
    check_recovered(world)
    finish(world, case, url)
    check_finished(world, case)
    world.close()
