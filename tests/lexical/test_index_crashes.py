"""kill -9 at every point of builds, merges and prunes: the old index answers, the next is whole."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vacmcpd.adapters.git.objects import GitObjects
from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.errors import QueryError, WireCode

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork of POSIX"),
    pytest.mark.slow,
]
KILLED = -9
DRIVER = Path(__file__).with_name("store_driver.py")
ENDS = ("before", "after")
QUERIES = ["Alpha", "version.*[13579]$", "file:go -alpha caf."]
VERSIONS = 9


def loaded_driver():
    spec = importlib.util.spec_from_file_location("store_driver", DRIVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = loaded_driver()


class Process:
    """The driver at work in a process of its own."""

    def __init__(self, git, log):
        self.git, self.log = git, log
        self._process = subprocess.Popen(
            [sys.executable, str(DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, action, store, **how):
        self.log.unlink(missing_ok=True)
        order = {
            "action": action,
            "store": str(store),
            "git": str(self.git),
            "log": str(self.log),
            **how,
        }
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def reached(self):
        return self.log.read_text(encoding="utf-8").split()

    def close(self):
        with self._process:
            self._process.stdin.close()


def commit(folder, version):
    """Write and commit the files of one version; its id and its tree's."""
    for number in range(30):
        text = f"package p{number}\n\nfunc Alpha{number}() {{\n\treturn\n}}\n"
        (folder / f"f{number}.go").write_text(text, encoding="utf-8")
    (folder / "latin.go").write_bytes(b"caf\xe9\r\n" * 8)
    (folder / "version").write_text(f"version {version}\n" * (version + 2), encoding="utf-8")
    for number in range(version, version + 3):
        (folder / f"new{number}.go").write_text(f"alpha {number} café\n" * 40, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", f"Version {version}")
    return git(folder, "rev-parse", "HEAD"), git(folder, "rev-parse", "HEAD^{tree}")


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout.strip()


class World:
    """A git repository of several versions, the answers of a scan, and stores at each stage.

    ``stages[n]`` is a store that holds the first ``n`` versions.
    """

    def __init__(self, folder):
        self.folder = folder
        self.git = folder / "repository"
        self.git.mkdir()
        git(self.git, "init", "-q", "-b", "main")
        pairs = [commit(self.git, version) for version in range(VERSIONS)]
        self.revisions, self.trees = zip(*pairs, strict=True)
        scan = ScanSearch(
            GitObjects(lambda _: self.git, keep_refs=False), max_file_bytes=10_000_000
        )
        self.expected = {
            (revision, query): driver.matches(scan, revision, query)
            for revision in self.revisions
            for query in QUERIES
        }
        self.process = Process(self.git, folder / "reached")
        self.stages = []
        self.logs = []
        store = self.fresh("grown")
        for revision in self.revisions:
            self.stages.append(self.copy(store, f"stage{len(self.stages)}"))
            assert self.process.ask("build", store, revision=revision) == 0
            self.logs.append(self.process.reached())
        self.stages.append(store)

    def fresh(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def copy(self, store, name):
        target = self.folder / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(store, target)
        return target

    def check(self, store, revisions):
        """The published generation answers for each of these as the scan does."""
        search = driver.Store(store, self.git).searcher()
        for revision in revisions:
            for query in QUERIES:
                found = driver.matches(search, revision, query)
                assert json.loads(json.dumps(found)) == self.expected[revision, query]

    def check_swept(self, store):
        """There is no file that the published generation does not name."""
        named = {file.digest for file in driver.Store(store, self.git).state.files}
        assert {path.name for path in (store / "files").iterdir()} == named

    def merging(self):
        """The number of versions before a build that merges."""
        return next(
            before
            for before, log in enumerate(self.logs)
            if any(point.startswith("search.merge.") for point in log)
        )

    def killed_everywhere(self, before, action, **how):
        """Kill ``action`` on copies of one stage, at each point; each copy and the point."""
        assert self.process.ask(action, self.copy(self.stages[before], "trial"), **how) == 0
        points = self.process.reached()
        for point in points:
            store = self.copy(self.stages[before], "trial")
            assert self.process.ask(action, store, point=point, **how) == KILLED, point
            yield store, point


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("crashes"))
    yield made
    made.process.close()


def names(points):
    return {point.partition("#")[0] for point in points}


def test_a_killed_first_build_leaves_nothing_that_answers_and_the_next_is_whole(world):
    seen = set()
    for store, point in world.killed_everywhere(0, "build", revision=world.revisions[0]):
        seen.add(point)
        published = driver.Store(store, world.git).state.live
        world.check(store, world.revisions[: len(published)])
        assert world.process.ask("build", store, revision=world.revisions[0]) == 0
        world.check(store, world.revisions[:1])
        world.check_swept(store)
    assert names(seen) >= {
        *(f"search.{step}.{end}" for step in ("dictionary", "segment", "manifest") for end in ENDS),
        *(f"artifact.put.{end}" for end in ("before", "written", "renamed", "after")),
        "publish.before",
        "publish.after",
    }


def test_a_killed_merge_leaves_the_old_generation_whole(world):
    before = world.merging()
    seen = set()
    for store, point in world.killed_everywhere(before, "build", revision=world.revisions[before]):
        seen.add(point)
        live = driver.Store(store, world.git).state.live
        assert live in (set(world.trees[:before]), set(world.trees[: before + 1])), point
        world.check(store, world.revisions[: len(live)])
        # Another version is built next, since nobody must try the same again.
        other = world.revisions[before + 1]
        assert world.process.ask("build", store, revision=other) == 0, point
        world.check(store, [*world.revisions[: len(live)], other])
        world.check_swept(store)
    assert names(seen) >= {
        *(f"search.{step}.{end}" for step in ("segment", "manifest", "merge") for end in ENDS),
        *(f"artifact.sweep.{end}" for end in ENDS),
    }


def test_a_killed_prune_loses_no_version_that_stays(world):
    kept = world.trees[-2:]
    seen = set()
    for store, point in world.killed_everywhere(VERSIONS, "prune", live=sorted(kept)):
        seen.add(point)
        world.check(store, world.revisions[-2:])
        if set(driver.Store(store, world.git).state.live) == set(world.trees):
            world.check(store, world.revisions)
        assert world.process.ask("prune", store, live=sorted(kept)) == 0, point
        world.check(store, world.revisions[-2:])
        world.check_swept(store)
        assert world.process.ask("build", store, revision=world.revisions[0]) == 0
        world.check(store, [world.revisions[0], *world.revisions[-2:]])
    assert names(seen) >= {"search.merge.before", "artifact.sweep.before", "publish.after"}


def test_a_build_that_is_killed_again_and_again_goes_on_from_the_last_whole_store(world):
    """Killed at another point each time, and never swept between."""
    store = world.copy(world.stages[0], "again")
    for revision in world.revisions[:6]:
        for point in ("artifact.put.written#1", "artifact.put.renamed#2", "publish.before#1"):
            code = world.process.ask("build", store, revision=revision, point=point)
            assert code in (KILLED, 0)
        assert world.process.ask("build", store, revision=revision) == 0
    world.check(store, world.revisions[:6])
    world.check_swept(store)


@pytest.fixture
def reader(world, tmp_path):
    made = Process(world.git, tmp_path / "reached")
    yield made
    made.close()


def test_readers_here_and_elsewhere_go_on_over_merge_prune_and_sweep(world, reader):
    before = world.merging()
    store = world.copy(world.stages[before], "read")
    here = driver.Store(store, world.git).searcher()
    reader.ask("open", store)
    old = world.revisions[:before]
    assert old

    def check():
        for revision in old:
            for query in QUERIES:
                expected = world.expected[revision, query]
                assert json.loads(json.dumps(driver.matches(here, revision, query))) == expected
                assert reader.ask("search", store, revision=revision, query=query) == expected

    check()
    files = {path.name for path in (store / "files").iterdir()}
    assert world.process.ask("build", store, revision=world.revisions[before]) == 0
    assert files - {path.name for path in (store / "files").iterdir()}, "nothing was merged"
    check()
    assert world.process.ask("prune", store, live=[world.trees[before]]) == 0
    world.check_swept(store)
    check()


def test_a_reader_that_was_not_asked_before_the_sweep_says_so(world):
    """What was deleted before it was opened is an error, not an empty answer."""
    before = world.merging()
    store = world.copy(world.stages[before], "late")
    late = driver.Store(store, world.git).searcher()
    assert world.process.ask("prune", store, live=[]) == 0
    with pytest.raises(QueryError, match="rebuild") as caught:
        driver.matches(late, world.revisions[0], "Alpha")
    assert caught.value.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
