"""What the search benchmarks take from a repository: a clone, versions and drawn queries."""

import random
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pygit2

_TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,39}")
_PHRASE = re.compile(rb"(?<![\w.])[A-Za-z]{2,15} [A-Za-z]{2,15}(?: [A-Za-z]{2,15})?(?![\w.])")
_LARGEST = 512 * 1024
"""Queries come from files that no engine skips."""
_WITHOUT_LITERAL = (r"[a-z]{3}\d{4}", r"[A-Z]{2}[0-9]{2}[a-z]", r"\b\w{28}\b")
PAGE = 50


@dataclass(frozen=True, slots=True)
class Query:
    """``text`` means the same to either engine; ``grep`` are git grep's arguments, if it can."""

    kind: str
    text: str
    grep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clone:
    """The benchmark's own bare clone, which every engine reads."""

    path: Path
    name: str
    refs: tuple[str, ...]
    commits: tuple[str, ...]


def clone_of(repository: Path, refs: list[str], path: Path) -> Clone:
    subprocess.run(["git", "clone", "-q", "--bare", str(repository), str(path)], check=True)
    commits = [
        subprocess.run(
            ["git", "-C", str(path), "rev-parse", "--verify", f"{ref}^{{commit}}"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for ref in refs
    ]
    name = repository.name.removesuffix(".git") or repository.parent.name
    return Clone(path, name, tuple(refs), tuple(commits))


class Corpus:
    """The text files of one commit."""

    def __init__(self, clone: Clone, commit: str) -> None:
        self._repository = pygit2.Repository(str(clone.path))
        self.commit = commit
        self.files: list[tuple[str, str, int]] = []
        self._walk("", self._repository[commit].peel(pygit2.Tree))

    def _walk(self, prefix: str, tree: pygit2.Tree) -> None:
        for entry in tree:
            path = prefix + (entry.name or "")
            if entry.type_str == "tree":
                self._walk(path + "/", entry)
            elif entry.type_str == "blob" and entry.filemode != pygit2.enums.FileMode.LINK:
                self.files.append((path, str(entry.id), entry.filemode))

    def text(self, oid: str) -> bytes:
        """A blob's content; empty when it is binary, big or not UTF-8."""
        data: bytes = self._repository[oid].data
        try:
            data.decode()
        except UnicodeDecodeError:
            return b""
        return b"" if len(data) > _LARGEST or b"\0" in data else data

    def bytes(self) -> int:
        """Of all files together."""
        return sum(self._repository[oid].size for _, oid, _ in self.files)

    def queries(self, seed: int, each: int) -> list[Query]:
        """``each`` queries of every kind, drawn by ``seed`` from the corpus's own tokens."""
        rng = random.Random(seed)
        in_files: Counter[bytes] = Counter()
        phrases: list[bytes] = []
        for _, oid, _ in self.files:
            data = self.text(oid)
            in_files.update(set(_TOKEN.findall(data)))
            found = _PHRASE.findall(data)
            phrases += rng.sample(found, min(2, len(found)))
        words = sorted(in_files.items())
        many = max(300, len(self.files) // 8)
        drawn = [
            *_draw(rng, "rare identifier", each, [w for w, n in words if n <= 3 and _name(w)]),
            *_draw(rng, "in 8-30 files", each, [w for w, n in words if 8 <= n <= 30 and _name(w)]),
            *_draw(rng, "in 100-400 files", each, [w for w, n in words if 100 <= n <= 400]),
            *_draw(rng, "common", each, [w for w, n in words if n >= many]),
            *_draw(rng, "3 characters", each, [w for w, n in words if len(w) == 3 and n >= 5]),
            *_draw(
                rng,
                "word, any case",
                each,
                [w for w, n in words if w.islower() and w.isalpha() and len(w) > 5 and n >= 8],
            ),
            *_draw(rng, "phrase", each, sorted(set(phrases))),
        ]
        frequent = [w.decode() for w, n in words if 100 <= n <= 400]
        return drawn + self._filtered(rng, each, frequent) + _regexes(rng, each, words)

    def _filtered(self, rng: random.Random, each: int, words: list[str]) -> list[Query]:
        endings = Counter(
            path.rsplit(".", 1)[1] for path, _, _ in self.files if re.search(r"\.\w+$", path)
        )
        common = [ending for ending, _ in endings.most_common(3)]
        texts = []
        for n, word in enumerate(rng.sample(words, min(each, len(words)))):
            only = f"file:\\.{common[n % len(common)]}$"
            texts.append(f"{'-file:test' if n % 2 else only} {word}")
        return [Query("file: filter", text) for text in texts]


def without_literal() -> list[Query]:
    return [
        Query("regex, no literal", text, ("-P", *_case(text), "-e", text))
        for text in _WITHOUT_LITERAL
    ]


def changed_version(clone: Clone, seed: int) -> str:
    """A commit after the last with 1 % of its files changed by a line each."""
    rng = random.Random(seed)
    repository = pygit2.Repository(str(clone.path))
    last = clone.commits[-1]
    corpus = Corpus(clone, last)
    index = pygit2.Index()
    index.read_tree(repository[last].peel(pygit2.Tree))
    texts = [each for each in corpus.files if corpus.text(each[1])]
    for path, oid, mode in rng.sample(texts, max(1, len(corpus.files) // 100)):
        lines = corpus.text(oid).split(b"\n")
        lines.insert(rng.randrange(len(lines)), b"changed to %016x" % rng.getrandbits(64))
        index.add(pygit2.IndexEntry(path, repository.create_blob(b"\n".join(lines)), mode))
    who = pygit2.Signature("bench", "bench@example.org", 1, 0)
    tree = index.write_tree(repository)
    return str(repository.create_commit(None, who, who, "1 % changed", tree, [last]))


def grep(clone: Clone, commit: str, query: Query) -> list[str]:
    return ["git", "-C", str(clone.path), "grep", "-I", "-n", *query.grep, commit]


def _name(word: bytes) -> bool:
    return len(word) >= 8 and not word.islower()


def _draw(rng: random.Random, kind: str, each: int, words: list[bytes]) -> list[Query]:
    drawn = [word.decode() for word in rng.sample(words, min(each, len(words)))]
    return [
        Query(kind, f'"{text}"' if " " in text else text, ("-F", *_case(text), "-e", text))
        for text in drawn
    ]


def _case(text: str) -> tuple[str, ...]:
    """``case:auto``: a capital anywhere makes it count."""
    return () if text != text.lower() else ("-i",)


def _regexes(rng: random.Random, each: int, words: list[tuple[bytes, int]]) -> list[Query]:
    fit = [w.decode() for w, n in words if 8 <= n <= 400 and _name(w)]
    shapes = ("{}\\w+", "\\b{}\\b", "{}\\s*\\(", "\\w+{}")
    texts = [
        shapes[n % len(shapes)].format(word[: 6 + n])
        for n, word in enumerate(rng.sample(fit, min(each, len(fit))))
    ]
    return [Query("regex with a literal", text, ("-P", *_case(text), "-e", text)) for text in texts]
