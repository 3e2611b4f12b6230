"""The recorded commands of the original, replayed: exit, error code and columns are the same.

``tests/reference/cli.json`` holds the shapes (no prose). What is different on purpose is in
``DIFFERENCES`` or is one of the rules of :func:`adapted`, with the reason;
``docs/differences.md`` lists the same.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
V1 = "9eda2538a4c07c8ce714999c816c67478611a81d"
V2 = "5eee04c43633883798501b2d2d1b9caab064e75a"
MAIN = "d580bc926b11d5a308ece6a9d5fd86375b11858a"


@dataclass(frozen=True, slots=True)
class Case:
    """One command and how it ended. ``exit`` is ok or failed; ``code`` None when none is told."""

    name: str
    argv: tuple[str, ...]
    exit: str
    code: str | None
    stdout: tuple[tuple[str, ...], ...]


def load() -> dict[str, Case]:
    text = (ROOT / "tests" / "reference" / "cli.json").read_text(encoding="utf-8")
    cases = (
        Case(
            raw["name"],
            tuple(raw["argv"]),
            raw["exit"],
            raw["code"],
            tuple(tuple(row) for row in raw["stdout"]),
        )
        for raw in json.loads(text)
    )
    return {case.name: case for case in cases}


CASES = load()

# What a recorded case is expected to be here, and why. Fields not named are as recorded.
_NO_LEFTOVER = "a failed add leaves no repository behind (defect 17)"
_EXACT = "a ref is the name of a branch or tag, a full ref name or a commit id; nothing is computed"
_LOCKED = "a refusal by a running server has a code of its own, LOCKED, and exit code 4"
_CONTEXTS = (
    ("demo-v1", "demo", V1, "READY"),
    ("demo-v2", "demo", V2, "READY"),
    ("short", "demo", V2, "READY"),
    ("tag", "demo", V1, "READY"),
)
DIFFERENCES: dict[str, tuple[str, dict[str, object]]] = {
    "repo_list": (_NO_LEFTOVER, {"stdout": (("demo", "READY", "<url>", "never synced"),)}),
    "repo_list_failed": (_NO_LEFTOVER, {"stdout": ()}),
    "repo_add_over_failed": (
        _NO_LEFTOVER,
        {"exit": "ok", "code": None, "stdout": (("missing", "READY", "<path>"),)},
    ),
    "repo_sync_all": (_NO_LEFTOVER, {"exit": "ok"}),
    "context_create_lockname": (
        "a name that ends in .lock or .git is refused: it becomes a file's name",
        {"exit": "failed", "code": "INVALID_ARGUMENT", "stdout": ()},
    ),
    "context_create_tilde": (
        _EXACT,
        {"exit": "failed", "code": "REVISION_NOT_FOUND", "stdout": ()},
    ),
    "context_create_graph_fail": (
        "no engine outside this process builds the graph, so none can fail",
        {"exit": "ok", "code": None, "stdout": (("gfail", "READY", MAIN),)},
    ),
    "context_list": (
        "the contexts that are refused here are not there",
        {"stdout": (*_CONTEXTS[:2], ("gfail", "demo", MAIN, "FAILED"), *_CONTEXTS[2:])},
    ),
    "context_verify_failed_ctx": (
        "what is checked first is the pin, and what was never built keeps no commit",
        {"code": "SOURCE_MISMATCH"},
    ),
    "locked_context_create": (_LOCKED, {"code": "LOCKED"}),
    "locked_context_remove": (_LOCKED, {"code": "LOCKED"}),
    "locked_context_retry": (_LOCKED, {"code": "LOCKED"}),
    "locked_repo_remove": (_LOCKED, {"code": "LOCKED"}),
    "locked_context_list": (
        "the contexts that are refused here are not there",
        {"stdout": _CONTEXTS},
    ),
    "x_stale_create": (
        "a branch is the newest fetched one (defect 1)",
        {"stdout": (("after-sync", "READY", "<new>"),)},
    ),
    "x_head_ref": (_EXACT, {"exit": "failed", "code": "REVISION_NOT_FOUND", "stdout": ()}),
    "x_origin_ref": (_EXACT, {"exit": "failed", "code": "REVISION_NOT_FOUND", "stdout": ()}),
    "x_reflog_ref": (_EXACT, {"exit": "failed", "code": "REVISION_NOT_FOUND", "stdout": ()}),
    "x_ambiguous_ref": (
        "a name that is both branch and tag is refused with both candidates",
        {"exit": "failed", "code": "INVALID_ARGUMENT", "stdout": ()},
    ),
    "x_tag_moved_sync": (
        "moved tags don't break sync (defect 2)",
        {"exit": "ok", "stdout": (("up", "READY", "<time>"),)},
    ),
    "x_tag_moved_status": ("moved tags don't break sync (defect 2)", {"state": "READY"}),
    "context_verify_no_shard": (
        "a lost index has a code of its own, ARTIFACT_MISSING, and names the rebuild",
        {"code": "ARTIFACT_MISSING"},
    ),
}
# Keys of a status answer that have no meaning here.
DROPPED_KEYS = {
    "search ref": "artifacts are named by what they are made from, not by a branch",
    "graph ref": "as above",
    "worktree": "engines read objects; nothing is checked out",
}


def adapted(case: Case) -> Case:
    """The recorded case by the rules that hold for all of them.

    1. The columns of ``context create``, ``retry`` and ``verify`` are those of v0.5 and later,
       which print the repository, too: compared without it.
    2. A failure always has a code, also where the original printed none (usage, git's failures).
    3. The URL of a local repository is its place: both are ``<path>``, and compared as ``<url>``.
    """
    if case.name not in DIFFERENCES:
        return case
    changes = dict(DIFFERENCES[case.name][1])
    state = changes.pop("state", None)
    if state:
        rows = tuple((key, str(state) if key == "state" else value) for key, value in case.stdout)
        changes["stdout"] = rows
    changed = replace(case, **changes)  # type: ignore[arg-type]
    assert changed != case, f"{case.name} is no difference"
    return changed


@dataclass
class Replay:
    """Commands run in one temporary folder, compared with the recorded ones."""

    vacmcp: Callable[..., object]
    folder: Path
    new: str = ""

    def __call__(self, *names: str) -> None:
        for name in names:
            case = CASES[name]
            words = [word.replace("$TMP", str(self.folder)) for word in case.argv]
            ran = self.vacmcp(*words, env={"VACMCP_DATA_DIR": ""})
            wanted = adapted(case)
            told = f"{name}: {ran}"
            assert ("ok" if ran.code == 0 else "failed") == wanted.exit, told
            if ran.code:
                assert ran.error, told
                assert wanted.code in (None, ran.error), told
            assert self.shown(case, ran) == self.expected(wanted), told

    def shown(self, case: Case, ran) -> object:
        if case.argv[1:2] == ("status",) and ran.code == 0:
            keys = [key for key, _ in case.stdout if key not in DROPPED_KEYS]
            return {key: self.shape(ran.pairs[key]) for key in keys}
        rows = [[self.shape(cell) for cell in row] for row in ran.rows]
        if case.argv[:2] in {("context", "create"), ("context", "retry"), ("context", "verify")}:
            rows = [row[:2] + row[3:] for row in rows]
        return rows

    def expected(self, case: Case) -> object:
        plain = [[cell.replace("<url>", "<path>") for cell in row] for row in case.stdout]
        if case.argv[1:2] == ("status",) and case.exit == "ok":
            found: dict[str, str] = {}
            for key, value in plain:
                if key not in DROPPED_KEYS:
                    found.setdefault(key, value.replace("file://$TMP/demo", "<path>"))
            return {key: self.shape(value) for key, value in found.items()}
        return [[self.shape(cell) for cell in row] for row in plain]

    def shape(self, value: str) -> str:
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+Z", value):
            return "<time>"
        if value.startswith(("$TMP", "file://", str(self.folder))):
            return "<path>"
        return "<new>" if self.new and value == self.new else value


@pytest.fixture
def replay(vacmcp, tmp_path: Path, demo_source: Path) -> Replay:
    # symlinks=True: the demo repository has one, and it is to stay one.
    shutil.copytree(demo_source, tmp_path / "demo", symlinks=True)
    return Replay(vacmcp, tmp_path)


SCENARIOS: dict[str, tuple[str, ...]] = {
    "repositories": (
        "repo_nosub",
        "repo_badsub",
        "repo_add_noname",
        "repo_add_nourl",
        "repo_add_badname",
        "repo_add_badname2",
        "repo_add_http_cred",
        "repo_add_http_user",
        "repo_add_scp_pw",
        "repo_add_ssh_pw",
        "repo_add_dash_url",
        "repo_add_ext",
        "repo_add_fail",
        "repo_list_failed",
        "repo_add_over_failed",
        "repo_remove_failed",
        "repo_add_ok",
        "repo_add_again",
        "repo_list",
        "repo_status",
        "repo_status_extra",
        "repo_status_noname",
        "repo_status_unknown",
        "repo_sync_none",
        "repo_sync_both",
        "repo_sync_unknown",
        "repo_sync_ok",
        "repo_sync_all",
        "repo_remove_ok",
    ),
    "contexts": (
        "context_nosub",
        "context_badsub",
        "context_create_noname",
        "context_create_norepo",
        "context_create_noref",
        "context_list_empty",
        "repo_add_ok",
        "context_create_unknown_repo",
        "context_create_bad_ref",
        "context_create_badname",
        "context_create_dotdot",
        "context_create_lockname",
        "context_create_tree",
        "context_create_ok",
        "context_create_ok2",
        "context_create_again",
        "context_create_short",
        "context_create_tag",
        "context_create_tilde",
        "context_status_ready",
        "context_status_unknown",
        "context_retry_ready",
        "context_verify_ok",
        "context_create_graph_fail",
        "context_remove_ok",
        "context_remove_unknown",
        "repo_remove_dep",
    ),
    "failed": (
        "context_status_failed",
        "context_list",
        "context_verify_failed_ctx",
        "context_retry_ok",
    ),
    "moved": ("context_verify_worktree_moved",),
    "lost": ("context_verify_no_shard",),
    "locked": (
        "locked_context_create",
        "locked_context_list",
        "locked_context_remove",
        "locked_context_retry",
        "locked_context_verify",
        "locked_repo_add",
        "locked_repo_remove",
        "locked_repo_sync",
    ),
    "removing": ("removing_status", "removing_retry", "removing_remove"),
    "upstream": (
        "x_stale_repo_add",
        "x_stale_sync",
        "x_stale_create",
        "x_head_ref",
        "x_origin_ref",
        "x_reflog_ref",
        "x_dash_ref",
        "x_ambiguous_ref",
        "x_tag_moved_sync",
        "x_tag_moved_status",
    ),
}
DOCTORS = {"locked_doctor", "removing_doctor"}


def test_repositories_behave_as_recorded(replay) -> None:
    replay(*SCENARIOS["repositories"])


def test_contexts_behave_as_recorded(replay) -> None:
    replay(*SCENARIOS["contexts"])


@pytest.fixture
def four(replay) -> Replay:
    """The four contexts that the recording had and that are possible here."""
    replay(
        "repo_add_ok",
        "context_create_ok",
        "context_create_ok2",
        "context_create_short",
        "context_create_tag",
    )
    return replay


def abandon(root: Path, name: str, *, removing: bool = False) -> None:
    """A context as a command that was killed leaves it."""
    from vacmcpd.catalogue import SqliteCatalogue
    from vacmcpd.datadir import DataDirectory
    from vacmcpd.model import Member

    catalogue = SqliteCatalogue.open(DataDirectory(root))
    try:
        catalogue.create_context(name, [Member("demo", "main", MAIN)], datetime.now(UTC))
        if removing:
            catalogue.mark_removing(name, datetime.now(UTC))
    finally:
        catalogue.close()


def test_a_failed_context_behaves_as_recorded(four) -> None:
    abandon(four.folder / "data", "gfail")
    four(*SCENARIOS["failed"])


def test_a_context_whose_keep_ref_moved_is_refused_as_one_whose_worktree_moved(four) -> None:
    clone = four.folder / "data" / "repos" / "demo.git"
    refs = git(clone, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    kept = [ref for ref, _, held in (line.partition(" ") for line in refs) if V2 in ref]
    assert kept
    for ref in kept:
        git(clone, "update-ref", ref, V1)
    four(*SCENARIOS["moved"])


def test_a_context_whose_index_is_lost_behaves_as_recorded(four) -> None:
    for path in (four.folder / "data" / "store" / "demo").iterdir():
        path.unlink()
    four(*SCENARIOS["lost"])
    ran = four.vacmcp("doctor", "--managed", "--data-dir", str(four.folder / "data"))
    repairs = [row[4] for row in ran.rows if row[1] == "FAIL"]
    assert "vacmcp context rebuild --all" in repairs
    assert "vacmcp context rebuild demo-v2" in repairs
    done = four.vacmcp("context", "rebuild", "--all", "--data-dir", str(four.folder / "data"))
    assert done.code == 0, done
    mended = four.vacmcp("doctor", "--managed", "--data-dir", str(four.folder / "data"))
    assert mended.code == 0, mended


def test_commands_beside_a_running_server_behave_as_recorded(four) -> None:
    with serving(four):
        four(*SCENARIOS["locked"])
        ran = four.vacmcp("doctor", "--managed", "--data-dir", str(four.folder / "data"))
        assert ran.code == 0, ran
        assert doctor_names(ran) >= doctor_names_of(CASES["locked_doctor"], REFUSED)


def test_a_context_that_is_being_removed_behaves_as_recorded(four) -> None:
    root = four.folder / "data"
    abandon(root, "intr", removing=True)
    ran = four.vacmcp("doctor", "--managed", "--data-dir", str(root))
    verdicts = {row[0]: row[1] for row in ran.rows}
    assert verdicts["intr"] == dict(row[:2] for row in CASES["removing_doctor"].stdout)["intr"]
    four(*SCENARIOS["removing"])
    assert "intr" not in four.vacmcp("context", "list", "--data-dir", str(root)).out


REFUSED = {"tilde", "x.lock", "dash", "evil", "MCP SDK", "Config", "Zoekt", "CBM", "Git repo"}


def doctor_names(ran) -> set[str]:
    return {row[0] for row in ran.rows}


def doctor_names_of(case: Case, without: set[str]) -> set[str]:
    return {row[0] for row in case.stdout} - without


class serving:
    """A managed server over the replay's data directory."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def __enter__(self) -> None:
        root = self.replay.folder / "data"
        words = ["--address", "127.0.0.1:0", "--data-dir", str(root)]
        self.child = self.replay.vacmcp.start("serve", "--managed", *words)
        line = ""
        while "READY context" not in line:
            line = self.child.stderr.readline()
            assert line, self.child.wait()

    def __exit__(self, *raised: object) -> None:
        self.child.terminate()
        self.child.communicate(timeout=60)


def test_what_happens_upstream_behaves_as_recorded(replay) -> None:
    work, bare = replay.folder / "demo", replay.folder / "up.git"
    git(work, "clone", "-q", "--bare", str(work), str(bare))
    add, sync, *created = SCENARIOS["upstream"]
    replay(add)
    (work / "later.txt").write_text("later\n", encoding="utf-8")
    git(work, "add", "later.txt")
    git(work, "commit", "-q", "-m", "Later")
    replay.new = git(work, "rev-parse", "HEAD").strip()
    git(work, "branch", "v1.0.0", "release/v2")
    git(work, "push", "-q", str(bare), "main", "refs/heads/v1.0.0")
    replay(sync, *created[:-2])
    git(work, "push", "-q", "--force", str(bare), f"{V2}:refs/tags/v1.0.0")
    replay(*created[-2:])


def git(folder: Path, *words: str) -> str:
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "T"), ("EMAIL", "t@example.invalid"))
    }
    return subprocess.run(
        ["git", "-C", str(folder), *words],
        env={**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def test_every_recorded_case_is_replayed() -> None:
    replayed = {name for names in SCENARIOS.values() for name in names}
    assert replayed | DOCTORS == set(CASES)


def test_every_difference_is_in_the_document_with_its_reason() -> None:
    text = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    rows = dict(documented(text[text.index("## Command line") :]))
    wanted = {name: reason for name, (reason, _) in DIFFERENCES.items()}
    assert rows == {**wanted, **DROPPED_KEYS}


def documented(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 2:
            yield cells[0].strip("`"), cells[1]
