"""``vacmcp demo``: the main job on a repository of two releases, from clone to answer.

Nothing here is acted: the lifecycle, the server and the client are the ones that users run.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from .demo_checks import check
from .demo_client import V1, V2, Answered, ask
from .demo_server import command, serving
from .failures import FAILED, say, write_json
from .identity import refuse_unusable
from .session import root_of
from .signals import Ended

_REFS = {V1: "release/v1", V2: "release/v2"}


def run(data_dir: str | None, *, serve: bool, as_json: bool, quiet: bool) -> int:
    """Prepare, serve, ask, show and check; the exit code.

    ``VACMCP_DATA_DIR`` is left alone: a demonstration has no place in somebody's real directory.
    """
    started = time.monotonic()
    with _folder(data_dir) as root, _status(as_json or quiet) as doing:
        doing("making a repository with two releases, pinning both")
        with closing(_prepared(root)) as managed:
            doing("starting the server")
            with serving(root, managed.locks) as (url, child):
                doing("asking")
                answers = ask(f"{url}/mcp")
                doing("")
                kept = check(answers)
                _tell(answers, kept, time.monotonic() - started, as_json)
                if serve:
                    _serve(url, root, child, temporary=data_dir is None)
    return 0 if all(holds for _, holds in kept) else FAILED


@contextmanager
def _folder(data_dir: str | None) -> Iterator[Path]:
    if data_dir:
        root = root_of(data_dir)
        refuse_unusable(root)
        yield root
        return
    folder = Path(tempfile.mkdtemp(prefix="vacmcp-demo-"))
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepared(root: Path) -> Any:
    from vacmcpd.composition import open_managed
    from vacmcpd.managed.activity import QUIET
    from vacmcpd.settings import Settings
    from vacmcpd.testing.demo import make_demo_repository

    managed = open_managed(root, Settings())
    source = root / "demo-source"
    if not source.exists():
        make_demo_repository(source)
    known = {status.name for status in managed.repositories.list()}
    if "demo" not in known:
        managed.repositories.add("demo", source.as_uri(), activity=QUIET)
    there = {record.id: record for record in managed.contexts.list()}
    for context, ref in _REFS.items():
        if context not in there:
            managed.contexts.create(context, [("demo", ref)], activity=QUIET)
        elif managed.contexts.outdated(there[context]):
            managed.contexts.rebuild(context, activity=QUIET)
    return managed


def _tell(
    answers: list[Answered], kept: list[tuple[str, bool]], seconds: float, as_json: bool
) -> None:
    if as_json:
        write_json(_document(answers, kept, seconds))
    else:
        from .demo_view import show

        show(answers, kept, seconds)
    sys.stdout.flush()


def _document(
    answers: list[Answered], kept: list[tuple[str, bool]], seconds: float
) -> dict[str, Any]:
    return {
        "ok": all(holds for _, holds in kept),
        "seconds": round(seconds, 3),
        "checks": [{"promise": words, "ok": holds} for words, holds in kept],
        "questions": [
            {
                "question": answered.question.words,
                "tool": answered.question.tool,
                "asked": [
                    {"arguments": answered.question.arguments[context], "answer": result}
                    for context, result in answered.results.items()
                ],
            }
            for answered in answers
        ],
    }


def _serve(url: str, root: Path, child: "subprocess.Popen[bytes]", *, temporary: bool) -> None:
    """Say how to reach the server, and wait until somebody ends it."""
    stdio = command(root, "--stdio")
    configurations = (
        {"command": stdio[0], "args": stdio[1:]},
        {"type": "http", "url": f"{url}/mcp"},
    )
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_code", "arguments": {"context": V2, "query": "NewHandler"}},
    }
    try:
        say(
            f"serving {V1} and {V2} at {url}/mcp; Ctrl-C ends it"
            + (" and deletes the demo" if temporary else ""),
            "",
            "client over stdio, then over HTTP:",
            *(json.dumps({"mcpServers": {"vacmcp": each}}) for each in configurations),
            "",
            "without a client:",
            f"curl -sS {url} -H 'Content-Type: application/json' "
            f"-H 'Accept: application/json, text/event-stream' -d '{json.dumps(call)}'",
        )
        child.wait()
    except Ended:
        say("", "stopping")


@contextmanager
def _status(silent: bool) -> Iterator[Any]:
    """Call what is yielded with what is being done; ``""`` ends the line."""
    if silent or not sys.stderr.isatty():
        yield lambda words: None
        return
    from .output import terminal

    status = terminal(stderr=True).status("")

    def doing(words: str) -> None:
        if words:
            status.update(words)
            status.start()
        else:
            status.stop()

    try:
        yield doing
    finally:
        status.stop()
