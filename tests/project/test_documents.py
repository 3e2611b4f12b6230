"""What the documents show is run, so that it stays true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks(document: str, language: str) -> list[str]:
    """The fenced blocks of one language, in their order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [body for name, body in fenced if name == language]


def test_the_embedding_program_prints_what_the_document_says(tmp_path: Path) -> None:
    (program,) = blocks("docs/embedding.md", "python")
    (printed,) = blocks("docs/embedding.md", "")
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.stdout == printed


def test_the_embedding_snippet_of_the_readme_imports(tmp_path: Path) -> None:
    (snippet,) = blocks("README.md", "python")
    done = subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize("mark", ["demo", "tests"])
def test_the_readme_has_the_commands_that_ci_runs(mark: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(rf"<!-- {mark} -->\n```sh\n(.*?)```", text, flags=re.DOTALL)
    assert len(found) == 1
    assert "\n" not in found[0].strip(), "one command"


def test_the_documents_link_to_files_that_exist() -> None:
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for name in re.findall(
            r"`((?:docs|vacmcpd|tests|benchmarks)/[\w./-]+)`", document.read_text(encoding="utf-8")
        ):
            assert (ROOT / name).exists(), f"{document.name} names {name}"


def test_no_document_and_no_code_names_a_machine_path_or_leaves_work_undone() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, timeout=60
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    unfinished = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "X" * 3)) + r")\b")
    machine = re.compile(r"(?<![\w.$}~])/(?:wo" + "rk|ro" + r"ot)/")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if (
            path.suffix not in {".py", ".md", ".toml", ".service", ".conf", ""}
            or not path.is_file()
        ):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not unfinished.search(text), name
        assert not machine.search(text), name
