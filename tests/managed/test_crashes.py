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
from vacmcpd.errors import BuildCode, LifecycleError
from vacmcpd.model import ContextState

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
        """Every point of the last run, once, in order."""
        return list(dict.fromkeys(self.log.read_text(encoding="utf-8").split()))

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


def nothing(world: World, remote: Any) -> None:
    del world, remote


PREPARE: dict[str, tuple[str, Callable[[World, Any], None]]] = {
    "add": ("add", nothing),
    "sync": ("sync", moved),
    "sync of a damaged clone": ("sync", damaged),
    "repo remove": ("repo_remove", nothing),
    "create": ("create", nothing),
    "retry": ("retry", lambda world, _: failed_context(world)),
    "retry over a missing clone": (
        "retry",
        lambda world, _: (failed_context(world), world.store.remove("flask")),
    ),
    "rebuild": ("rebuild", with_contexts),
    "remove": ("remove", with_contexts),
}


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
        if record.shown_state == ContextState.READY and case != "sync of a damaged clone":
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
        return
    assert [status.state for status in world.repositories.list()] == ["READY"]
    expected = {
        "add": set(),
        "sync": set(),
        "sync of a damaged clone": {"other"},
        "rebuild": {"c", "other"},
        "remove": {"other"},
    }.get(case, {"c"})
    assert states == dict.fromkeys(expected, "READY")
    for name in states:
        world.contexts.verify(name)


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
    assert driver.run("create", DataDirectory(template), url, point="build.search.started") == (
        KILLED
    )
    (template / "repos" / "half.git").mkdir()
    whole = DataDirectory(tmp_path / "whole")
    shutil.copytree(template, whole.root, symlinks=True)
    assert driver.run("recover", whole, url) == 0
    for number, point in enumerate(driver.reached()):
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
    assert recording[0] == "build.fail.before"
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


@pytest.mark.parametrize(
    ("action", "case", "word"), [("add", "add", "obj"), ("create", "create", "scan")]
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
