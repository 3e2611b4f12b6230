"""Where everything stands in a data directory. Nothing stored in it holds an absolute path."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """The layout of ``architecture.md`` section 6 below ``root``."""

    root: Path

    @property
    def catalogue(self) -> Path:
        return self.root / "catalogue.sqlite3"

    @property
    def settings(self) -> Path:
        return self.root / "settings.toml"

    @property
    def repositories(self) -> Path:
        return self.root / "repos"

    def repository(self, name: str) -> Path:
        """The bare clone of one repository."""
        return self.repositories / f"{name}.git"

    @property
    def stores(self) -> Path:
        return self.root / "store"

    def store(self, name: str) -> Path:
        """What the embedded engines keep for one repository."""
        return self.stores / name

    @property
    def runtime(self) -> Path:
        return self.root / "runtime"

    @property
    def server_info(self) -> Path:
        """Who holds the server's lock: for messages only, never the test of liveness."""
        return self.runtime / "server.json"

    @property
    def server_socket(self) -> Path:
        return self.runtime / "server.sock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def locks(self) -> Path:
        return self.root / "locks"

    @property
    def server_lock(self) -> Path:
        return self.locks / "server.lock"

    @property
    def catalogue_lock(self) -> Path:
        """Held while the catalogue is migrated."""
        return self.locks / "catalogue.lock"

    def repository_lock(self, name: str) -> Path:
        return self.locks / "repositories" / f"{name}.lock"

    def store_lock(self, name: str) -> Path:
        return self.locks / "stores" / f"{name}.lock"

    @property
    def build_locks(self) -> Path:
        return self.locks / "builds"

    def build_lock(self, build: str) -> Path:
        return self.build_locks / f"{build}.lock"

    def create(self) -> None:
        """Make the folders, 0700 whatever the umask; existing ones keep their mode."""
        for folder in (
            self.root,
            self.repositories,
            self.stores,
            self.runtime,
            self.logs,
            self.locks,
            self.locks / "repositories",
            self.locks / "stores",
            self.build_locks,
        ):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder.chmod(0o700)
