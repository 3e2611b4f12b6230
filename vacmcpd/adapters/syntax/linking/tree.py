"""The files of one version, as names; what a language's module system asks of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast


class Sources(Protocol):
    """Reads blobs of the version: for the few files that say how modules are found."""

    def read(self, path: str) -> bytes | None:
        """The content of a file of the tree; None when there is none or it is too big."""
        ...


@dataclass(slots=True)
class Tree:
    """``blobs`` maps every path of the version to its blob id, code or not."""

    blobs: Mapping[str, str]
    sources: Sources
    _folders: dict[str, list[str]] | None = None
    cache: dict[object, object] = field(default_factory=dict)
    """What rules derived from the tree alone, by a key of their own."""

    def has(self, path: str) -> bool:
        """Whether there is a file of that path."""
        return path in self.blobs

    @property
    def folders(self) -> dict[str, list[str]]:
        """The files of each folder by name, sorted; "" is the root. Parents are there too."""
        if self._folders is None:
            found: dict[str, list[str]] = {"": []}
            for path in sorted(self.blobs):
                folder, _, name = path.rpartition("/")
                found.setdefault(folder, []).append(name)
                while folder:
                    folder = folder.rpartition("/")[0]
                    if folder in found:
                        break
                    found[folder] = []
            self._folders = found
        return self._folders

    def has_folder(self, path: str) -> bool:
        """Whether any file is below ``path``."""
        return path in self.folders

    def files_in(self, folder: str) -> list[str]:
        """The names of the files directly in ``folder``, sorted."""
        return self.folders.get(folder, [])

    def named(self, name: str) -> list[str]:
        """The files of that name in any folder, sorted."""
        found = self.cache.get(("named", name))
        if found is None:
            found = sorted(path for path in self.blobs if path == name or path.endswith(f"/{name}"))
            self.cache["named", name] = found
        return cast("list[str]", found)

    def above(self, path: str, name: str) -> Iterator[str]:
        """The files called ``name`` in the folders from that of ``path`` up to the root."""
        folder = path.rpartition("/")[0]
        while True:
            found = f"{folder}/{name}" if folder else name
            if found in self.blobs:
                yield found
            if not folder:
                return
            folder = folder.rpartition("/")[0]
