"""Check a server's answers over real repositories against plain git commands.

    python tests/acceptance/check_repositories.py flask=/path/flask.git@1.0,3.0.0 \
        kafka=/path/kafka.git@3.7.0,3.8.0 redis=/path/redis.git@7.0.0,7.2.0

Every repository gets one context per ref; the first two make one context over both. Each answer is
asked for through the official MCP client, over stdio and Streamable HTTP, in the old and the new
protocol, and compared with what git says. Prints one line per part; exits 1 on a difference.
"""

import argparse
import asyncio
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client

VACMCP = str(Path(sys.executable).parent / "vacmcp")


@dataclass(frozen=True)
class Subject:
    name: str
    url: str
    refs: tuple[str, str]

    def context(self, ref: str) -> str:
        return f"{self.name}-{ref}".replace("/", "-")

    def git(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", "-C", self.url, *arguments], check=True, capture_output=True
        ).stdout

    def commit(self, ref: str) -> str:
        return self.git("rev-parse", f"{ref}^{{commit}}").decode().strip()

    def files(self, commit: str) -> list[bytes]:
        listing = self.git("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
        return [line.split(b"\t", 1)[1] for line in listing if line.startswith(b"100")]


def parse(argument: str) -> Subject:
    name, rest = argument.split("=", 1)
    url, refs = rest.rsplit("@", 1)
    one, other = refs.split(",")
    return Subject(name, url, (one, other))


def vacmcp(*arguments: str) -> None:
    began = time.monotonic()
    done = subprocess.run([VACMCP, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"vacmcp {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    print(f"  {time.monotonic() - began:6.1f} s  vacmcp {' '.join(arguments[:-2])}")


class Checker:
    """Asks one client and compares; counts what it compared."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client = client
        self.random = random.Random(seed)
        self.checked: Counter[str] = Counter()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        content: Any = result.structured_content
        assert not result.is_error, (tool, arguments, content)
        self.checked[tool] += 1
        return dict(content)

    async def contexts(self, subjects: list[Subject]) -> None:
        listed = {c["id"]: c for c in (await self.call("list_contexts"))["contexts"]}
        for subject in subjects:
            for ref in subject.refs:
                found = listed[subject.context(ref)]
                assert (found["repository"], found["branch"]) == (subject.name, ref)
                assert found["revision"] == subject.commit(ref)
        both = [(m["repository"], m["revision"]) for m in listed["both"]["members"]]
        assert both == [(s.name, s.commit(s.refs[0])) for s in subjects[:2]]

    async def code(self, subject: Subject, ref: str, many: int) -> None:
        commit = subject.commit(ref)
        for path in self.random.sample(subject.files(commit), many):
            blob = subject.git("cat-file", "blob", f"{commit}:{path.decode()}")
            lines = (
                blob.splitlines(keepends=True)
                if b"\r" not in blob
                else re.findall(rb"[^\n]*\n|[^\n]+\Z", blob)
            )
            if not lines or any(byte in blob for byte in b"\x0b\x0c\x1c\x1d\x1e\x85"):
                continue
            start = self.random.randint(1, len(lines))
            end = min(len(lines), start + self.random.randint(0, 60))
            answer = await self.call(
                "get_code",
                context=subject.context(ref),
                path=path.decode(),
                start_line=start,
                end_line=end,
            )
            assert answer["context"]["revision"] == commit
            if answer.get("line_truncated"):
                continue
            wanted = b"".join(lines[start - 1 : answer["end_line"]]).decode("utf-8", "replace")
            assert answer["content"] == wanted, (path, start, end)
            assert answer["end_line"] == end or answer["truncated"]

    async def search(self, subject: Subject, ref: str, many: int) -> None:
        commit = subject.commit(ref)
        words: set[str] = set()
        for path in self.random.sample(subject.files(commit), many):
            blob = subject.git("cat-file", "blob", f"{commit}:{path.decode()}")
            found = re.findall(rb"[A-Za-z_]{8,}", blob)
            if found and b"\0" not in blob[:8000]:
                words.add(self.random.choice(found).decode())
        for word in sorted(words):
            got = await self.pages(subject.context(ref), f"case:yes content:{word}")
            assert got == self.grep(subject, commit, word), (word, len(got))

    async def pages(self, context: str, query: str) -> Counter[tuple[str, int]]:
        got: Counter[tuple[str, int]] = Counter()
        more: dict[str, Any] = {"limit": 1000, "max_tokens": 25000}
        while True:
            answer = await self.call("search_code", context=context, query=query, **more)
            got.update((m["path"], m["line"]) for m in answer["matches"])
            if not answer["truncated"]:
                assert answer["total_matches"] == sum(got.values())
                return got
            more["cursor"] = answer["next_cursor"]

    def grep(self, subject: Subject, commit: str, word: str) -> Counter[tuple[str, int]]:
        raw = subject.git("grep", "-I", "-n", "-z", "-F", "--full-name", "-e", word, commit)
        lines = re.findall(rb"[0-9a-f]{40}:([^\0]+)\0(\d+)\0[^\n]*\n", raw)
        return Counter((path.decode(), int(line)) for path, line in lines)

    async def compare(self, subject: Subject, many: int) -> None:
        one, other = (subject.commit(ref) for ref in subject.refs)
        raw = subject.git("diff", "--raw", "--no-renames", "-z", one, other).split(b"\0")[:-1]
        changed = [
            (meta.split()[4].decode(), path.decode())
            for meta, path in zip(raw[::2], raw[1::2], strict=True)
            if meta.split()[0] in {b":100644", b":000000"}
            and meta.split()[1] in {b"100644", b"000000"}
        ]
        words = {"A": "ADDED", "D": "REMOVED", "M": "MODIFIED"}
        for letter, path in self.random.sample(changed, min(many, len(changed))):
            hunks: list[dict[str, Any]] = []
            more: dict[str, Any] = {"max_tokens": 25000}
            while True:
                answer = await self.call(
                    "compare_code",
                    from_context=subject.context(subject.refs[0]),
                    to_context=subject.context(subject.refs[1]),
                    path=path,
                    **more,
                )
                hunks += answer["hunks"]
                if not answer["truncated"]:
                    break
                if "next_cursor" not in answer:
                    break
                more["cursor"] = answer["next_cursor"]
            assert answer["change"] == words[letter], (path, letter)
            if not answer["binary"] and not answer["truncated"]:
                old = self.side(subject, one, path, letter != "A")
                new = self.side(subject, other, path, letter != "D")
                assert apply(old, hunks) == new, path

    def side(self, subject: Subject, commit: str, path: str, there: bool) -> list[str]:
        if not there:
            return []
        blob = subject.git("cat-file", "blob", f"{commit}:{path}")
        text = blob.decode("utf-8", "replace")
        return text.removesuffix("\n").split("\n") if text else []

    async def history(self, subject: Subject, ref: str, many: int) -> None:
        commit = subject.commit(ref)
        for path in self.random.sample(subject.files(commit), many):
            name = path.decode()
            answer = await self.call(
                "search_history", context=subject.context(ref), path=name, limit=20
            )
            log = subject.git(
                "log",
                "--no-merges",
                "--no-renames",
                "--full-history",
                "--format=%H",
                "-n",
                "20",
                commit,
                "--",
                name,
            )
            got = [c["commit"] for c in answer["commits"]]
            assert got == log.decode().split()[: len(got)], name
            assert len(got) == 20 or answer["truncated"] or len(got) == len(log.split())
        answer = await self.call("search_history", context=subject.context(ref), limit=300)
        raw = subject.git(
            "log", "--no-merges", "--no-renames", "-z", "--format=%x01%H", "--name-only",
            "-n", "300", commit,
        )  # fmt: skip
        wanted: list[tuple[str, str]] = []
        for record in raw.split(b"\x01")[1:]:
            head, _, names = record.partition(b"\n")
            identity = head.strip(b"\0").decode()
            wanted += [(identity, n.decode()) for n in names.strip(b"\n").split(b"\0") if n]
        got = [(c["commit"], c["path"]) for c in answer["commits"]]
        assert got == wanted[: len(got)]
        assert len(got) == 300 or answer["truncated"]


def apply(old: list[str], hunks: list[dict[str, Any]]) -> list[str]:
    """Old lines with the hunks applied: the new lines, if the hunks are true."""
    new: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["old_start"] - 1 if hunk["old_lines"] else hunk["old_start"]
        new += old[at:start]
        at = start
        for line in hunk["lines"]:
            if line["kind"] != "ADDED":
                assert old[at] == line["content"], (at, old[at], line)
                at += 1
            if line["kind"] != "REMOVED":
                new.append(line["content"])
    return new + old[at:]


@asynccontextmanager
async def connected(transport: str, mode: str, data: str, port: int) -> AsyncIterator[Client]:
    if transport == "http":
        target: Any = f"http://127.0.0.1:{port}/mcp"
    else:
        arguments = ["serve", "--managed", "--stdio", "--data-dir", data]
        target = stdio_client(StdioServerParameters(command=VACMCP, args=arguments))
    async with Client(target, mode=mode) as client:
        yield client


async def check(
    subjects: list[Subject], transports: list[str], data: str, port: int, many: int
) -> None:
    for transport in transports:
        for mode in ("legacy", "2026-07-28"):
            began = time.monotonic()
            async with connected(transport, mode, data, port) as client:
                checker = Checker(client, seed=len(transport + mode))
                await checker.contexts(subjects)
                for subject in subjects:
                    for ref in subject.refs:
                        await checker.code(subject, ref, many)
                        await checker.search(subject, ref, max(2, many // 4))
                        await checker.history(subject, ref, max(2, many // 4))
                    await checker.compare(subject, many)
                counts = ", ".join(f"{tool} {n}" for tool, n in sorted(checker.checked.items()))
                version = client.protocol_version
            print(f"  {time.monotonic() - began:6.1f} s  {transport} {version}: {counts}: equal")


def serve(data: str) -> tuple[subprocess.Popen[str], int]:
    child = subprocess.Popen(
        [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", "--data-dir", data],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr
    for line in child.stderr:
        print("         ", line.rstrip())
        if found := re.search(r"127\.0\.0\.1:(\d+)", line):
            return child, int(found[1])
    sys.exit("the server did not say its address")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=parse, metavar="NAME=URL@REF,REF")
    parser.add_argument("--many", type=int, default=12, help="samples of each kind")
    options = parser.parse_args()
    subjects: list[Subject] = options.repositories
    with tempfile.TemporaryDirectory() as data:
        for subject in subjects:
            vacmcp("repo", "add", subject.name, "--url", subject.url, "--data-dir", data)
            for ref in subject.refs:
                vacmcp(
                    "context", "create", subject.context(ref),
                    "--repo", subject.name, "--ref", ref, "--data-dir", data,
                )  # fmt: skip
        pairs = [word for s in subjects[:2] for word in ("--repo", s.name, "--ref", s.refs[0])]
        vacmcp("context", "create", "both", *pairs, "--data-dir", data)
        child, port = serve(data)
        try:
            asyncio.run(check(subjects, ["http", "stdio, joined"], data, port, options.many))
        finally:
            child.terminate()
            print(f"          server ended with {child.wait(40)}")
        asyncio.run(check(subjects, ["stdio"], data, port, options.many))


if __name__ == "__main__":
    main()
