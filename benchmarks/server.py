"""One context behind a real ``vacmcp serve``, asked over a kept connection."""

import re
import subprocess
import tempfile
from types import TracebackType
from typing import Self

import httpx
from corpus import Clone
from end_to_end import VACMCP, ask, timed

_HEADERS = {"Accept": "application/json, text/event-stream"}


class Served:
    """The clone at ``commit`` as the context ``bench`` of a managed server."""

    def __init__(self, clone: Clone, commit: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        data = ["--data-dir", self._folder.name]
        ref = clone.refs[clone.commits.index(commit)]
        timed("repo", "add", "code", "--url", str(clone.path), *data)
        timed("context", "create", "bench", "--repo", "code", "--ref", ref, *data)
        status = subprocess.run(
            [VACMCP, "context", "status", "bench", *data],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = re.search(r"(embedded|scan)/\d+", status)
        self.engine = found[0] if found else "engine unknown"
        self._process = subprocess.Popen(
            [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", *data],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr
        self._url = "http://" + next(
            found[1]
            for line in self._process.stderr
            if (found := re.search(r"(127\.0\.0\.1:\d+)", line))
        )
        self._http = httpx.Client(timeout=60, headers=_HEADERS)

    def ask(self, text: str, limit: int) -> float:
        """Milliseconds of one ``search_code`` call."""
        arguments = {"context": "bench", "query": text, "limit": limit}
        return ask(self._http, self._url + "/", "search_code", arguments)[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()
        self._process.terminate()
        self._process.communicate(timeout=60)
        self._folder.cleanup()
