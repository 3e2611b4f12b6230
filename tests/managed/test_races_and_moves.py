"""Two processes at once, and a data directory that goes somewhere else."""

import subprocess
import sys
from pathlib import Path

from vacmcpd.composition import build_engine, open_managed
from vacmcpd.engine import GetCodeRequest
from vacmcpd.managed.activity import QUIET
from vacmcpd.settings import Settings
from vacmcpd.testing.demo import make_demo_repository

VACMCP = str(Path(sys.executable).parent / "vacmcp")


def prepared(data: Path, source: Path) -> None:
    make_demo_repository(source)
    managed = open_managed(data, Settings())
    try:
        managed.repositories.add("demo", source.as_uri(), activity=QUIET)
    finally:
        managed.close()


def test_of_two_processes_that_create_one_name_exactly_one_wins(
    data_root: Path, tmp_path: Path
) -> None:
    prepared(data_root, tmp_path / "demo")
    refs = ["release/v1", "release/v2", "main"]
    children = [
        subprocess.Popen(
            [
                *(VACMCP, "context", "create", "same", "--repo", "demo", "--ref", ref),
                *("--data-dir", str(data_root)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for ref in refs
    ]
    ended = [(child.communicate(timeout=120), child.returncode) for child in children]
    codes = sorted(code for _, code in ended)
    assert codes[0] == 0, ended
    assert set(codes[1:]) <= {1, 4}, ended
    assert all(err.startswith("vacmcp: ") for (_, err), code in ended if code), ended
    managed = open_managed(data_root, Settings())
    try:
        (record,) = managed.contexts.list()
        winner = refs[[code for _, code in ended].index(0)]
        assert (record.shown_state, record.members[0].branch) == ("READY", winner)
        managed.contexts.verify("same")
        assert managed.catalogue.integrity() == []
    finally:
        managed.close()


def test_a_data_directory_answers_from_where_it_was_moved_to(
    data_root: Path, tmp_path: Path
) -> None:
    prepared(data_root, tmp_path / "demo")
    managed = open_managed(data_root, Settings())
    managed.contexts.create("v2", [("demo", "release/v2")], activity=QUIET)
    managed.close()
    moved = data_root.rename(tmp_path / "elsewhere")
    managed = open_managed(moved, Settings())
    try:
        managed.contexts.verify("v2")
        with build_engine(managed.served()) as engine:
            answer = engine.get_code(GetCodeRequest("v2", "processor.go", 4, 6)).to_wire()
        assert "NewHandler" in answer["content"]
        managed.contexts.create("v1", [("demo", "release/v1")], activity=QUIET)
    finally:
        managed.close()
    for path in moved.rglob("*"):
        if path.is_file() and path.suffix not in {".pack", ".idx"}:
            assert str(data_root).encode() not in path.read_bytes(), path
