"""Imports point one way (architecture: cli, server → composition → managed, engine → ports)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOWEST = {"errors", "model", "paths", "version", "names", "states"}
PORTS = LOWEST | {"ports"}
MAY = {
    "errors": set(),
    "version": set(),
    "model": {"errors"},
    "states": {"errors", "model"},
    "names": {"errors"},
    "paths": {"errors"},
    "datadir": {"errors", "paths"},
    "settings": {"errors", "datadir"},
    "ports": LOWEST,
    "engine": PORTS,
    "managed": PORTS | {"datadir"},
    "catalogue": PORTS | {"settings", "datadir", "migrations"},
    "migrations": PORTS | {"catalogue"},
    "adapters": PORTS | {"settings", "datadir"},
    "testing": PORTS | {"datadir"},
    "composition": PORTS
    | {"engine", "managed", "catalogue", "adapters", "settings", "datadir", "static"},
    "server": PORTS | {"engine", "composition", "settings", "datadir"},
    "__main__": PORTS | {"composition", "server", "settings", "datadir"},
    "cli": PORTS | {"composition", "managed", "engine", "server", "settings", "datadir", "testing"},
    "systemd": set(),
}
FOREIGN = {
    "engine": {"mcp", "sqlalchemy", "alembic", "pygit2", "httpx", "anyio", "asyncio", "starlette"},
    "managed": {"mcp", "sqlalchemy", "alembic", "pygit2", "httpx", "anyio", "asyncio"},
}


def modules() -> list[Path]:
    found = [
        path
        for folder in ("vacmcpd", "cli", "migrations", "systemd")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    assert len(found) > 30
    return found


def part_of(path: Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("").parts
    if relative[0] != "vacmcpd":
        return relative[0]
    return relative[1] if len(relative) > 1 else "__init__"


def package_of(path: Path) -> tuple[str, ...]:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] != "vacmcpd":
        parts = ("vacmcpd", *parts)
    return parts[:-1]


def imported(path: Path) -> set[str]:
    """The dotted names that a module imports, relative ones made absolute."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = package_of(path)
                kept = package[: len(package) - node.level + 1]
                base = ".".join((*kept, base)) if base else ".".join(kept)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return names


def parts_imported(path: Path) -> set[str]:
    return {
        name.split(".")[1]
        for name in imported(path)
        if name.startswith("vacmcpd.") and not name.startswith("vacmcpd.__version__")
    }


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_part_may(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    assert part in MAY, f"say in MAY what {part} may import"
    allowed = MAY[part] | {part, "__version__", "version"}
    assert parts_imported(path) <= allowed


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_command_line_libraries_stay_in_the_command_line(path: Path) -> None:
    if part_of(path) != "cli":
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & {"typer", "rich", "click", "cli"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_engine_and_lifecycle_know_no_transport_no_sql_and_no_git_library(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & FOREIGN.get(part_of(path), set())


def test_an_adapter_imports_no_other_adapter() -> None:
    """What several use stands directly in the folder of all adapters."""
    shared = {path.stem for path in (ROOT / "vacmcpd" / "adapters").glob("*.py")}
    for path in modules():
        parts = path.relative_to(ROOT).parts
        if parts[:2] != ("vacmcpd", "adapters") or len(parts) < 4:
            continue
        others = {
            name.split(".")[2]
            for name in imported(path)
            if name.startswith("vacmcpd.adapters.") and name.count(".") >= 2
        }
        others -= shared | {parts[2]}
        assert not others, f"{path} imports {others}"


def test_mcp_is_imported_by_the_server_and_the_demo_only() -> None:
    users = {
        part_of(path) if part_of(path) != "cli" else f"cli/{path.name}"
        for path in modules()
        if {"mcp", "mcp_types"} & {name.split(".")[0] for name in imported(path)}
    }
    assert users <= {"server", "cli/demo.py", "cli/demo_client.py"}
