"""10,000 mixed calls from 32 concurrent clients against one server.

    python benchmarks/load.py --repository code=/path/to/a.git@v1,v2 [--calls N] [--clients N]

A tenth of the calls are searches. Besides the repository given, the demo repository is served.
Prints errors, p50 and p95 per tool, throughput, and the resident memory of the server and its
workers after the 2,000th and the last call. Exits 1 on any error or when memory grew by more than
a tenth.
"""

import argparse
import asyncio
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx

from vacmcpd.testing.demo import make_demo_repository

VACMCP = str(Path(sys.executable).parent / "vacmcp")
HEADERS = {"Accept": "application/json, text/event-stream"}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def resident(pid: int) -> int:
    """Resident memory of a process and all below it, in bytes, from /proc."""
    total = 0
    pending = [pid]
    while pending:
        one = pending.pop()
        try:
            status = Path(f"/proc/{one}/status").read_text(encoding="ascii")
            tasks = list(Path(f"/proc/{one}/task").iterdir())
        except OSError:
            continue
        total += int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024  # type: ignore[index]
        for task in tasks:
            pending += map(int, (task / "children").read_text(encoding="ascii").split())
    return total


class Load:
    def __init__(self, url: str, work: list[tuple[str, dict[str, Any]]], pid: int) -> None:
        self.url, self.work, self.pid = url, iter(work), pid
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.done = 0
        self.early = 0

    async def client(self, modern: bool) -> None:
        async with httpx.AsyncClient(timeout=120, headers=HEADERS) as http:
            for tool, arguments in self.work:
                params: dict[str, Any] = {"name": tool, "arguments": arguments}
                headers = {}
                if modern:
                    params["_meta"] = MODERN
                    headers = {
                        "MCP-Protocol-Version": "2026-07-28",
                        "Mcp-Method": "tools/call",
                        "Mcp-Name": tool,
                    }
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                began = time.perf_counter()
                response = await http.post(self.url, json=body, headers=headers)
                self.times[tool].append(time.perf_counter() - began)
                if response.status_code != 200 or '"isError":true' in response.text:
                    self.errors.append(f"{tool}: {response.status_code} {response.text[:300]}")
                self.done += 1
                if self.done == 2000:
                    self.early = resident(self.pid)


def run(*arguments: str) -> str:
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


def calls(contexts: list[str], files: dict[str, list[str]], many: int) -> list[tuple[str, Any]]:
    chosen = random.Random(1)
    words = ["NewHandler", "func", "context", "return err", "file:md the", "Process"]
    work: list[tuple[str, Any]] = []
    for number in range(many):
        context = chosen.choice(contexts)
        path = chosen.choice(files[context])
        if number % 10 == 0:
            work.append(("search_code", {"context": context, "query": chosen.choice(words)}))
        elif number % 10 < 6:
            work.append(
                ("get_code", {"context": context, "path": path, "start_line": 1, "end_line": 1})
            )
        elif number % 10 < 8:
            work.append(("list_contexts", {}))
        elif number % 10 == 8:
            pair = {"from_context": context, "to_context": context, "path": path}
            work.append(("compare_code", pair))
        else:
            work.append(("search_history", {"context": context, "path": path, "limit": 5}))
    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", required=True, metavar="NAME=URL@REF,REF")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    name, rest = options.repository.split("=", 1)
    url, refs = rest.rsplit("@", 1)
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        make_demo_repository(demo)
        data = ["--data-dir", f"{folder}/data"]
        files: dict[str, list[str]] = {}
        for repository, source, ref in [
            ("demo", str(demo), "release/v1"),
            ("demo", str(demo), "release/v2"),
            *[(name, url, ref) for ref in refs.split(",")],
        ]:
            if repository not in run(VACMCP, "repo", "list", *data):
                run(VACMCP, "repo", "add", repository, "--url", source, *data)
            context = f"{repository}-{ref}".replace("/", "-")
            run(VACMCP, "context", "create", context, "--repo", repository, "--ref", ref, *data)
            listing = run("git", "-C", source, "ls-tree", "-r", "-l", ref).splitlines()
            files[context] = [
                line.split("\t", 1)[1]
                for line in listing
                if line.startswith("100") and line.split()[3] != "0" and '"' not in line
            ]
            print(f"{context}: {len(listing)} files")
        server = subprocess.Popen(
            [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", *data],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.stderr
        try:
            for line in server.stderr:
                if found := re.search(r"(127\.0\.0\.1:\d+)", line):
                    break
            load = Load(f"http://{found[1]}/", calls(list(files), files, options.calls), server.pid)  # type: ignore[index]
            began = time.perf_counter()
            asyncio.run(drive(load, options.clients))
            wall = time.perf_counter() - began
            late = resident(server.pid)
        finally:
            server.terminate()
            server.wait(60)
    report(load, wall, late, options.clients)


async def drive(load: Load, clients: int) -> None:
    await asyncio.gather(*[load.client(modern=bool(number % 2)) for number in range(clients)])


def report(load: Load, wall: float, late: int, clients: int) -> None:
    print(f"\n{'tool':16}{'calls':>7}{'p50 ms':>9}{'p95 ms':>9}")
    for tool, times in sorted(load.times.items()):
        cuts = statistics.quantiles(times, n=20)
        print(f"{tool:16}{len(times):7}{cuts[9] * 1000:9.1f}{cuts[18] * 1000:9.1f}")
    print(f"\n{load.done} calls, {clients} clients, {load.done / wall:.0f} calls/s")
    print(f"resident after 2,000: {load.early / 1e6:.1f} MB, after the last: {late / 1e6:.1f} MB")
    ratio = late / load.early if load.early else 0.0
    print(f"ratio {ratio:.3f} (must be <= 1.1), errors {len(load.errors)} (must be 0)")
    for error in load.errors[:5]:
        print("  ", error)
    sys.exit(1 if load.errors or ratio > 1.1 else 0)


if __name__ == "__main__":
    main()
