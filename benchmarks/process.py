"""What a command costs, measured from outside it.

    python benchmarks/process.py COMMAND…

Runs the command and prints its CPU seconds (user and system, its children's too), wall seconds,
peak resident bytes and output as one JSON object. A process of its own: a child's peak begins at
its parent's size, so the parent has to be small.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and bytes; ``output`` is the command's standard output."""

    cpu: float
    wall: float
    peak: int
    output: str


def measure(command: list[str]) -> Cost:
    """Run ``command`` in a process of its own; RuntimeError when it fails."""
    launcher = [sys.executable, str(Path(__file__)), *command]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(launcher, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{command[:3]}: {done.stderr[-2000:]}")
    return Cost(**json.loads(done.stdout))


def resident(pid: int) -> tuple[int, int]:
    """Resident bytes of one process, and how many of them are not file pages."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    found = {
        line.split(":")[0]: line.split()[1]
        for line in lines
        if line.startswith("Vm") or line.startswith("Rss")
    }
    return int(found["VmRSS"]) * 1024, int(found["RssAnon"]) * 1024


def main() -> None:
    began = time.perf_counter()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(child.returncode)
    spent = {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - began,
        "peak": usage.ru_maxrss * 1024,
        "output": output,
    }
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
