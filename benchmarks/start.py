"""From start to readiness with many contexts, and how long other commands take.

    python benchmarks/start.py [--contexts 100] [--repeat 5]

Prints the load, the server's time from process start to the READY line (aim: 3 s idle) and the
wall time of commands that a person waits for (aim: 0.5 s each).
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from vacmcpd.testing.demo import make_demo_repository

VACMCP = str(Path(sys.executable).parent / "vacmcp")


def timed(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([VACMCP, *arguments], check=True, capture_output=True)
    return time.perf_counter() - began


def until_ready(data: list[str]) -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [VACMCP, "serve", "--managed", "--address", "127.0.0.1:0", *data],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr
        for line in server.stderr:
            if line.strip() == "vacmcp: ready":
                break
        took = time.perf_counter() - began
        server.terminate()
        server.stderr.read()
    return took


def show(what: str, took: list[float], aim: float) -> None:
    best, middle = min(took), statistics.median(took)
    print(f"{what:28}{best:8.2f}{middle:9.2f}{aim:7.1f}{middle / aim:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        make_demo_repository(demo)
        data = ["--data-dir", f"{folder}/data"]
        timed("repo", "add", "demo", "--url", str(demo), *data)
        created = [
            timed("context", "create", f"c{n}", "--repo", "demo", "--ref", "release/v1", *data)
            for n in range(options.contexts)
        ]
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        print(f"{options.contexts} contexts over the demo repository\n")
        print(f"{'seconds':28}{'best':>8}{'median':>9}{'aim':>7}{'ratio':>8}")
        show("serve, start to ready", [until_ready(data) for _ in range(options.repeat)], 3.0)
        for command in (
            ["version"],
            ["repo", "list"],
            ["context", "list"],
            ["context", "status", "c1"],
            ["context", "verify", "c1"],
            ["config", "show"],
        ):
            place = [] if command == ["version"] else data
            took = [timed(*command, *place) for _ in range(options.repeat)]
            show(" ".join(command), took, 0.5)
        show("context create", created, 0.5)


if __name__ == "__main__":
    main()
