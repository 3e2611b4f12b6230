"""Many versions of one repository in one store, each checked against git grep at its commit.

    python benchmarks/agreement.py --repository redis.git --ref 6.0.0,6.0.1,…
                                   [--seed N] [--queries 50]

Literal queries are drawn by seed from the oldest, the middle and the newest version: words from
rare to common, phrases, and pieces of lines with whatever they hold. In turn they are
asked in mode literal, where a text without capitals ignores case as ``-i`` does, and with
``case:yes``. For each query on each version the set of (path, line) must be what
``git grep -I -F -n`` finds. Lines that only we find
in files that git takes for binary (UTF-16) or reads as other bytes (latin-1) are counted apart.
Prints the store's size and every version's cost; exits 1 on any mismatch.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import process
import store
from corpus import Clone, Corpus, clone_of

from vacmcpd.paths import to_text

MB = 1e6
_ALL = 10_000_000
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
Lines = set[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Question:
    """``query`` in ``mode`` finds what git grep finds of ``text``, with ``-i`` or without."""

    text: str
    query: str
    mode: str
    any_case: bool

    def is_in(self, line: bytes) -> bool:
        text = self.text.encode()
        return text in line or (self.any_case and text in line.lower())


def ask_about(number: int, text: str) -> Question:
    if number % 2:
        escaped = re.sub(r"[^A-Za-z0-9_ ]", lambda found: rf"\\x{{{ord(found[0]):x}}}", text)
        return Question(text, f'case:yes content:"{escaped}"', "zoekt", any_case=False)
    return Question(text, text, "literal", any_case=text == text.lower())


@dataclass
class Tally:
    checked: int = 0
    lines: int = 0
    mismatches: list[str] = field(default_factory=list)
    apart: Counter[str] = field(default_factory=Counter)


def draw(clone: Clone, seed: int, count: int) -> list[Question]:
    rng = random.Random(seed)
    commits = clone.commits
    texts: set[str] = set()
    for commit in dict.fromkeys([commits[0], commits[len(commits) // 2], commits[-1]]):
        corpus = Corpus(clone, commit)
        for query in corpus.queries(seed, 4):
            if not query.kind.startswith(("regex", "file:")):
                texts.add(query.text.strip('"'))
        texts.update(_pieces(corpus, rng, count // 3))
    drawn = rng.sample(sorted(texts), min(count, len(texts)))
    return [ask_about(number, text) for number, text in enumerate(drawn)]


def _pieces(corpus: Corpus, rng: random.Random, count: int) -> list[str]:
    """Pieces of lines, of 3 to 40 characters, not of blanks alone."""
    found: list[str] = []
    while len(found) < count:
        lines = corpus.text(rng.choice(corpus.files)[1]).decode().split("\n")
        line = rng.choice(lines).removesuffix("\r")
        begin = rng.randrange(max(1, len(line) - 2))
        piece = line[begin : begin + rng.randint(3, 40)]
        if len(piece) >= 3 and piece.strip():
            found.append(piece)
    return found


def git_finds(clone: Clone, commit: str, questions: list[Question]) -> list[Lines]:
    """One run over the tree for all that mind case alike; whose line it is, the line says."""
    found: list[Lines] = [set() for _ in questions]
    for any_case in (False, True):
        wanted = [
            (question, lines)
            for question, lines in zip(questions, found, strict=True)
            if question.any_case is any_case
        ]
        for path, number, content in _grep(clone, commit, [q.text for q, _ in wanted], any_case):
            for question, lines in wanted:
                if question.is_in(content):
                    lines.add((path, number))
    return found


def _grep(
    clone: Clone, commit: str, texts: list[str], any_case: bool
) -> Iterator[tuple[str, int, bytes]]:
    if not texts:
        return
    done = subprocess.run(
        [
            # A bare repository's HEAD would say with its attributes what is binary.
            *("git", "-c", f"attr.tree={_EMPTY_TREE}", "-C", str(clone.path)),
            *("grep", "-I", "-F", "-n", "-z", *(("-i",) if any_case else ())),
            *(part for text in texts for part in ("-e", text)),
            commit,
        ],
        capture_output=True,
    )
    if done.returncode > 1:
        sys.exit(done.stderr.decode(errors="replace"))
    for row in done.stdout.split(b"\n")[:-1]:
        name, _, rest = row.partition(b"\0")
        # Either separator may stand after the number.
        number = rest[: len(rest) - len(rest.lstrip(b"0123456789"))]
        yield to_text(name[len(commit) + 1 :]), int(number), rest[len(number) + 1 :]


def check(
    clone: Clone,
    searcher: store.Searcher,
    commit: str,
    questions: list[Question],
    proof: int,
    tally: Tally,
) -> None:
    """``proof`` is the question that is also looked for alone, to prove git's joint run."""
    truth = git_finds(clone, commit, questions)
    if git_finds(clone, commit, [questions[proof]])[0] != truth[proof]:
        tally.mismatches.append(f"{commit} {questions[proof].text!r}: git grep differs when alone")
    for question, lines in zip(questions, truth, strict=True):
        page = searcher.search(commit, question.query, _ALL, mode=question.mode)
        ours = {(each.path, each.line) for each in page.matches if not each.file_name}
        tally.checked += 1
        tally.lines += len(ours)
        if not page.total_is_exact or page.total != len(page.matches) or page.revision != commit:
            tally.mismatches.append(f"{commit} {question.query!r}: not whole or not of the pin")
        compare(clone, commit, question.query, ours, lines, tally)


