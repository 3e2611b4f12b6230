"""How long a trace takes in a graph of 600,000 edges: ``python -m benchmarks.graph_trace``.

The graph is made, not parsed: 20,000 files whose calls go to their neighbours, to functions that
few call, and to hubs that many call. Prints milliseconds at depth 5, the CPU seconds that reading
the version takes once, and the memory that it stays in.
"""

import random
import resource
import time
from collections.abc import Callable

import numpy as np

from vacmcpd.adapters.syntax.embedded import Version
from vacmcpd.adapters.syntax.facts import ScopeKind
from vacmcpd.adapters.syntax.linking.records import Bases as NoBases
from vacmcpd.adapters.syntax.linking.records import Edges, Linked, Outline
from vacmcpd.adapters.syntax.store.coding import encoded
from vacmcpd.adapters.syntax.store.generation import Generation
from vacmcpd.adapters.syntax.store.items import Symbols, record_of
from vacmcpd.adapters.syntax.store.manifests import Manifest
from vacmcpd.adapters.syntax.store.segments import BlobFacts, Draft, Next, Row, Segment
from vacmcpd.adapters.syntax.tracing.counting import untraced
from vacmcpd.adapters.syntax.tracing.loading import load
from vacmcpd.adapters.syntax.tracing.walking import walk
from vacmcpd.model import MemberCoverage
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.graph import TRUSTED, Direction, TraceQuery

FILES, SCOPES, CALLS = 20_000, 16, 30
OUTSIDE, OPEN = 25, 10
WORDS = 40_000
ASKED = 400
_KINDS = bytes([ScopeKind.MODULE] + [ScopeKind.METHOD] * (SCOPES - 1))


def names(chance: random.Random) -> list[list[str]]:
    """The bare names of each file's scopes; few names are common, most are rare."""
    words = [f"name{number}" for number in range(WORDS)]
    weights = [1 / (number + 1) ** 0.6 for number in range(WORDS)]
    drawn = chance.choices(words, weights, k=FILES * SCOPES)
    return [["", *drawn[at + 1 : at + SCOPES]] for at in range(0, FILES * SCOPES, SCOPES)]


def local(scopes: list[str], number: int) -> str:
    return f"C{number}.{scopes[number]}" if number else ""


def path(file: int) -> str:
    return f"dir{file % 100}/f{file}.py"


def edges(file: int, scopes: list[list[str]], targets: list[int], chance: random.Random) -> Edges:
    """The calls of one file."""
    symbols: dict[str, int] = {}
    callees = []
    for target in targets:
        other, number = divmod(target, SCOPES)
        key = f"{path(other)}\0{local(scopes[other], number or 1)}"
        callees.append(symbols.setdefault(key, len(symbols)))
    outside = [f"<builtin>.f{number}" for number in range(10)]
    opened = [f"name{chance.randrange(3_000)}" for _ in range(OPEN)]
    return Edges(
        list(symbols),
        outside + opened,
        list(range(CALLS)),
        [chance.randrange(SCOPES) for _ in range(CALLS)],
        callees,
        [0] * CALLS,
        [3 * number + 1 for number in range(CALLS)],
        list(range(OUTSIDE)),
        [1] * OUTSIDE,
        [number % 10 for number in range(OUTSIDE)],
        [0] * OUTSIDE,
        list(range(1, OUTSIDE + 1)),
        list(range(OPEN)),
        [2] * OPEN,
        list(range(10, 10 + OPEN)),
        [0] * OPEN,
        list(range(1, OPEN + 1)),
    )


def version(chance: random.Random) -> tuple[Generation, Manifest, list[int]]:
    """A store of one version, and the functions that most calls go to."""
    scopes = names(chance)
    every = FILES * SCOPES
    hubs = chance.sample(range(every), every)
    drawn = np.minimum(np.random.default_rng(1).zipf(1.3, FILES * CALLS) - 1, every - 1).tolist()
    draft = Draft(Next())
    rows = []
    for file, own in enumerate(scopes):
        oid = f"{file:040x}"
        draft.add_blob(BlobFacts(oid, "python", None, 5_000))
        draft.facts.add(b"")
        locals_ = [local(own, number) for number in range(SCOPES)]
        lines = [10 * number + 1 for number in range(SCOPES)]
        draft.symbols.add(encoded(Symbols(own, locals_, _KINDS, lines, [0] * SCOPES)))
        targets = [
            hubs[drawn[file * CALLS + number]]
            if chance.random() < 0.6
            else (file + chance.randrange(20)) % FILES * SCOPES + chance.randrange(SCOPES)
            for number in range(CALLS)
        ]
        linked = Linked(Outline(), NoBases(), edges(file, scopes, targets, chance), reads=[b""])
        record = draft.add_record(record_of(linked))
        row = Row(path(file).encode(), oid, "python", None, file, record, f"dir.f{file}")
        rows.append(draft.add_row(row))
    data = b"".join(bytes(part) for part in draft.write())
    generation = Generation([Segment(memoryview(data))])
    return generation, Manifest("tree", "made", "", np.array(rows, np.uint32)), hubs[:50]


def measured(known: Version, asked: list[int], direction: Direction) -> tuple[list[float], int]:
    """Milliseconds of each trace, in order, and the most edges that one has."""
    columns = known.columns
    times, most = [], 0
    for number in asked:
        file, within = divmod(number, SCOPES)
        name = columns.locals[file * SCOPES + (within or 1)]
        started = time.perf_counter()
        query = TraceQuery(f"{path(file)}:{name}", direction, 5)
        found = known.find(query)
        budget = Budget("trace", "graph", 60.0)
        walked = walk(columns, known.candidates, found.members, direction, 5, TRUSTED, budget)
        untraced(columns, known.candidates, found, query)
        page = walked.rows[:100]
        times.append(1_000 * (time.perf_counter() - started))
        most = max(most, len(walked.rows), len(page))
    return sorted(times), most


def resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(say: Callable[[str], None] = print) -> None:
    chance = random.Random(1)
    generation, manifest, hubs = version(chance)
    before, started = resident(), time.process_time()
    columns = load(generation, manifest, lambda: None)
    spent = time.process_time() - started
    inside = int(np.count_nonzero(columns.edges.callee < columns.count))
    say(f"edges inside {inside:,}, with those outside {len(columns.edges):,}")
    say(f"reading the version once, CPU s  {spent:.2f}")
    say(f"memory that reading it takes, MB  {resident() - before:.0f}")
    known = Version(manifest, columns, MemberCoverage("r", "x", FILES, FILES))
    measured(known, hubs[:1], Direction.CALLERS)
    measured(known, hubs[:1], Direction.CALLEES)
    random_ones = [chance.randrange(FILES * SCOPES) for _ in range(ASKED)]
    for label, asked in (("random", random_ones), ("the 50 most called", hubs)):
        for direction in Direction:
            times, most = measured(known, asked, direction)
            middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
            say(
                f"{direction} of {label}, depth 5, ms  p50 {middle:.1f}  p95 {late:.1f}  "
                f"most {times[-1]:.1f} (up to {most:,} edges)"
            )


if __name__ == "__main__":
    main()
