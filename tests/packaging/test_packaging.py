"""What the distribution installs: one importable name, its data, its two commands."""

import subprocess
import sys
import zipfile
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = {
    "vacmcpd": ["py.typed"],
    "vacmcpd.migrations": ["script.py.mako"],
    "vacmcpd.systemd": ["vacmcpd.service", "vacmcp.sysusers.conf"],
}

pytestmark = pytest.mark.packaging


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=280,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_one_top_level_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        top = {name.split("/")[0] for name in archive.namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"vacmcpd"}


def test_the_wheel_holds_every_module_and_every_data_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    expected = set()
    for folder in ("vacmcpd", "cli", "migrations", "systemd"):
        prefix = "" if folder == "vacmcpd" else "vacmcpd/"
        for path in (ROOT / folder).rglob("*.py"):
            expected.add(prefix + path.relative_to(ROOT).as_posix())
    for package, names in DATA.items():
        expected.update(f"{package.replace('.', '/')}/{name}" for name in names)
    assert expected <= inside


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package, names in DATA.items() for name in names]
)
def test_data_files_are_read_through_the_package(package: str, name: str) -> None:
    assert resources.files(package).joinpath(name).is_file()


@pytest.mark.parametrize("generic", ["cli", "migrations", "systemd", "tests", "benchmarks"])
def test_nothing_generic_becomes_importable(generic: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import {generic}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "ModuleNotFoundError" in done.stderr


@pytest.mark.parametrize("command", ["vacmcp", "vacmcpd"])
def test_both_commands_say_their_version_from_any_folder(command: str, tmp_path: Path) -> None:
    script = Path(sys.executable).parent / command
    done = subprocess.run(
        [script, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(("0.", "1."))


@pytest.mark.slow
def test_the_sdist_builds_the_same_wheel(tmp_path: Path, wheel: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=280,
    )
    (again,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert set(one.namelist()) == set(other.namelist())
