"""The operations of the recorded baseline, one after the other, beside its figures.

    python benchmarks/end_to_end.py --repository /path/to/repo.git --refs v0.1.0,v0.2.0,…

The baseline is the original (Go, v0.4.0, real Zoekt, local CBM) on its own repository, four
contexts pinned to its release tags, plain HTTP POST on a kept connection, 60 calls each, on 2
cores at load 1. Its figures are printed as recorded; the ratios are ours to them, so compare on a
like machine.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

VACMCP = str(Path(sys.executable).parent / "vacmcp")
RECORDED: dict[str, tuple[float, float]] = {
    "list_contexts": (1.9, 7.4),
    "get_code, 80 lines": (13, 33),
    "search_code, one identifier": (9, 18),
    "search_code, a common word": (336, 411),
    "compare_code": (14, 17),
}
TO_REACH = {
    "list_contexts": 2.0,
    "get_code, 80 lines": 3.0,
    "search_code, one identifier": 6.0,
    "search_code, a common word": 6.0,
    "compare_code": 4.0,
}
CREATES = (10.8, 12.8, 16.4, 18.8)


def timed(*arguments: str) -> float:
    began = time.perf_counter()
    done = subprocess.run([VACMCP, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr}")
    return time.perf_counter() - began


def size(folder: str) -> float:
    files = [p for p in Path(folder).rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files) / 1e6


def resident(pid: int) -> float:
    from load import resident as count

    return count(pid) / 1e6


def requests(contexts: list[str], path: str) -> dict[str, tuple[str, dict[str, Any]]]:
    last, before = contexts[-1], contexts[-2]
    return {
        "list_contexts": ("list_contexts", {}),
        "get_code, 80 lines": (
            "get_code",
            {"context": last, "path": path, "start_line": 1, "end_line": 80},
        ),
        "search_code, one identifier": ("search_code", {"context": last, "query": "GraphProvider"}),
        "search_code, a common word": ("search_code", {"context": last, "query": "the"}),
        "compare_code": (
            "compare_code",
            {"from_context": before, "to_context": last, "path": path},
        ),
    }


def ask(http: httpx.Client, url: str, tool: str, arguments: dict[str, Any]) -> tuple[float, int]:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    began = time.perf_counter()
    response = http.post(url, json=body)
    took = (time.perf_counter() - began) * 1000
    if response.status_code != 200 or '"isError":true' in response.text:
        sys.exit(f"{tool} {json.dumps(arguments)}: {response.text[:400]}")
    return took, len(response.content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repository", required=True)
    parser.add_argument("--refs", required=True, help="four refs, separated by commas")
    parser.add_argument("--path", default="README.md", help="a file of 80 lines or more in all")
    parser.add_argument("--calls", type=int, default=60)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as folder:
        data = ["--data-dir", folder]
        added = timed("repo", "add", "code", "--url", options.repository, *data)
        print(f"{'operation':34}{'ours':>9}{'recorded':>10}{'ratio':>8}")
        print(f"{'repo add, s':34}{added:9.2f}{0.14:10.2f}{added / 0.14:8.2f}")
        clone = size(folder)
        contexts = []
        for ref, recorded in zip(options.refs.split(","), CREATES, strict=True):
            context = f"c-{ref}".replace("/", "-")
            took = timed("context", "create", context, "--repo", "code", "--ref", ref, *data)
            contexts.append(context)
            print(
                f"{f'context create {ref}, s':34}{took:9.2f}{recorded:10.2f}{took / recorded:8.3f}"
            )
        beyond = size(folder) - clone
        print(f"{'disk for four beyond the clone, MB':34}{beyond:9.2f}{41:10.0f}{beyond / 41:8.3f}")
        serve(options, contexts, data)


def serve(options: argparse.Namespace, contexts: list[str], data: list[str]) -> None:
    server = subprocess.Popen(
        [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", *data],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr
    try:
        address = next(
            found[1] for line in server.stderr if (found := re.search(r"(127\.0\.0\.1:\d+)", line))
        )
        headers = {"Accept": "application/json, text/event-stream"}
        with httpx.Client(timeout=60, headers=headers) as http:
            measure(http, f"http://{address}/", contexts, options)
        held = resident(server.pid)
        print(f"\nresident, server and workers: {held:.0f} MB (recorded 20 + 84 + 17 MB)")
    finally:
        server.terminate()
        server.wait(60)


def measure(http: httpx.Client, url: str, contexts: list[str], options: argparse.Namespace) -> None:
    print(f"\n{'call':30}{'p50 ms':>8}{'p95 ms':>8}{'recorded':>14}{'ratio':>7}{'aim':>6}{'kB':>7}")
    for name, (tool, arguments) in requests(contexts, options.path).items():
        took = [ask(http, url, tool, arguments) for _ in range(options.calls)]
        cuts = statistics.quantiles([ms for ms, _ in took], n=20)
        p50, p95 = RECORDED[name]
        print(
            f"{name:30}{cuts[9]:8.1f}{cuts[18]:8.1f}{f'{p50:g} / {p95:g}':>14}"
            f"{cuts[9] / p50:7.2f}{TO_REACH[name]:6.0f}{took[0][1] / 1000:7.1f}"
        )


if __name__ == "__main__":
    main()