def compare(clone: Clone, commit: str, text: str, ours: Lines, truth: Lines, tally: Tally) -> None:
    surplus = Counter(path for path, _ in ours - truth)
    for path in list(surplus):
        why = apart(clone, commit, path)
        if why:
            tally.apart[why] += surplus.pop(path)
    missing = sorted(truth - ours)
    if missing or surplus:
        tally.mismatches.append(
            f"{commit} {text!r}: missing {len(missing)} {missing[:3]}, "
            f"not in git's {sum(surplus.values())} {sorted(surplus)[:3]}"
        )


def apart(clone: Clone, commit: str, path: str) -> str:
    """Why git grep can't be the judge of a file; empty where it is."""
    shown = subprocess.run(
        ["git", "-C", str(clone.path), "cat-file", "blob", f"{commit}:{path}"],
        capture_output=True,
    )
    data = shown.stdout
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    return ""


def costs(clone: Clone, folder: Path) -> None:
    script = str(Path(store.__file__))
    command = [sys.executable, script, "build", str(clone.path), str(folder), *clone.commits]
    cost = process.measure(command)
    spent = json.loads(cost.output)
    before = 0.0
    print(f"{'version':24}{'CPU s':>8}{'MB more':>9}{'MB':>8}")
    for ref, (_, cpu, size) in zip(clone.refs, spent, strict=True):
        print(f"{ref:24}{cpu:8.2f}{(size - before) / MB:9.2f}{size / MB:8.1f}")
        before = size
    later = [cpu for _, cpu, _ in spent[1:]] or [0.0]
    whole = before / MB
    print(
        f"\nstore {whole:.1f} MB, {whole / len(spent):.2f} MB a version; CPU {cost.cpu:.1f} s in "
        f"all, the first {spent[0][1]:.2f}, a further one p50 {statistics.median(later):.2f}, "
        f"most {max(later):.2f}; peak memory {cost.peak / MB:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--ref", required=True, help="refs, oldest first, separated by commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=int, default=50)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, seed {options.seed}")
    with tempfile.TemporaryDirectory() as folder:
        clone = clone_of(options.repository, options.ref.split(","), Path(folder) / "clone")
        costs(clone, Path(folder) / "store")
        questions = draw(clone, options.seed, options.queries)
        tally = Tally()
        searcher = store.open_searcher(clone.path, Path(folder) / "store")
        began = time.monotonic()
        for done, commit in enumerate(clone.commits):
            check(clone, searcher, commit, questions, done % len(questions), tally)
            if (done + 1) % 10 == 0:
                print(f"{done + 1} versions, {len(tally.mismatches)} mismatches", file=sys.stderr)
    report(tally, len(clone.commits), len(questions), time.monotonic() - began)


def report(tally: Tally, versions: int, queries: int, seconds: float) -> None:
    print(
        f"{versions} versions x {queries} queries: {tally.checked} compared, {tally.lines} lines, "
        f"{len(tally.mismatches)} mismatches, in {seconds:.0f} s"
    )
    for why, lines in tally.apart.items():
        print(f"    {lines} lines found by us alone in files that are {why}")
    for each in tally.mismatches[:40]:
        print(f"    {each}")
    sys.exit(1 if tally.mismatches else 0)


if __name__ == "__main__":
    main()
