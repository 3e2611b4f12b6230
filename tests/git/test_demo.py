"""The demo repository is the same everywhere."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from vacmcpd.testing.demo import DemoRepository, make_demo_repository

World = Any

REFS = {
    "refs/heads/main": "d580bc926b11d5a308ece6a9d5fd86375b11858a",
    "refs/heads/release/v1": "9eda2538a4c07c8ce714999c816c67478611a81d",
    "refs/heads/release/v1-hotfix": "a193be0134fa92261a32a3253be3ec6be70ceb77",
    "refs/heads/release/v2": "5eee04c43633883798501b2d2d1b9caab064e75a",
    "refs/tags/v1.0.0": "9eda2538a4c07c8ce714999c816c67478611a81d",
    "refs/tags/v1.0.0-annotated": "4909f48a13e8f4bb3f620f26814f406f800d63aa",
}


def refs(folder: Path) -> dict[str, str]:
    done = subprocess.run(
        ["git", "-C", str(folder), "for-each-ref", "--format=%(refname) %(objectname)"],
        capture_output=True,
        check=True,
        text=True,
    )
    return dict(line.split() for line in done.stdout.splitlines())


def test_its_ids_are_known_beforehand(demo: DemoRepository) -> None:
    assert refs(demo.path) == REFS
    assert demo.v1 == REFS["refs/heads/release/v1"]
    assert demo.v2 == REFS["refs/heads/release/v2"]
    assert {f"refs/heads/{name}": commit for name, commit in demo.branches.items()}.items() <= (
        REFS.items()
    )


def test_it_can_be_made_twice_in_one_place(demo: DemoRepository) -> None:
    assert make_demo_repository(demo.path) == demo
    assert refs(demo.path) == REFS


def test_it_needs_no_identity_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert make_demo_repository(tmp_path / "deep" / "demo").v2 == REFS["refs/heads/release/v2"]


def test_nothing_of_it_is_checked_out(demo: DemoRepository) -> None:
    assert [path.name for path in demo.path.iterdir()] == [".git"]


def test_it_passes_gits_strict_checks_and_can_be_cloned(demo: DemoRepository, world: World) -> None:
    world.clone(demo, "demo")
    assert world.store.resolve("demo", "v1.0.0-annotated").revision == demo.v1
    assert world.store.count("demo").branches == 4
