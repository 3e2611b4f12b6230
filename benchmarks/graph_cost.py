"""What the call graphs of several versions cost, beside what must be reached.

    python benchmarks/graph_cost.py CLONE COMMIT COMMIT…

Builds the commits one after the other into one store, as ``context create`` does, each in a
process of its own, and prints CPU seconds of all processes, megabytes of source a second, the
ratio to the first build, what the store holds against the source's bytes, and peak memory.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from process import measure

MAX_FILE_BYTES = 4 * 1024 * 1024
BARS = (
    "first build: must .9 (Python), 1.1 (Go) MB/s, aim 2",
    "patch release (at most 2 % of blobs): must .20 (Python), .15 (Go), aim .10, .05",
    "minor release (about 15 %), Python: must .8, aim .5",
    "store against source, one version: must .5, aim .25",
)


def build(clone: Path, folder: Path, commit: str) -> None:
    """Add one commit to the store of ``folder``; prints how many bytes of source it parsed."""
    from vacmcpd.adapters.artifacts import FolderArtifacts
    from vacmcpd.adapters.git.objects import GitObjects
    from vacmcpd.adapters.syntax.embedded import EmbeddedGraphBuilder
    from vacmcpd.ports.artifacts import StoredFile
    from vacmcpd.ports.builders import BuildTarget, StoreState

    kept = folder / "generation.json"
    files, live = json.loads(kept.read_text("utf-8")) if kept.exists() else ([], [])
    state = StoreState(tuple(StoredFile(**each) for each in files), frozenset(live))
    objects = GitObjects(lambda _: clone, keep_refs=False)
    artifacts = FolderArtifacts(lambda _: folder / "files")
    builder = EmbeddedGraphBuilder(objects, artifacts, max_file_bytes=MAX_FILE_BYTES)
    built = builder.build(
        BuildTarget("bench", "code", commit, commit), state, lambda *_: None, None
    )
    files = [asdict(each) for each in built.files or state.files]
    kept.write_text(json.dumps([files, sorted({*live, built.artifact.key})]), encoding="utf-8")
    artifacts.sweep("code", [each["digest"] for each in files])
    print(json.dumps({each.name: each.files for each in built.languages}))


def source_bytes(clone: Path, commit: str) -> int:
    """The bytes of the files of a commit that a language is known for."""
    from vacmcpd.adapters.syntax.languages import language_of

    listed = subprocess.run(
        ["git", "-C", str(clone), "ls-tree", "-r", "-l", "-z", commit],
        check=True,
        capture_output=True,
    ).stdout
    total = 0
    for entry in listed.split(b"\0"):
        head, _, path = entry.partition(b"\t")
        if path and language_of(path.decode("utf-8", "replace"), lambda: b"") is not None:
            size = head.split()[3]
            total += int(size) if size.isdigit() and int(size) <= MAX_FILE_BYTES else 0
    return total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clone", type=Path)
    parser.add_argument("commits", nargs="+")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.into is not None:
        build(options.clone, options.into, options.commits[0])
        return
    folder = Path(tempfile.mkdtemp())
    try:
        first = 0.0
        print(
            f"{'commit':14}{'MB':>8}{'CPU s':>8}{'MB/s':>7}{'ratio':>7}{'store':>8}{'peak MB':>9}"
        )
        for commit in options.commits:
            command = [sys.executable, __file__, str(options.clone), commit, "--into", str(folder)]
            cost = measure(command)
            size = source_bytes(options.clone, commit) / 1e6
            first = first or cost.cpu
            stored = sum(p.stat().st_size for p in (folder / "files").rglob("*") if p.is_file())
            print(
                f"{commit[:12]:14}{size:8.1f}{cost.cpu:8.2f}{size / cost.cpu:7.2f}"
                f"{cost.cpu / first:7.3f}{stored / 1e6 / size:8.3f}{cost.peak / 1e6:9.0f}",
                flush=True,
            )
    finally:
        shutil.rmtree(folder)
    print(*BARS, sep="\n")


if __name__ == "__main__":
    main()
