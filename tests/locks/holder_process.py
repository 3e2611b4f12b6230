"""Takes the lock that its arguments name, says so, and holds it until it is killed or told."""

import sys
from pathlib import Path

from vacmcpd.adapters.locks import FileLocks
from vacmcpd.datadir import DataDirectory

if __name__ == "__main__":
    root, kind = sys.argv[1:]
    locks = FileLocks(DataDirectory(Path(root)))
    held = {
        "server": lambda: locks.server("serve --managed", "127.0.0.1:8080"),
        "changing": lambda: locks.changing("context create"),
        "repository": lambda: locks.repository("a", "repo sync", 10, lambda *_: None),
        "build": lambda: locks.build("b", "context create"),
    }[kind]()
    with held:
        print("held", flush=True)
        sys.stdin.readline()
